"""Coverage, precision, recall and F1 of decisions that may be inconclusive, with bootstrap
intervals (Raganato et al. 2019; Scherrer et al. 2020).

Two definitions of recall are in use. Recall A, correct / (correct + inconclusive), is used in the
tables of the papers; recall B, correct / all, is what their text defines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice, shown
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import VERDICTS
from cc_hf.statistics.bootstrap import check_bootstrap, figure_intervals, resampled_strata
from cc_hf.statistics.checks import as_floats, as_labels, check_type
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

    Raises:
        InputError: for another shape, or numbers that are not finite or below 0.

    Examples:
        >>> decision_figures(np.array([6, 2, 2])).round(3).tolist()
        [0.8, 0.75, 0.75, 0.6, 0.75, 0.667]
    """
    counts = as_floats("counts", counts, shape=None)
    if counts.shape[-1:] != (len(VERDICTS),) or (counts < 0).any():
        raise InputError(
            "counts: expected three numbers of 0 or more, of correct, incorrect and inconclusive"
            f" decisions, got {shown(counts.tolist())}"
        )
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
        verdicts: n verdicts, each one of `VERDICTS`.
        groupings: a mapping from grouping to the n groups of the decisions; "" for no group.

    Returns:
        <figure>, <figure>_<group>, and min_<figure>_<grouping>, the smallest value of the groups
            that occur. Undefined values are dropped: figures of a group without a decision to
            divide by, and a minimum if the figure of one group is undefined.

    Raises:
        InputError: for no verdicts, unknown ones, or groups of another number.

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
    verdicts: Sequence[str],
    groupings: Mapping[str, Sequence[str]],
    *,
    seed: int = 0,
    n_resamples: int = 1000,
    level: float = 0.95,
) -> dict[str, Interval | NoInterval]:
    """Return the intervals of the figures that `decision_scores` returns.

    Decisions are resampled within their combination of groups.

    Args:
        verdicts: n verdicts, each one of `VERDICTS`.
        groupings: a mapping from grouping to the n groups of the decisions; "" for no group.
        seed: seed of numpy's default generator, 0 or more.
        n_resamples: number of resamples, at least 1.
        level: confidence level, in (0, 1).

    Returns:
        Figure -> its interval, or the reason why there is none.

    Raises:
        InputError: for no verdicts, unknown ones, groups of another number, or options out of
            range.
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    cells, counts, scores = _cells(verdicts, groupings)
    # Decisions of one cell with the same verdict are identical, so they are one row with a count.
    # The names of strata have leading zeros, because `resampled_strata` sorts them as text.
    strata = [f"{number:06}" for number in range(len(cells)) for _ in VERDICTS]
    contributions = np.tile(np.eye(len(VERDICTS)), (len(cells), 1))
    parts = resampled_strata(
        contributions, strata, counts=counts.ravel(), n_resamples=n_resamples, seed=seed
    )
    samples = _summary(np.stack(list(parts.values()), axis=1), cells, list(groupings))
    return figure_intervals(
        {name: samples[name] for name in scores},
        _proportions(counts, cells, list(groupings)),
        level=level,
    )


def _proportions(
    counts: _Counts, cells: list[tuple[str, ...]], groupings: list[str]
) -> dict[str, tuple[float, float]]:
    """Return numerator and denominator of the figures, overall and by group, that are shares."""
    groups = {"": counts.sum(axis=0)}
    for position in range(len(groupings)):
        for group in {cell[position] for cell in cells} - {""}:
            groups[f"_{group}"] = counts[[cell[position] == group for cell in cells]].sum(axis=0)
    return {
        f"{name}{suffix}": (float(part), float(whole))
        for suffix, counted in groups.items()
        for name, (part, whole) in zip(FIGURES, _ratios(counted), strict=True)
        if not name.startswith("f1")
    }


def _cells(
    verdicts: Sequence[str], groupings: Mapping[str, Sequence[str]]
) -> tuple[list[tuple[str, ...]], _Counts, list[str]]:
    """Return the sorted combinations of groups that occur, their (cells, 3) counts of verdicts, and
    the names of the figures that are defined.
    """
    if not as_labels("verdicts", verdicts, are_texts=True):
        raise InputError("figures of nothing: expected at least one decision, got none")
    for row, verdict in enumerate(verdicts):
        check_choice(f"row {row}: verdict", verdict, VERDICTS)
    check_type("groupings", groupings, Mapping)
    for name, groups in groupings.items():
        as_labels(f"groupings: {name}", groups, n=len(verdicts), are_texts=True)
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
