"""The reader of tables: cells between commas, semicolons or tabs, sheets, Parquet, JSON."""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.errors import FileError, InputError, in_file, shown
from cc_hf.reading import JSONL, Place, opened, read_text, stream_lines
from cc_hf.records import form_of, parse_json, parse_objects, read_value
from cc_hf.tables.excel import read_sheet
from cc_hf.tables.markup import check_readable

__all__ = [
    "ARRAYS",
    "LIST_COLUMN",
    "PARQUET",
    "TABLES",
    "XLSX",
    "folded",
    "header_cells",
    "json_rows",
    "parquet_batches",
    "parquet_rows",
    "parse_cells",
    "read_cells",
    "read_rows",
    "separator_of",
    "sheet_rows",
    "sheets",
    "stated_separator",
    "suffixes",
]

#: Suffixes of files of rows.
TABLES = (".csv", ".tsv")
ARRAYS = (".json",)
XLSX = ".xlsx"
PARQUET = ".parquet"
_TEXTS = (*TABLES, *ARRAYS, *JSONL)
#: The column of a JSON array of texts.
LIST_COLUMN = "text"

_SEPARATORS = (",", ";", "\t")
_DEFAULTS = {".csv": ","}  # other tables of lines have tabs
_LINE_OF_EXCEL = re.compile(r"sep=(.)", re.IGNORECASE)
_WRAPPERS = ("data", "examples", "rows", "translations")  # keys of an object that holds the rows
_ROWS_AT_ONCE = 8192


def sheets() -> tuple[str, ...]:
    """Return the suffixes of files of rows that are no text, one for each registered "reader"."""
    registered = {f".{name}" for name in registry.names("reader")} - {*_TEXTS}
    return tuple(dict.fromkeys((XLSX, PARQUET, *sorted(registered))))


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of all files of rows."""
    return (*TABLES, *sheets(), *ARRAYS, *JSONL)


def read_rows(
    path: Path,
    kinds: Sequence[str] = (),
    form: Mapping[str, Any] | None = None,
    *,
    remedy: str = "",
    has_quotes: bool = True,
) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the rows of a file. Lines and Parquet are read without loading the file whole.

    Rows are JSON objects on the lines of a .jsonl file or in the array of a .json file. They have
    texts under the names in the first line of a .csv, .tsv or .xlsx file (its first sheet), and
    values of any kind under the names of the columns in a .parquet file. Cells of .csv and .tsv
    files are separated by a comma or a tab, or by what separates the names of the first line: a
    comma, a semicolon or a tab. Blank rows are skipped. A "reader" of the registry adds a format:
    it takes the path and the names of the columns that must be there, and yields the same.

    Args:
        kinds: suffixes that it may have, () for all; any other file is read as the last of them.
        form: the form of a row; see `cc_hf.records`. A table must have a column for each key.
        remedy: what to do about a row of another form; "" if its form says it.
        has_quotes: whether cells of lines may stand in quotation marks, which are not their text.

    Yields:
        Pairs of the line (or row, or item) on which a row ends, and the row.

    Raises:
        FileError: for a file that does not exist, cannot be read, is not UTF-8 or is an empty
            table, or a row that cannot be read or has another form. The message names the line.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "systems.tsv")
        ...     _ = path.write_text("model;bleu\\nteacher;38.2\\n", encoding="utf-8")
        ...     [row for _, row in read_rows(path)]
        [{'model': 'teacher', 'bleu': '38.2'}]
    """
    form, suffix = form or {}, path.suffix.lower()
    # Entry points are not read for a text: the package has many small tables.
    is_known = suffix in (kinds or _TEXTS) or (not kinds and suffix in sheets())
    suffix = suffix if is_known else (kinds or _TEXTS)[-1]
    columns = [name for name in form if not name.endswith("?")]
    rows: Iterator[tuple[Place, dict[str, Any]]]
    if suffix in JSONL:
        rows = parse_objects(stream_lines(path), path, remedy=remedy)
    elif suffix in ARRAYS:
        rows = json_rows(read_text(path), path)
    elif suffix in TABLES:
        cells = read_cells(path, suffix, columns, has_quotes=has_quotes)
        rows = _named(cells, path, columns)
    else:
        rows = registry.resolve("reader", suffix[1:])(path, columns)
    if not form:
        yield from rows
        return
    compiled = form_of(form)
    for where, row in rows:
        with in_file(where, remedy):
            read_value(compiled, row)
        yield where, row


