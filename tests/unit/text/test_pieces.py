from __future__ import annotations

from cc_hf.text.pieces import piece_characters


def texts(pieces: list[str], text: str) -> list[str]:
    return ["".join(text[place] for place in own) for own in piece_characters(pieces, text)]


def test_marks_of_the_tokenizers_are_no_text() -> None:
    for pieces in (
        ["▁The", "▁be", "d", "."],
        ["The</w>", "be", "d</w>", ".</w>"],
        ["The", "be@@", "d", "."],
        ["The", "be", "##d", "."],
        ["The", "Ġbe", "d", "."],
    ):
        assert texts(pieces, "The bed.") == ["The", "be", "d", "."]


def test_every_occurrence_has_its_own_place() -> None:
    assert piece_characters(["▁it", "▁", "it", "▁it", ""], "it it it") == [
        (0, 1),
        (),
        (3, 4),
        (6, 7),
        (),
    ]


def test_what_stands_before_the_text_is_none_of_it() -> None:
    assert texts([">>deu<<", "▁translate", ":", "▁The", "▁bed"], "The bed")[3:] == ["The", "bed"]


def test_changed_characters() -> None:
    assert texts(["▁He", "▁said", "<unk>", "it", "<unk>"], "He said “it”") == [
        "He",
        "said",
        "“",
        "it",
        "”",
    ]
    assert texts(["▁1", "2", "▁fi", "n"], "½ ﬁn")[2:] == ["ﬁ", "n"]
    assert texts(["&quot;</w>", "it</w>", "&apos;s</w>"], "\"it's") == ['"', "it", "'s"]


def test_no_text() -> None:
    assert piece_characters([""], "") == [()]
    assert piece_characters([], "a") == []
