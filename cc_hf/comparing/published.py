"""Figures that papers print, read from files of their studies. Nothing is computed here.

A study has two tables: `published.tsv` holds the printed rows, and `reproduce.tsv` says of each
table of the paper which command makes it, and where the JSON of results holds its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cc_hf.tables.rows import TABLES, read_rows

__all__ = ["PublishedTable", "read_published"]

_NUMBER = re.compile(r"(?<![\d,])-?[\d,]*\.?\d+")


@dataclass(frozen=True)
class PublishedTable:
    """A table, figure or section of a paper.

    Attributes:
        name: the table in the words of the paper, such as "Table 4.7"; a part follows a comma.
        paper: key of `cc_hf.citations`, or for other papers the text to show.
        section: the section of the paper that has the table.
        unit: how figures are printed: "percent", "points" (BLEU), "share", "count" or "text".
        command: the command that makes one's own figures; "" if there is none.
        results: column -> where the JSON of results has it: keys that
            `cc_hf_studies.common.own_results.own_rows` describes.
        note: what cannot be had, and why; or what else a reader must know.
        rows: printed row -> column -> cell as printed; empty if the paper prints no numbers.
    """

    name: str
    paper: str
    section: str
    title: str
    unit: str
    command: str
    results: Mapping[str, tuple[str, ...]]
    note: str
    rows: Mapping[str, Mapping[str, str]]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all rows, in their order in the paper."""
        return tuple(dict.fromkeys(column for cells in self.rows.values() for column in cells))

    @property
    def number(self) -> str:
        """The number of the table without the word before it: "4.8" of "Table 4.8, gender"."""
        return self.name.partition(",")[0].partition(" ")[2]

    def value(self, row: str, column: str) -> float:
        """Return the first number of a cell; percentages in [-1, 1]."""
        match = _NUMBER.search(self.rows[row][column])
        number = float(match[0].replace(",", "")) if match else float("nan")
        return round(number / 100, 6) if self.unit == "percent" else number


def read_published(*folders: Path) -> dict[str, PublishedTable]:
    """Return the tables of papers by name, in the order of the papers.

    Args:
        folders: folders with `published.tsv` and `reproduce.tsv`.
    """
    tables: dict[str, PublishedTable] = {}
    for folder in folders:
        printed: dict[str, list[dict[str, str]]] = {}
        for _, row in read_rows(folder / "published.tsv", TABLES):
            printed.setdefault(row["table"], []).append(row)
        for _, row in read_rows(folder / "reproduce.tsv", TABLES):
            lines = printed[row["table"]]
            tables[row["table"]] = PublishedTable(
                row["table"],
                lines[0]["paper"],
                lines[0]["section"],
                row["title"],
                row["unit"],
                row["command"],
                {column: tuple(keys.split(" | ")) for column, keys in _assignments(row["results"])},
                row["note"],
                dict(_rows(folder, lines)),
            )
    return tables


def _rows(folder: Path, lines: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield printed rows; those of "file.tsv 2" are in that file, named by its first 2 columns."""
    for line in lines:
        name, _, n = line["figures"].partition(".tsv ")
        if line["row"]:
            yield line["row"], dict(_assignments(line["figures"]))
        elif n:
            for _, row in read_rows(folder / f"{name}.tsv", TABLES):
                cells = list(row.items())
                yield ", ".join(value for _, value in cells[: int(n)]), dict(cells[int(n) :])


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, text.split("; ")):
        name, _, value = part.partition("=")
        yield name, value