def read_cells(
    path: Path, suffix: str = "", columns: Collection[str] = (), *, has_quotes: bool = True
) -> Iterator[tuple[Place, list[str]]]:
    """Yield the cells of a .csv, .tsv or .xlsx file row by row, first the names of the columns.

    Args:
        suffix: the format, "" for that of the file.
        columns: names that the first line has, by which the separator is recognised.
        has_quotes: whether cells of lines may stand in quotation marks, which are not their text.

    Raises:
        FileError: for a file or a row that cannot be read. The message names the line.
    """
    suffix = suffix or path.suffix.lower()
    if suffix == XLSX:
        return _sheet_cells(path)
    lines = stream_lines(path)
    first = next(lines, "")
    if separator := stated_separator(first):
        first = ""
    else:
        check_readable(first, path)
        separator = separator_of(first, _DEFAULTS.get(suffix, "\t"), columns)
    lines = itertools.chain([first], lines)
    return parse_cells(lines, path, separator=separator, has_quotes=has_quotes)


def separator_of(header: str, default: str, columns: Collection[str] = ()) -> str:
    """Return what separates the cells of a line: the default, unless only another one finds cells.

    Examples:
        >>> separator_of("source;focus;gold", ","), separator_of("a;b,c", ",", ["a"])
        (';', ';')
    """
    cells = {mark: header_cells(header, mark) for mark in (default, *_SEPARATORS)}
    for mark, names in cells.items():
        if columns and {*columns} <= {*names, *map(folded, names)}:
            return mark
    return default if len(cells[default]) > 1 else max(cells, key=lambda mark: len(cells[mark]))


def header_cells(header: str, separator: str) -> list[str]:
    """Return the names in a line of names, without quotation marks.

    Examples:
        >>> header_cells('"source"; translation', ";")
        ['source', 'translation']
    """
    return [cell.strip(' "') for cell in header.split(separator)]


def stated_separator(line: str) -> str:
    """Return the separator that a first line such as "sep=;" states, as Excel has it; else "".

    Examples:
        >>> stated_separator("sep=;"), stated_separator("source;gold")
        (';', '')
    """
    match = _LINE_OF_EXCEL.fullmatch(line)
    return match[1] if match else ""


def parse_cells(
    lines: Iterable[str],
    path: str | Path,
    *,
    separator: str,
    has_names: bool = True,
    has_quotes: bool = True,
) -> Iterator[tuple[Place, list[str]]]:
    """Parse a table of delimited cells, row by row.

    Examples:
        >>> [cells for _, cells in parse_cells(["a,b", "1,2"], "t.csv", separator=",")]
        [['a', 'b'], ['1', '2']]
    """
    reader = csv.reader(
        (f"{line}\n" for line in lines),
        delimiter=separator,
        quoting=csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE,
        strict=True,
    )
    n_names = 0
    try:
        for cells in reader:
            if has_names:
                if not any(cells):
                    continue
                where = Place(path, reader.line_num)
                cells = cells if n_names else _names(cells, where)
                n_names = n_names or len(cells)
                if len(cells) != n_names:
                    raise FileError(
                        where, f"expected {n_names} cells, one for each name, got {len(cells)}"
                    )
            yield Place(path, reader.line_num), cells
    except csv.Error as error:
        raise FileError(
            Place(path, reader.line_num),
            f"expected cells that can be read ({error}); quote cells that hold quotes, separators"
            " or line breaks",
        ) from None


def _names(cells: Sequence[str], where: Place) -> list[str]:
    names = [cell.strip() for cell in cells]
    filled = [name for name in names if name]  # spreadsheets leave empty columns at the end
    if len(set(filled)) < len(filled):
        raise FileError(where, f"expected different names, got {shown(names)}")
    return names


def _sheet_cells(path: Path) -> Iterator[tuple[Place, list[str]]]:
    names: list[str] = []
    for number, cells in read_sheet(path):
        where = Place(path, number, "row")
        names = names or (cells := _names(cells, where))
        if len(cells) > len(names):
            raise FileError(
                where, f"expected {len(names)} cells, one for each name, got {len(cells)}"
            )
        yield where, [*cells, *[""] * (len(names) - len(cells))]


