from __future__ import annotations

import itertools

import numpy as np

from cc_hf.text.pieces import piece_characters, token_spans
from tests.helpers.cases import cases


def texts(pieces: list[str], text: str) -> list[str]:
    return ["".join(text[place] for place in own) for own in piece_characters(pieces, text)]


def test_tokenizer_marks_are_not_part_of_the_text() -> None:
    for pieces in (
        ["▁The", "▁be", "d", "."],
        ["The</w>", "be", "d</w>", ".</w>"],
        ["The", "be@@", "d", "."],
        ["The", "be", "##d", "."],
        ["The", "Ġbe", "d", "."],
    ):
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
