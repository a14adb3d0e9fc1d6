"""Agreement of two annotators, of a metric with annotators, or of two metrics: proportion, Cohen's
kappa, confusion matrix, and bootstrap intervals.

Labels are any hashable values, compared by equality. No label scale is treated as ordinal.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import check_bootstrap, percentile_interval, resampled_sums

__all__ = [
    "agreement_interval",
    "cohen_kappa",
    "confusion_matrix",
    "kappa_interval",
    "proportion_of_agreement",
]


def confusion_matrix(
    left: Sequence[Hashable], right: Sequence[Hashable], *, labels: Sequence[Hashable] | None = None
) -> npt.NDArray[np.int64]:
    """Return the (k, k) counts of label pairs, `left` in rows and `right` in columns.

    Args:
        left: n labels.
        right: n labels of the same items, in the same order.
        labels: the k labels, in the order of rows and columns. None uses the labels that occur,
            sorted by their text.

    Raises:
        InputError: for empty input, different lengths, a duplicate in `labels`, or a label that is
            not among `labels`.

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

    With weights, this is the sum of the weights of these items divided by the sum of all weights.

    Args:
        left: n labels.
        right: n labels of the same items, in the same order.
        weights: n weights of 0 or more; None weights all items equally.

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
    marginals of both sides.

    If both sides use the same single label, p_e is 1 and the quotient is 0 / 0. Both sides then
    agree on everything, and this function returns 1.0. If only one side uses a single label, kappa
    is 0.0.

    Args:
        left: n labels.
        right: n labels of the same items, in the same order.
        labels: allowed labels; None allows all. This argument only refuses unknown labels: a label
            that does not occur adds nothing, so the value is the same.

    Raises:
        InputError: for empty input, different lengths, a duplicate in `labels`, or a label that is
            not among `labels`.

    Examples:
        >>> round(cohen_kappa(["a", "a", "b", "b"], ["a", "b", "b", "b"]), 3)
        0.5
        >>> cohen_kappa(["a", "a"], ["a", "a"]), cohen_kappa(["a", "a"], ["a", "b"])
        (1.0, 0.0)
    """
    kappa = float(_kappas(confusion_matrix(left, right, labels=labels)[None].astype(np.float64))[0])
    return 1.0 if math.isnan(kappa) else kappa


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
    """Return the bootstrap interval of `cohen_kappa`.

    Kappa is undefined (0 / 0) in a resample in which both sides have the same single label.

    Args:
        left: n labels.
        right: n labels of the same items, in the same order.
        labels: allowed labels; None allows all.
        groups: n group names. Items of one group are drawn together, such as the labels of several
            annotators on one translation. None draws each item on its own.
        n_resamples: number of resamples, at least 1.
        level: confidence level, in (0, 1).
        seed: seed of numpy's default generator, 0 or more.

    Returns:
        The interval, or the reason why there is none (see
            `cc_hf.statistics.bootstrap.percentile_interval`).

    Raises:
        InputError: for labels that `confusion_matrix` refuses, options out of range, or groups of a
            different length.

    Examples:
        >>> kappa_interval(["a", "b"] * 5, ["a", "b"] * 5)
        NoInterval(reason='it is the same in every resample', n_undefined=0)
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    cells, k = _cells(left, right, labels)
    sums = resampled_sums(np.eye(k * k)[cells], groups=groups, n_resamples=n_resamples, seed=seed)
    return percentile_interval(_kappas(sums.reshape(n_resamples, k, k)), level=level)


def agreement_interval(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    *,
    weights: Sequence[float] | None = None,
    groups: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | NoInterval:
    """Return the bootstrap interval of `proportion_of_agreement`.

    Each weight travels with its item. The figure is undefined in a resample whose weights sum to 0.
    Without weights and groups, the figure is a proportion of independent items.

    Args:
        left: n labels.
        right: n labels of the same items, in the same order.
        weights: n weights of 0 or more; None weights all items equally.
        groups: n group names, as for `kappa_interval`; None draws each item on its own.
        n_resamples: number of resamples, at least 1.
        level: confidence level, in (0, 1).
        seed: seed of numpy's default generator, 0 or more.

    Returns:
        The interval, or the reason why there is none (see
            `cc_hf.statistics.bootstrap.percentile_interval`).

    Raises:
        InputError: for empty input, different lengths, a negative weight, weights that sum to 0, or
            options out of range.

    Examples:
        >>> round(agreement_interval(["a", "b"], ["a", "b"]).low, 3)
        0.342
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    equal, weight = _equal_and_weights(left, right, weights)
    sums = resampled_sums(
        np.stack([weight * equal, weight], axis=1),
        groups=groups,
        n_resamples=n_resamples,
        seed=seed,
    )
    values = np.divide(
        sums[:, 0], sums[:, 1], out=np.full(n_resamples, np.nan), where=sums[:, 1] > 0
    )
    proportion = (
        (float(equal.sum()), float(len(equal))) if weights is None and groups is None else None
    )
    return percentile_interval(values, level=level, proportion=proportion)


def _cells(
    left: Sequence[Hashable], right: Sequence[Hashable], labels: Sequence[Hashable] | None
) -> tuple[npt.NDArray[np.int64], int]:
    """Return the (n,) cells of the items in the flattened confusion matrix, and k.

    Raises:
        InputError: for labels that `confusion_matrix` refuses.
    """
    _check_lengths(left, right)
    known = sorted({*left, *right}, key=str) if labels is None else list(labels)
    numbers = {label: number for number, label in enumerate(known)}
    if len(numbers) < len(known):
        raise InputError(f"labels: expected each once, got {', '.join(map(str, known))}")
    for row, pair in enumerate(zip(left, right, strict=True)):
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
    """Return whether the labels of each item are equal, and its checked weight.

    Raises:
        InputError: for another number of weights, a negative one, or weights that sum to 0.
    """
    _check_lengths(left, right)
    equal = np.array([a == b for a, b in zip(left, right, strict=True)], dtype=np.bool_)
    checked = np.ones(len(equal)) if weights is None else np.asarray(weights, dtype=np.float64)
    if checked.shape != equal.shape:
        raise InputError(f"weights: expected one per item, {len(equal)} in all, got {len(checked)}")
    invalid = np.flatnonzero(~(np.isfinite(checked) & (checked >= 0)))
    if len(invalid):
        raise InputError(
            f"row {invalid[0]}: weight: expected a number of 0 or more, got {checked[invalid[0]]}"
        )
    if checked.sum() == 0:
        raise InputError("weights: expected at least one above 0, got none")
    return equal, checked


def _check_lengths(left: Sequence[Hashable], right: Sequence[Hashable]) -> None:
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
    beyond = n * n - chance
    kappas = np.full(len(tables), np.nan)
    np.divide(agreed - chance, beyond, out=kappas, where=beyond > 0)
    return kappas
