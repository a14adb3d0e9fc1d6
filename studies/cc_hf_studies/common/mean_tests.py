"""Comparison of two groups by their means: Cohen's d; Student's, Welch's and paired t-tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.statistics.checks import as_floats, is_constant

__all__ = ["TTest", "cohen_d", "paired_t_test", "t_test"]

_Values = Sequence[float] | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TTest:
    """The result of a t-test.

    Attributes:
        t: t statistic, positive if the first mean is greater.
        p_value: two-sided p, in [0, 1].
    """

    t: float
    degrees_of_freedom: float
    p_value: float


def cohen_d(first: _Values, second: _Values) -> float:
    """Return Cohen's d: first minus second mean, in pooled standard deviations (Cohen 1988)."""
    x, y = as_floats("first group", first), as_floats("second group", second)
    if len(x) + len(y) < 3:
        raise InputError(
            f"Cohen's D: expected at least three values in both groups, got {len(x) + len(y)}"
        )
    if is_constant(x) and is_constant(y):
        raise InputError(
            "Cohen's D: expected values that differ within a group, got groups without spread, in"
            " whose units no difference can be given"
        )
    # s^2 = ((n1 - 1) s1^2 + (n2 - 1) s2^2) / (n1 + n2 - 2)
    variance = (((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()) / (len(x) + len(y) - 2)
    return float((x.mean() - y.mean()) / math.sqrt(variance))


def t_test(first: _Values, second: _Values, *, equal_variances: bool = False) -> TTest:
    """Apply the t-test of two independent groups."""
    x, y = as_floats("first group", first), as_floats("second group", second)
    all_equal = is_constant(x) and is_constant(y)
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
    outcome = ttest_ind(x, y, equal_var=equal_variances)
    return TTest(float(outcome.statistic), float(outcome.df), float(outcome.pvalue))


def paired_t_test(first: _Values, second: _Values) -> TTest:
    """Apply the t-test of the differences within pairs, with n - 1 degrees of freedom."""
    x, y = as_floats("first group", first), as_floats("second group", second)
    if len(x) != len(y) or len(x) < 2:
        raise InputError(
            f"paired t-test: expected at least two pairs, got {len(x)} and {len(y)} values"
        )
    if is_constant(x - y, scale=float(max(np.abs(x).max(), np.abs(y).max()))):
        raise InputError(
            f"paired t-test: expected differences that differ, got {float(x[0] - y[0])} in all"
            f" {len(x)} pairs, without spread to test against"
        )
    try:
        from scipy.stats import ttest_rel
    except ImportError:
        raise MissingDependencyError("scipy", "analysis") from None
    outcome = ttest_rel(x, y)
    return TTest(float(outcome.statistic), float(outcome.df), float(outcome.pvalue))
