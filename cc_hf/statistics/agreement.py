"""Agreement of two annotators, of a metric with annotators, or of two metrics: proportion, Cohen's
kappa, confusion matrix, and intervals.

Labels are any hashable values, compared by equality.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.lists import listed
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import check_bootstrap, percentile_interval, resampled_sums
from cc_hf.statistics.checks import as_counts, as_floats, as_labels
from cc_hf.statistics.score_intervals import FEWEST, share_interval
from cc_hf.statistics.shares import quotients

__all__ = [
    "agreement_interval",
    "cohen_kappa",
    "confusion_matrix",
    "f_scores",
    "kappa_interval",
    "krippendorff_alpha",
    "mean_kappa",
    "proportion_of_agreement",
]


def confusion_matrix(
    left: Sequence[Hashable], right: Sequence[Hashable], *, labels: Sequence[Hashable] | None = None
) -> npt.NDArray[np.int64]:
    """Return the (k, k) counts of label pairs, `left` in rows and `right` in columns.

    Args:
        labels: the k labels, in the order of rows and columns. None uses the labels that occur,
            sorted by their text.

    Raises:
        InputError: for empty input, different lengths, a duplicate in `labels`, or a label that is
            not in it.

    Examples:
        >>> confusion_matrix(["a", "a", "b"], ["a", "b", "b"]).tolist()
        [[1, 1], [0, 1]]
    """
    cells, k = _cells(left, right, labels)
    return np.bincount(cells, minlength=k * k).reshape(k, k)


def proportion_of_agreement(
    left: Sequence[Hashable], right: Sequence[Hashable], *, weights: Sequence[float] | None = None
) -> float:
    """Return the share of items with equal labels, in [0, 1].

    With weights of 0 or more, return the weight of these items divided by that of all.

    Raises:
        InputError: for empty input, different lengths, a negative weight, or weights that sum to 0.

    Examples:
        >>> proportion_of_agreement(["a", "b"], ["a", "a"], weights=[3, 1])
        0.75
    """
    equal, weight = _equal_and_weights(left, right, weights)
    return float(weight[equal].sum() / weight.sum())


def cohen_kappa(
    left: Sequence[Hashable], right: Sequence[Hashable], *, labels: Sequence[Hashable] | None = None
) -> float:
    """Return Cohen's kappa, unweighted, in [-1, 1] (Cohen 1960).

    Kappa is the agreement beyond chance, (p_o - p_e) / (1 - p_e), where p_e follows from the
    marginals of both sides. It is 1.0 if both sides use the same single label, which is 0 / 0 by
    the formula, and 0.0 if only one side uses a single label.

    Args:
        labels: allowed labels, which do not change the value; None allows all.

    Raises:
        InputError: for empty input, different lengths, a duplicate in `labels`, or a label that is
            not in it.

    Examples:
        >>> round(cohen_kappa(["a", "a", "b", "b"], ["a", "b", "b", "b"]), 3)
        0.5
        >>> cohen_kappa(["a", "a"], ["a", "a"]), cohen_kappa(["a", "a"], ["a", "b"])
        (1.0, 0.0)
    """
    kappa = float(_kappas(confusion_matrix(left, right, labels=labels)[None].astype(np.float64))[0])
    # Both gave the same label to everything: agreement is complete, chance or not.
    return 1.0 if math.isnan(kappa) else kappa


def mean_kappa(labels: Sequence[Sequence[Hashable]]) -> float | None:
    """Return the mean of Cohen's kappa over all pairs of people; None for a single person.

    Args:
        labels: n labels of each person, of the same items in the same order.

    Examples:
        >>> mean_kappa([["a", "b"], ["a", "b"], ["a", "b"]])
        1.0
    """
    rows = [as_labels(f"annotator {i}", row) for i, row in enumerate(listed("labels", labels))]
    if not rows:
        raise InputError("labels: expected those of at least one person, got none")
    kappas = [cohen_kappa(left, right) for left, right in itertools.combinations(rows, 2)]
    return math.fsum(kappas) / len(kappas) if kappas else None


def kappa_interval(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    *,
    labels: Sequence[Hashable] | None = None,
    groups: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | NoInterval:
    """Return the bootstrap interval of `cohen_kappa`, or the reason why there is none.

    Args:
        labels: allowed labels; None allows all.
        groups: n group names. Items of one group are drawn together, such as the labels of several
            annotators on one translation. None draws each item on its own.

    Examples:
        >>> kappa_interval(["a", "b"] * 5, ["a", "b"] * 5)
        NoInterval(reason='it is the same in every resample', n_undefined=0)
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    cells, k = _cells(left, right, labels)
    sums = resampled_sums(np.eye(k * k)[cells], groups=groups, n_resamples=n_resamples, seed=seed)
    # Kappa is 0 / 0 in a resample in which both sides have the same single label.
    return percentile_interval(_kappas(sums.reshape(n_resamples, k, k)), level=level)


