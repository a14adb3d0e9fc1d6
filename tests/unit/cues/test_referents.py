from __future__ import annotations

import pytest

from cc_hf.cues.placement import replace_at
from cc_hf.cues.referents import ambiguous_it, referent_position, referent_source
from cc_hf.errors import InputError
from cc_hf.schema import Focus
from tests.helpers.cases import cases_by_words


@cases_by_words(
    ("source", "replaced"),
    [
        ("The cup hit the plate and it broke.", "The cup hit the plate and the cup broke."),
        ("It made it well, because it was good.", "It made it well, because the cup was good."),
        ("It fell.", "The cup fell."),
        ("It fell because it was round.", "It fell because the cup was round."),
        ("He kept its lid with the bits of it.", "He kept its lid with the bits of the cup."),
        ("He said «it».", "He said «the cup»."),
        ("He said 'it'.", "He said 'the cup'."),
        ("He took it; it's new, its lid fits.", "He took the cup; it's new, its lid fits."),
        ("He chose the cup since it's new.", "He chose the cup since the cup's new."),
        ("It’s new.", "The cup’s new."),
        ("He wanted it-girls to drop it.", "He wanted it-girls to drop the cup."),
    ],
    "source",
)
def test_the_last_it_that_is_a_word_is_replaced(source: str, replaced: str) -> None:
    focus = ambiguous_it(source)
    assert source[focus.start : focus.start + len(focus.text)] == focus.text
    assert focus.text.lower() == "it"
    assert referent_source(source, focus, "cup") == replaced


@pytest.mark.parametrize(
    "source", ["", "Its lid fits.", "The kit sits.", "An IT-department", "a post-it"]
)
def test_sources_without_the_word_it_are_refused(source: str) -> None:
    with pytest.raises(InputError, match='expected the word "it"'):
        ambiguous_it(source)


@pytest.mark.parametrize(
    ("referent", "phrase"),
    [
        ("tank top", "the tank top"),
        (" the cup ", "the cup"),
        ("The Cup", "The Cup"),
        ("an egg", "an egg"),
        ("theory", "the theory"),
    ],
)
def test_referents_without_an_article_get_one(referent: str, phrase: str) -> None:
    assert referent_source("so it is", Focus("it", 3), referent) == f"so {phrase} is"


def test_blank_referents_and_spans_outside_the_source_are_refused() -> None:
    with pytest.raises(InputError, match="referent: expected a word"):
        referent_source("so it is", Focus("it", 3), " ")
    for start, length in ((-1, 2), (7, 2), (3, 0), (99, 1)):
        with pytest.raises(InputError, match=f"within the 8 of the.*got {length} at {start}"):
            replace_at("so it is", start, length, "x")
    with pytest.raises(InputError, match="replacement: expected words"):
        replace_at("so it is", 3, 2, "\n")


@pytest.mark.parametrize(
    ("correct", "incorrect", "position"),
    [
        ("vase", "bouquet", "first"),
        ("bouquet", "vase", "second"),
        ("the flower vase", "bouquet,", "first"),
        ("Bouquet", "VASE", "second"),
        ("woman", "vase", "first"),
        ("cup", "vase", "unknown"),
        ("vase", "bouq", "unknown"),
        ("vase", "a vase", "unknown"),
        ("vase", "", "unknown"),
        ("vase", "()", "unknown"),
    ],
)
def test_the_referent_named_first_in_the_source_is_first(
    correct: str, incorrect: str, position: str
) -> None:
    source = "The woman looked for a different vase for the bouquet because it was too small."
    assert referent_position(source, correct, incorrect) == position


def test_the_last_mention_of_a_referent_decides_its_position() -> None:
    source = "The cup hit the plate, and the cup broke."
    assert referent_position(source, "cup", "plate") == "second"
