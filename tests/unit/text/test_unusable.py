from __future__ import annotations

from cc_hf.text.unusable import unusable_rows, unusable_texts
from tests.helpers.cases import cases

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
)
def test_unusable_translations_are_counted(texts: list[str], expected: dict[str, int]) -> None:
    rows = unusable_rows(texts, _SOURCES, "de")
    assert {name: len(found) for name, found in rows.items() if found} == expected


def test_what_cannot_be_told_is_not_counted() -> None:
    assert "n_without_words" not in unusable_rows(["xqz"], ["a"], "")
    assert "n_without_words" not in unusable_rows(["xqz"], ["a"], "zh")
    assert "n_with_source" not in unusable_rows(["xqz"], ["a"], "de", are_texts=False)


def test_rows_of_one_source_may_have_one_translation() -> None:
    assert not unusable_rows(["Er ging."] * 5, ["He left."] * 5, "de")["n_repeated"]


def test_each_kind_that_occurs_is_said_with_its_number() -> None:
    counts = {"n_with_source": 0, "n_repeated": 1200, "n_blank": 3, "n_without_words": 24, "n": 9}
    found = unusable_texts(counts, 2400)  # dictionaries do not know the words of every sentence
    assert [text.split(" translations")[0] for text in found] == ["1,200 of 2,400", "3 of 2,400"]
