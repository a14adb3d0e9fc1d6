"""Texts and names of languages have one form, and blank texts are those that show nothing."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M100
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART50
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB

from cc_hf.languages import LANGUAGE_CODES, LANGUAGES, two_letter_code
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


@cases(("nllb", NLLB), ("m2m100", M2M100["m2m100"]), ("mbart50", MBART50))
def test_language_codes_are_known_to_their_tokenizers(column: str, known: list[str]) -> None:
    found = {getattr(row, column) for row in LANGUAGE_CODES.values()} - {""}
    assert found <= set(known)
    # NLLB has languages without a short code, which have its own codes as names
    assert column == "nllb" or found == set(known)


def test_every_language_code_names_one_language() -> None:
    others = [other for row in LANGUAGE_CODES.values() for other in row.others]
    assert len(others) == len(set(others))
    assert not set(others) & set(LANGUAGES)
    codes = {"deu": "de", "cmn": "zh", "pes": "fa", "ceb": "ceb", "xxx": "xxx", "": ""}
    assert {code: two_letter_code(code) for code in codes} == codes
    assert len(set(LANGUAGES.values())) == len(LANGUAGES)