def sheet_rows(path: Path, columns: Collection[str]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the rows of the first sheet of a workbook of Excel; see `read_rows`."""
    return _named(_sheet_cells(path), path, columns)


def _named(
    rows: Iterator[tuple[Place, list[str]]], path: Path, columns: Collection[str]
) -> Iterator[tuple[Place, dict[str, Any]]]:
    first, names = next(rows, (Place(path, 1), []))
    if not names:
        raise FileError(path, "expected a line of names and at least one row, got an empty file")
    _check_columns(columns, names, first)
    for where, cells in rows:
        yield where, dict(zip(names, cells, strict=True))


def _check_columns(columns: Collection[str], names: Collection[str], where: object) -> None:
    if not {*columns} <= {*names}:
        raise FileError(
            where, f"expected columns named {', '.join(columns)}, got {shown(list(names))}"
        )


def parquet_batches(file: Any, n_rows: int, columns: Sequence[str]) -> Iterator[Any]:
    """Yield the rows of a `pyarrow.parquet.ParquetFile` as batches of `n_rows` or fewer."""
    # Group by group: an iterator over all of them holds what it has read.
    for group in range(file.num_row_groups):
        yield from file.iter_batches(n_rows, row_groups=[group], columns=list(columns))


def parquet_rows(path: Path, columns: Collection[str]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the rows of a Parquet file; see `read_rows`."""
    import pyarrow  # imported here, since it is slow to import
    import pyarrow.parquet

    number = itertools.count(1)
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(opened(path))
        try:
            file = stack.enter_context(pyarrow.parquet.ParquetFile(source))
            names = file.schema_arrow.names
            _check_columns(columns, names, path)
            for batch in parquet_batches(file, _ROWS_AT_ONCE, names):
                yield from ((Place(path, next(number), "row"), row) for row in batch.to_pylist())
        except (OSError, pyarrow.ArrowException, UnicodeDecodeError) as error:
            reason = str(error).partition("\n")[0]
            raise FileError(
                path,
                f"expected a Parquet file, got one that cannot be read ({reason}); write it again,"
                " or as JSONL",
            ) from None


def json_rows(text: str, path: str | Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the rows of a text that is JSON as other programs write it.

    It is an array of objects, or of texts, which are under `LIST_COLUMN`; an object with such an
    array alone, or with one list for each column; or an object on each line.

    Examples:
        >>> [row for _, row in json_rows('{"id": [1, 2], "gold": ["male", "female"]}', "a.json")]
        [{'id': 1, 'gold': 'male'}, {'id': 2, 'gold': 'female'}]
    """
    first, _, others = text.lstrip().partition("\n")
    if first.startswith("{") and others.strip() and first.rstrip().endswith("}"):
        yield from parse_objects(text.split("\n"), path)
        return
    with in_file(path):
        items = _items(parse_json(text))
    for number, item in enumerate(items, 1):
        where = Place(path, number, "item")
        row = {LIST_COLUMN: item} if isinstance(item, str) else item
        if not isinstance(row, dict):
            raise FileError(where, f"expected a JSON object or a text, got {shown(item)}")
        yield where, row


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and value:
        columns = list(value.values())
        wrapper = next((key for key in _WRAPPERS if key in value), "")
        wrapped = value[wrapper] if wrapper else columns[0] if len(columns) == 1 else None
        if isinstance(wrapped, list) and all(isinstance(item, dict) for item in wrapped):
            return wrapped
        if all(isinstance(cells, list) and len(cells) == len(columns[0]) for cells in columns):
            return [dict(zip(value, cells, strict=True)) for cells in zip(*columns, strict=True)]
        # As pandas writes a table by default: {"source": {"0": "..."}, ...}
        if all(isinstance(cells, dict) and cells.keys() == columns[0].keys() for cells in columns):
            return [{name: cells[key] for name, cells in value.items()} for key in columns[0]]
        if not any(isinstance(cell, (list, dict)) for cell in columns):
            return [value]
    raise InputError(
        f"expected an array of JSON objects, or an object on each line, got {shown(value)}"
    )


def folded(name: str) -> str:
    """Return the name of a column as it is compared: without outer blanks and capitals."""
    return name.strip().casefold()
