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
from cc_hf.reading import read_lines
from cc_hf.tables.rows import TABLES, read_rows

__all__ = ["MOST_MARKS", "mqm_rows"]

_COLUMNS = ("system", "doc", "seg_id", "rater", "source", "target", "category")
_ADDITION, _OMISSION = "Accuracy/Addition", "Accuracy/Omission"
_TAGS = re.compile(r"</?v>")
_DOUBLED = re.compile("\"\"|''")  # as files of comma-separated values double quotes
_HUMAN = re.compile(r"Human|ref", re.IGNORECASE)
MOST_MARKS = 5  # of one rater, who may stop there
_MOST_WORDS = 150


def mqm_rows(
    path: Path, *, originals: Path | None = None
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Read the marks of a file of google/wmt-mqm-human-evaluation.

    The program also looks for superfluous quotes in the translations, and drops segments of several
    sentences, which the metric with a parser skips.

    Args:
        originals: the source text of the test set, one segment a line; None to keep segments with
            superfluous quotes.

    Returns:
        Rows with `source`, `translation`, and `omission` and `addition` by any rater; and how many
        segments each rule dropped.
    """
    lines = None if originals is None else read_lines(originals, keeps_end=True)
    source_of = {str(number): line for number, line in enumerate(lines or (), start=1)}
    segments: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line, row in read_rows(path, TABLES, dict.fromkeys(_COLUMNS), has_quotes=False):
        if lines is not None and row["seg_id"] not in source_of:
            raise FileError(
                line,
                f"seg_id: expected a line of {originals}, 1 to {len(lines)}, got {row['seg_id']}",
            )
        segments.setdefault((row["system"], row["seg_id"]), []).append(row)
    if not segments:
        raise FileError(path, "expected at least one mark, got none")
    counts: Counter[str] = Counter()
    rows = []
    for (system, segment), marks in segments.items():
        reason = _reason(system, marks, source_of.get(segment))
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


def _reason(system: str, marks: Iterable[dict[str, Any]], original: str | None) -> str:
    """Return which rule leaves a segment out, as the name of a count; "" for none."""
    marks = list(marks)
    categories = {mark["category"] for mark in marks}
    # The order of the rules decides for which one a segment counts.
    if _HUMAN.match(system):
        return "n_by_people"
    if any(category.startswith("Non-translation") for category in categories):
        return "n_no_translation"
    if max(Counter(mark["rater"] for mark in marks).values()) >= MOST_MARKS:
        return "n_five_marks"
    texts = (_plain(marks[0]["source"]), _plain(marks[0]["target"]))
    if original is not None and _DOUBLED.search(texts[0]) and not _DOUBLED.search(original):
        return "n_superfluous_quotes"
    if any(len(text.split(" ")) > _MOST_WORDS for text in texts):
        return "n_long"
    return "n_both_errors" if {_ADDITION, _OMISSION} <= categories else ""
