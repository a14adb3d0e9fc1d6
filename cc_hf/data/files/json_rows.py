"""JSON and JSON-lines files of upstream repositories, row by row. Unexpected content raises a
DataError that names the file and the line or item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cc_hf.data.files.text_files import read_text
from cc_hf.errors import DataError, InputError
from cc_hf.files import parse_json
from cc_hf.normalization import is_blank

__all__ = ["JsonRow", "json_items", "json_lines", "json_value", "text_of"]

#: A JSON object, as parsed.
JsonRow = Mapping[str, Any]


def json_lines(path: Path) -> Iterator[tuple[str, JsonRow]]:
    """Yield the object on each line of a file of JSON objects.

    Yields:
        Pairs of "FILE: line 1", for messages, and the object.

    Raises:
        DataError: for a file that does not exist or is not UTF-8, or a line that is not an object.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "rows.jsonl")
        ...     _ = path.write_text('{"qID": "a-1"}\\n{"qID": "a-2"}\\n', encoding="utf-8")
        ...     [row["qID"] for _, row in json_lines(path)]
        ['a-1', 'a-2']
    """
    for number, line in enumerate(read_text(path).rstrip("\n").split("\n"), 1):
        where = f"{path}: line {number}"
        yield where, _object(_parsed(line, where), where)


def json_items(path: Path) -> Iterator[tuple[str, JsonRow]]:
    """Yield each item of a file that is a JSON list of objects, counted from 0 as ids are.

    Yields:
        Pairs of "FILE: item 0", for messages, and the object.

    Raises:
        DataError: for a file that does not exist or is not UTF-8, not JSON or not a list, or an
            item that is not an object.
    """
    items = json_value(path)
    if not isinstance(items, list):
        raise DataError(f"{path}: expected a list of objects, got {_shown(items)}")
    for number, item in enumerate(items):
        where = f"{path}: item {number}"
        yield where, _object(item, where)


def json_value(path: Path) -> Any:
    """Return the value of a file that is one JSON value.

    Raises:
        DataError: for a file that does not exist or is not UTF-8 or not JSON.
    """
    return _parsed(read_text(path), str(path))


def text_of(row: JsonRow, key: str, where: str, *, default: str | None = None) -> str:
    """Return the text under a key, unchanged.

    Args:
        where: the beginning of the message, such as file and line.
        default: the value for a missing key or null. With a default, an integer is accepted as
            text.

    Raises:
        DataError: for a missing key, null or blank text where there is no default, and for anything
            that is not text.

    Examples:
        >>> row = {"sentence": "It broke.", "number": 7}
        >>> text_of(row, "sentence", "line 1"), text_of(row, "number", "line 1", default="")
        ('It broke.', '7')
    """
    value = row.get(key)
    if default is not None:
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    if key not in row:
        raise DataError(
            f"{where}: expected the key {key!r}, got {', '.join(map(repr, row)) or 'no keys'}"
        )
    if not isinstance(value, str) or (default is None and is_blank(value)):
        raise DataError(f"{where}: {key}: expected text, got {_shown(value)}")
    return value


def _parsed(text: str, where: str) -> Any:
    try:
        return parse_json(text)
    except InputError as error:
        raise DataError(f"{where}: expected JSON, got {_shown(text)} ({error})") from None


def _object(value: Any, where: str) -> JsonRow:
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected an object, got {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    text = "null" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
