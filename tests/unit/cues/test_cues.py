from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cc_hf.cues import wordings
from cc_hf.cues.english_pronouns import with_pronouns
from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.cues.placement import insert_before, replace_at
from cc_hf.cues.templates import apply_cue
from cc_hf.cues.wordings import GENDER_WORDINGS
from cc_hf.errors import UnknownNameError
from cc_hf.languages import LANGUAGES
from cc_hf.records import read_record, write_record
from cc_hf.schema import ContrastiveSourceExample, Focus
from tests.helpers.usual import cases, fails, refuses


def test_the_cue_is_inserted_at_the_focus_and_not_at_an_equal_word() -> None:
    expected = ("The cook met a [female] cook.",), ("The cook met a [male] cook.",)
    assert gender_bracket_sources("The cook met a cook.", Focus("cook", 15), "female") == expected


def test_positions_outside_the_source_blank_cues_and_unknown_genders_or_languages_are_refused() -> (
    None
):
    for start in (-1, 3, 99):
        refuses("cue position: expected 0 to 2", insert_before, "abc", start, "[x]")
    refuses("got a blank", insert_before, "abc", 0, " ")
    refuses("or female, got 'neutral'", gender_bracket_sources, "abc", Focus("abc", 0), "neutral")
    given, message = ("abc", Focus("abc", 0), "male"), "a language with a wording .*got 'xx'"
    refuses(message, gender_bracket_sources, *given, src_lang="xx")


@pytest.mark.parametrize("language", GENDER_WORDINGS["gender_brackets"])
def test_gender_brackets_differ_by_gender_in_every_language(language: str) -> None:
    assert language in LANGUAGES
    cues = GENDER_WORDINGS["gender_brackets"][language].cues
    assert set(cues) == {"male", "female"}
    are_letters = [cue[0] + cue[-1] == "[]" and cue[1:-1].isalpha() for cue in cues.values()]
    assert all(are_letters) or language == "hi"
    for gold, other in (("male", "female"), ("female", "male")):
        correct, incorrect = gender_bracket_sources("a b", Focus("b", 2), gold, src_lang=language)
        assert (correct, incorrect) == ((f"a {cues[gold]} b",), (f"a {cues[other]} b",))
    assert cues["male"] != cues["female"]


@cases(
    ({"focus": Focus("cook", 5)}, "the focus 'cook' is not at character 5"),
    ({"correct_sources": ()}, "correct_sources is empty"),
    ({"incorrect_sources": ()}, "incorrect_sources is empty"),
    ({"category": ""}, "category is empty"),
)
def test_inconsistent_examples_are_refused(change: dict[str, object], message: str) -> None:
    example = ContrastiveSourceExample(
        "1", "en", "de", "The cook.", Focus("cook", 4), ("a",), ("b",), "c", "g"
    )
    refuses(message, replace, example, **change)


SOURCE = "A bat, another bat."
SECOND = Focus("bat", 15)


@cases(
    ("baseball", "before", "A bat, another baseball bat."),
    ("(animal)", "after", "A bat, another bat (animal)."),
    ("racket", "replace", "A bat, another racket."),
    ("{focus} or flying {focus}", "after", "A bat, another bat or flying bat."),
    ("baseball", "phrase", "A bat, another baseball bat."),
    ("{focus} or flying {focus}", "phrase", "A bat, another bat or flying bat."),
)
def test_a_cue_changes_only_the_focus(cue: str, placement: str, expected: str) -> None:
    assert apply_cue(SOURCE, SECOND, cue, placement) == expected


@cases(
    (
        SECOND,
        "x",
        "above",
        "placement: expected one of before, after, replace, phrase, got 'above'",
    ),
    (SECOND, " ", "before", "expected words, got a blank"),
    (SECOND, "bat", "replace", "changes nothing"),
    (SECOND, "{focus}", "before", "changes nothing"),
    (Focus("bat", 3), "x", "before", "the focus 'bat' is not at character 3"),
    (Focus("bat", -4), "x", "after", "the focus 'bat' is not at character -4"),
)
def test_unfit_cues_are_refused(focus: Focus, cue: str, placement: str, message: str) -> None:
    refuses(message, apply_cue, SOURCE, focus, cue, placement)


def test_spans_outside_the_source_are_refused() -> None:
    for start, length in ((-1, 2), (7, 2), (3, 0), (99, 1)):
        message = f"within the 8 of the.*got {length} at {start}"
        refuses(message, replace_at, "so it is", start, length, "x")
    refuses("replacement: expected words", replace_at, "so it is", 3, 2, "\n")


