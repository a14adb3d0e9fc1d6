"""The figures of WinoMT from counts: precision, recall and F1 per gender, delta_g and delta_s
(Stanovsky et al. 2019).

Figures are exact, or rounded as the paper's program prints them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.score_intervals import Estimate, difference, estimate_share
from cc_hf.statistics.shares import quotients

__all__ = ["count_cells", "gender_figures", "gender_intervals", "printed_figures"]

_GENDERS = ("male", "female", "neutral")
_STEREOTYPES = ("pro", "anti", "none")
_PREDICTIONS = (*_GENDERS, "unknown")

_DELTAS = (
    ("delta_g", "f1_male", "f1_female"),
    ("delta_s", "accuracy_pro", "accuracy_anti"),
)

_Floats = npt.NDArray[np.float64]


def count_cells(
    gold: Sequence[str], stereotypes: Sequence[str], predicted: Sequence[str]
) -> npt.NDArray[np.int64]:
    """Count rows by gold gender, stereotype and predicted gender, shape (3, 3, 4).

    Examples:
        >>> cells = count_cells(["female", "male"], ["pro", "pro"], ["male", "male"])
        >>> cells.sum(axis=1).tolist()
        [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    """
    cells = np.zeros((len(_GENDERS), len(_STEREOTYPES), len(_PREDICTIONS)), dtype=np.int64)
    for name, values, known in (
        ("gold", gold, _GENDERS),
        ("stereotypes", stereotypes, _STEREOTYPES),
        ("predicted", predicted, _PREDICTIONS),
    ):
        for row, value in enumerate(values):
            check_choice(f"row {row}: {name}", value, known)
    for g, s, p in zip(gold, stereotypes, predicted, strict=True):
        cells[_GENDERS.index(g), _STEREOTYPES.index(s), _PREDICTIONS.index(p)] += 1
    return cells


def gender_figures(cells: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the figures, in [0, 1], and their differences, in [-1, 1].

    The figures are precision_*, recall_* and f1_* of each gold gender that occurs. Precision is 0
    if the gender is never predicted; F1 is 0 if both are 0. delta_g is f1_male - f1_female. delta_s
    is accuracy_pro - accuracy_anti. Figures without a sample are dropped.
    """
    figures = _figures(cells[None].astype(np.float64))
    return {name: float(values[0]) for name, values in figures.items() if not np.isnan(values[0])}


def printed_figures(cells: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the figures of `gender_figures`, and accuracy, as mt_gender prints them.

    Everything is rounded to 0.1 points; precision and recall are rounded before F1 is computed.

    Examples:
        >>> cells = count_cells(["male"] * 3, ["pro"] * 3, ["male", "male", "unknown"])
        >>> printed_figures(cells)["recall_male"], round(gender_figures(cells)["recall_male"], 6)
        (0.667, 0.666667)
    """
    if not cells.any():
        raise InputError("figures of nothing: expected at least one row, got none")
    exact = gender_figures(cells)
    exact["accuracy"] = int(np.einsum("gsg->", cells[..., : len(_GENDERS)])) / int(cells.sum())
    figures = {
        name: _rounded(value) for name, value in exact.items() if not name.startswith("delta")
    }
    for gender in _GENDERS:
        if f"f1_{gender}" in figures:
            precision, recall = (
                100 * figures[f"precision_{gender}"],
                100 * figures[f"recall_{gender}"],
            )
            figures[f"f1_{gender}"] = (
                _rounded(2 * precision * recall / (precision + recall) / 100)
                if precision + recall
                else 0.0
            )
    for delta, left, right in _DELTAS:
        if left in figures and right in figures:
            figures[delta] = round(figures[left] - figures[right], 3)
    return figures


def gender_intervals(
    cells: npt.NDArray[np.int64], *, level: float = 0.95
) -> dict[str, Interval | NoInterval]:
    """Return the intervals of `gender_figures`."""
    if not cells.any():
        raise InputError("figures of nothing: expected at least one row, got none")
    gold, stereotype, predicted = np.repeat(
        np.indices(cells.shape).reshape(cells.ndim, -1), cells.ravel(), axis=1
    )
    # The numbers of rows of each gold gender count as fixed.
    strata = [_GENDERS[gender] for gender in gold]

    def share(parts: _Floats, wholes: _Floats) -> Estimate:
        return estimate_share(parts, wholes, strata=strata, level=level)

    estimates: dict[str, Estimate] = {}
    for g, gender in enumerate(_GENDERS):
        is_gold, is_predicted = (gold == g) * 1.0, (predicted == g) * 1.0
        correct = is_gold * is_predicted
        if is_gold.any():
            estimates[f"recall_{gender}"] = share(correct, is_gold)
            estimates[f"f1_{gender}"] = share(2 * correct, is_gold + is_predicted)
            if is_predicted.any():
                estimates[f"precision_{gender}"] = share(correct, is_predicted)
    for s, name in enumerate(_STEREOTYPES[:2]):
        members = (stereotype == s) * 1.0
        if members.any():
            estimates[f"accuracy_{name}"] = share(members * (gold == predicted), members)
    for name, left, right in _DELTAS:
        if {left, right} <= estimates.keys():
            estimates[name] = difference(estimates[left], estimates[right])
    never = NoInterval("the gender is never predicted")
    return {
        name: estimates[name].interval if name in estimates else never
        for name in gender_figures(cells)
    }


def _figures(cells: _Floats) -> dict[str, _Floats]:
    """Return the (r,) values of each figure from (r, 3, 3, 4) counts, NaN without a sample."""
    confusion = cells.sum(axis=2)
    figures: dict[str, _Floats] = {}
    for g, gender in enumerate(_GENDERS):
        correct, n_gold, n_predicted = (
            confusion[:, g, g],
            confusion[:, g].sum(axis=1),
            confusion[:, :, g].sum(axis=1),
        )
        recall = quotients(correct, n_gold)
        precision = np.where(n_gold > 0, quotients(correct, np.maximum(n_predicted, 1)), np.nan)
        f1 = np.where(
            n_gold > 0, quotients(2 * correct, np.maximum(n_gold + n_predicted, 1)), np.nan
        )
        figures |= {
            f"precision_{gender}": precision,
            f"recall_{gender}": recall,
            f"f1_{gender}": f1,
        }
    figures["delta_g"] = figures["f1_male"] - figures["f1_female"]
    for s, stereotype in enumerate(_STEREOTYPES[:2]):
        part = cells[:, :, s]
        correct = np.einsum("rgg->r", part[..., : len(_GENDERS)])
        figures[f"accuracy_{stereotype}"] = quotients(correct, part.sum(axis=(1, 2)))
    figures["delta_s"] = figures["accuracy_pro"] - figures["accuracy_anti"]
    return figures


def _rounded(share: float) -> float:
    """Return a share, rounded to 0.1 points as the program rounds percentages."""
    return round(round(100 * share, 1) / 100, 3)
