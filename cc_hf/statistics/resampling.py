"""Bootstrap of anything that is a function of sums over samples: the sums are resampled, and the caller applies the function to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import Interval
from cc_hf.statistics.bootstrap import check_bootstrap

__all__ = ["percentile_interval", "resampled_sums"]

_CHUNK = 250  # resamples drawn at a time: bounds the memory


def resampled_sums(statistics: npt.NDArray[np.float64], strata: Sequence[str] | None = None, *, n_resamples: int = 1000, seed: int = 0) -> npt.NDArray[np.float64]:
    """Sums of the rows of as many resamples; every stratum keeps its number of samples.

    Args:
        statistics: shape (n, k), what each sample contributes to k sums; exact for integers below 2**53.
        strata: n names; None for one stratum.
        n_resamples, seed: of numpy's default generator.

    Returns:
        Shape (n_resamples, k).

    Raises:
        InputError: for no sample, or options out of range.

    >>> resampled_sums(np.array([[1.0, 2.0]] * 3), n_resamples=2).tolist()
    [[3.0, 6.0], [3.0, 6.0]]
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    if len(statistics) == 0:
        raise InputError("resamples of nothing: expected at least one sample, got none")
    generator = np.random.default_rng(seed)
    names = np.asarray(["all"] * len(statistics) if strata is None else strata)
    sums = np.zeros((n_resamples, statistics.shape[1]))
    for name in np.unique(names):
        members = statistics[names == name].astype(np.float64)
        n = len(members)
        for start in range(0, n_resamples, _CHUNK):
            rows = min(_CHUNK, n_resamples - start)
            drawn = generator.integers(0, n, size=(rows, n)) + n * np.arange(rows)[:, None]
            times = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
            sums[start : start + rows] += times @ members
    return sums


def percentile_interval(values: npt.NDArray[np.float64], *, level: float = 0.95) -> Interval | None:
    """The middle of the values of all resamples; None when the figure is undefined (NaN) in one of them.

    >>> percentile_interval(np.array([0.5, float("nan")])) is None
    True
    """
    if not np.isfinite(values).all():
        return None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level)
