import importlib.metadata
import itertools
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_hf.errors import DataError, InputError, MissingDependencyError, UnknownNameError
from cc_hf.text import alignment as aligners
from cc_hf.text import lemmatization
from cc_hf.text.alignment import (
    Eflomal,
    FastAlign,
    GivenAlignments,
    find_aligner,
    parse_pharaoh,
    space_tokens,
)
from cc_hf.text.fast_align import fast_align
from cc_hf.text.gender import (
    GENDER_LANGUAGES,
    GENDERS,
    UNKNOWN,
    Phrase,
    east_slavic,
    gender_predictor,
    romance,
)
from cc_hf.text.pieces import piece_characters, token_spans
from cc_hf.text.pronouns import pronoun_gender
from cc_hf.text.tokenization import word_texts, word_tokens
from cc_hf.text.unusable import unusable_rows, unusable_texts
from tests.helpers.plain_fast_align import plain_probabilities
from tests.helpers.usual import cases, fails, refuses


@cases(
    ("the UN @-@ envoy", "the UN @-@ envoy"),
    ("and @/@ or", "and @/@ or"),
    ("it &apos;s", "it &apos; s"),
    ("l&apos;avocate &quot; x &amp; &#91; y", "l &apos; avocate &quot; x &amp; &#91; y"),
    ("a\N{NO-BREAK SPACE}bat", "a bat"),
    ("you @ home & away;", "you @ home & away ;"),
    ("isn't", "isn't"),
)
def test_a_mark_of_moses_is_one_token(text: str, expected: str) -> None:
    words = expected.split()
    assert word_texts(text) == words
    assert [text[token.start :][: len(token.text)] for token in word_tokens(text)] == words


def texts(pieces: list[str], text: str) -> list[str]:
    return ["".join(text[place] for place in own) for own in piece_characters(pieces, text)]


def test_tokenizer_marks_are_not_part_of_the_text() -> None:
    marked = (
        "▁The ▁be d .",
        "The</w> be d</w> .</w>",
        "The be@@ d .",
        "The be ##d .",
        "The Ġbe d .",
    )
    for pieces in map(str.split, marked):
        assert texts(pieces, "The bed.") == ["The", "be", "d", "."]


def test_repeated_words_get_separate_positions() -> None:
    places = piece_characters(["▁it", "▁", "it", "▁it", ""], "it it it")
    assert places == [(0, 1), (), (3, 4), (6, 7), ()]


def test_words_are_located_after_pieces_that_precede_the_text() -> None:
    assert texts([">>deu<<", "▁translate", ":", "▁The", "▁bed"], "The bed")[3:] == ["The", "bed"]


def test_normalized_and_unknown_characters_are_located() -> None:
    unknown = texts(["▁He", "▁said", "<unk>", "it", "<unk>"], "He said “it”")
    assert unknown == ["He", "said", "“", "it", "”"]
    assert texts(["▁1", "2", "▁fi", "n"], "½ ﬁn")[2:] == ["ﬁ", "n"]
    assert texts(["&quot;</w>", "it</w>", "&apos;s</w>"], "\"it's") == ['"', "it", "'s"]


def test_empty_texts_give_no_characters() -> None:
    assert piece_characters([""], "") == [()]
    assert piece_characters([], "a") == []


@cases(
    (["Die", "Kö", "chin", ""], "Die Köchin", ["Die", "Kö", "chin", ""]),
    (["ok", "", "ja", ""], "ok 🎉 ja", ["ok", "🎉", "ja", ""]),  # an unknown word
    (["", "ja", ""], "🎉 ja", ["🎉", "ja", ""]),
    # in small letters, without accents
    (["die", "kochin", "."], "Die Köchin.", ["Die", "Köchin", "."]),
    (["&quot;", "Ja", "&quot;", ""], '"Ja"', ['"', "Ja", '"', ""]),  # escaped
    (["", "", "", "ja", ""], "ja", ["", "", "", "ja", ""]),
    (["Ja"], "Ja ∑∆", ["Ja ∑∆"]),  # more text than pieces
    ([""], "∑", ["∑"]),
)
def test_tokens_get_spans_of_the_text(pieces: list[str], text: str, expected: list[str]) -> None:
    spans = token_spans(pieces, text)
    assert [text[start:end] for start, end in spans] == expected
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))


