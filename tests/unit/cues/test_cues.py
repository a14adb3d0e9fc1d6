from __future__ import annotations

import pytest

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.cues.placement import insert_before, token_start
from cc_hf.errors import InputError
from cc_hf.schema import ContrastiveSourceExample, Focus


def test_the_second_of_two_equal_words_gets_the_cue() -> None:
    source = "The cook met a cook."
    correct, incorrect = gender_bracket_sources(source, Focus("cook", 15), "female")
    assert (correct, incorrect) == (("The cook met a [female] cook.",), ("The cook met a [male] cook.",))


@pytest.mark.parametrize("start", [-1, 3, 99])
def test_places_outside_the_source(start: int) -> None:
    with pytest.raises(InputError, match="cue position: expected 0 to 2"):
        insert_before("abc", start, "[x]")


def test_other_bad_input() -> None:
    with pytest.raises(InputError, match="got a blank"):
        insert_before("abc", 0, " ")
    with pytest.raises(InputError, match="expected male or female, got 'neutral'"):
        gender_bracket_sources("abc", Focus("abc", 0), "neutral")
    with pytest.raises(InputError, match="token index: expected 0 to 1, got 2"):
        token_start("a b", 2)


def test_double_spaces_make_empty_tokens() -> None:
    assert [token_start("a  b", i) for i in range(3)] == [0, 2, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"focus": Focus("cook", 5)}, "the focus 'cook' is not at character 5"),
        ({"correct_sources": ()}, "correct_sources is empty"),
        ({"incorrect_sources": ()}, "incorrect_sources is empty"),
        ({"category": ""}, "category is empty"),
    ],
)
def test_examples_validate(change: dict[str, object], message: str) -> None:
    fields = {
        "id": "1", "src_lang": "en", "tgt_lang": "de", "source": "The cook.", "focus": Focus("cook", 4),
        "correct_sources": ("a",), "incorrect_sources": ("b",), "category": "c", "gold": "g",
    }  # fmt: skip
    with pytest.raises(InputError, match=message):
        ContrastiveSourceExample(**{**fields, **change})  # type: ignore[arg-type]
