"""What people say of predicted omissions and additions (files of Vamvas & Sennrich 2022): how many
are errors, how far two annotators agree, and the same rows as data for the metric.
"""

from __future__ import annotations

import json
import operator
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cc_hf.errors import InputError, check_choice, in_file
from cc_hf.reading import JSONL
from cc_hf.records import COUNT, read_value
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.agreement import cohen_kappa, kappa_interval
from cc_hf.statistics.score_intervals import estimate_share
from cc_hf.tables.rows import read_rows

__all__ = ["KEYS", "HumanAgreement", "Precision", "measured", "metric_rows", "read_judged_rows"]

#: Type of a predicted error -> the name of the metric for it.
SIDES = {"undertranslation": "omission", "overtranslation": "addition"}
#: What names a row: in the first notebook the second row of a pair that was annotated for both
#: types replaces the first; the second notebook keeps both.
KEYS = {
    "pair": ("seg_id", "system"),
    "pair_and_type": ("seg_id", "system", "coverage_error_type"),
}
_COVERAGE = frozenset(
    {
        "OT-unsupported-information",
        "OT-supported-information",
        "UT-important-information",
        "UT-redundant-information",
    }
)
_PREDICTION = {
    "split": str,
    "system": str,
    "seg_id": COUNT,
    "source": str,
    "coverage_error_type": str,
    "predicted_undertranslation_spans": str,
    "predicted_overtranslation_spans": str,
    **{
        f"has_{side}_error_by_{who}": bool
        for side in SIDES.values()
        for who in ("any_rater", "majority")
    },
}
_SPAN = re.compile(r"(?<!\d)(\d{1,18})-(\d{1,18})(?!\d)", re.ASCII)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Precision:
    """How many of the predicted errors of one type are errors.

    Attributes:
        by: who says so, and what counts: "people: any error", "people: coverage error", "MQM: any
            rater" or "MQM: majority".
        interval: 95 %, by Wilson's score over rows.
    """

    split: str
    side: str
    by: str
    n: int
    n_errors: int
    interval: Interval | NoInterval


@dataclass(frozen=True)
class HumanAgreement:
    """What the files say.

    Attributes:
        n_annotated: file of annotations -> number of rows with two labels, and of those left
            without errors of the source and rows without a prediction.
        labels: how often annotators, pooled, gave each label, among the rows that are left.
        kappas: "question 1" and "both labels" -> Cohen's kappa of the first two files, with its
            interval; {} for one file.
    """

    n_annotated: Mapping[str, tuple[int, int]]
    precisions: tuple[Precision, ...]
    labels: Mapping[str, int]
    kappas: Mapping[str, tuple[float, Interval | NoInterval]]
    n_both: int


def read_judged_rows(paths: Iterable[Path], *, annotated: bool) -> list[dict[str, Any]]:
    """Read files of predictions, or of annotations, whose rows also have a list of labels."""
    form = {**_PREDICTION, **({"data": str, "label": [str]} if annotated else {"target": str})}
    rows = []
    for path in paths:
        for line, row in read_rows(path, JSONL):
            with in_file(line):
                read_value(form, row)
                check_choice("coverage_error_type", row["coverage_error_type"], SIDES)
            rows.append(row)
    return rows


def measured(
    predictions: Sequence[Row], annotations: Mapping[str, Sequence[Row]], *, key: str
) -> HumanAgreement:
    """Return what people and MQM say of the predictions."""
    check_choice("key", key, KEYS)
    known = {_key(row, key) for row in predictions}
    n_annotated, by_file = {}, []
    for name, rows in annotations.items():
        unique = {_key(row, key): row for row in rows if len(row["label"]) == 2}
        left = {
            k: row for k, row in unique.items() if k in known and "source-error" not in row["label"]
        }
        n_annotated[name] = (len(unique), len(left))
        by_file.append(left)
    # Labels of all annotators count, as in the authors' notebook; those of one row belong together.
    pooled = [row for rows in by_file for row in rows.values()]
    precisions = [*_by_people(pooled), *_by_mqm(predictions)]
    both = sorted(by_file[0].keys() & by_file[1].keys()) if len(by_file) > 1 else []
    return HumanAgreement(
        n_annotated,
        tuple(precisions),
        dict(Counter(label for row in pooled for label in row["label"]).most_common()),
        _kappas(*([rows[k] for k in both] for rows in by_file[:2])) if both else {},
        len(both),
    )


