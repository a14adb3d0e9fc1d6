"""Agreement of two annotators, of a metric with annotators, or of two metrics: proportion, Cohen's kappa, confusion, intervals by bootstrap.

Labels are any hashable values, compared by equality; nothing is an ordinal scale here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval
from cc_hf.statistics.bootstrap import check_bootstrap

__all__ = ["agreement_interval", "cohen_kappa", "confusion_matrix", "kappa_interval", "proportion_of_agreement"]

_CHUNK = 250  # resamples drawn at a time: bounds the memory


def confusion_matrix(left: Sequence[Hashable], right: Sequence[Hashable], *, labels: Sequence[Hashable] | None = None) -> npt.NDArray[np.int64]:
    """(k, k) counts: rows the label of `left`, columns that of `right`.

    Args:
        left, right: n labels each, of the same items.
        labels: the k labels, in the order wanted; None takes those that occur, sorted by their text.

    Raises:
        InputError: for empty input, lengths that differ, labels twice, or a label that is not among `labels`.

    >>> confusion_matrix(["a", "a", "b"], ["a", "b", "b"]).tolist()
    [[1, 1], [0, 1]]
    """
    cells, k = _cells(left, right, labels)
    return np.bincount(cells, minlength=k * k).reshape(k, k)


def proportion_of_agreement(left: Sequence[Hashable], right: Sequence[Hashable], *, weights: Sequence[float] | None = None) -> float:
    """Share of items with equal labels, in [0, 1]; weighted: the weights of these over all weights.

    Raises:
        InputError: for empty input, lengths that differ, a negative weight, or weights whose sum is 0.

    >>> proportion_of_agreement(["a", "b"], ["a", "a"], weights=[3, 1])
    0.75
    """
    equal, weight = _equal_and_weights(left, right, weights)
    return float(weight[equal].sum() / weight.sum())


def cohen_kappa(left: Sequence[Hashable], right: Sequence[Hashable], *, labels: Sequence[Hashable] | None = None) -> float:
    """Agreement beyond chance, (p_o - p_e) / (1 - p_e) with the marginals of both sides (Cohen 1960), in [-1, 1]; not weighted.

    Where both sides use one and the same label only, p_e is 1 and the quotient is 0 / 0: they agree on everything, and kappa is defined as 1.0
    here. Where one side uses one label only, and the other does not, kappa is 0.0.

    Args:
        left, right, labels: as of `confusion_matrix`. `labels` changes no value, since labels that do not occur add nothing; it refuses strange ones.

    Raises:
        InputError: as `confusion_matrix`.

    >>> round(cohen_kappa(["a", "a", "b", "b"], ["a", "b", "b", "b"]), 3)
    0.5
    >>> cohen_kappa(["a", "a"], ["a", "a"]), cohen_kappa(["a", "a"], ["a", "b"])
    (1.0, 0.0)
    """
    return float(_kappas(confusion_matrix(left, right, labels=labels)[None].astype(np.float64))[0])


def kappa_interval(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    *,
    labels: Sequence[Hashable] | None = None,
    groups: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of `cohen_kappa`.

    Args:
        left, right, labels: as of `confusion_matrix`.
        groups: items of one group are drawn together, such as the labels of several annotators on one translation; None: each by itself.
        n_resamples, level, seed: as of `cc_hf.statistics.bootstrap.accuracy_intervals`.

    Raises:
        InputError: as `confusion_matrix`, or for options out of range, or groups of another length.

    >>> kappa_interval(["a", "b"] * 5, ["a", "b"] * 5)
    Interval(low=1.0, high=1.0, level=0.95)
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    cells, k = _cells(left, right, labels)
    sums = _resampled_sums(np.eye(k * k)[cells], groups, n_resamples, seed)
    return _percentiles(_kappas(sums.reshape(n_resamples, k, k)), level)


def agreement_interval(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    *,
    weights: Sequence[float] | None = None,
    groups: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of `proportion_of_agreement`; arguments as there and of `kappa_interval`. Weights travel with their items.

    Raises:
        InputError: as these.

    >>> agreement_interval(["a", "b"], ["a", "b"])
    Interval(low=1.0, high=1.0, level=0.95)
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    equal, weight = _equal_and_weights(left, right, weights)
    sums = _resampled_sums(np.stack([weight * equal, weight], axis=1), groups, n_resamples, seed)
    defined = sums[sums[:, 1] > 0]  # a resample of weight 0 says nothing
    return _percentiles(defined[:, 0] / defined[:, 1], level)


def _cells(left: Sequence[Hashable], right: Sequence[Hashable], labels: Sequence[Hashable] | None) -> tuple[npt.NDArray[np.int64], int]:
    """(n,) the cell of each item in the confusion matrix, row by row; and the number of labels."""
    _check_lengths(left, right)
    known = sorted({*left, *right}, key=str) if labels is None else list(labels)
    place = {label: at for at, label in enumerate(known)}
    if len(place) < len(known):
        raise InputError(f"labels: expected each once, got {', '.join(map(str, known))}")
    for row, pair in enumerate(zip(left, right, strict=True)):
        for side, label in zip(("left", "right"), pair, strict=True):
            if label not in place:
                raise InputError(f"row {row}: {side}: expected one of the labels {', '.join(map(str, known))}, got {label!r}")
    return np.array([place[a] * len(known) + place[b] for a, b in zip(left, right, strict=True)], dtype=np.int64), len(known)


def _equal_and_weights(left: Sequence[Hashable], right: Sequence[Hashable], weights: Sequence[float] | None) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    _check_lengths(left, right)
    equal = np.array([a == b for a, b in zip(left, right, strict=True)], dtype=np.bool_)
    found = np.ones(len(equal)) if weights is None else np.asarray(weights, dtype=np.float64)
    if found.shape != equal.shape:
        raise InputError(f"weights: expected one per item, {len(equal)} in all, got {len(found)}")
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(bad):
        raise InputError(f"row {bad[0]}: weight: expected a number of 0 or more, got {found[bad[0]]}")
    if found.sum() == 0:
        raise InputError("weights: expected at least one above 0, got none")
    return equal, found


def _check_lengths(left: Sequence[Hashable], right: Sequence[Hashable]) -> None:
    if len(left) != len(right):
        raise InputError(f"expected two labels of every item, got {len(left)} on the left and {len(right)} on the right")
    if len(left) == 0:
        raise InputError("agreement on nothing: expected at least one item, got none")


def _kappas(tables: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(r,) kappas of (r, k, k) confusion matrices."""
    n = tables.sum(axis=(1, 2))
    agreed = n * np.trace(tables, axis1=1, axis2=2)  # times n², so that counts stay whole and 0 / 0 is exact
    chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1)
    beyond = n * n - chance
    kappas = np.ones(len(tables))
    np.divide(agreed - chance, beyond, out=kappas, where=beyond > 0)
    return kappas


def _resampled_sums(columns: npt.NDArray[np.float64], groups: Iterable[Hashable] | None, n_resamples: int, seed: int) -> npt.NDArray[np.float64]:
    """(n_resamples, m) sums of (n, m) columns over groups drawn with replacement."""
    if groups is not None:
        number: dict[Hashable, int] = {}
        members = [number.setdefault(group, len(number)) for group in groups]
        if len(members) != len(columns):
            raise InputError(f"groups: expected one per item, {len(columns)} in all, got {len(members)}")
        summed = np.zeros((len(number), columns.shape[1]))
        np.add.at(summed, members, columns)
        columns = summed
    generator = np.random.default_rng(seed)
    n = len(columns)
    parts = []
    for start in range(0, n_resamples, _CHUNK):
        times_drawn = generator.multinomial(n, np.full(n, 1 / n), size=min(_CHUNK, n_resamples - start))
        parts.append(times_drawn @ columns)
    return np.concatenate(parts)


def _percentiles(values: npt.NDArray[np.float64], level: float) -> Interval:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level)
