"""The rows of a file of translations, in any format: plain lines, "source ||| translation" lines,
tables, JSON, replies of chat models in batches, XML and SGM of WMT.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf.data.files.batch_replies import reply_text
from cc_hf.data.files.wmt_files import is_wmt, wmt_segments
from cc_hf.errors import FileError, InputError, shown
from cc_hf.files import is_file
from cc_hf.languages import same_language
from cc_hf.reading import JSONL, Place, read_lines
from cc_hf.records import parse_objects
from cc_hf.schema import Example
from cc_hf.tables.markup import check_readable
from cc_hf.tables.rows import (
    ARRAYS,
    TABLES,
    XLSX,
    folded,
    header_cells,
    json_rows,
    parse_cells,
    read_rows,
    separator_of,
    sheets,
    stated_separator,
)

__all__ = ["TranslationRow", "read_translation_rows", "split_column"]

# Blanks begin behind something else, or a line of blanks alone would take quadratic time.
_BARS = re.compile(r"(?<!\s)\s+\|\|\|(?=\s|$)")
_JSON_LINE = re.compile(r'\s*\{\s*"')
_JSON_ARRAY = re.compile(r"\s*\[\s*(\{|$)")
_STANDARD = Path("-")
#: Columns that hold translations, with those of sources; the second pair is that of GEST's archive.
_COLUMNS = (("translation",), ("from", "to"))
_SOURCES = ("source", "sentence", "src", "from")
_IDS = ("id", "custom_id")
_EXPECTED = "translation (and source or id to match by)"
#: How the only column of translations may be called.
_HEADERS = {
    *("hyp", "hypotheses", "hypothesis", "machine translation", "mt", "output", "outputs"),
    *("prediction", "predictions", "system", "target", "targets", "text", "texts", "tgt", "to"),
    *("translated", "translation", "translations"),
}
_HEADERS_OF_SOURCES = {*_SOURCES, "original", "originals", "sources", "sentences"}
_MOST_WORDS = 2  # of a source whose translation may be a word such as "target"
_FEWEST_ROWS = 3  # by which a table without known columns is recognised
_NAME = re.compile(r"[^.!?;&|]{1,60}")
#: Columns that hold no translations, for advice.
_NO_TRANSLATIONS = {
    *(*_HEADERS_OF_SOURCES, *_IDS, "category", "correct_cues", "focus", "gold", "incorrect_cues"),
    *("gender", "position", "reference", "src_lang", "tgt_lang"),
}
# Python refuses to convert thousands of digits.
_NUMBERED = re.compile(r"(.*?)(\d{1,18})")


class TranslationRow(NamedTuple):
    """A translation, and what it belongs to: a source, an id, both, or the example at its place."""

    where: Place
    translation: str
    source: str | None = None
    id: str | None = None


def split_column(path: str | Path) -> tuple[Path, str | None]:
    """Return the file and the column, or system, that "FILE#COLUMN" names; None without one.

    Examples:
        >>> split_column("mt.txt")[1] is None
        True
    """
    text = str(path)
    # A file may have "#" in its name.
    if is_file(text) or "#" not in text:
        return Path(path), None
    for match in re.finditer("#", text):
        name = text[: match.start()]
        if is_file(name) or name == str(_STANDARD):
            return Path(name), text[match.end() :]
    name, _, column = text.partition("#")
    return Path(name), column


def read_translation_rows(
    path: Path, column: str | None, examples: Sequence[Example], lengths: Collection[int]
) -> list[TranslationRow]:
    """Read the rows of a file of translations.

    Args:
        column: the column of a table, the key of JSON objects (with dots between nested ones) or
            the system of a file of WMT that holds the translations; None for the usual ones.
    """
    suffix = path.suffix.lower()
    # First, since these are no text.
    if suffix in sheets():
        is_table = suffix == XLSX
        return _of_objects(read_rows(path), path, column, examples, is_table=is_table)
    lines = read_lines(path, keeps_end=True)
    if path == _STANDARD:
        path = Path("standard input")  # as messages name it
    beginning = "\n".join(lines[:100])
    if is_wmt(beginning):
        segments = wmt_segments("\n".join(lines), path, column)
        return [TranslationRow(*segment) for segment in segments]
    check_readable(beginning, path)
    first = next((line for line in lines if line.strip()), "")
    if suffix in ARRAYS or (suffix not in (*JSONL, *TABLES) and _JSON_ARRAY.match(first)):
        return _of_objects(json_rows("\n".join(lines), path), path, column, examples)
    # Whoever names the result of an evaluation by mistake would get an error about its lines.
    if first.strip() == "{" and suffix not in JSONL:
        raise InputError(
            f"{path}: expected translations, got a JSON document of several lines, such as the"
            " result of an evaluation; give a text with one translation per line, or JSONL"
        )
    if suffix in JSONL or _JSON_LINE.match(first):
        return _of_objects(parse_objects(lines, path), path, column, examples)
    lines = _without_end(lines, lengths)
    if suffix in TABLES or _is_header(first, "\t", column):
        return _of_table(path, lines, column, examples)
    if column is not None:
        raise FileError(path, f"expected a table with the column {column!r}, got plain lines")
    return _of_text(path, lines, examples)


def _without_end(lines: list[str], lengths: Collection[int]) -> list[str]:
    """Return lines without blank ones at the end, unless only with them is the number right."""
    n_written = max((i for i, line in enumerate(lines, 1) if line.strip()), default=0)
    if n_written not in lengths:
        n_written = min((n for n in lengths if n_written < n <= len(lines)), default=n_written)
    return lines[:n_written]


def _is_header(line: str, separator: str, column: str | None) -> bool:
    """Return whether a line has the names of several columns, one of them of the translations."""
    names = header_cells(line, _separator(line, separator, column))
    known = {*names, *map(folded, names)}
    if column is not None:
        return column in known
    return len(names) > 1 and any({*columns} <= known for columns in _COLUMNS)


def _separator(line: str, default: str, column: str | None) -> str:
    for columns in _COLUMNS if column is None else [[column]]:
        separator = separator_of(line, default, columns)
        if {*columns} <= {*map(folded, names := header_cells(line, separator)), *names}:
            return separator
    return default


def _of_table(
    path: Path, lines: list[str], column: str | None, examples: Sequence[Example]
) -> list[TranslationRow]:
    """Return the rows of a table, or of a table of one column, which needs no name."""
    default = "," if path.suffix.lower() == TABLES[0] else "\t"
    if lines and (stated := stated_separator(lines[0])):
        # A blank line in its place, so that messages count lines as the file does.
        default, lines = stated, ["", *lines[1:]]
    header = next((line for line in lines if line.strip()), "")
    separator = _separator(header, default, column)
    if column is not None or _is_header(header, separator, column):
        cells = parse_cells(lines, path, separator=separator)
        _, names = next(cells, (Place(path, 1), []))
        rows = ((where, dict(zip(names, texts, strict=True))) for where, texts in cells)
        return _of_objects(rows, path, column, examples, is_table=True)
    _check_other_separators(path, lines, separator)
    rows_of_cells = list(parse_cells(lines, path, separator=separator, has_names=False))
    if pairs := _pairs(rows_of_cells, examples):
        return pairs
    for where, texts in rows_of_cells:
        if len(texts) > 1:
            raise _several_cells(path, where, texts, rows_of_cells[0][1])
    rows_of_texts = [TranslationRow(where, "".join(texts)) for where, texts in rows_of_cells]
    return _without_header(rows_of_texts, path, examples)


def _pairs(
    rows: Sequence[tuple[Place, list[str]]], examples: Sequence[Example]
) -> list[TranslationRow]:
    """Return sources with translations of a table without names, known by its first source."""
    filled = [(where, cells) for where, cells in rows if any(cells)]
    if not filled or any(len(cells) != 2 for _, cells in filled):
        return []
    # Nothing else tells sources with translations from translations that have a separator.
    if filled[0][1][0] not in {example.source for example in examples}:
        return []
    return [TranslationRow(where, text, source=source) for where, (source, text) in filled]


def _several_cells(path: Path, where: Place, cells: list[str], names: list[str]) -> FileError:
    if len(names) > 1 and all(map(_NAME.fullmatch, names)):
        return FileError(where, _no_column(path, "columns", names))
    return FileError(
        where,
        f"expected one cell, as in a table of translations alone, got {len(cells)}; name the"
        " columns source and translation in the first line, or quote cells that hold separators",
    )


def _no_column(path: Path, what: str, names: Collection[str]) -> str:
    """Return what to do about a file without a known column."""
    others = [name for name in names if folded(name) not in _NO_TRANSLATIONS] or list(names)
    others.sort(key=lambda name: folded(name) not in _HEADERS)
    shown_names = ", ".join(str(name)[:40] for name in list(names)[:20])
    remedy = "; or quote cells that hold separators" if what == "columns" else ""
    return (
        f"expected {_EXPECTED}, got the {what} {shown_names}; say which one holds the"
        f" translations, such as {path}#{others[0]}{remedy}"
    )


def _check_other_separators(path: Path, lines: list[str], separator: str) -> None:
    """Refuse a table whose cells are separated by something else, and whose columns are unknown."""
    # Separated by commas, each line would be one cell, and be judged with the sources in it.
    lines = [line for line in lines if line.strip()]
    for mark in ";\t":
        names = header_cells(lines[0], mark) if lines else []
        if (
            mark != separator
            and len(lines) >= _FEWEST_ROWS
            and len(names) > 1
            and all(_NAME.fullmatch(name) for name in names)
            and {line.count(mark) for line in lines} == {len(names) - 1}
        ):
            raise FileError(Place(path, 1), _no_column(path, "columns", names))


def _without_header(
    rows: list[TranslationRow], path: Path, examples: Sequence[Example]
) -> list[TranslationRow]:
    """Return the rows of a file of one column without its name, which is known by its words."""
    first = folded(rows[0].translation) if rows else ""
    if first in ("translation", "to") and path.suffix.lower() in TABLES:
        return rows[1:]
    if not examples or len(examples[0].source.split()) <= _MOST_WORDS:
        return rows
    if first in _HEADERS_OF_SOURCES:
        # Sources are the likely mistake, and a model would judge them without complaint.
        raise FileError(
            rows[0].where, f"expected translations, got the header of sources {first!r}"
        )
    return rows[1:] if first in _HEADERS else rows


def _of_text(path: Path, lines: list[str], examples: Sequence[Example]) -> list[TranslationRow]:
    """Return the rows of plain lines, or of lines with "source ||| translation"."""
    paired = ["|||" in line for line in lines]
    if not any(paired):
        rows = [TranslationRow(Place(path, number), line) for number, line in enumerate(lines, 1)]
        return _without_header(rows, path, examples)
    rows = []
    for number, line in enumerate(lines, 1):
        where = Place(path, number)
        if not line.strip():
            continue
        if not paired[number - 1]:
            raise FileError(
                where,
                f'expected "source ||| translation", as on {sum(paired)} of the {len(lines)} lines,'
                f" got {line[:80]!r}",
            )
        parts = _BARS.split(line)
        if len(parts) != 2 or line.count("|||") != 1:
            raise FileError(
                where,
                'expected "source ||| translation", with blanks or tabs around the only |||, got'
                f" {line[:80]!r}; cut further columns off, or write JSONL with source and"
                " translation",
            )
        source, translation = parts
        rows.append(TranslationRow(where, translation.strip(), source=source.strip()))
    return rows


def _of_objects(
    rows: Iterator[tuple[Place, dict[str, Any]]],
    path: Path,
    column: str | None,
    examples: Sequence[Example],
    *,
    is_table: bool = False,
) -> list[TranslationRow]:
    """Return the rows of objects, or of a table; ids of a table count only without sources."""
    src_lang = examples[0].src_lang if examples else ""
    translated: list[TranslationRow] = []
    keys_of: dict[tuple[str, ...], dict[str, str]] = {}
    n_replies = 0
    for where, row in rows:
        names = tuple(row)
        if (keys := keys_of.get(names)) is None:
            # Rows mostly have the same keys. Of two that fold to one, the first counts, and an
            # exact name counts before both.
            keys = keys_of[names] = {folded(name): name for name in reversed(names)}
            keys.update((name, name) for name in names if name == folded(name))
        source, row_id = _value(row, keys, _SOURCES), _value(row, keys, _IDS)
        if column is not None:
            translation = _column_value(row, keys, column, where)
        elif "translation" in keys:
            translation = row[keys["translation"]]
        elif {"from", "to"} <= keys.keys():
            translation = row[keys["to"]]
        elif (translation := reply_text(row, where)) is not None:
            n_replies += 1
            row_id = row.get("custom_id")  # the server's own `id` means nothing here
        elif len(keys) == 1 and keys.keys() <= _HEADERS:
            translation = row[names[0]]
        else:
            raise FileError(where, _no_column(path, "keys", names))
        if isinstance(translation, Mapping):
            source, translation = _by_language(translation, src_lang, where)
        if not isinstance(translation, str):
            raise FileError(where, f"translation: expected a text, got {shown(translation)}")
        if source is not None and not isinstance(source, str):
            raise FileError(where, f"source: expected a text, got {shown(source)}")
        if is_table and source is not None:
            row_id = None
        translated.append(TranslationRow(where, translation, source, _id(row_id, where)))
    return _in_order(translated, len(examples)) if n_replies == len(translated) else translated


def _value(row: Mapping[str, Any], keys: Mapping[str, str], names: Sequence[str]) -> Any:
    return next((row[keys[name]] for name in names if name in keys), None)


def _column_value(
    row: Mapping[str, Any], keys: Mapping[str, str], column: str, where: Place
) -> Any:
    """Return the value of a column, or of a key within objects, with dots between."""
    if column in row:
        return row[column]
    if folded(column) in keys:
        return row[keys[folded(column)]]
    value: Any = row
    for key in column.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None:
        near = difflib.get_close_matches(column, list(row), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise FileError(where, f"expected a column {column!r}, {hint}got {shown(list(row))}")
    return value


def _by_language(texts: Mapping[str, Any], src_lang: str, where: Place) -> tuple[Any, Any]:
    """Return source and translation of texts by language, as the library `datasets` has them."""
    sources = [key for key in texts if same_language(key, src_lang)]
    others = [key for key in texts if key not in sources]
    if len(others) != 1 or len(sources) > 1:
        first = next(iter(texts), "")
        raise FileError(
            where,
            f"translation: expected a text, or one in {src_lang} and one in the other language, got"
            f" {shown(dict(texts))}; say which one, such as FILE#translation.{first}",
        )
    return texts[sources[0]] if sources else None, texts[others[0]]


def _id(value: Any, where: Place) -> str | None:
    """Return an id as a text; programs also write it as a number."""
    # pandas writes whole numbers as 1.0 where a row lacks one.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is not None and not isinstance(value, str):
        raise FileError(where, f"id: expected a text or a whole number, got {shown(value)}")
    return value


def _in_order(rows: list[TranslationRow], n_examples: int) -> list[TranslationRow]:
    """Return replies in the order of the numbers in their ids, such as request-1 to request-9."""
    matches = [_NUMBERED.fullmatch(row.id or "") for row in rows]
    # Servers return the replies of a batch in any order.
    numbers = {int(match[2]): row for match, row in zip(matches, rows, strict=True) if match}
    prefixes = {match[1] for match in matches if match}
    if len(numbers) != n_examples or len(rows) != n_examples or len(prefixes) != 1:
        return rows
    ordered = sorted(numbers)
    # A bare number is an id of the example; numbers with gaps count something else.
    if ordered[0] not in (0, 1) or ordered[-1] - ordered[0] != n_examples - 1 or prefixes == {""}:
        return rows
    return [numbers[number]._replace(id=None) for number in ordered]
