"""Accuracy and rank-weighted accuracy by category (Vamvas & Sennrich 2021, section 3.4), with
intervals.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.lists import listed
from cc_hf.results import CategoryAccuracy
from cc_hf.schema import counted_categories
from cc_hf.statistics.checks import (
    as_counts,
    as_flags,
    as_labels,
    check_level,
    check_number,
    check_type,
)
from cc_hf.statistics.score_intervals import (
    Estimate,
    difference,
    estimate_of_codes,
    lowest,
)

__all__ = [
    "accuracy_estimates",
    "min_accuracy",
    "share",
    "total_accuracy",
]


def share(correct: float, incorrect: float) -> float:
    """Return correct / (correct + incorrect), in [0, 1]; 0.5 if both scores are 0."""
    for name, score in (("correct", correct), ("incorrect", incorrect)):
        if type(score) is not float or not 0 <= score < math.inf:  # asked of every judgement
            check_number(name, score, low=0)
    # Two finite scores may overflow in their sum.
    if math.isinf(correct + incorrect):
        correct, incorrect = correct / 2, incorrect / 2
    return correct / (correct + incorrect) if correct + incorrect else 0.5


def total_accuracy(
    is_correct: npt.NDArray[np.bool_], weights: npt.NDArray[np.int64] | None = None
) -> float:
    """Return the weight of the correct samples divided by that of all; None weights all equally."""
    is_correct = as_flags("is_correct", is_correct)
    if weights is None:
        # Quotients of integers, not means of floats: the same digits on every processor.
        return int(np.count_nonzero(is_correct)) / len(is_correct)
    weights = as_counts("weights", weights, shape=is_correct.shape)
    if not weights.any():
        raise InputError("weights: expected at least one above 0, got none")
    # Integers until the division: the result does not depend on the order of samples.
    return int(weights[is_correct].sum()) / int(weights.sum())


def min_accuracy(
    categories: Sequence[CategoryAccuracy], *, weighted: bool, uncounted: Collection[str] = ()
) -> float:
    """Return the smallest category accuracy.

    Examples:
        >>> categories = (CategoryAccuracy("a", 2, 1, 0.5), CategoryAccuracy("none", 1, 0, 0.0))
        >>> min_accuracy(categories, weighted=False)
        0.5
    """
    members: list[CategoryAccuracy] = listed("categories", categories)
    for row, category in enumerate(members):
        check_type(f"categories: row {row}", category, CategoryAccuracy)
    # "none" is ignored unless it is the only category, as in the paper's program.
    names = counted_categories((c.category for c in members), uncounted)
    counted = [c for c in members if c.category in names]
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


def accuracy_estimates(
    is_correct: npt.NDArray[np.bool_],
    categories: Sequence[str],
    *,
    weights: npt.NDArray[np.int64] | None = None,
    is_inconclusive: npt.NDArray[np.bool_] | None = None,
    is_counted: npt.NDArray[np.bool_] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    deltas: Mapping[str, tuple[str, str]] | None = None,
    uncounted: Collection[str] = (),
    level: float = 0.95,
) -> dict[str, Estimate]:
    """Return all accuracies with their intervals: total, minimum, by category, and weighted.

    Args:
        is_correct: shape (n,), the verdicts.
        weights: shape (n,), positive, or 0 for what is not counted; None omits the weighted
            figures.
        is_inconclusive: shape (n,); None omits the rates of inconclusive verdicts.
        is_counted: shape (n,), whether accuracies count a sample, at least one of each category;
            None for all.
        groups: name -> categories that have a figure together; a group without a sample is omitted.
        deltas: name -> the two figures that it is the difference of; omitted if either is missing.

    Examples:
        >>> estimates = accuracy_estimates(np.array([True, False] * 10), ["a", "b"] * 10)
        >>> {name: estimate.value for name, estimate in estimates.items()}
        {'accuracy': 0.5, 'min_accuracy': 0.0, 'accuracy_a': 1.0, 'accuracy_b': 0.0}
    """
    is_correct = as_flags("is_correct", is_correct)
    n = len(is_correct)
    names = np.asarray(as_labels("categories", categories, n=n, are_texts=True))
    if is_inconclusive is not None:
        is_inconclusive = as_flags("is_inconclusive", is_inconclusive, shape=(n,))
    counts = np.ones(n)
    if is_counted is not None:
        counts = as_flags("is_counted", is_counted, shape=(n,)).astype(np.float64)
    kinds: dict[str, npt.NDArray[np.float64]] = {"": counts}
    if weights is not None:
        # A weight is part of a sample's judgement, so weights are not ranked again. The numbers of
        # samples of the categories count as fixed.
        kinds["weighted_"] = as_counts("weights", weights, shape=(n,)).astype(np.float64)
    present = sorted(set(categories))
    counted = counted_categories(present, uncounted)
    code_of = {name: code for code, name in enumerate(present)}
    codes = np.array([code_of[name] for name in categories])
    check_level(level)

    def share(flags: npt.NDArray[np.bool_], weight: npt.NDArray[np.float64]) -> Estimate:
        return estimate_of_codes(weight * flags, weight, codes, level=level)

    estimates: dict[str, Estimate] = {}
    for prefix, weight in kinds.items():
        parts = {
            name: share(is_correct, weight * (codes == code)) for code, name in enumerate(present)
        }
        estimates[f"{prefix}accuracy"] = share(is_correct, weight)
        estimates[f"{prefix}min_accuracy"] = lowest([parts[name] for name in counted])
        estimates |= {f"{prefix}accuracy_{name}": part for name, part in parts.items()}
    for group, members in {"": present, **(groups or {})}.items():
        is_member = np.isin(names, list(members)).astype(np.float64)
        suffix = f"_{group}" if group else ""
        # A group may be absent, as in a sample of the data.
        if is_member.any():
            estimates[f"accuracy{suffix}"] = share(is_correct, is_member * counts)
            if is_inconclusive is not None:
                estimates[f"inconclusive_rate{suffix}"] = share(is_inconclusive, is_member)
    for name, (left, right) in (deltas or {}).items():
        if {left, right} <= estimates.keys():
            estimates[name] = difference(estimates[left], estimates[right])
    return estimates
