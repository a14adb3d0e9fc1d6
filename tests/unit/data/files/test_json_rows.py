from __future__ import annotations

from pathlib import Path

import pytest

from cc_hf.data.files.json_rows import json_items, json_lines, text_of
from cc_hf.errors import DataError
from tests.helpers.cases import cases_by_message


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('\ufeff{"a": "b\u2028c"}\r\n{"a": "d"}\n\n'.encode())
    assert [(place, row["a"]) for place, row in json_lines(path)] == [
        (f"{path}: line 1", "b\u2028c"),
        (f"{path}: line 2", "d"),
    ]


@cases_by_message(
    ("content", "message"),
    [
        (b"", r"a: line 1: expected JSON, got ''"),
        (b'{"a": 1}\n\n{"a": 1}', r"a: line 2: expected JSON, got ''"),
        (b'{"a": 1}\n{"a": ', r"a: line 2: expected JSON, got .* \(Expecting value"),
        (b"[1]", r"a: line 1: expected an object, got \[1\]"),
        (b"null", r"a: line 1: expected an object, got null"),
        (b"\xff", r"a: line 1: expected UTF-8, got the byte 0xff"),
    ],
)
def test_bad_lines_are_refused_naming_the_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(json_lines(tmp_path / "a"))


@cases_by_message(
    ("content", "message"),
    [
        ("[{}, 1]", "a: item 1: expected an object, got 1"),
        ('{"a": 1}', "a: expected a list of objects, got {'a': 1}"),
        ("[{}", "a: expected JSON, got"),
    ],
)
def test_bad_lists_are_refused_naming_the_item(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        list(json_items(tmp_path / "a"))


def test_text_fields_are_checked_and_may_have_a_default() -> None:
    row = {"a": " x ", "n": None, "i": 7, "b": True, "e": " ", "long": ["y" * 200]}
    assert text_of(row, "a", "p") == " x "
    assert [text_of(row, key, "p", default="-") for key in ("a", "n", "i", "e", "missing")] == [
        " x ",
        "-",
        "7",
        " ",
        "-",
    ]
    for key, message in (
        ("n", "n: expected text, got null"),
        ("i", "got 7"),
        ("e", "got ' '"),
        ("missing", "expected the key 'missing', got 'a', 'n'"),
    ):
        with pytest.raises(DataError, match=f"p: .*{message}"):
            text_of(row, key, "p")
    with pytest.raises(DataError, match="b: expected text, got True"):
        text_of(row, "b", "p", default="")
    with pytest.raises(DataError, match=r"got \['y{78}…$"):
        text_of(row, "long", "p")
    with pytest.raises(DataError, match="expected the key 'a', got no keys"):
        text_of({}, "a", "p")