def test_every_letter_belongs_to_a_token() -> None:
    generator = np.random.default_rng(0)
    letters = "abc äß🎉"
    for _ in range(200):
        text = "".join(generator.choice(list(letters), size=12))
        pieces = ["".join(generator.choice(["a", "b", "c", "", "<unk>"], size=2)) for _ in range(5)]
        covered = [i for start, end in token_spans(pieces, text) for i in range(start, end)]
        letters_of_text = {i for i, letter in enumerate(text) if not letter.isspace()}
        assert letters_of_text <= set(covered), (pieces, text)


@cases(
    ("de", ["er", "Er", " er "], "male"),
    ("de", ["sie", "SIE"], "female"),
    ("de", ["es"], "neutral"),
    ("fr", ["il", "ils", "Il"], "male"),
    ("fr", ["elle", "elles"], "female"),
    ("ru", ["он", "oн", "Oн", "oH"], "male"),
    ("ru", ["она", "oна", "онa", "oнa", "Oнa"], "female"),
    ("ru", ["оно", "oнo", "оHо"], "neutral"),
    ("ru", ["они", "oни", "on", ""], "unknown"),
    ("de", ["ihn", "oнa", ""], "unknown"),
    ("fi", ["hän"], "unknown"),
)
def test_forms_of_pronouns_show_their_gender(lang: str, forms: list[str], gender: str) -> None:
    assert {pronoun_gender(form, lang) for form in forms} == {gender}


_SOURCES = ["The doctor left.", "The nurse left.", "The cook left.", "The baker left."]
_RIGHT = ["Die Ärztin ging.", "Der Pfleger ging.", "Der Koch ging.", "Der Bäcker ging."]


@cases(
    (_RIGHT, {}),
    (_SOURCES, {"n_with_source": 4}),
    (["Er ging."] * 2 + _RIGHT[2:], {}),  # grammar can make two sources alike
    (["Er ging."] * 3 + _RIGHT[3:], {"n_repeated": 3}),
    (["", " ", "\t", ""], {}),  # metrics count blank translations
    (["xqz erppp", "...", "42", "Der Koch"], {"n_without_words": 3}),
    (["Fisch " * 9, *_RIGHT[1:]], {"n_without_words": 1}),  # one word over and over
    (["Ja.", *_RIGHT[1:]], {}),
    (["De man is niet thuis.", "It is of the man.", *_RIGHT[2:]], {"n_without_words": 2}),
    (['Er sagt: "It was for the doctor", und ist auf dem Weg.', *_RIGHT[1:]], {}),
)
def test_unusable_translations_are_counted(texts: list[str], expected: dict[str, int]) -> None:
    rows = unusable_rows(texts, _SOURCES, "de")
    assert {name: len(found) for name, found in rows.items() if found} == expected


def test_what_cannot_be_told_is_not_counted() -> None:
    assert "n_without_words" not in unusable_rows(["xqz"], ["a"], "")
    assert "n_without_words" not in unusable_rows(["xqz"], ["a"], "zh")
    assert "n_with_source" not in unusable_rows(["xqz"], ["a"], "de", are_texts=False)
    # Rows of one source may have one translation.
    assert not unusable_rows(["Er ging."] * 5, ["He left."] * 5, "de")["n_repeated"]


@cases(({"de"},), (set(),))
def test_words_are_known_by_the_dictionary_in_memory_and_by_its_compressed_form(
    in_memory: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lemmatization, "_IN_MEMORY", in_memory)
    words = {"Haus": True, "haus": True, "Häuser": True, "gingst": True, "Hauß": False}
    assert {word: lemmatization.is_known.__wrapped__(word, "de") for word in words} == words


def test_each_kind_that_occurs_is_said_with_its_number() -> None:
    found = unusable_texts(
        {"n_with_source": 0, "n_repeated": 1200, "n_blank": 3, "n_without_words": 24, "n": 9}, 2400
    )  # dictionaries do not know the words of every sentence
    assert [text.split(" translations")[0] for text in found] == ["1,200 of 2,400", "3 of 2,400"]


_SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1, max_size=7)
_PAIRS = st.lists(st.tuples(_SENTENCE, _SENTENCE), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(_PAIRS)
def test_links_are_those_of_the_plain_model(pairs: list[tuple[list[str], list[str]]]) -> None:
    found = fast_align([source for source, _ in pairs], [target for _, target in pairs])
    for alignment, rows in zip(found, plain_probabilities(pairs), strict=True):
        links = {j: i + 1 for i, j in alignment}
        assert len(links) == len(alignment), "a target token has at most one link"
        for j, row in enumerate(rows):
            assert row[links.get(j, 0)] >= max(row) * (1 - 1e-6)


@settings(deadline=None)
@given(_PAIRS, st.integers(0, 8))
def test_pairs_with_an_empty_side_get_no_links_and_change_no_others(pairs: Any, at: int) -> None:
    alone = fast_align(*([list(side) for side in zip(*pairs, strict=True)]))
    mixed = [*pairs[:at], (["a"], []), ([], ["b"]), *pairs[at:]]
    found = fast_align(*([list(side) for side in zip(*mixed, strict=True)]))
    start = min(at, len(pairs))
    assert found[start : start + 2] == [(), ()]
    assert found[:start] + found[start + 2 :] == alone


def test_corresponding_words_are_linked() -> None:
    words = [(f"w{a}", f"w{b}") for a in range(6) for b in range(6) if a != b]
    targets = [f"{b} {a}".replace("w", "v") for a, b in words]
    found = FastAlign().align([f"{a} {b}" for a, b in words], targets)
    assert [aligners.to_pharaoh(a) for a in found] == ["1-0 0-1"] * 30


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
@settings(deadline=None)
def test_any_text_can_be_aligned(pairs: list[tuple[str, str]]) -> None:
    found = FastAlign().align([a for a, _ in pairs], [b for _, b in pairs])
    for alignment, (source, translation) in zip(found, pairs, strict=True):
        assert all(
            0 <= i < len(aligners.space_tokens(source))
            and 0 <= j < len(aligners.space_tokens(translation))
            for i, j in alignment
        )


@given(st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99))).map(tuple), max_size=5))
def test_pharaoh_lines_survive_writing_and_parsing(alignments: list[aligners.Alignment]) -> None:
    assert parse_pharaoh([aligners.to_pharaoh(a) for a in alignments]) == tuple(alignments)


@pytest.mark.parametrize("line", ["0-0 1", "0-0 -1-2", "a-b", "1--2", "0?1", "0-0,1-1", "²-1"])
def test_malformed_pharaoh_lines_are_refused(line: str) -> None:
    fails(
        DataError,
        r"links.txt: line 2: expected links such as 0-0 2-1",
        parse_pharaoh,
        ["0-0", line],
        name="links.txt",
    )


def test_given_alignments_must_fit_the_translations() -> None:
    given_ones = GivenAlignments(parse_pharaoh(["0-0", "1-1"]), "links.txt")
    assert given_ones.align(["a", "a b"], ["x", "x y"]) == (((0, 0),), ((1, 1),))
    refuses("links.txt: expected one line of alignments per.*got 2", given_ones.align, ["a"], ["x"])
    refuses(
        r"line 2: expected links between 1 source and 2.*got 1-1",
        given_ones.align,
        ["a", "a"],
        ["x", "x y"],
    )
    others = GivenAlignments(parse_pharaoh(["0-0", "1-0"]))
    assert given_ones.signature_name != others.signature_name


def test_aligners_are_found_by_name() -> None:
    assert isinstance(find_aligner("fast_align"), aligners.Aligner)
    assert find_aligner(own := GivenAlignments(())) is own
    fails(UnknownNameError, r"'fastalign'; did you mean 'fast_align'", find_aligner, "fastalign")
    for wrong in (3, FastAlign):
        with pytest.raises(InputError, match="aligner: expected a name"):
            find_aligner(wrong)  # type: ignore[arg-type]


