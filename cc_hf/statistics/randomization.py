"""Paired approximate randomisation: how often two equal systems would differ as much as those that
were observed (Riezler & Maxwell 2005).

If the systems are equal, it does not matter which of them made which output of a sample. So the
outputs of both are exchanged, sample by sample with probability 1/2, and the figures are computed
again. Unlike resamples, exchanges are a test for any number of samples and for any figure.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, shown
from cc_hf.schema import counted_categories
from cc_hf.statistics.bootstrap import check_bootstrap
from cc_hf.statistics.checks import as_flags, as_floats, as_labels

__all__ = [
    "LEAST_P",
    "MOST_ENUMERATED",
    "ExchangeTest",
    "FiguresOfSums",
    "exchange_p",
    "exchange_tests",
    "minimum_p",
]

_Floats = npt.NDArray[np.float64]

#: Function from stratum -> sums of shape (m, k) to figure -> values of shape (m,), NaN where a
#: figure is undefined.
FiguresOfSums = Callable[[Mapping[str, _Floats]], Mapping[str, _Floats]]

#: All exchanges are made, and p is exact, where at most so many samples differ.
MOST_ENUMERATED = 14

#: Sums of a discrete Fourier transform say nothing of a p that is smaller.
LEAST_P = 1e-12

_EXCHANGED_AT_ONCE = 1 << 20  # bounds the memory
_ROUNDING = 1e-12  # differences that are closer count as equal
_LEAST_LOG = -750.0  # below the logarithm of the smallest float


@dataclass(frozen=True, slots=True)
class ExchangeTest:
    """A figure of two systems, and two-sided p, in (0, 1], by all exchanges if `is_exact`."""

    first: float
    second: float
    p_value: float
    is_exact: bool


def exchange_tests(
    first: npt.NDArray[np.generic],
    second: npt.NDArray[np.generic],
    figures: FiguresOfSums,
    *,
    strata: Sequence[str] | None = None,
    groups: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> dict[str, ExchangeTest]:
    """Test whether two systems differ in figures that are functions of sums over samples.

    p is the share of exchanges after which the systems differ at least as much as observed, without
    those after which the figure is undefined. It is exact for few samples that differ.

    Args:
        first, second: shape (n, k), what the outputs of each system contribute to k sums.
        strata: n names of strata, by which `figures` gets the sums; None for one stratum, "all".
        groups: n names of groups. Samples of one group are exchanged together, such as the two of a
            pair; they may be in several strata. None exchanges each sample on its own.

    Examples:
        >>> first, second = np.array([[1.0]] * 5), np.array([[0.0]] * 5)
        >>> exchange_tests(first, second, lambda parts: {"mean": parts["all"][:, 0] / 5})
        {'mean': ExchangeTest(first=1.0, second=0.0, p_value=0.0625, is_exact=True)}
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    if not callable(figures):
        raise InputError(f"figures: expected a function of sums, got {shown(figures)}")
    first = as_floats("first", first, shape=(None, None), are_flags=True)
    n = len(first)
    second = as_floats("second", second, shape=first.shape, are_flags=True)
    names = np.asarray(["all"] * n if strata is None else as_labels("strata", strata, n=n))
    numbers: dict[Hashable, int] = {}
    of_rows = range(n) if groups is None else as_labels("groups", groups, n=n)
    units = np.array([numbers.setdefault(group, len(numbers)) for group in of_rows])
    # To exchange equal rows changes no sum: only these are exchanged.
    differing = np.flatnonzero((first != second).any(axis=1))
    # The columns of these rows in a matrix of exchanges.
    different, columns = np.unique(units[differing], return_inverse=True)
    change = np.subtract(second, first, dtype=np.float64)[differing]
    labels, codes = np.unique(names, return_inverse=True)
    sums = {
        str(label): np.stack([side[codes == code].sum(axis=0) for side in (first, second)])
        for code, label in enumerate(labels)
    }
    # What each unit changes in the sums of each stratum: one product for all of them.
    changes = np.zeros((len(different), len(labels), first.shape[1]))
    np.add.at(changes, (columns, codes[differing]), change)
    # Units in rows of memory, along which products are summed.
    flat_changes = np.ascontiguousarray(
        changes.reshape(len(different), len(labels) * first.shape[1]).T
    )
    observed = figures({name: values.astype(np.float64) for name, values in sums.items()})
    is_exact = len(different) <= MOST_ENUMERATED
    # Drawn exchanges count the observed one, too, so that p is never 0.
    n_as_far, n_defined = (dict.fromkeys(observed, 0 if is_exact else 1) for _ in range(2))
    for exchanges in _exchanges(len(different), len(differing), n_resamples, seed):
        # Not `@`: for so few columns, the threads of BLAS wait longer than they work.
        products = np.einsum("ij,kj->ik", exchanges, flat_changes)
        moved = dict(zip(sums, np.split(products, len(sums), axis=1), strict=True))
        left = figures({name: sums[name][0] + values for name, values in moved.items()})
        right = figures({name: sums[name][1] - values for name, values in moved.items()})
        for name, values in observed.items():
            distances = np.abs(right[name] - left[name])
            n_as_far[name] += int((distances >= abs(values[1] - values[0]) - _ROUNDING).sum())
            n_defined[name] += int(np.isfinite(distances).sum())
    return {
        name: ExchangeTest(
            float(values[0]), float(values[1]), n_as_far[name] / max(1, n_defined[name]), is_exact
        )
        for name, values in observed.items()
    }


