import importlib.metadata
import itertools
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_hf.errors import DataError, MissingDependencyError, UnknownNameError
from cc_hf.text import alignment as aligners
from cc_hf.text import lemmatization
from cc_hf.text.alignment import (
    Eflomal,
    FastAlign,
    GivenAlignments,
    find_aligner,
    parse_pharaoh,
)
from cc_hf.text.fast_align import fast_align
from cc_hf.text.other_languages import frequent_words
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
    return [
        "".join(text[index] for index in positions) for positions in piece_characters(pieces, text)
    ]


@cases(
    # the marks of tokenizers are no part of the text
    (["▁The", "▁be", "d", "."], "The bed.", ["The", "be", "d", "."]),
    (["The</w>", "be", "d</w>", ".</w>"], "The bed.", ["The", "be", "d", "."]),
    (["The", "be@@", "d", "."], "The bed.", ["The", "be", "d", "."]),
    (["The", "be", "##d", "."], "The bed.", ["The", "be", "d", "."]),
    (["The", "Ġbe", "d", "."], "The bed.", ["The", "be", "d", "."]),
    # pieces that precede the text
    ([">>deu<<", "▁translate", ":", "▁The", "▁bed"], "The bed", ["The", "bed"]),
    # normalised and unknown characters
    (["▁He", "▁said", "<unk>", "it", "<unk>"], "He said “it”", ["He", "said", "“", "it", "”"]),
    (["▁1", "2", "▁fi", "n"], "½ ﬁn", ["ﬁ", "n"]),
    (["&quot;</w>", "it</w>", "&apos;s</w>"], "\"it's", ['"', "it", "'s"]),
)
def test_pieces_get_their_part_of_the_text(
    pieces: list[str], text: str, expected: list[str]
) -> None:
    assert texts(pieces, text)[-len(expected) :] == expected


@cases(
    (["▁it", "▁", "it", "▁it", ""], "it it it", [(0, 1), (), (3, 4), (6, 7), ()]),
    ([""], "", [()]),
    ([], "a", []),
)
def test_repeated_words_get_separate_positions(pieces: list[str], text: str, places: Any) -> None:
    assert piece_characters(pieces, text) == places


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
    assert {name: len(actual) for name, actual in rows.items() if actual} == expected


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
    words |= dict.fromkeys(frequent_words("in_dictionary")["de"], True)
    assert {word: lemmatization.is_known.__wrapped__(word, "de") for word in words} == words


def test_listed_words_leave_the_dictionary_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cc_hf.text.unusable.is_known", fails)
    assert not unusable_rows(["Der Lehrer ermutigte jemanden."], ["a"], "de")["n_without_words"]


def test_each_kind_that_occurs_is_said_with_its_number() -> None:
    actual = unusable_texts(
        {"n_with_source": 0, "n_repeated": 1200, "n_blank": 3, "n_without_words": 24, "n": 9}, 2400
    )  # dictionaries do not know the words of every sentence
    assert [text.split(" translations")[0] for text in actual] == ["1,200 of 2,400", "3 of 2,400"]


_SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1, max_size=7)
_PAIRS = st.lists(st.tuples(_SENTENCE, _SENTENCE), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(_PAIRS)
def test_links_are_those_of_the_plain_model(pairs: list[tuple[list[str], list[str]]]) -> None:
    actual = fast_align([source for source, _ in pairs], [target for _, target in pairs])
    for alignment, rows in zip(actual, plain_probabilities(pairs), strict=True):
        links = {j: i + 1 for i, j in alignment}
        assert len(links) == len(alignment), "a target token has at most one link"
        for j, row in enumerate(rows):
            assert row[links.get(j, 0)] >= max(row) * (1 - 1e-6)


@settings(deadline=None)
@given(_PAIRS, st.integers(0, 8))
def test_pairs_with_an_empty_side_get_no_links_and_change_no_others(pairs: Any, index: int) -> None:
    alone = fast_align(*([list(side) for side in zip(*pairs, strict=True)]))
    mixed = [*pairs[:index], (["a"], []), ([], ["b"]), *pairs[index:]]
    actual = fast_align(*([list(side) for side in zip(*mixed, strict=True)]))
    start = min(index, len(pairs))
    assert actual[start : start + 2] == [(), ()]
    assert actual[:start] + actual[start + 2 :] == alone


def test_corresponding_words_are_linked() -> None:
    words = [(f"w{a}", f"w{b}") for a in range(6) for b in range(6) if a != b]
    targets = [f"{b} {a}".replace("w", "v") for a, b in words]
    aligned = FastAlign().align([f"{a} {b}" for a, b in words], targets)
    assert [aligners.to_pharaoh(a) for a in aligned] == ["1-0 0-1"] * 30


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
@settings(deadline=None)
def test_any_text_can_be_aligned(pairs: list[tuple[str, str]]) -> None:
    aligned = FastAlign().align([a for a, _ in pairs], [b for _, b in pairs])
    for alignment, (source, translation) in zip(aligned, pairs, strict=True):
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
    assert given_ones.align(["a", "a b"], ["x", "x\ty"]) == (((0, 0),), ((1, 1),))
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
    assert find_aligner(aligner := GivenAlignments(())) is aligner
    fails(UnknownNameError, r"'fastalign'; did you mean 'fast_align'", find_aligner, "fastalign")
    for wrong in (3, FastAlign):
        refuses("aligner: expected a name", find_aligner, wrong)


def test_eflomal_is_asked_for_forward_links(monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeAligner:
        def align(self, left: Any, right: Any, links_filename_fwd: str, quiet: bool) -> None:
            assert (left, right, quiet) == (["the house", "a_b c"], ["das Haus", "x y"], True)
            Path(links_filename_fwd).write_text("0-0 1-1\n\n", encoding="ascii")

    monkeypatch.setitem(sys.modules, "eflomal", SimpleNamespace(Aligner=FakeAligner))
    actual = Eflomal().align(["the house", " ", "a\u00a0b c"], ["das Haus", "x", "x y"])
    assert actual == [((0, 0), (1, 1)), (), ()]
    assert Eflomal().align([""], [""]) == [()]


def test_missing_eflomal_is_named_with_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Mock(side_effect=importlib.metadata.PackageNotFoundError("eflomal"))
    monkeypatch.setitem(sys.modules, "eflomal", None)
    monkeypatch.setattr(importlib.metadata, "version", absent)
    message = "Install it with: pip install eflomal"
    fails(MissingDependencyError, message, Eflomal().align, ["a"], ["b"])
    fails(MissingDependencyError, message, getattr, Eflomal(), "signature_name")
