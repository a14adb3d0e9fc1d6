"""The first sheet of a workbook of Excel (.xlsx), as texts. Formulas have the value that was stored
with them, and dates are the numbers by which Excel stores them.

Not by a library, of those that were tried: python-calamine makes a cell for each place up to the
last one, and ends the whole process where that is more than the memory; openpyxl takes three times
as long, alone and by pandas.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from cc_hf.errors import FileError
from cc_hf.reading import opened
from cc_hf.tables.markup import parse_xml

__all__ = ["read_sheet"]

_WORKBOOK, _LINKS, _STRINGS = "workbook.xml", "_rels/workbook.xml.rels", "sharedStrings.xml"
_FOLDER = "xl/"
_MOST_BYTES = 2**30  # of a part when it is unpacked: a small archive may hold any number of zeros
_MOST_COLUMNS = 2**14  # of Excel
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_FLAGS = {"0": "FALSE", "1": "TRUE"}


def read_sheet(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield number, from 1, and cells, "" if empty, of each row with cells of the first sheet."""
    with opened(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                strings = _shared_strings(archive, path)
                name = _first_sheet(archive, path)
                rows = _rows(_part(archive, name), f"{path}: {name}", strings)
        except (
            *(zipfile.BadZipFile, KeyError, OSError, RuntimeError, NotImplementedError),
            *(zlib.error, ValueError, IndexError),
        ) as error:
            reason = " ".join(str(error).split()).removeprefix(f"{path}: ")
            raise FileError(
                path,
                f"expected an Excel file, got one that cannot be read ({reason}); open it in Excel"
                " or LibreOffice and save it as CSV UTF-8",
            ) from None
    yield from rows


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise ValueError(f"{name} has more than {_MOST_BYTES:,} bytes")
    with archive.open(name) as file:
        raw = file.read(_MOST_BYTES + 1)
    if len(raw) > _MOST_BYTES:
        raise ValueError(f"{name} has more than {_MOST_BYTES:,} bytes")
    return raw


def _first_sheet(archive: zipfile.ZipFile, path: Path) -> str:
    """Return the name of the part with the first sheet, by the workbook's list of sheets."""
    sheets: list[str] = []
    links: dict[str, str] = {}

    def add_sheet(name: str, attributes: Mapping[str, str], _: object) -> None:
        if name == "sheet":
            sheets.append(next(v for k, v in attributes.items() if k.endswith(":id")))

    def add_link(name: str, attributes: Mapping[str, str], _: object) -> None:
        if name == "Relationship":
            links[attributes["Id"]] = attributes["Target"]

    _parse(archive, _FOLDER + _WORKBOOK, path, add_sheet)
    _parse(archive, _FOLDER + _LINKS, path, add_link)
    target = links[sheets[0]]
    return target.removeprefix("/") if target.startswith("/") else _FOLDER + target


def _parse(
    archive: zipfile.ZipFile,
    name: str,
    path: Path,
    start: Callable[[str, Mapping[str, str], object], None],
) -> None:
    parse_xml(
        _part(archive, name),
        f"{path}: {name}",
        start=start,
        end=lambda _: None,
        text=lambda _: None,
    )


def _shared_strings(archive: zipfile.ZipFile, path: Path) -> list[str]:
    if _FOLDER + _STRINGS not in archive.namelist():
        return []
    strings: list[str] = []
    pieces: list[str] = []
    is_text = is_phonetic = False

    def start(name: str, _: Mapping[str, str], __: object) -> None:
        nonlocal is_text, is_phonetic
        is_phonetic = is_phonetic or name == "rPh"  # how a text is read aloud
        is_text = name == "t" and not is_phonetic

    def end(name: str) -> None:
        nonlocal is_text, is_phonetic
        is_text = False
        if name == "rPh":
            is_phonetic = False
        if name == "si":
            strings.append(_unescaped("".join(pieces)))
            pieces.clear()

    def text(piece: str) -> None:
        if is_text:
            pieces.append(piece)

    name = _FOLDER + _STRINGS
    parse_xml(_part(archive, name), f"{path}: {name}", start=start, end=end, text=text)
    return strings


def _rows(raw: bytes, where: str, strings: list[str]) -> list[tuple[int, list[str]]]:
    rows: list[tuple[int, list[str]]] = []
    pieces: list[str] = []
    cells: list[str] = []
    columns: dict[str, int] = {}  # letters of a column -> its number
    kind, column, is_text = "", -1, False

    def start(name: str, attributes: Mapping[str, str], _: object) -> None:
        nonlocal kind, column, is_text, cells
        is_text = name in ("v", "t")
        if name == "c":
            letters = attributes.get("r", "").rstrip("0123456789")
            if letters and letters not in columns:
                columns[letters] = _column(letters)
            column = columns[letters] if letters else column + 1
            kind = attributes.get("t", "n")
        elif name == "row":
            cells, column = [], -1
            before = rows[-1][0] if rows else 0
            rows.append((int(attributes.get("r", before + 1)), cells))

    def end(name: str) -> None:
        nonlocal is_text
        is_text = False
        if name == "c" and pieces:
            cells.extend([""] * (column + 1 - len(cells)))
            text = "".join(pieces)
            cells[column] = strings[int(text)] if kind == "s" else _value(text, kind)
            pieces.clear()

    def text(piece: str) -> None:
        if is_text:
            pieces.append(piece)

    parse_xml(raw, where, start=start, end=end, text=text)
    return [row for row in rows if any(row[1])]


def _column(letters: str) -> int:
    """Return the 0-based number of a column such as "AB"."""
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - ord("A") + 1
    if not 1 <= column <= _MOST_COLUMNS:
        raise ValueError(f"{letters!r} is no column")
    return column - 1


def _value(text: str, kind: str) -> str:
    if kind == "b":
        return _FLAGS.get(text, text)
    return text.removesuffix(".0") if kind == "n" else _unescaped(text)


def _unescaped(text: str) -> str:
    """Return a text with the characters that XML cannot hold, which Excel writes as "_x000D_"."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text