def krippendorff_alpha(labels: Sequence[Sequence[Hashable | None]]) -> float:
    """Return Krippendorff's alpha of nominal labels, at most 1 (Hayes & Krippendorff 2007).

    It is 1.0 if there is a single label and nothing to disagree about.

    Args:
        labels: (annotators, items); None where an annotator did not label the item.

    Raises:
        InputError: for rows of different lengths, or no item that two annotators labelled.

    Examples:
        >>> round(krippendorff_alpha([["a", "a", "b", "b"], ["a", "b", "b", None]]), 3)
        0.444
    """
    rows = [as_labels(f"annotator {i}", row) for i, row in enumerate(listed("labels", labels))]
    if len({len(row) for row in rows}) != 1:
        raise InputError(
            f"expected as many labels of every annotator, got {[len(row) for row in rows]}"
        )
    paired = [
        column
        for column in zip(*rows, strict=True)
        if sum(label is not None for label in column) > 1
    ]
    if not paired:
        raise InputError("agreement on nothing: expected an item with two labels, got none")
    known = sorted({label for column in paired for label in column if label is not None}, key=str)
    # One label alone leaves no disagreement to expect: the ratio would be 0 / 0.
    if len(known) == 1:
        return 1.0
    # The notation is that of the paper: values v of units u, of which m_u are labelled.
    counts = np.array([[column.count(label) for label in known] for column in paired])
    m = counts.sum(axis=1)
    n, n_of_label = int(m.sum()), counts.sum(axis=0)
    # Pairs of labels of a unit count 1 / (m_u - 1) each, so that every label counts once.
    observed = float(((counts * (m[:, None] - counts)).sum(axis=1) / (m - 1)).sum())
    expected = int(n**2 - (n_of_label**2).sum())
    return 1 - (n - 1) * observed / expected


def f_scores(table: npt.NDArray[np.int64]) -> tuple[float, ...]:
    """Return the F1 of each label, in [0, 1]; NaN for a label that occurs on neither side.

    Args:
        table: (k, k) counts of label pairs, as `confusion_matrix` returns them.

    Examples:
        >>> [round(f, 3) for f in f_scores(np.array([[6, 2], [0, 2]]))]
        [0.857, 0.667]
    """
    table = as_counts("table", table, shape=(None, None))
    table = as_counts("table", table, shape=(len(table), len(table)))
    total = table.sum(axis=0) + table.sum(axis=1)
    return tuple(quotients(2.0 * table.diagonal(), total).tolist())


def agreement_interval(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    *,
    weights: Sequence[float] | None = None,
    groups: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Interval | NoInterval:
    """Return the interval of `proportion_of_agreement`.

    Args:
        groups: n names of groups whose items are not independent; None for independent items.
    """
    equal, weight = _equal_and_weights(left, right, weights)
    interval = share_interval(weight * equal, weight, groups=groups, level=level)
    n = int((weight > 0).sum())
    # Equal weights leave the interval of a plain share, which holds for any n.
    if n < FEWEST and len(set(weight[weight > 0].tolist())) > 1:
        return NoInterval(f"n = {n}, and an interval with weights needs at least {FEWEST} items")
    return interval


def _cells(
    left: Sequence[Hashable], right: Sequence[Hashable], labels: Sequence[Hashable] | None
) -> tuple[npt.NDArray[np.int64], int]:
    """Return the (n,) cells of the items in the flattened confusion matrix, and k."""
    _check_lengths(left, right)
    # Sorted by text, since labels of mixed types have no order of their own.
    known = sorted({*left, *right}, key=str) if labels is None else as_labels("labels", labels)
    numbers = {label: number for number, label in enumerate(known)}
    if len(numbers) < len(known):
        raise InputError(f"labels: expected each once, got {', '.join(map(str, known))}")
    is_known = numbers.keys() >= {*left, *right}  # else the row is looked up
    for row, pair in () if is_known else enumerate(zip(left, right, strict=True)):
        for side, label in zip(("left", "right"), pair, strict=True):
            if label not in numbers:
                raise InputError(
                    f"row {row}: {side}: expected one of the labels {', '.join(map(str, known))},"
                    f" got {label!r}"
                )
    return np.array(
        [numbers[a] * len(known) + numbers[b] for a, b in zip(left, right, strict=True)],
        dtype=np.int64,
    ), len(known)


def _equal_and_weights(
    left: Sequence[Hashable], right: Sequence[Hashable], weights: Sequence[float] | None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Return whether the labels of each item are equal, and its checked weight."""
    _check_lengths(left, right)
    equal = np.array([a == b for a, b in zip(left, right, strict=True)], dtype=np.bool_)
    checked = np.ones(len(equal)) if weights is None else as_floats("weights", weights)
    if checked.shape != equal.shape:
        raise InputError(f"weights: expected one per item, {len(equal)} in all, got {len(checked)}")
    invalid = np.flatnonzero(checked < 0)
    if len(invalid):
        raise InputError(
            f"row {invalid[0]}: weight: expected a number of 0 or more, got {checked[invalid[0]]}"
        )
    if checked.sum() == 0:
        raise InputError("weights: expected at least one above 0, got none")
    return equal, checked


def _check_lengths(left: Sequence[Hashable], right: Sequence[Hashable]) -> None:
    for side, labels in (("left", left), ("right", right)):
        as_labels(side, labels)
    if len(left) != len(right):
        raise InputError(
            f"expected two labels of every item, got {len(left)} on the left and {len(right)} on"
            " the right"
        )
    if len(left) == 0:
        raise InputError("agreement on nothing: expected at least one item, got none")


def _kappas(tables: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the (r,) kappas of (r, k, k) confusion matrices, NaN for 0 / 0."""
    n = tables.sum(axis=(1, 2))
    # All terms are multiplied by n², so that counts stay integers and 0 / 0 is exact.
    agreed = n * np.trace(tables, axis1=1, axis2=2)
    chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1)
    return quotients(agreed - chance, n * n - chance)
