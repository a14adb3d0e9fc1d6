"""Comparison of two groups by rank: Mann-Whitney U, rank-biserial correlation, and thresholds for
small, medium and large effects; and of pairs: Wilcoxon's signed ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import MissingDependencyError
from cc_hf.statistics.checks import as_floats, check_level, with_ties

__all__ = [
    "SIZES",
    "EffectThresholds",
    "RankTest",
    "effect_thresholds",
    "mann_whitney",
    "signed_rank",
]

#: Names of effect sizes, each with its lower limit of Cohen's d.
SIZES: dict[str, float] = {"small": 0.2, "medium": 0.5, "large": 0.8}

_Floats = npt.NDArray[np.float64]
_Values = Sequence[float] | _Floats


@dataclass(frozen=True, slots=True)
class RankTest:
    """The result of a test whether the first group ranks above the second.

    Attributes:
        u: number of pairs in which the value of the first group is greater; a tie counts as half.
        p_value: two-sided p, in (0, 1].
        rank_biserial: share of pairs with the greater value in the first group minus the share with
            the smaller one, in [-1, 1].
    """

    n_first: int
    n_second: int
    u: float
    p_value: float
    rank_biserial: float


@dataclass(frozen=True, slots=True)
class EffectThresholds:
    """Lower limits for the absolute value of a correlation with a dichotomous variable."""

    small: float
    medium: float
    large: float

    def size(self, value: float) -> str:
        """Return the name of an effect size by its absolute value: none, small, medium or large."""
        names = [
            name
            for name, limit in (
                ("small", self.small),
                ("medium", self.medium),
                ("large", self.large),
            )
            if abs(value) >= limit
        ]
        return names[-1] if names else "none"


def mann_whitney(
    first: _Values,
    second: _Values,
) -> RankTest:
    """Apply the Mann-Whitney U test, and compute the rank-biserial correlation (Cureton 1956)."""
    try:
        from scipy.stats import mannwhitneyu
    except ImportError:
        raise MissingDependencyError("scipy", "analysis") from None
    x, y = _groups(first, second)
    # Without ranks to compare, the normal approximation would divide by 0.
    if x.min() == x.max() == y.min() == y.max():
        return RankTest(len(x), len(y), len(x) * len(y) / 2, 1.0, 0.0)
    outcome = mannwhitneyu(x, y, use_continuity=True, alternative="two-sided", method="asymptotic")
    return RankTest(
        len(x),
        len(y),
        float(outcome.statistic),
        float(outcome.pvalue),
        2 * float(outcome.statistic) / (len(x) * len(y)) - 1,
    )


def signed_rank(first: _Values, second: _Values) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test, in (0, 1]; 1 without differences.

    The normal approximation is corrected for ties, and zeros are dropped (Wilcoxon 1945).

    Examples:
        >>> round(signed_rank([0.5, 0.2, 0.9, 0.4, 0.1, 0.3], [0, 0, 0, 0, 0.2, 0]), 4)
        0.0464
    """
    try:
        from scipy.stats import wilcoxon
    except ImportError:
        raise MissingDependencyError("scipy", "analysis") from None
    x = as_floats("first group", first)
    values = with_ties(x - as_floats("second group", second, shape=x.shape))
    if not values.any():
        return 1.0
    return float(wilcoxon(values, zero_method="wilcox", method="approx").pvalue)


def effect_thresholds(base_rate: float = 0.5) -> EffectThresholds:
    """Convert Cohen's d of 0.2, 0.5 and 0.8 to correlations with a dichotomous variable.

    Args:
        base_rate: share of one of the two groups, in (0, 1).
    """
    check_level(base_rate, "base_rate")
    # d / sqrt(d^2 + 1 / (p1 p2)): McGrath & Meyer 2006, equation 3
    return EffectThresholds(
        *(d / math.sqrt(d**2 + 1 / (base_rate * (1 - base_rate))) for d in SIZES.values())
    )


def _groups(first: _Values, second: _Values) -> tuple[_Floats, _Floats]:
    """Return the values of both groups, with ties made equal."""
    x, y = as_floats("first group", first), as_floats("second group", second)
    both = with_ties(np.concatenate([x, y]))
    return both[: len(x)], both[len(x) :]
