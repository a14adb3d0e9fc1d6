"""Comparison of two groups by rank: Mann-Whitney U, rank-biserial correlation, and thresholds for
small, medium and large effects; and of pairs: Wilcoxon's signed ranks.

The functions accept arrays and return frozen results.
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
        u: U of the first group: the number of pairs in which its value is greater, where a tie
            counts as half, in [0, n_first * n_second].
        p_value: two-sided p, in (0, 1].
        rank_biserial: share of pairs with the greater value in the first group minus the share with
            the smaller one, 2 u / (n_first n_second) - 1, in [-1, 1].
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
        """Return the name of an effect size from its absolute value: none, small, medium or large.

        Examples:
            >>> effect_thresholds().size(-0.33)
            'medium'
        """
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
    """Apply the Mann-Whitney U test, and compute the rank-biserial correlation (Cureton 1956).

    The test uses the normal approximation, corrected for ties and continuity. Values that differ by
    rounding alone are ties. If all values are equal there are no ranks to compare, and p is 1.

    Examples:
        >>> test = mann_whitney([2, 3, 3], [1, 1, 2])
        >>> test.u, round(test.rank_biserial, 4), round(test.p_value, 4)
        (8.5, 0.8889, 0.1101)
    """
    try:
        from scipy.stats import mannwhitneyu
    except ImportError:
        raise MissingDependencyError("scipy", "analysis") from None
    x, y = _groups(first, second)
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
    """Return the two-sided p of Wilcoxon's signed-rank test, in (0, 1].

    Differences of 0 are left out, and the normal approximation is corrected for ties (Wilcoxon
    1945). If all are 0, p is 1.

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

    The correlation is d / sqrt(d^2 + 1 / (p1 p2)) (McGrath & Meyer 2006, equation 3).

    Args:
        base_rate: p1, the share of one of the two groups, in (0, 1); p2 is the rest.

    Returns:
        The lower limits of small, medium and large correlations, in (0, 1).

    Examples:
        >>> limits = effect_thresholds()
        >>> round(limits.small, 4), round(limits.medium, 4), round(limits.large, 4)
        (0.0995, 0.2425, 0.3714)
    """
    check_level(base_rate, "base_rate")
    return EffectThresholds(
        *(d / math.sqrt(d**2 + 1 / (base_rate * (1 - base_rate))) for d in SIZES.values())
    )


def _groups(first: _Values, second: _Values) -> tuple[_Floats, _Floats]:
    """Return the values of both groups, with ties made equal."""
    x, y = as_floats("first group", first), as_floats("second group", second)
    both = with_ties(np.concatenate([x, y]))
    return both[: len(x)], both[len(x) :]
