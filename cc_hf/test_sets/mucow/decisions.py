"""Coverage, precision, recall and F1 of decisions that may be inconclusive, with intervals
(Raganato et al. 2019; Scherrer et al. 2020).

Two definitions of recall are in use. Recall A, correct / (correct + inconclusive), is used in the
tables of the papers; recall B, correct / all, is what their text defines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import VERDICTS
from cc_hf.statistics.score_intervals import Estimate, estimate_share, lowest
from cc_hf.statistics.shares import quotients

__all__ = ["FIGURES", "decision_figures", "decision_intervals", "decision_scores"]

#: The figures that `decision_figures` returns, in this order.
FIGURES = ("coverage", "precision", "recall_a", "recall_b", "f1_a", "f1_b")

_Counts = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


def decision_figures(counts: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """Compute the figures from counts of verdicts.

    F1 is 0 if nothing is correct, even where precision or recall is undefined.

    Args:
        counts: shape (..., 3), numbers of correct, incorrect and inconclusive decisions.

    Returns:
        Shape (..., 6), in the order of `FIGURES`, in [0, 1]; NaN for a figure that is undefined.

    Examples:
        >>> decision_figures(np.array([6, 2, 2])).round(3).tolist()
        [0.8, 0.75, 0.75, 0.6, 0.75, 0.667]
    """
    return np.stack([quotients(a, b) for a, b in _ratios(counts)], axis=-1)


def _ratios(counts: npt.NDArray[np.generic]) -> tuple[tuple[_Floats, _Floats], ...]:
    """Return the numerator and denominator of each of `FIGURES`; all but F1 are proportions."""
    correct, incorrect, inconclusive = (counts[..., i].astype(np.float64) for i in range(3))
    decided, total = correct + incorrect, correct + incorrect + inconclusive
    not_wrong = correct + inconclusive
    return (
        (decided, total),
        (correct, decided),
        (correct, not_wrong),
        (correct, total),
        (2 * correct, decided + not_wrong),
        (2 * correct, decided + total),
    )


def decision_scores(
    verdicts: Sequence[str], groupings: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Return the figures of all decisions and of each group, and the smallest of each grouping.

    Args:
        groupings: grouping -> the n groups of the decisions; "" for no group.

    Examples:
        >>> groups = {"domain": ["in_domain", "in_domain", "out_of_domain"]}
        >>> scores = decision_scores(["correct", "incorrect", "correct"], groups)
        >>> suffixes = ["", "_in_domain", "_out_of_domain"]
        >>> [round(scores[f"precision{suffix}"], 3) for suffix in suffixes]
        [0.667, 0.5, 1.0]
        >>> scores["min_precision_domain"]
        0.5
    """
    cells, counts, _ = _cells(verdicts, groupings)
    figures = _summary(counts, cells, list(groupings))
    return {name: float(value) for name, value in figures.items() if not np.isnan(value)}


def decision_intervals(
    verdicts: Sequence[str], groupings: Mapping[str, Sequence[str]], *, level: float = 0.95
) -> dict[str, Interval | NoInterval]:
    """Return the intervals of the figures that `decision_scores` returns.

    Examples:
        >>> intervals = decision_intervals(["correct"] * 15 + ["incorrect"] * 5, {})
        >>> round(intervals["precision"].low, 3), round(intervals["precision"].high, 3)
        (0.531, 0.888)
    """
    cells, _, scores = _cells(verdicts, groupings)
    places = {cell: str(number) for number, cell in enumerate(cells)}
    members = list(zip(*groupings.values(), strict=True)) if groupings else [()] * len(verdicts)
    # The numbers of decisions of each combination of groups count as fixed.
    strata = [places[cell] for cell in members]
    columns = _ratios(np.array([[verdict == v for v in VERDICTS] for verdict in verdicts]))

    def estimates(mask: npt.NDArray[np.bool_]) -> dict[str, Estimate]:
        return {
            name: estimate_share(part * mask, whole * mask, strata=strata, level=level)
            for name, (part, whole) in zip(FIGURES, columns, strict=True)
            if (whole * mask).any()
        }

    intervals = {
        name: estimate.interval
        for name, estimate in estimates(np.ones(len(verdicts), dtype=np.bool_)).items()
    }
    for grouping, groups in groupings.items():
        labels = np.asarray(groups)
        of_groups = {name: estimates(labels == name) for name in sorted(set(groups) - {""})}
        for group, shares in of_groups.items():
            intervals |= {f"{name}_{group}": share.interval for name, share in shares.items()}
        for name in FIGURES:
            parts = [shares[name] for shares in of_groups.values() if name in shares]
            if parts:
                intervals[f"min_{name}_{grouping}"] = lowest(parts).interval
    return {name: intervals[name] for name in scores}


def _cells(
    verdicts: Sequence[str], groupings: Mapping[str, Sequence[str]]
) -> tuple[list[tuple[str, ...]], _Counts, list[str]]:
    """Return the sorted combinations of groups that occur, their (cells, 3) counts of verdicts, and
    the names of the figures that are defined.
    """
    if not verdicts:
        raise InputError("figures of nothing: expected at least one decision, got none")
    for row, verdict in enumerate(verdicts):
        check_choice(f"row {row}: verdict", verdict, VERDICTS)
    members = list(zip(*groupings.values(), strict=True)) if groupings else [()] * len(verdicts)
    cells = sorted(set(members))
    places = {cell: i for i, cell in enumerate(cells)}
    counts = np.zeros((len(cells), 3), dtype=np.int64)
    for cell, verdict in zip(members, verdicts, strict=True):
        counts[places[cell], VERDICTS.index(verdict)] += 1
    defined = [
        name
        for name, value in _summary(counts, cells, list(groupings)).items()
        if not np.isnan(value)
    ]
    return cells, counts, defined


def _summary(
    counts: npt.NDArray[np.generic], cells: list[tuple[str, ...]], groupings: list[str]
) -> dict[str, npt.NDArray[np.float64]]:
    """Return each figure from (..., cells, 3) counts, with the shape of the leading dimensions."""
    figures = _named(counts.sum(axis=-2), "")
    for position, grouping in enumerate(groupings):
        by_group = []
        for group in sorted({cell[position] for cell in cells} - {""}):
            members = [i for i, cell in enumerate(cells) if cell[position] == group]
            part = counts[..., members, :].sum(axis=-2)
            by_group.append(decision_figures(part))
            figures |= _named(part, f"_{group}")
        if by_group:
            smallest = np.min(by_group, axis=0)  # NaN where one of them is
            figures |= {
                f"min_{name}_{grouping}": smallest[..., i] for i, name in enumerate(FIGURES)
            }
    return figures


def _named(counts: npt.NDArray[np.generic], suffix: str) -> dict[str, npt.NDArray[np.float64]]:
    figures = decision_figures(counts)
    return {f"{name}{suffix}": figures[..., i] for i, name in enumerate(FIGURES)}