_PAIRS = [
    ("She lost her key.", "He lost his key."),
    ("I told her the truth about her.", "I told him the truth about him."),
    ("The key is hers, and SHE knows it herself.", "The key is his, and HE knows it himself."),
    ("She's late; ask her. Her car broke.", "He's late; ask him. His car broke."),
    ("They gave her bread and saw her quickly.", "They gave him bread and saw him quickly."),
    ("Her daily work is not hers.", "His daily work is not his."),
]


@pytest.mark.parametrize(("female", "male"), _PAIRS)
def test_all_pronouns_change_their_gender_and_keep_their_case(female: str, male: str) -> None:
    for text in (female, male):
        assert (with_pronouns(text, "male"), with_pronouns(text, "female")) == (male, female)


def test_other_words_stay_as_they_are_and_other_genders_are_refused() -> None:
    text = "There, the shepherd's theses: hero, Heather, this; they and them."
    assert with_pronouns(text, "male") == with_pronouns(text, "female") == text
    refuses("gender: .* female, male, got 'neutral'", with_pronouns, "She left.", "neutral")


def test_sentences_of_winomt_become_their_counterparts(shared: Path) -> None:
    path = shared / "upstream/ZurichNLP/contrastive-conditioning/tasks/data/winomt/test.tsv"
    sentences: dict[str, set[str]] = defaultdict(set)
    for line in path.read_text(encoding="utf-8").splitlines():
        gender, _, sentence, *_ = line.split("\t")
        sentences[gender].add(sentence)
    for gender, other in (("female", "male"), ("male", "female")):
        n = sum(with_pronouns(text, other) in sentences[other] for text in sentences[gender])
        # Most of the others have no counterpart, or one that differs in more than its pronouns.
        assert n / len(sentences[gender]) > 0.98


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
        "gender_brackets_phrase": "The [male] nurse lost her key.",
    }


@cases(*((name, lang) for name, known in wordings.GENDER_WORDINGS.items() for lang in known))
def test_every_wording_tells_genders_apart_in_a_known_language(name: str, language: str) -> None:
    wording = wordings.named_wording(name, language)
    assert language in LANGUAGES
    assert (wording.readings, wording.signature_name) == (wordings.GENDERS, name)
    female, male = (wording.source("a b her", Focus("b", 2), gender) for gender in wordings.GENDERS)
    assert female != male
    assert read_record(wordings.Wording, write_record(wording), "a wording") == wording


def test_wordings_of_users_have_a_digest_in_their_name() -> None:
    wording = wordings.Wording("gender_nouns", {"female": "gal", "male": "guy"})
    other = replace(wording, cues={"female": "girl", "male": "guy"})
    assert wording.signature_name.startswith("gender_nouns@")
    assert wording.signature_name != other.signature_name


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
    ([], "expected an object, got"),
    ({"cues": _CUES}, "expected the key 'name'"),
    ({"name": "a", "colour": 1}, "the keys name, cues, placement, pronouns, got .*'colour'"),
    ({**_ROW, "name": "A b"}, "expected at most 40 small letters"),
    ({"name": 3}, "name: expected a text"),
    ({"name": "a", "cues": {"a": "x"}}, "a cue for each of at least two readings"),
    ({"name": "a", "cues": {}}, "a cue for each of at least two readings"),
    ({"name": "a", "cues": ["x", "y"]}, "cues: expected an object"),
    ({"name": "a", "cues": {"a": "x", "b": " "}}, "a cue for each of at least two readings"),
    ({"name": "a", "cues": {"a": "x", "b": 3}}, "cues: b: expected a text"),
    ({"name": "a", "cues": {"a": "x", "b": "x"}}, "expected another cue for each reading"),
    ({**_ROW, "placement": "over"}, "placement: expected one of before, after, replace"),
    ({**_ROW, "pronouns": 1}, "pronouns: expected true or false"),
    ({**_ROW, "pronouns": True}, "with pronouns, expected the readings female and male"),
)
def test_rows_that_are_no_wordings_are_refused(row: Any, message: str) -> None:
    refuses(message, read_record, wordings.Wording, row, "a wording")


def test_unknown_names_readings_and_useless_wordings_are_refused() -> None:
    fails(UnknownNameError, "gender_nouns", wordings.named_wording, "gender_noun", "en")
    fails(UnknownNameError, "wording of cues in xx", wordings.named_wording, "gender_nouns", "xx")
    nouns, pronouns = (wordings.named_wording(f"gender_{k}", "en") for k in ("nouns", "pronouns"))
    message = "reading: expected one of female, male, got 'neutral'"
    refuses(message, nouns.source, "a b", Focus("b", 2), "neutral")
    plural, without = replace(_EXAMPLE, gold="plural"), replace(_EXAMPLE, source="The nurse left.")
    refuses("example '7': expected one of female, male as gold", wordings.reworded, plural, nouns)
    refuses("makes the same source for two readings", wordings.reworded, without, pronouns)
