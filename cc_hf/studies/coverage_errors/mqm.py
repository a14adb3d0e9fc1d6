"""Segments of WMT with marks of MQM as data for the metric `coverage`, filtered as the program of
Vamvas & Sennrich (2022) does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cc_hf.errors import FileError
from cc_hf.reading import read_rows

__all__ = ["MOST_MARKS", "mqm_rows"]

_COLUMNS = ("system", "doc", "seg_id", "rater", "source", "target", "category")
_ADDITION, _OMISSION = "Accuracy/Addition", "Accuracy/Omission"
_TAGS = re.compile(r"</?v>")
_HUMAN = re.compile(r"Human|ref", re.IGNORECASE)
MOST_MARKS = 5  # of one rater, who may stop there
_MOST_WORDS = 150


def mqm_rows(path: Path) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Read the marks of a file of google/wmt-mqm-human-evaluation.

    Left out are, in this order: translations by people, those that a rater calls no translation,
    those with five or more marks of one rater, long ones, and those with both errors. The program
    also drops segments with superfluous quotes or several sentences; the metric with a parser skips
    the latter.

    Returns:
        Rows with `source`, `translation`, and `omission` and `addition` by any rater; and how many
            segments each rule left out.

    Raises:
        FileError: for a file without one of the columns, or without rows.
    """
    segments: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line, row in read_rows(path, (".tsv",)):
        if missing := [column for column in _COLUMNS if column not in row]:
            raise FileError(line, f"expected the column {missing[0]!r}, got none")
        segments.setdefault((row["system"], row["seg_id"]), []).append(row)
    if not segments:
        raise FileError(path, "expected at least one mark, got none")
    counts: Counter[str] = Counter()
    rows = []
    for (system, segment), marks in segments.items():
        reason = _reason(system, marks)
        counts[reason or "n_kept"] += 1
        if not reason:
            categories = {mark["category"] for mark in marks}
            rows.append(
                {
                    "id": f"{system}.{segment}",
                    "source": _plain(marks[0]["source"]),
                    "translation": _plain(marks[0]["target"]),
                    "omission": _label(_OMISSION in categories),
                    "addition": _label(_ADDITION in categories),
                    "category": system,
                }
            )
    return rows, dict(counts)


def _plain(text: str) -> str:
    return _TAGS.sub("", text).strip()


def _label(value: bool) -> str:
    return "true" if value else "false"


def _reason(system: str, marks: Iterable[dict[str, Any]]) -> str:
    """Return which rule leaves a segment out, as the name of a count; "" for none."""
    marks = list(marks)
    categories = {mark["category"] for mark in marks}
    if _HUMAN.match(system):
        return "n_by_people"
    if any(category.startswith("Non-translation") for category in categories):
        return "n_no_translation"
    if max(Counter(mark["rater"] for mark in marks).values()) >= MOST_MARKS:
        return "n_five_marks"
    texts = (_plain(marks[0]["source"]), _plain(marks[0]["target"]))
    if any(len(text.split(" ")) > _MOST_WORDS for text in texts):
        return "n_long"
    return "n_both_errors" if {_ADDITION, _OMISSION} <= categories else ""
