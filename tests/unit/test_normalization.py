"""Texts have one form, and blank texts are those that show nothing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.normalization import composed, composed_start, is_blank
from cc_hf.schema import ScoringRequest
from tests.helpers.cases import cases


@cases(
    "",
    " \t\n",
    "\u00a0\u2003\u3000",  # spaces
    "\u2028\u2029",
    "\u200b\u200c\u200d\u2060\ufeff",  # zero-width characters
    "\u200e\u202b\u00ad",
    "\x00\x1b",
    "\u2800",  # an empty Braille pattern
    "\u3164\u115f\u1160\uffa0",  # fillers
    "\ufe0f\U000e0100\u180b\u034f",  # variation selectors and a joiner
)
def test_a_text_that_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}.")


@given(st.text())
def test_every_text_that_strip_empties_is_blank(text: str) -> None:
    assert is_blank(text) or text.strip()


@given(st.text(max_size=8), st.text(max_size=8))
def test_positions_follow_the_characters_before_them(before: str, after: str) -> None:
    text = f"{before} a{after}"  # nothing composes with a space before it
    start = composed_start(text, len(before) + 1)
    assert composed(text)[start:] == composed(f"a{after}")
    assert composed_start(composed(text), start) == start


@pytest.mark.parametrize("start", [-1, 7])
def test_a_position_outside_of_the_text_is_left_to_be_refused(start: int) -> None:
    assert composed_start("A\u0308rzte", start) == start


def test_evaluators_read_composed_texts_only() -> None:
    source, translation = (unicodedata.normalize("NFD", text) for text in ("é", "Ä"))
    request = ScoringRequest(source, translation, 3)
    assert request == ScoringRequest("é", "Ä")
    assert (request.source, request.translation, request.row) == ("é", "Ä", 3)
