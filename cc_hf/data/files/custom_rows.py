"""Rows of users' own files: CSV, TSV or JSONL."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cc_hf.data.files.text_files import read_lines
from cc_hf.errors import DataError, InputError
from cc_hf.files import parse_object

__all__ = ["SUFFIXES", "read_rows"]

SUFFIXES = (".csv", ".tsv", ".jsonl")


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of the line and the cells of each row.

    Args:
        path: a .csv, .tsv or .jsonl file. The first line of a table is its header.

    Yields:
        Pairs of a 1-based line number and a mapping from column name to cell. Empty cells and null
        are left out.

    Raises:
        InputError: when the file does not exist, is not UTF-8, is empty, or has another suffix.
        DataError: for a header or a row that cannot be read. The message names file and line.
    """
    lines = read_lines(path)
    if path.suffix.lower() == ".jsonl":
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, _object(path, number, line)
        return
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: expected a file that ends in {', '.join(SUFFIXES)}")
    reader = csv.reader(
        (f"{line}\n" for line in lines),
        dialect="excel" if path.suffix.lower() == ".csv" else "excel-tab",
        strict=True,
    )
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(path, header)
        for cells in reader:
            if not any(cells):
                continue  # spreadsheets leave such rows at the end
            if len(cells) != len(header):
                raise DataError(
                    f"{path}: line {reader.line_num}: expected {len(header)} columns as in the"
                    f" header, got {len(cells)}"
                )
            yield (
                reader.line_num,
                {name: cell for name, cell in zip(header, cells, strict=True) if cell},
            )
    except csv.Error as error:
        raise DataError(
            f"{path}: line {reader.line_num}: {error}; quote cells that hold quotes, separators or"
            " line breaks"
        ) from None


def _check_header(path: Path, header: list[str]) -> None:
    if not header:
        raise InputError(f"{path}: expected a header and rows, got an empty file")
    separator = next(
        (mark for mark in (";", "\t", ",") if len(header) == 1 and mark in header[0]), None
    )
    if separator is not None:
        raise DataError(
            f"{path}: line 1: the columns seem to be separated by {separator!r}: expected commas in"
            f" a .csv file, tabs in a .tsv file, got {header[0][:80]!r}"
        )
    if len(set(header)) != len(header) or "source" not in [name.lower() for name in header]:
        raise DataError(
            f'{path}: line 1: expected a header of different names with "source" among them, got'
            f" {header}"
        )


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        parsed = parse_object(line, f"{path}: line {number}")
    except InputError as error:
        raise DataError(str(error)) from None
    return {key: value for key, value in parsed.items() if value is not None}
