"""A rater who is a program."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


def read_table(path: Path) -> list[list[str]]:
    """Return the rows of a sheet, the names of the columns first."""
    delimiter = "\t" if path.suffix == ".tsv" else ","
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig")), delimiter=delimiter))


def write_table(path: Path, rows: Sequence[Sequence[str]], *, delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


def fill(path: Path, answer: Callable[[Mapping[str, str]], Sequence[str]]) -> list[list[str]]:
    """Write what a program answers to each row into the last cells, and return the rows."""
    header, *rows = read_table(path)
    for row in rows:
        labels = answer(dict(zip(header, row, strict=True)))
        row[-len(labels) :] = labels
    write_table(path, [header, *rows], delimiter="\t" if path.suffix == ".tsv" else ",")
    return rows
