"""Do two figures put the same things in the same order? Spearman's and Kendall's rank correlations with intervals by bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.results import Interval
from cc_hf.statistics.bootstrap import check_bootstrap

__all__ = ["RankCorrelation", "rank_correlation"]


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Agreement of two orders of the same n things.

    Attributes:
        n: number of things.
        spearman: correlation of the ranks, ties sharing the mean rank, in [-1, 1].
        kendall: tau-b, in [-1, 1].
        spearman_interval, kendall_interval: by percentile bootstrap over the things.
        n_undefined: resamples in which one side had one value only, so that there is no order; they are left out of the intervals.
    """

    n: int
    spearman: float
    kendall: float
    spearman_interval: Interval
    kendall_interval: Interval
    n_undefined: int


def rank_correlation(left: Sequence[float], right: Sequence[float], *, n_resamples: int = 1000, level: float = 0.95, seed: int = 0) -> RankCorrelation:
    """Spearman's rho and Kendall's tau-b of two figures of the same things.

    Args:
        left, right: at least three finite numbers each, in the same order of the things.
        n_resamples, level, seed: as of `cc_hf.statistics.bootstrap.accuracy_intervals`.

    Raises:
        InputError: for fewer than three things, different numbers of them, values that are not finite, a side with one value only, or options out of range.
        MissingDependencyError: without scipy.

    >>> found = rank_correlation([1, 2, 3, 4], [1, 3, 2, 4])
    >>> round(found.spearman, 4), round(found.kendall, 4)
    (0.8, 0.6667)
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    try:
        from scipy.stats import rankdata
    except ImportError:
        raise MissingDependencyError("scipy", "analysis") from None
    x, y = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1 or len(x) < 3:
        raise InputError(f"expected two figures of the same three or more things, got arrays of shape {x.shape} and {y.shape}")
    for side, values in (("left", x), ("right", y)):
        if not np.isfinite(values).all() or np.ptp(values) == 0:
            raise InputError(f"{side}: expected finite numbers that differ, got {sorted(set(values.tolist()))[:3]}; equal figures give no order")
    n = len(x)
    drawn = np.random.default_rng(seed).integers(0, n, size=(n_resamples, n))
    defined = (np.ptp(x[drawn], axis=1) > 0) & (np.ptp(y[drawn], axis=1) > 0)
    drawn = np.concatenate([np.arange(n)[None], drawn[defined]])
    spearman = _pearson(rankdata(x[drawn], axis=1), rankdata(y[drawn], axis=1))
    kendall = _tau_b(x, y, drawn)
    n_undefined = int((~defined).sum())
    if n_undefined == n_resamples:
        raise InputError(f"expected a resample with an order on both sides, got none among {n_resamples}; raise n_resamples")
    return RankCorrelation(n, float(spearman[0]), float(kendall[0]), _interval(spearman[1:], level), _interval(kendall[1:], level), n_undefined)


def _pearson(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(m,) correlations of the rows of two (m, n) arrays."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    found: npt.NDArray[np.float64] = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return np.clip(found, -1, 1)


def _tau_b(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], drawn: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """(m,) tau-b of the (m, n) samples: sums over pairs of things by how often each was drawn."""
    counts = np.stack([np.bincount(row, minlength=len(x)) for row in drawn]).astype(np.float64)
    signs = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    both, first, second = (np.einsum("mi,ij,mj->m", counts, table, counts, optimize=True) for table in (signs[0] * signs[1], signs[0] ** 2, signs[1] ** 2))
    found: npt.NDArray[np.float64] = both / np.sqrt(first * second)
    return np.clip(found, -1, 1)


def _interval(values: npt.NDArray[np.float64], level: float) -> Interval:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level)