def exchange_p(
    first: npt.NDArray[np.bool_],
    second: npt.NDArray[np.bool_],
    *,
    units: Sequence[Hashable] | None = None,
) -> float:
    """Return the exact p of the difference in the number of correct samples: two-sided, in (0, 1].

    Args:
        first, second: shape (n,), whether each system is right on each sample.
        units: n names, whose samples are exchanged together, such as the two of a pair; None
            exchanges each sample on its own, which is McNemar's test.

    Examples:
        >>> first = np.array([True] * 9 + [False])
        >>> second = np.array([False] * 8 + [True] * 2)
        >>> round(exchange_p(first, second), 4)
        0.0391
        >>> round(exchange_p(first, second, units=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4]), 6)
        0.125
    """
    first = as_flags("first", first)
    second = as_flags("second", second, shape=first.shape)
    change = second.astype(np.int64) - first
    if units is not None:
        labels = as_labels("units", units, n=len(change))
        numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
        change = np.bincount([numbers[label] for label in labels], change).astype(np.int64)
    sizes, counts = np.unique(np.abs(change[change != 0]), return_counts=True)
    if len(sizes) < 2:  # the exchanges of units that differ by as much are throws of a fair coin
        return _sign_test(int((change > 0).sum()), int((change < 0).sum()))
    most = int((sizes * counts).sum())
    # Each unit adds its size or takes it away, so that the sum has a product of cosines as its
    # characteristic function, and its distribution is the inverse of that.
    angles = 2 * np.pi * np.arange(2 * most + 1) / (2 * most + 1)
    waves = [np.cos(size * angles) ** n for size, n in zip(sizes, counts, strict=True)]
    distribution = np.fft.fft(np.prod(waves, axis=0)).real / len(angles)
    as_far = distribution[abs(int(change.sum())) : most + 1].sum()
    both_sides = float(2 * as_far if change.sum() else 1.0)
    # The transform rounds, so that p may come out as 0.
    return min(1.0, max(both_sides, LEAST_P))


def _sign_test(n_heads: int, n_tails: int) -> float:
    """Return the two-sided p of a fair coin, exact in whole numbers."""
    n = n_heads + n_tails
    term = total = 1  # the ways to throw heads never, and at most as often as the rarer side
    for k in range(min(n_heads, n_tails)):
        term = term * (n - k) // (k + 1)
        total += term
    return min(1.0, max(2 * total / (1 << n), sys.float_info.min))


