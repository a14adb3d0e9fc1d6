"""Pearson's correlation of two figures of the same items, with the interval of Fisher's z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from cc_hf.results import Interval
from cc_hf.statistics.checks import check_level
from cc_hf.statistics.rank_correlation import checked_figures

__all__ = ["PearsonCorrelation", "pearson_correlation"]

_FEWEST = 4  # the variance of Fisher's z is 1 / (n - 3)


@dataclass(frozen=True, slots=True)
class PearsonCorrelation:
    """Linear agreement of two figures of the same n items.

    Attributes:
        r: correlation, in [-1, 1].
        interval: its interval by Fisher's z, which assumes that both figures together are normal.
    """

    n: int
    r: float
    interval: Interval


def pearson_correlation(
    left: Sequence[float], right: Sequence[float], *, level: float = 0.95
) -> PearsonCorrelation:
    """Compute Pearson's r of two figures of the same items."""
    check_level(level)
    x, y = checked_figures(left, right, fewest=_FEWEST)
    r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
    half = NormalDist().inv_cdf((1 + level) / 2) / np.sqrt(len(x) - 3)
    with np.errstate(divide="ignore"):  # a perfect correlation has an infinite z
        z = np.arctanh(r)
    return PearsonCorrelation(
        len(x), r, Interval(float(np.tanh(z - half)), float(np.tanh(z + half)), level, 0, "fisher")
    )
