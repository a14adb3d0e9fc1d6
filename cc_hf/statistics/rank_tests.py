"""Two groups by rank: Mann-Whitney U, rank-biserial correlation, and what counts as a small, medium
or large one. Arrays in, frozen results out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, MissingDependencyError

__all__ = ["SIZES", "EffectThresholds", "RankTest", "effect_thresholds", "mann_whitney"]

#: what an effect is called, with Cohen's d from which on it is
SIZES: dict[str, float] = {"small": 0.2, "medium": 0.5, "large": 0.8}


@dataclass(frozen=True, slots=True)
class RankTest:
    """Whether the first group ranks above the second.

    Attributes:
        n_first, n_second: sizes of the groups.
        u: U of the first group: pairs in which its value is the greater, ties half, in [0, n_first
            * n_second].
        p_value: two-sided, in (0, 1].
        rank_biserial: share of pairs with the greater value in the first group less that with the
            smaller one, 2 u / (n_first n_second) - 1, in [-1, 1].
    """

    n_first: int
    n_second: int
    u: float
    p_value: float
    rank_biserial: float


@dataclass(frozen=True, slots=True)
class EffectThresholds:
    """From which absolute value on a correlation with a dichotomous variable is small, medium,
    large.
    """

    small: float
    medium: float
    large: float

    def size(self, value: float) -> str:
        """none, small, medium or large, by the absolute value.

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
    first: Sequence[float] | npt.NDArray[np.float64],
    second: Sequence[float] | npt.NDArray[np.float64],
) -> RankTest:
    """Mann-Whitney U test by the normal approximation, with corrections for ties and continuity,
    and the rank-biserial correlation (Cureton 1956).

    Where all values are equal nothing can be ranked, and p is 1.

    Args:
        first, second: at least one finite number each; neither need be as long as the other.

    Raises:
        InputError: for an empty group, or a value that is no finite number.
        MissingDependencyError: without scipy.

    >>> found = mann_whitney([2, 3, 3], [1, 1, 2])
    >>> found.u, round(found.rank_biserial, 4), round(found.p_value, 4)
    (8.5, 0.8889, 0.1101)
    """
    try:
        from scipy.stats import mannwhitneyu
    except ImportError:
        raise MissingDependencyError("scipy", "analysis") from None
    x, y = _group(first, "first"), _group(second, "second")
    if np.ptp(np.concatenate([x, y])) == 0:
        return RankTest(len(x), len(y), len(x) * len(y) / 2, 1.0, 0.0)
    found = mannwhitneyu(x, y, use_continuity=True, alternative="two-sided", method="asymptotic")
    return RankTest(
        len(x),
        len(y),
        float(found.statistic),
        float(found.pvalue),
        2 * float(found.statistic) / (len(x) * len(y)) - 1,
    )


def effect_thresholds(base_rate: float = 0.5) -> EffectThresholds:
    """Cohen's d of .2, .5 and .8 as correlations with a dichotomous variable, d / sqrt(d^2 + 1 /
    (p1 p2)) (McGrath & Meyer 2006, equation 3).

    Args:
        base_rate: p1, the share of one of the two groups, in (0, 1); p2 is the rest.

    Raises:
        InputError: for a share that is not between 0 and 1.

    >>> found = effect_thresholds()
    >>> round(found.small, 4), round(found.medium, 4), round(found.large, 4)
    (0.0995, 0.2425, 0.3714)
    """
    if not 0 < base_rate < 1:
        raise InputError(
            "base_rate: expected a share between 0 and 1, of one of two groups that both have"
            f" members, got {base_rate}"
        )
    return EffectThresholds(
        *(d / math.sqrt(d**2 + 1 / (base_rate * (1 - base_rate))) for d in SIZES.values())
    )


def _group(values: Sequence[float] | npt.NDArray[np.float64], name: str) -> npt.NDArray[np.float64]:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not len(found):
        raise InputError(
            f"{name} group: expected at least one value in one row, got an array of shape"
            f" {found.shape}"
        )
    if not np.isfinite(found).all():
        at = int(np.flatnonzero(~np.isfinite(found))[0])
        raise InputError(
            f"{name} group: expected finite numbers, got {found[at]} at place {at}; leave out what"
            " is undefined"
        )
    return found