def minimum_p(
    first: npt.NDArray[np.bool_],
    second: npt.NDArray[np.bool_],
    categories: Sequence[str],
    *,
    uncounted: Collection[str] = (),
    units: Sequence[Hashable] | None = None,
) -> float:
    """Return p of the difference in the lowest accuracy over categories: two-sided, in (0, 1].

    This is an intersection-union test (Berger 1982): a minimum is larger than another one if every
    category of the first system is better than the worst of the second, so p is the largest of
    these hypotheses. It is 1 for minima that are equal.

    Args:
        first, second: shape (n,), whether each system is right on each sample.
        units: n names, whose samples are exchanged together; None exchanges each on its own.

    Examples:
        >>> first, second = np.arange(20) < 5, np.arange(20) < 0
        >>> minimum_p(first, second, ["a"] * 10 + ["b"] * 10)
        1.0
        >>> minimum_p(first, second, ["a", "b"] * 10)
        0.5
    """
    first = as_flags("first", first)
    second = as_flags("second", second, shape=first.shape)
    labels = as_labels("categories", categories, n=len(first), are_texts=True)
    names = np.asarray(labels)
    of_units = None if units is None else as_labels("units", units, n=len(first))
    counted = counted_categories(sorted({*labels}), uncounted)
    rows = {name: np.flatnonzero(names == name) for name in counted}
    minima = [min(side[of].mean() for of in rows.values()) for side in (first, second)]
    if minima[0] == minima[1]:
        return 1.0
    worse, better = (first, second) if minima[0] < minima[1] else (second, first)
    p_values = [0.0]
    for worst, of_worst in rows.items():
        if worse[of_worst].mean() > min(minima):
            continue
        same = None if of_units is None else [of_units[row] for row in of_worst]
        p_values.append(exchange_p(first[of_worst], second[of_worst], units=same))
        n_right, n = int(worse[of_worst].sum()), len(of_worst)
        for other, of_other in rows.items():
            if other != worst:
                # Samples of two categories are not the same, so they cannot be exchanged.
                p_values.append(_fisher(n_right, n, int(better[of_other].sum()), len(of_other)))
    # The minimum is lower only if each of these shares is: the largest p is that of all.
    return max(p_values)


def _fisher(n_right: int, n: int, n_other_right: int, n_other: int) -> float:
    """Return the two-sided p of Fisher's exact test of two proportions."""
    total = n_right + n_other_right
    k = np.arange(max(0, total - n_other), min(n, total) + 1)
    # Logarithms, since factorials of a few hundred samples overflow.
    ways = _log_choices(n, k) + _log_choices(n_other, total - k)
    observed, largest = ways[n_right - k[0]], ways.max()
    # The weights of others are 0, and np.exp rounds differently from one processor to another.
    ways = ways[ways > largest + _LEAST_LOG]
    weights = [math.exp(way) for way in (ways - largest).tolist()]
    is_rare = (ways <= observed + _ROUNDING).tolist()
    as_rare = sum(itertools.compress(weights, is_rare))
    return max(as_rare / sum(weights), sys.float_info.min)


def _log_choices(n: int, k: npt.NDArray[np.int64]) -> _Floats:
    """Return the logarithms of the numbers of ways to choose k of n."""
    logs = _log_factorials(n)
    chosen: _Floats = logs[n] - logs[k] - logs[n - k]
    return chosen


@lru_cache(maxsize=8)
def _log_factorials(n: int) -> _Floats:
    return np.array([math.lgamma(m + 1) for m in range(n + 1)])


def _exchanges(n_units: int, n_rows: int, n_resamples: int, seed: int) -> Iterator[_Floats]:
    """Yield matrices of exchanges (rows) by units (columns), 1 where a unit is exchanged."""
    is_exact = n_units <= MOST_ENUMERATED
    # The last unit can stay as it is: to exchange all others is to exchange what was not exchanged,
    # which gives the same distances.
    total = 1 << max(0, n_units - 1) if is_exact else n_resamples
    generator = np.random.default_rng(seed)
    at_once = max(1, _EXCHANGED_AT_ONCE // max(1, n_rows))
    for start in range(0, total, at_once):
        n = min(at_once, total - start)
        exchanges = (
            np.arange(start, start + n)[:, None] >> np.arange(n_units) & 1
            if is_exact
            else generator.integers(0, 2, size=(n, n_units))
        )
        yield exchanges.astype(np.float64)