def test_eflomal_is_asked_for_forward_links(monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeAligner:
        def align(self, left: Any, right: Any, links_filename_fwd: str, quiet: bool) -> None:
            assert (left, right, quiet) == (["the house", "a_b c"], ["das Haus", "x y"], True)
            Path(links_filename_fwd).write_text("0-0 1-1\n\n", encoding="ascii")

    monkeypatch.setitem(sys.modules, "eflomal", SimpleNamespace(Aligner=FakeAligner))
    found = Eflomal().align(["the house", " ", "a\u00a0b c"], ["das Haus", "x", "x y"])
    assert found == [((0, 0), (1, 1)), (), ()]
    assert Eflomal().align([""], [""]) == [()]


def test_missing_eflomal_is_named_with_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Mock(side_effect=importlib.metadata.PackageNotFoundError("eflomal"))
    monkeypatch.setitem(sys.modules, "eflomal", None)
    monkeypatch.setattr(importlib.metadata, "version", absent)
    message = "Install it with: pip install eflomal"
    fails(MissingDependencyError, message, Eflomal().align, ["a"], ["b"])
    fails(MissingDependencyError, message, getattr, Eflomal(), "signature_name")


BUILT_IN = ("ar", "de", "he", "pt", "ru", "uk")


def gender(lang: str, phrase: str, text: str = "", position: int = 0, word: str = "doctor") -> str:
    tokens = tuple(space_tokens(phrase))
    asked = Phrase(tokens, position if tokens else -1, text or phrase, word)
    return gender_predictor(lang).predict(asked)


@cases(
    ("die Ärztin", "Sie sah die Ärztin.", 2, "doctor", "female"),
    ("ein", "Ein Arzt kam.", 0, "doctor", "female"),  # "ein" ends in "in"
    ("dem Arzt,", "Sie gab es dem Arzt, weil er kam.", 3, "doctor", "male"),
    ("die Pflegekraft", "Er sah die Pflegekraft.", 2, "nursing staff", "female"),
    ("der Pfleger", "Der Pfleger kam.", 0, "nurse", "female"),
    ("Der Pfleger", "Der Pfleger kam.", 0, "The Nurse", "female"),
    ("", "Die Ärztin kam.", -1, "doctor", "male"),
    ("Arzt", "Arzt kam.", 0, "doctor", "male"),
    ("Kind", "Das Kind kam.", 1, "child", "neutral"),
    # "Die" and "er" are equally near; "den" does not count
    ("Arzt", "Die Frau sah Arzt durch den er", 3, "doctor", "female"),
    # commas move "er" away, though it is the next word
    ("Arzt", "Die, ja, nein, Arzt er", 3, "doctor", "female"),
    # what Moses writes for a hyphen is one token, as is a word with hyphens
    ("Minister", "Die UNO @-@ Minister sagte ihr", 3, "minister", "neutral"),
    ("Vor-Ort-Rat", "Der gute Vor-Ort-Rat ihr", 2, "advisor", "neutral"),
    ("Check-in-Pfleger", "Der Check-in-Pfleger", 1, "carer", "male"),
)
def test_german_gender_is_read_from_article_and_noun(
    phrase: str, translation: str, position: int, word: str, expected: str
) -> None:
    assert gender("de", phrase, translation, position, word) == expected


@cases(
    ("ru", ["врач", "врача уборщица"], "male"),  # a tie goes to the first word
    ("ru", ["Уборщица"], "female"),
    ("ru", ["потому"], "neutral"),
    ("ru", [""], UNKNOWN),
    ("uk", ["лікарка"], "female"),
    ("uk", ["лікар"], "male"),
    ("he", ["הרופאה", "האחות."], "female"),
    ("he", ["הרופא", "את הרופא", "&quot; הרופא @-@"], "male"),
    ("he", ['הסמנכ"ל ארה"ב'], "male"),  # the mark of an acronym does not end a word
    ("he", [""], UNKNOWN),
    ("pt", ["a médica", "à gerente", "o da supervisora", "a &quot;médica&quot;"], "female"),
    ("pt", ["a\N{NO-BREAK SPACE}motorista", "médica\N{ZERO WIDTH SPACE}"], "female"),
    ("pt", ["A carpinteiro"], "female"),  # a capital begins a sentence: the article
    ("pt", ["a carpinteiro", "a alguém"], "male"),  # the preposition
    ("pt", ["o médico,", "o caixa"], "male"),  # the determiner decides
    ("pt", ["gerente"], "male"),  # the generic form
    ("pt", ["o dono da casa"], "male"),  # a complement says nothing of the person
    ("pt", ["que a", ",", "", "&apos; @-@ &quot;"], UNKNOWN),  # escapes of Moses are no nouns
    ("ar", ["الطبيبة", "طبيبﺔ"], "female"),
    ("ar", ["الطبيب"], "male"),
    ("ar", [""], UNKNOWN),
)
def test_gender_rules_read_the_phrase(lang: str, phrases: list[str], expected: str) -> None:
    assert {phrase: gender(lang, phrase) for phrase in phrases} == dict.fromkeys(phrases, expected)


@pytest.mark.parametrize("lang", BUILT_IN)
@given(st.lists(st.text(min_size=1), max_size=4).map(tuple), st.text(), st.text())
def test_any_text_is_read(lang: str, phrase: tuple[str, ...], translation: str, word: str) -> None:
    asked = Phrase(phrase, 0 if phrase else -1, translation, word)
    assert gender_predictor(lang).predict(asked) in (*GENDERS, UNKNOWN)


@pytest.mark.parametrize("lang", BUILT_IN)
def test_the_signature_names_the_morphology_used(lang: str) -> None:
    name = gender_predictor(lang).signature_name
    assert (
        name.startswith("pymorphy3-") and f"+pymorphy3-dicts-{lang}-" in name
        if lang in ("ru", "uk")
        else name == "rules"
    )


def test_languages_without_rules_are_refused() -> None:
    assert GENDER_LANGUAGES == ("ar", "de", "es", "fr", "he", "it", "pt", "ru", "uk")
    fails(
        UnknownNameError, r"unknown target language 'cs'.*Known: ar, de, es", gender_predictor, "cs"
    )
    refuses(
        r"spacy_model: expected none for de, .*only es, fr, it",
        gender_predictor,
        "de",
        spacy_model="de_core_news_sm",
    )


WORDS = {"la": "Fem", "doctora": "Fem", "el": "Masc", "médico": "Masc", "lo": "Neut"}


def _token(text: str) -> SimpleNamespace:
    morph = {"Gender": [WORDS[text]]} if text in WORDS else {}
    return SimpleNamespace(text=text, pos_="DET" if text == "au" else "NOUN", morph=morph)


@pytest.fixture
def spacy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def load(name: str, exclude: list[str]) -> Mock:
        if not name.endswith("core_news_sm"):
            raise OSError(f"[E050] Can't find model '{name}'.")
        meta = {"lang": name[:2], "name": "core_news_sm", "version": "3.8.0"}
        return Mock(side_effect=lambda s: [*map(_token, s.split())], lang=name[:2], meta=meta)

    fake = SimpleNamespace(load=load, __version__="3.8.0")
    monkeypatch.setitem(sys.modules, "spacy", fake)
    romance.predictor.cache_clear()
    yield fake
    romance.predictor.cache_clear()


@cases(
    ("es", ["la doctora", "la médico"], "female"),  # a tie goes to the first
    ("es", ["el médico"], "male"),
    ("es", ["lo"], "neutral"),
    ("es", ["de", "", "au"], UNKNOWN),
    ("fr", ["au"], "male"),
    ("it", ["dell'avvocato"], "male"),
    ("fr", ["dell'avvocato"], UNKNOWN),
)
def test_romance_genders_by_spacy(lang: str, phrases: list[str], expected: str, spacy: Any) -> None:
    assert {phrase: gender(lang, phrase) for phrase in phrases} == dict.fromkeys(phrases, expected)


def test_the_spacy_pipeline_can_be_chosen(spacy: Any) -> None:
    assert gender_predictor("fr").signature_name == "spacy-3.8.0+fr_core_news_sm-3.8.0"
    fails(
        MissingDependencyError,
        r"'fr_core_news_lg'.*Install it with: python",
        gender_predictor,
        "fr",
        spacy_model="fr_core_news_lg",
    )
    refuses(
        r"expected a pipeline for fr.*got 'es_core_news_sm'",
        gender_predictor,
        "fr",
        spacy_model="es_core_news_sm",
    )


def test_missing_spacy_is_named_with_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    romance.predictor.cache_clear()
    fails(
        MissingDependencyError,
        r"pip .*spacy>=3\.7' && python -m spacy.* it",
        gender_predictor,
        "it",
    )


def test_a_dictionary_that_is_an_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", version)
    fails(
        MissingDependencyError,
        r"pymorphy3-dicts-uk.*\[ukrainian\]",
        east_slavic.predictor.__wrapped__,
        "uk",
    )
