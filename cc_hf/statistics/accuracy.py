"""Accuracy and rank-weighted accuracy by category (Vamvas & Sennrich 2021, section 3.4), on
arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import CategoryAccuracy
from cc_hf.schema import UNCOUNTED_CATEGORY

__all__ = [
    "category_accuracies",
    "min_accuracy",
    "rank_weights",
    "share",
    "total_accuracy",
    "verdict_accuracies",
]


def rank_weights(
    probability_correct: npt.NDArray[np.float64], categories: Sequence[str]
) -> npt.NDArray[np.int64]:
    """Weights n .. 1 within each category, the largest for the sample that the evaluator is surest
    of.

    A stable sort by abs(p - 0.5), descending: of equal ones the earlier weighs more, as in the
    paper's program. Weights are not normalised between categories.

    Args:
        probability_correct: shape (n,), in [0, 1].
        categories: n names.

    >>> rank_weights(np.array([0.9, 0.6, 0.2]), ["a", "a", "b"]).tolist()
    [2, 1, 1]
    """
    names = np.asarray(categories)
    weights = np.empty(len(probability_correct), dtype=np.int64)
    confidence = np.abs(np.asarray(probability_correct, dtype=np.float64) - 0.5)
    for name in np.unique(names):
        members = np.flatnonzero(names == name)
        order = np.argsort(-confidence[members], kind="stable")
        weights[members[order]] = np.arange(len(members), 0, -1)
    return weights


def share(correct: float, incorrect: float) -> float:
    """Return correct / (correct + incorrect) of two scores of 0 or more; 0.5 where both are 0.

    A sum that overflows is computed from halves.

    >>> share(3.0, 1.0), share(0.0, 0.0), share(1e308, 1e308)
    (0.75, 0.5, 0.5)
    """
    if math.isinf(correct + incorrect):
        correct, incorrect = correct / 2, incorrect / 2
    return correct / (correct + incorrect) if correct + incorrect else 0.5


def total_accuracy(
    is_correct: npt.NDArray[np.bool_], weights: npt.NDArray[np.int64] | None = None
) -> float:
    """Sum of weights of the correct ones over the sum of weights; integers until the division,
    hence exact.

    Raises:
        InputError: for empty input.
    """
    if len(is_correct) == 0:
        raise InputError("accuracy of nothing: expected at least one judgement, got none")
    if weights is None:
        return int(np.count_nonzero(is_correct)) / len(is_correct)
    return int(weights[is_correct].sum()) / int(weights.sum())


def category_accuracies(
    probability_correct: npt.NDArray[np.float64],
    is_correct: npt.NDArray[np.bool_],
    categories: Sequence[str],
) -> tuple[CategoryAccuracy, ...]:
    """Counts and accuracies of each category, sorted by name."""
    names, weights = np.asarray(categories), rank_weights(probability_correct, categories)
    found = []
    for name in sorted(set(categories)):
        mask = names == name
        correct = is_correct[mask]
        found.append(
            CategoryAccuracy(
                category=name,
                n=int(mask.sum()),
                n_correct=int(correct.sum()),
                n_ties=int((probability_correct[mask] == 0.5).sum()),
                accuracy=total_accuracy(correct),
                weighted_accuracy=total_accuracy(correct, weights[mask]),
            )
        )
    return tuple(found)


def verdict_accuracies(
    is_correct: npt.NDArray[np.bool_],
    categories: Sequence[str],
    *,
    is_inconclusive: npt.NDArray[np.bool_] | None = None,
) -> tuple[CategoryAccuracy, ...]:
    """Counts and accuracy of each category, sorted by name, where there are no probabilities and so
    no weights and no ties.

    >>> verdict_accuracies(np.array([True, False]), ["a", "a"])[0].accuracy
    0.5
    """
    names = np.asarray(categories)
    return tuple(
        CategoryAccuracy(
            category=name,
            n=int((names == name).sum()),
            n_correct=int(is_correct[names == name].sum()),
            accuracy=total_accuracy(is_correct[names == name]),
            n_inconclusive=(
                0 if is_inconclusive is None else int(is_inconclusive[names == name].sum())
            ),
        )
        for name in sorted(set(categories))
    )


def min_accuracy(categories: Sequence[CategoryAccuracy], *, weighted: bool) -> float:
    """The smallest category accuracy; the category «none» does not count, as in the paper's
    program.

    Raises:
        InputError: when there is no category, or a weighted accuracy is wanted that one of them
            does not have.
    """
    counted = [c for c in categories if c.category != UNCOUNTED_CATEGORY] or list(categories)
    if not counted:
        raise InputError("minimum accuracy of nothing: expected at least one category, got none")
    values = [c.weighted_accuracy if weighted else c.accuracy for c in counted]
    defined = [value for value in values if value is not None]
    if len(defined) < len(values):
        raise InputError(
            "minimum of weighted accuracies: expected categories with one, got one without; its"
            " metric has no probabilities"
        )
    return min(defined)
