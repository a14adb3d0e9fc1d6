"""Spearman's and Kendall's rank correlations, with bootstrap intervals: do two figures put the same
items in the same order?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import check_bootstrap, percentile_interval, resampled_sums
from cc_hf.statistics.checks import as_floats, is_constant, with_ties
from cc_hf.statistics.shares import quotients

__all__ = ["RankCorrelation", "checked_figures", "rank_correlation"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Agreement of two orders of the same n items.

    Attributes:
        spearman: correlation of the ranks, in [-1, 1]; ties share their mean rank.
        kendall: tau-b, in [-1, 1].
        n_undefined: number of resamples in which one side has a single value, so that there is no
            order; the intervals ignore them.
    """

    n: int
    spearman: float
    kendall: float
    spearman_interval: Interval | NoInterval
    kendall_interval: Interval | NoInterval
    n_undefined: int


def rank_correlation(
    left: Sequence[float],
    right: Sequence[float],
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> RankCorrelation:
    """Compute Spearman's rho and Kendall's tau-b of two figures of the same items, at least three.

    Values that differ by rounding alone are ties.

    Raises:
        InputError: for fewer than three items, different lengths, values that are not finite, a
            side with a single value, or options out of range.

    Examples:
        >>> correlation = rank_correlation([1, 2, 3, 4], [1, 3, 2, 4])
        >>> round(correlation.spearman, 4), round(correlation.kendall, 4)
        (0.8, 0.6667)
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    x, y = map(with_ties, checked_figures(left, right))
    n = len(x)
    # The first row is the observed sample, the others are the resamples.
    times = np.concatenate(
        [np.ones((1, n)), resampled_sums(np.eye(n), n_resamples=n_resamples, seed=seed)]
    )
    spearman, kendall = (figure(x, y, times) for figure in (_spearman, _tau_b))
    return RankCorrelation(
        n=n,
        spearman=float(spearman[0]),
        kendall=float(kendall[0]),
        spearman_interval=percentile_interval(spearman[1:], level=level),
        kendall_interval=percentile_interval(kendall[1:], level=level),
        n_undefined=int(np.isnan(kendall[1:]).sum()),
    )


def checked_figures(
    left: Sequence[float], right: Sequence[float], *, fewest: int = 3
) -> tuple[_Floats, _Floats]:
    """Return two figures of the same items, at least `fewest`, as arrays.

    Raises:
        InputError: for fewer items, different lengths, values that are not finite numbers, or a
            side whose values are all the same apart from rounding.
    """
    x, y = as_floats("left", left), as_floats("right", right)
    if x.shape != y.shape or len(x) < fewest:
        raise InputError(
            f"expected two figures of the same {fewest} or more items, got arrays of shape"
            f" {x.shape} and {y.shape}"
        )
    for side, values in (("left", x), ("right", y)):
        if is_constant(values):
            raise InputError(
                f"{side}: expected numbers that differ, got {values[0]} for all {len(values)}"
                " items; equal figures have no correlation"
            )
    return x, y


def _spearman(x: _Floats, y: _Floats, times: _Floats) -> _Floats:
    """Return the (m,) rank correlations of m resamples; `times`, (m, n), counts their items."""
    ranks = []
    for values in (x, y):
        # Ranks within each resample, in which an item may occur several times.
        n_below, n_equal = times @ (values[:, None] < values), times @ (values[:, None] == values)
        rank = n_below + (n_equal + 1) / 2
        ranks.append(rank - ((times * rank).sum(axis=1) / times.sum(axis=1))[:, None])
    products = [
        (times * a * b).sum(axis=1) for a, b in (ranks, (ranks[0], ranks[0]), (ranks[1], ranks[1]))
    ]
    return _quotient(products[0], products[1] * products[2])


def _tau_b(x: _Floats, y: _Floats, times: _Floats) -> _Floats:
    """Return the (m,) values of tau-b: sums over pairs of items, weighted by their frequencies."""
    # Signs of all pairs are computed once. A resample only changes how often each pair counts.
    signs = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    both, first, second = (
        np.einsum("mi,ij,mj->m", times, table, times, optimize=True)
        for table in (signs[0] * signs[1], signs[0] ** 2, signs[1] ** 2)
    )
    return _quotient(both, first * second)


def _quotient(part: _Floats, squared: _Floats) -> _Floats:
    """Return `part` by the root of `squared`, clipped to [-1, 1]; NaN where there is no order."""
    return quotients(part, np.sqrt(squared)).clip(-1, 1)
