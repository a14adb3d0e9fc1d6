from __future__ import annotations

from dataclasses import replace

import pytest

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.cues.placement import insert_before, token_start
from cc_hf.cues.wordings import GENDER_WORDINGS
from cc_hf.errors import InputError
from cc_hf.languages import LANGUAGES
from cc_hf.schema import ContrastiveSourceExample, Focus
from tests.helpers.cases import cases_by_message


def test_the_cue_is_inserted_at_the_focus_and_not_at_an_equal_word() -> None:
    source = "The cook met a cook."
    expected = ("The cook met a [female] cook.",), ("The cook met a [male] cook.",)
    assert gender_bracket_sources(source, Focus("cook", 15), "female") == expected


@pytest.mark.parametrize("start", [-1, 3, 99])
def test_positions_outside_the_source_are_refused(start: int) -> None:
    with pytest.raises(InputError, match="cue position: expected 0 to 2"):
        insert_before("abc", start, "[x]")


def test_blank_cues_and_unknown_genders_or_languages_are_refused() -> None:
    with pytest.raises(InputError, match="got a blank"):
        insert_before("abc", 0, " ")
    with pytest.raises(InputError, match="expected male or female, got 'neutral'"):
        gender_bracket_sources("abc", Focus("abc", 0), "neutral")
    with pytest.raises(InputError, match=r"expected a language with a wording .*got 'xx'"):
        gender_bracket_sources("abc", Focus("abc", 0), "male", src_lang="xx")
    with pytest.raises(InputError, match="token index: expected 0 to 1, got 2"):
        token_start("a b", 2)


@pytest.mark.parametrize("language", GENDER_WORDINGS["gender_brackets"])
def test_gender_brackets_differ_by_gender_in_every_language(language: str) -> None:
    assert language in LANGUAGES
    cues = GENDER_WORDINGS["gender_brackets"][language].cues
    assert set(cues) == {"male", "female"}
    assert all(
        (cue.startswith("[") and cue.endswith("]") and cue[1:-1].isalpha()) or language == "hi"
        for cue in cues.values()
    )
    for gold, other in (("male", "female"), ("female", "male")):
        correct, incorrect = gender_bracket_sources("a b", Focus("b", 2), gold, src_lang=language)
        assert (correct, incorrect) == ((f"a {cues[gold]} b",), (f"a {cues[other]} b",))
    assert cues["male"] != cues["female"]


def test_double_spaces_count_as_an_empty_token() -> None:
    assert [token_start("a  b", i) for i in range(3)] == [0, 2, 3]


@cases_by_message(
    ("change", "message"),
    [
        ({"focus": Focus("cook", 5)}, "the focus 'cook' is not at character 5"),
        ({"correct_sources": ()}, "correct_sources is empty"),
        ({"incorrect_sources": ()}, "incorrect_sources is empty"),
        ({"category": ""}, "category is empty"),
    ],
)
def test_inconsistent_examples_are_refused(change: dict[str, object], message: str) -> None:
    sides = ("a",), ("b",), "c", "g"
    example = ContrastiveSourceExample("1", "en", "de", "The cook.", Focus("cook", 4), *sides)
    with pytest.raises(InputError, match=message):
        replace(example, **change)  # type: ignore[arg-type]
