"""Do two figures put the same things in the same order? Spearman's and Kendall's rank correlations
with intervals by bootstrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import check_bootstrap, percentile_interval, resampled_sums

__all__ = ["RankCorrelation", "rank_correlation"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Agreement of two orders of the same n things.

    Attributes:
        n: number of things.
        spearman: correlation of the ranks, ties sharing the mean rank, in [-1, 1].
        kendall: tau-b, in [-1, 1].
        spearman_interval, kendall_interval: by bootstrap over the things.
        n_undefined: resamples in which one side had one value only, so that there is no order; the
            intervals leave them out.
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
    """Spearman's rho and Kendall's tau-b of two figures of the same things.

    Args:
        left, right: at least three finite numbers each, in the same order of the things.
        n_resamples, level, seed: as of `cc_hf.statistics.bootstrap.accuracy_intervals`.

    Raises:
        InputError: for fewer than three things, different numbers of them, values that are not
            finite, a side with one value only, or options out of range.

    >>> found = rank_correlation([1, 2, 3, 4], [1, 3, 2, 4])
    >>> round(found.spearman, 4), round(found.kendall, 4)
    (0.8, 0.6667)
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    x, y = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1 or len(x) < 3:
        raise InputError(
            f"expected two figures of the same three or more things, got arrays of shape {x.shape}"
            f" and {y.shape}"
        )
    for side, values in (("left", x), ("right", y)):
        if not np.isfinite(values).all() or np.ptp(values) == 0:
            raise InputError(
                f"{side}: expected finite numbers that differ, got"
                f" {sorted(set(values.tolist()))[:3]}; equal figures give no order"
            )
    n = len(x)
    # observed, then drawn
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


def _spearman(x: _Floats, y: _Floats, times: _Floats) -> _Floats:
    """(m,) correlations of the ranks of things of which each occurs so and so many `times`, shape
    (m, n).
    """
    ranks = []
    for values in (x, y):
        n_below, n_equal = times @ (values[:, None] < values), times @ (values[:, None] == values)
        rank = n_below + (n_equal + 1) / 2
        ranks.append(rank - ((times * rank).sum(axis=1) / times.sum(axis=1))[:, None])
    products = [
        (times * a * b).sum(axis=1) for a, b in (ranks, (ranks[0], ranks[0]), (ranks[1], ranks[1]))
    ]
    return _quotient(products[0], products[1] * products[2])


def _tau_b(x: _Floats, y: _Floats, times: _Floats) -> _Floats:
    """(m,) tau-b: sums over pairs of things by how often each occurs."""
    signs = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    both, first, second = (
        np.einsum("mi,ij,mj->m", times, table, times, optimize=True)
        for table in (signs[0] * signs[1], signs[0] ** 2, signs[1] ** 2)
    )
    return _quotient(both, first * second)


def _quotient(part: _Floats, squared: _Floats) -> _Floats:
    """`part` over the root of `squared`, in [-1, 1]; NaN without an order."""
    found = np.full(len(part), np.nan)
    np.divide(part, np.sqrt(squared), out=found, where=squared > 0)
    return found.clip(-1, 1)
