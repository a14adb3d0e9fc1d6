from __future__ import annotations

from pathlib import Path

import pytest

from cc_hf.errors import DataError, FileError, InputError
from cc_hf.reading import JSONL, TEXT, Each, NonEmpty, read_json, read_rows, text_of
from tests.helpers.cases import cases


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('\ufeff{"a": "b\u2028c"}\r\n\n{"a": "d"}\n\n'.encode())
    assert [(str(place), row["a"]) for place, row in read_rows(path)] == [
        (f"{path}: line 1", "b\u2028c"),
        (f"{path}: line 3", "d"),
    ]


def test_rows_are_read_by_the_suffix(tmp_path: Path) -> None:
    for name, text in (
        ("a.jsonl", '{"a": "b", "c": "d\\n\\"e\\""}\n'),
        ("a.csv", 'a,c\nb,"d\n""e"""\n,\n'),
        ("a.TSV", ' a\tc \r\nb\t"d\r\n""e"""\r\n\r\n'),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        rows = [row for _, row in read_rows(tmp_path / name, form={"a": TEXT, "x?": None})]
        assert rows == [{"a": "b", "c": 'd\n"e"'}]


_OBJECT = "expected a JSON object"


@cases(
    ("a", b'{"a": "1"}\n\n{"a": ', rf"a: line 3: {_OBJECT}, got .* \(Expecting valu"),
    ("a", b"[1]", rf"a: line 1: {_OBJECT}, got \[1\]; write a"),
    ("a", b"null", f"a: line 1: {_OBJECT}, got None; write a"),
    ("a", b"{}", r"a: line 1: expected the key 'a', got {}; write a"),
    ("a", b'{"a": 1}', r"a: line 1: a: expected a text, got 1; write a"),
    ("a", b"{}\n\xff", r"a: line 1: expected the key"),
    (
        "a",
        b'{"a": "1"}\n\xff',
        "a: line 2: expected UTF-8, got the byte 0xff; convert the file",
    ),
    ("a.tsv", b"", "a.tsv: expected a line of names and at least one row, got an empty file"),
    ("a.tsv", b"b\tc\n", r"a.tsv: line 1: expected columns named a, got \['b', 'c'\]"),
    ("a.tsv", b"a,b\n1,2\n", "a.tsv: line 1: the columns seem to be separated by ','"),
    ("a.csv", b"a,a\n1,2\n", r"a.csv: line 1: expected different names, got \['a', 'a'\]"),
    ("a.csv", b"a,b\n\n1\n", "a.csv: line 3: expected 2 cells, one for each name, got 1"),
    ("a.csv", b'a,b\n"1" x,2\n', "a.csv: line 2: expected cells that can .* quote cells"),
    ("a.csv", b'a,b\n"1,2\n', "a.csv: line 2: expected cells that can be read"),
)
def test_bad_rows_are_refused_by_line(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=f"^{tmp_path}/{message}"):
        list(read_rows(tmp_path / name, form={"a": TEXT}, remedy="write a"))


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    for name, message in (("b", "file not found"), (".", "cannot be read: Is a directory")):
        with pytest.raises(FileError, match=f"^{tmp_path / name}: {message}$"):
            list(read_rows(tmp_path / name, JSONL))
    with pytest.raises(FileError, match="b: cannot be read: embedded null byte"):
        read_json(tmp_path / "a\0b", "JSON")


@cases(
    ("[", "a: expected names, got '[' (Expecting value: line 1 column 2 (char 1)); ask"),
    ("[]", "a: expected names; expected an object, got []; ask"),
    ("{}", "a: expected names; expected at least one item, got {}; ask"),
    ('{"b": ["c", 1]}', "a: expected names; b: item 2: expected a text, got 1; ask"),
)
def test_other_json_is_refused_naming_the_place(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(content, encoding="utf-8")
    with pytest.raises(FileError) as refused:
        read_json(tmp_path / "a", "names", NonEmpty(Each([TEXT])), remedy="ask")
    assert str(refused.value) == f"{tmp_path}/{message}"
    assert isinstance(refused.value, InputError)


def test_text_fields_are_checked_and_may_have_a_default() -> None:
    row = {"a": " x ", "n": None, "i": 7, "b": True, "e": " ", "long": ["y" * 200]}
    assert text_of(row, "a", "p") == " x "
    texts = [text_of(row, key, "p", default="-") for key in ("a", "n", "i", "e", "missing")]
    assert texts == [" x ", "-", "7", " ", "-"]
    for key, default, message in (
        ("n", None, "p: .*n: expected text, got None"),
        ("i", None, "p: .*got 7"),
        ("e", None, "p: .*got ' '"),
        ("missing", None, r"p: .*expected the key 'missing', got \['a', 'n'"),
        ("b", "", "b: expected text, got True"),
        ("long", None, r"got \['y{198}\.\.\.$"),
    ):
        with pytest.raises(DataError, match=message):
            text_of(row, key, "p", default=default)
    with pytest.raises(DataError, match=r"expected the key 'a', got \[\]"):
        text_of({}, "a", "p")
