from dataclasses import replace
from typing import Any

from cc_hf.cues import wordings
from cc_hf.errors import UnknownNameError
from cc_hf.languages import LANGUAGES
from cc_hf.schema import ContrastiveSourceExample, Focus
from tests.helpers.cases import cases
from tests.helpers.refusals import fails, refuses

_OF = ("7", "en", "pt", "The nurse lost her key.", Focus("nurse", 4))
_SIDES = ("The [female] nurse lost her key.",), ("The [male] nurse lost her key.",)
_EXAMPLE = ContrastiveSourceExample(*_OF, *_SIDES, category="female", gold="female")


def test_english_wordings_as_a_reader_sees_them() -> None:
    of = (_EXAMPLE.source, _EXAMPLE.focus, "male")
    assert {wording.name: wording.source(*of) for wording in wordings.gender_wordings("en")} == {
        "gender_brackets": "The [male] nurse lost her key.",
        "gender_parentheses": "The (male) nurse lost her key.",
        "gender_adjectives": "The male nurse lost her key.",
        "gender_nouns": "The man nurse lost her key.",
        "gender_polite_nouns": "The gentleman nurse lost her key.",
        "gender_appositions": "The nurse, a man, lost her key.",
        "gender_pronouns": "The nurse lost his key.",
        "gender_nouns_pronouns": "The man nurse lost his key.",
        "gender_brackets_pronouns": "The [male] nurse lost his key.",
    }


@cases(*((name, lang) for name, known in wordings.GENDER_WORDINGS.items() for lang in known))
def test_every_wording_tells_genders_apart_in_a_known_language(name: str, language: str) -> None:
    wording = wordings.named_wording(name, language)
    assert language in LANGUAGES
    assert (wording.readings, wording.signature_name) == (wordings.GENDERS, name)
    female, male = (wording.source("a b her", Focus("b", 2), gender) for gender in wordings.GENDERS)
    assert female != male
    assert wordings.Wording.from_row(wording.to_row()) == wording


def test_wordings_of_users_have_a_digest_in_their_name() -> None:
    own = wordings.Wording("gender_nouns", {"female": "gal", "male": "guy"})
    other = replace(own, cues={"female": "girl", "male": "guy"})
    assert own.signature_name.startswith("gender_nouns@")
    assert own.signature_name != other.signature_name


def test_examples_get_the_sources_of_a_wording() -> None:
    example = wordings.reworded(_EXAMPLE, wordings.named_wording("gender_nouns", "en"))
    assert example.correct_sources == ("The woman nurse lost her key.",)
    assert example.incorrect_sources == ("The man nurse lost her key.",)
    assert example.source == _EXAMPLE.source


def test_several_readings_make_several_incorrect_sources() -> None:
    wording = wordings.Wording("age", {"young": "young", "old": "old", "ageless": "ageless"})
    example = wordings.reworded(replace(_EXAMPLE, gold="old"), wording)
    assert example.correct_sources == ("The old nurse lost her key.",)
    others = tuple(f"The {age} nurse lost her key." for age in ("young", "ageless"))
    assert example.incorrect_sources == others


_CUES = {"a": "x", "b": "y"}
_ROW = {"name": "a", "cues": _CUES}


@cases(
    ([], "expected an object with name, cues, placement, pronouns"),
    ({"cues": _CUES}, "expected an object with name"),
    ({"name": "a", "colour": 1}, "expected an object with name"),
    ({**_ROW, "name": "A b"}, "expected at most 40 small letters"),
    ({"name": 3}, "expected at most 40 small letters"),
    ({"name": "a", "cues": {"a": "x"}}, "a cue for each of at least two readings"),
    ({"name": "a", "cues": {}}, "a cue for each of at least two readings"),
    ({"name": "a", "cues": ["x", "y"]}, "a cue for each of at least two readings"),
    ({"name": "a", "cues": {"a": "x", "b": " "}}, "a cue for each of at least two readings"),
    ({"name": "a", "cues": {"a": "x", "b": 3}}, "a cue for each of at least two readings"),
    ({"name": "a", "cues": {"a": "x", "b": "x"}}, "expected another cue for each reading"),
    ({**_ROW, "placement": "over"}, "placement: expected one of before, after, replace"),
    ({**_ROW, "pronouns": 1}, "pronouns: expected true or false"),
    ({**_ROW, "pronouns": True}, "with pronouns, expected the readings female and male"),
)
def test_rows_that_are_no_wordings_are_refused(row: Any, message: str) -> None:
    refuses(message, wordings.Wording.from_row, row)


def test_unknown_names_readings_and_useless_wordings_are_refused() -> None:
    fails(UnknownNameError, "gender_nouns", wordings.named_wording, "gender_noun", "en")
    fails(UnknownNameError, "wording of cues in xx", wordings.named_wording, "gender_nouns", "xx")
    nouns, pronouns = (wordings.named_wording(f"gender_{k}", "en") for k in ("nouns", "pronouns"))
    message = "reading: expected one of female, male, got 'neutral'"
    refuses(message, nouns.source, "a b", Focus("b", 2), "neutral")
    plural, without = replace(_EXAMPLE, gold="plural"), replace(_EXAMPLE, source="The nurse left.")
    refuses("example '7': expected one of female, male as gold", wordings.reworded, plural, nouns)
    refuses("makes the same source for two readings", wordings.reworded, without, pronouns)
