"""Figures that papers print, read from files of their studies, and what a user's own results hold
of the same. Nothing is computed here.

A study has two tables: `published.tsv` holds the printed rows, and `reproduce.tsv` says of each
table of the paper which command makes it, and where the JSON of results holds its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf.reading import read_json
from cc_hf.results import Interval
from cc_hf.tables.rows import TABLES, read_rows

__all__ = ["OwnRow", "PublishedTable", "own_rows", "read_own", "read_published"]

_NUMBER = re.compile(r"(?<![\d,])-?[\d,]*\.?\d+")
#: Names of figures whose interval is called "interval" in results; others have a name before it.
_PLAIN = re.compile(r"(?<![^/])(accuracy|agreement|r|rate|value)$")


@dataclass(frozen=True)
class PublishedTable:
    """A table, figure or section of a paper.

    Attributes:
        name: the table in the words of the paper, such as "Table 4.7"; a part follows a comma.
        paper: key of `cc_hf.citations`, or for other papers the text to show.
        section: the section of the paper that has the table.
        unit: how figures are printed: "percent", "points" (BLEU), "share", "count" or "text".
        command: the command that makes one's own figures; "" if there is none.
        results: column -> where the JSON of results has it: keys that `own_rows` describes.
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
        """Return the first number of a cell; percentages in [-1, 1].

        Examples:
            >>> table = PublishedTable(
            ...     "Table 1", "p", "1", "t", "percent", "", {}, "", {"a": {"de": "-1.5*"}}
            ... )
            >>> table.value("a", "de")
            -0.015
        """
        match = _NUMBER.search(self.rows[row][column])
        number = float(match[0].replace(",", "")) if match else float("nan")
        return round(number / 100, 6) if self.unit == "percent" else number


class OwnRow(NamedTuple):
    """What one's own results hold of a printed table.

    Attributes:
        name: name of the system; that of the file where the result names none.
        cells: column -> value, as the result has it.
        intervals: column -> interval of the value, if the result has one.
    """

    name: str
    cells: Mapping[str, Any]
    intervals: Mapping[str, Interval] = {}


def read_published(*folders: Path) -> dict[str, PublishedTable]:
    """Return the tables of papers by name, in the order of the papers.

    Args:
        folders: folders with `published.tsv` and `reproduce.tsv`.

    Raises:
        FileError: for a file that is missing, or has other columns.

    Examples:
        >>> import cc_hf_studies
        >>> tables = read_published(Path(cc_hf_studies.__path__[0]) / "wino_x")
        >>> tables["Table 4.7"].rows["BIG"]["en-fr"], tables["Table 4.7"].value("BIG", "en-fr")
        ('0.5107', 0.5107)
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


def read_own(paths: Sequence[Path]) -> list[tuple[str, dict[str, Any]]]:
    """Return the results in files that commands wrote with --output.

    Args:
        paths: files with the JSON of one result, or of several in a list or under "results".

    Returns:
        Pairs of a name and the JSON of one result.

    Raises:
        FileError: for a file that cannot be read, or is no JSON of a result.
    """
    pairs = []
    for path in paths:
        value = read_json(path, "the JSON that a command wrote with --output")
        rows = value.get("results", [value]) if isinstance(value, dict) else value
        for row in rows if isinstance(rows, list) else [value]:
            if isinstance(row, dict):
                pairs.append((str(row.get("system") or path.stem), row))
    return pairs


def own_rows(
    table: PublishedTable, results: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[OwnRow]:
    """Return what results hold of a printed table, a row for each name.

    A key is a path through the JSON, such as "scores/accuracy". In it, "name=value" selects the
    item of a list, "*" the first value, and "{}" stands for the column with underscores. Conditions
    on fields of the result may precede it: "config=lm_en_de", or "data~mt_en_de" for a part.

    Args:
        results: names and results, as `read_own` returns them.

    Examples:
        >>> table = PublishedTable(
        ...     *("Table 1", "p", "1", "t", "share", "", {"*": ("config={} scores/f",)}, ""),
        ...     {"a": {"en-de": ".5", "en-fr": ".4"}},
        ... )
        >>> own_rows(table, [("me", {"config": "en_fr", "scores": {"f": 0.6}})])
        [OwnRow(name='me', cells={'en-fr': 0.6}, intervals={})]
    """
    rows: list[tuple[str, dict[str, Any], dict[str, Interval]]] = []
    for name, result in results:
        paths = {column: _path(_keys(table, column), result) for column in table.columns}
        cells = {
            column: value
            for column, path in paths.items()
            if path and (value := _at(path, result)) is not None
        }
        if not cells:
            continue
        intervals = {
            column: interval
            for column in cells
            if (interval := _interval(paths[column], result)) is not None
        }
        for other, filled, filled_intervals in rows:
            if other == name and not cells.keys() & filled.keys():
                filled |= cells  # another language or test set of the same system
                filled_intervals |= intervals
                break
        else:
            rows.append((name, cells, intervals))
    return [OwnRow(*row) for row in rows]


def _keys(table: PublishedTable, column: str) -> Iterator[str]:
    plain = re.sub(r"\W", "_", column.lower())
    for pattern, keys in table.results.items():
        if fnmatchcase(column, pattern):
            yield from (key.replace("{}", plain) for key in keys)


def _path(keys: Iterator[str], result: Mapping[str, Any]) -> str:
    """Return the first path whose conditions hold; "" if there is none."""
    for key in keys:
        *conditions, path = key.split(" ")
        if all(_holds(condition, result) for condition in conditions):
            return path
    return ""


def _interval(path: str, result: Mapping[str, Any]) -> Interval | None:
    """Return the interval of the figure at a path; None if the result has none."""
    scores = re.sub(r"(?<![^/])scores/", "intervals/", path)
    for other in (scores, f"{path}_interval", _PLAIN.sub("interval", path)):
        if other != path and isinstance(row := _at(other, result), dict) and "low" in row:
            return Interval(**row)
    return None


def _holds(condition: str, result: Mapping[str, Any]) -> bool:
    name, sign, value = re.split(r"([=~])", condition, maxsplit=1)
    field = str(result[name]) if name in result else None
    return field is not None and (field == value if sign == "=" else value in field)


def _at(path: str, value: Any) -> Any:
    """Return the value at a path, or None if there is none."""
    for step in path.split("/"):
        if isinstance(value, list):
            name, sign, wanted = step.partition("=")
            if sign:
                items = [v for v in value if isinstance(v, dict) and str(v.get(name)) == wanted]
            else:
                index = int(step) if re.fullmatch(r"-?\d+", step) else len(value)
                items = value[index : index + 1 or None]
            value = items[0] if items else None
        elif isinstance(value, dict):
            value = next(iter(value.values()), None) if step == "*" else value.get(step)
        else:
            return None
    return value
