"""Two groups by their means: Cohen's D and Student's, Welch's and the paired t-test.

Arrays in, frozen results out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, MissingDependencyError

__all__ = ["TTest", "cohen_d", "paired_t_test", "t_test"]

_Values = Sequence[float] | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TTest:
    """A t-test.

    `t`: positive where the first mean is the greater; `degrees_of_freedom`: > 0; `p_value`:
    two-sided, in [0, 1].
    """

    t: float
    degrees_of_freedom: float
    p_value: float


def cohen_d(first: _Values, second: _Values) -> float:
    """Difference of the means (first - second) in units of the pooled standard deviation (Cohen
    1988); signed.

    sqrt(((n1 - 1) s1^2 + (n2 - 1) s2^2) / (n1 + n2 - 2)) pools, s^2 with n - 1 below.

    Raises:
        InputError: for fewer than three values in all, an empty group, values that are not finite,
            or groups without any spread.

    >>> round(cohen_d([1, 2, 3], [0, 1, 2]), 4)
    1.0
    """
    x, y = _checked(first, "first"), _checked(second, "second")
    if len(x) + len(y) < 3:
        raise InputError(
            f"Cohen's D: expected at least three values in both groups, got {len(x) + len(y)}"
        )
    variance = (((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()) / (len(x) + len(y) - 2)
    if variance == 0:
        raise InputError(
            "Cohen's D: expected values that differ within a group, got groups without spread, in"
            " whose units no difference can be given"
        )
    return float((x.mean() - y.mean()) / math.sqrt(variance))


def t_test(first: _Values, second: _Values, *, equal_variances: bool = False) -> TTest:
    """t-test of two independent groups: Welch's, or with `equal_variances` Student's.

    Raises:
        InputError: for fewer than two values in a group, values that are not finite, or groups
            without any spread.
        MissingDependencyError: without scipy.

    >>> found = t_test([1, 2, 3], [0, 1, 2])
    >>> round(found.t, 4), found.degrees_of_freedom, round(found.p_value, 4)
    (1.2247, 4.0, 0.2879)
    """
    x, y = _checked(first, "first"), _checked(second, "second")
    all_equal = bool(np.ptp(x) == np.ptp(y) == 0)
    if min(len(x), len(y)) < 2 or all_equal:
        spread = ", each group without spread" if all_equal else ""
        raise InputError(
            f"t-test: expected at least two values in each group and some spread, got {len(x)} and"
            f" {len(y)} values{spread}"
        )
    try:
        from scipy.stats import ttest_ind
    except ImportError:
        raise MissingDependencyError("scipy", "analysis") from None
    found = ttest_ind(x, y, equal_var=equal_variances)
    return TTest(float(found.statistic), float(found.df), float(found.pvalue))


def paired_t_test(first: _Values, second: _Values) -> TTest:
    """t-test of the differences of pairs.

    Raises:
        InputError: for groups of different lengths, fewer than two pairs, values that are not
            finite, or differences that are all the same.
        MissingDependencyError: without scipy.

    >>> round(paired_t_test([1, 2, 4], [0, 1, 2]).t, 4)
    4.0
    """
    x, y = _checked(first, "first"), _checked(second, "second")
    if len(x) != len(y) or len(x) < 2:
        raise InputError(
            f"paired t-test: expected at least two pairs, got {len(x)} and {len(y)} values"
        )
    if np.ptp(x - y) == 0:
        raise InputError(
            f"paired t-test: expected differences that differ, got {float(x[0] - y[0])} in all"
            f" {len(x)} pairs"
        )
    try:
        from scipy.stats import ttest_rel
    except ImportError:
        raise MissingDependencyError("scipy", "analysis") from None
    found = ttest_rel(x, y)
    return TTest(float(found.statistic), float(found.df), float(found.pvalue))


def _checked(values: _Values, name: str) -> npt.NDArray[np.float64]:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not len(found):
        raise InputError(
            f"{name} group: expected at least one value in one row, got an array of shape"
            f" {found.shape}"
        )
    if not np.isfinite(found).all():
        raise InputError(
            f"{name} group: expected finite numbers, got {found[~np.isfinite(found)][0]}; leave out"
            " what is undefined"
        )
    return found
