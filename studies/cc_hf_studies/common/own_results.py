"""What a user's own results hold of a table that a paper prints. Nothing is computed here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf.comparing.published import PublishedTable
from cc_hf.records import read_json
from cc_hf.results import Interval

__all__ = ["OwnRow", "own_rows", "read_own"]

#: Names of figures whose interval is called "interval" in results; others have a name before it.
_PLAIN = re.compile(r"(?<![^/])(accuracy|agreement|r|rate|value)$")


class OwnRow(NamedTuple):
    """What one's own results hold of a printed table.

    Attributes:
        cells: column -> value, as the result has it.
        intervals: column -> interval of the value, if the result has one.
    """

    name: str
    cells: Mapping[str, Any]
    intervals: Mapping[str, Interval] = {}


def read_own(paths: Sequence[Path]) -> list[tuple[str, dict[str, Any]]]:
    """Return the results in files that commands wrote with --output."""
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
