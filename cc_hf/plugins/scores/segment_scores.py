"""Segment scores of other metrics, such as COMET or chrF: a table with a row for each segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError, shown
from cc_hf.reading import JSONL, Place, finite_number
from cc_hf.tables.rows import ARRAYS, TABLES, read_rows, sheets

__all__ = ["SegmentScores", "read_segment_scores"]

#: Ends of the two columns of a metric, which the scored files of ACES have (Amrhein et al. 2022).
_GOOD, _BAD = "-good", "-bad"
_CATEGORIES = ("category", "phenomena")
_TEXTS = ("id", *_CATEGORIES)
_FORM = "a table with a row for each segment, and a column of numbers for each metric"


@dataclass(frozen=True)
class SegmentScores:
    """Scores of segments by any metrics; higher is better."""

    n: int
    ids: tuple[str, ...]  # () if they are in the order of the data
    categories: tuple[str, ...]  # () if the file names none
    scores: Mapping[str, tuple[float, ...]]  # by metric
    # Of correct translations, and of wrong ones.
    pairs: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]


def read_segment_scores(path: Path) -> SegmentScores:
    """Read a .tsv, .csv or .jsonl file, or a .json file with a list of objects.

    Every column whose first value is a number is a metric, or two columns METRIC-good and
    METRIC-bad the scores of a correct and a wrong translation of the same source. `id`, and
    `category` or `phenomena`, are texts; further columns of texts are ignored.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "scores.tsv")
        ...     _ = path.write_text("id\\tchrF\\n0\\t61.5\\n1\\t40\\n", encoding="utf-8")
        ...     read_segment_scores(path).scores
        {'chrF': (61.5, 40.0)}
    """
    places, rows = [], []
    for where, row in read_rows(path, (*JSONL, *ARRAYS, *sheets(), *TABLES)):
        places.append(where)
        rows.append(row)
    if not rows:
        raise InputError(f"{path}: expected {_FORM}, got no row")
    numeric = [
        name for name in rows[0] if name not in _TEXTS and finite_number(rows[0][name]) is not None
    ]
    if not numeric:
        raise InputError(
            f"{path}: expected {_FORM}, got no number in {shown(list(rows[0]))}; give --references"
            " if the file holds translations"
        )
    columns = {name: tuple(_numbers(name, rows, places)) for name in numeric}
    pairs = {}
    for name in [name for name in columns if name.endswith((_GOOD, _BAD))]:
        metric = name.removesuffix(_GOOD).removesuffix(_BAD)
        if {f"{metric}{_GOOD}", f"{metric}{_BAD}"} - columns.keys():
            raise InputError(
                f"{path}: expected both {metric}{_GOOD} and {metric}{_BAD}, got only {name}"
            )
        pairs[metric] = (columns[f"{metric}{_GOOD}"], columns[f"{metric}{_BAD}"])
    categories = next((name for name in _CATEGORIES if name in rows[0]), "")
    return SegmentScores(
        len(rows),
        tuple(_ids(rows, places)),
        tuple(str(row.get(categories, "")) for row in rows) if categories else (),
        {name: values for name, values in columns.items() if not name.endswith((_GOOD, _BAD))},
        pairs,
    )


def _numbers(
    name: str, rows: Sequence[Mapping[str, Any]], places: Sequence[Place]
) -> Iterator[float]:
    for where, row in zip(places, rows, strict=True):
        number = finite_number(row.get(name))
        if number is None:
            raise InputError(
                f"{where}: {name}: expected a number, as in the first row, got {row.get(name)!r}"
            )
        yield number


def _ids(rows: Sequence[Mapping[str, Any]], places: Sequence[Place]) -> Iterator[str]:
    known: set[str] = set()
    for where, row in zip(places, rows, strict=True):
        if "id" not in rows[0]:
            return
        name = str(row.get("id", ""))
        if not name or name in known:
            raise InputError(f"{where}: id: expected one that no other row has, got {name!r}")
        known.add(name)
        yield name
