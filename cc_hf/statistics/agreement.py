"""Agreement of two annotators, of a metric with annotators, or of two metrics: proportion, Cohen's
kappa, confusion, intervals by bootstrap.

Labels are any hashable values, compared by equality; nothing is an ordinal scale here.
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
    """(k, k) counts: rows the label of `left`, columns that of `right`.

    Args:
        left, right: n labels each, of the same items.
        labels: the k labels, in the order wanted; None takes those that occur, sorted by their
            text.

    Raises:
        InputError: for empty input, lengths that differ, labels twice, or a label that is not among
            `labels`.

    >>> confusion_matrix(["a", "a", "b"], ["a", "b", "b"]).tolist()
    [[1, 1], [0, 1]]
    """
    cells, k = _cells(left, right, labels)
    return np.bincount(cells, minlength=k * k).reshape(k, k)


def proportion_of_agreement(
    left: Sequence[Hashable], right: Sequence[Hashable], *, weights: Sequence[float] | None = None
) -> float:
    """Share of items with equal labels, in [0, 1]; weighted: the weights of these over all weights.

    Raises:
        InputError: for empty input, lengths that differ, a negative weight, or weights whose sum is
            0.

    >>> proportion_of_agreement(["a", "b"], ["a", "a"], weights=[3, 1])
    0.75
    """
    equal, weight = _equal_and_weights(left, right, weights)
    return float(weight[equal].sum() / weight.sum())


def cohen_kappa(
    left: Sequence[Hashable], right: Sequence[Hashable], *, labels: Sequence[Hashable] | None = None
) -> float:
    """Agreement beyond chance, (p_o - p_e) / (1 - p_e) with the marginals of both sides (Cohen
    1960), in [-1, 1]; not weighted.

    Where both sides use one and the same label only, p_e is 1 and the quotient is 0 / 0: they agree
    on everything, and kappa is defined as 1.0 here. Where one side uses one label only, and the
    other does not, kappa is 0.0.

    Args:
        left, right, labels: as of `confusion_matrix`. `labels` changes no value, since labels that
            do not occur add nothing; it refuses strange ones.

    Raises:
        InputError: as `confusion_matrix`.

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
    """Interval of `cohen_kappa` (`cc_hf.statistics.bootstrap.percentile_interval`).

    Kappa is undefined, 0 / 0, in a resample in which both sides have one and the same label only.

    Args:
        left, right, labels: as of `confusion_matrix`.
        groups: items of one group are drawn together, such as the labels of several annotators on
            one translation; None: each by itself.
        n_resamples, level, seed: as of `cc_hf.statistics.bootstrap.accuracy_intervals`.

    Raises:
        InputError: as `confusion_matrix`, or for options out of range, or groups of another length.

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
    """Interval of `proportion_of_agreement`; arguments as there and of `kappa_interval`.

    Weights travel with their items.

    It is undefined in a resample whose weights sum to 0. Without weights and groups it is a
    proportion.

    Raises:
        InputError: as these.

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
    """(n,) the cell of each item in the confusion matrix, row by row; and the number of labels."""
    _check_lengths(left, right)
    known = sorted({*left, *right}, key=str) if labels is None else list(labels)
    place = {label: at for at, label in enumerate(known)}
    if len(place) < len(known):
        raise InputError(f"labels: expected each once, got {', '.join(map(str, known))}")
    for row, pair in enumerate(zip(left, right, strict=True)):
        for side, label in zip(("left", "right"), pair, strict=True):
            if label not in place:
                raise InputError(
                    f"row {row}: {side}: expected one of the labels {', '.join(map(str, known))},"
                    f" got {label!r}"
                )
    return np.array(
        [place[a] * len(known) + place[b] for a, b in zip(left, right, strict=True)], dtype=np.int64
    ), len(known)


def _equal_and_weights(
    left: Sequence[Hashable], right: Sequence[Hashable], weights: Sequence[float] | None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    _check_lengths(left, right)
    equal = np.array([a == b for a, b in zip(left, right, strict=True)], dtype=np.bool_)
    found = np.ones(len(equal)) if weights is None else np.asarray(weights, dtype=np.float64)
    if found.shape != equal.shape:
        raise InputError(f"weights: expected one per item, {len(equal)} in all, got {len(found)}")
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(bad):
        raise InputError(
            f"row {bad[0]}: weight: expected a number of 0 or more, got {found[bad[0]]}"
        )
    if found.sum() == 0:
        raise InputError("weights: expected at least one above 0, got none")
    return equal, found


def _check_lengths(left: Sequence[Hashable], right: Sequence[Hashable]) -> None:
    if len(left) != len(right):
        raise InputError(
            f"expected two labels of every item, got {len(left)} on the left and {len(right)} on"
            " the right"
        )
    if len(left) == 0:
        raise InputError("agreement on nothing: expected at least one item, got none")


def _kappas(tables: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(r,) kappas of (r, k, k) confusion matrices, NaN for 0 / 0."""
    n = tables.sum(axis=(1, 2))
    # times n², so that counts stay whole and 0 / 0 is exact
    agreed = n * np.trace(tables, axis1=1, axis2=2)
    chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1)
    beyond = n * n - chance
    kappas = np.full(len(tables), np.nan)
    np.divide(agreed - chance, beyond, out=kappas, where=beyond > 0)
    return kappas