def _key(row: Row, key: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEYS[key])


def _by_people(rows: Sequence[Row]) -> list[Precision]:
    verdicts = {
        "people: any error": lambda row: "bad-translation" in row["label"],
        "people: coverage error": lambda row: (
            "bad-translation" in row["label"] and not _COVERAGE.isdisjoint(row["label"])
        ),
    }
    return [
        _precision(rows, split, error_type, by, verdict)
        for split in sorted({row["split"] for row in rows})
        for error_type in SIDES
        for by, verdict in verdicts.items()
    ]


def _by_mqm(rows: Sequence[Row]) -> list[Precision]:
    return [
        _precision(
            rows,
            split,
            error_type,
            f"MQM: {who.replace('_', ' ')}",
            operator.itemgetter(f"has_{side}_error_by_{who}"),
        )
        for split in sorted({row["split"] for row in rows})
        for error_type, side in SIDES.items()
        for who in ("any_rater", "majority")
    ]


def _precision(
    rows: Sequence[Row],
    split: str,
    error_type: str,
    by: str,
    is_error: Callable[[Row], bool],
) -> Precision:
    chosen = [r for r in rows if r["split"] == split and r["coverage_error_type"] == error_type]
    flags = np.array([is_error(row) for row in chosen], dtype=float)
    interval: Interval | NoInterval = NoInterval("no rows")
    if len(flags):
        units = [_key(row, "pair_and_type") for row in chosen]
        interval = estimate_share(flags, np.ones(len(flags)), groups=units).interval
    return Precision(split, SIDES[error_type], by, len(chosen), int(flags.sum()), interval)


def _kappas(
    first: Sequence[Row], second: Sequence[Row]
) -> dict[str, tuple[float, Interval | NoInterval]]:
    """Return Cohen's kappa of the verdict, and of both labels, whose order means nothing."""
    reductions: dict[str, Callable[[Row], Hashable]] = {
        "question 1": lambda row: "bad-translation" in row["label"],
        "both labels": lambda row: tuple(sorted(row["label"])),
    }
    kappas = {}
    for name, reduce in reductions.items():
        left, right = ([reduce(row) for row in rows] for rows in (first, second))
        kappas[name] = (cohen_kappa(left, right), kappa_interval(left, right))
    return kappas


def metric_rows(annotations: Sequence[Row], predictions: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows for the metric `coverage`: the predicted spans, with labels of one annotator."""
    known = {_key(row, "pair_and_type") for row in predictions}
    rows = []
    for row in annotations:
        usable = len(row["label"]) == 2 and "source-error" not in row["label"]
        if not usable or _key(row, "pair_and_type") not in known:
            continue
        side = SIDES[row["coverage_error_type"]]
        is_error = "bad-translation" in row["label"] and not _COVERAGE.isdisjoint(row["label"])
        spans = _SPAN.findall(row[f"predicted_{row['coverage_error_type']}_spans"])
        text = "source" if side == "omission" else "translation"
        rows.append(
            {
                "id": f"{row['system']}.{row['seg_id']}.{side}",
                "source": row["source"],
                "translation": row["data"],
                f"{text}_spans": json.dumps([[int(a), int(b)] for a, b in spans]),
                side: "true" if is_error else "false",
                "category": side,
            }
        )
    if not rows:
        raise InputError("annotations: expected rows that belong to the predictions, got none")
    return rows
