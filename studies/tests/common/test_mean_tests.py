import math
from typing import Any

import numpy as np
import pytest
from cc_hf_studies.common.mean_tests import cohen_d, paired_t_test, t_test
from cc_hf_studies.common.pearson import pearson_correlation
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from cc_hf.statistics.rank_correlation import rank_correlation
from tests.helpers.usual import cases, limits, reason, refuses

_LABEL = st.sampled_from("abc")


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_correlation_and_interval_are_those_of_scipy(level: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    y = x + rng.normal(size=20)
    expected = pearsonr(x, y)
    correlation = pearson_correlation(x.tolist(), y.tolist(), level=level)
    limits = expected.confidence_interval(level)
    assert correlation.r == pytest.approx(expected.statistic)
    assert (correlation.interval.low, correlation.interval.high) == pytest.approx(tuple(limits))
    assert (correlation.interval.level, correlation.interval.method) == (level, "fisher")


@cases(
    ([1, 2, 3], [1, 2, 3], {}, "expected two figures of the same 4 or more items"),
    ([1, 2, 3, 4], [1, 2, 3], {}, "expected two figures of the same 4 or more items"),
    ([1, 1, 1, 1], [1, 2, 3, 4], {}, "left: expected numbers that differ"),
    ([0.3, 0.1 + 0.2, 0.3, 0.3], [1, 2, 3, 4], {}, "left: expected numbers that differ"),
    ([1, 2, 3, 4], [1, 2, 3, float("nan")], {}, "right: expected finite numbers"),
    ([1, 2, 3, 4], [1, 2, 4, 3], {"level": 1}, "level: expected a number in \\(0, 1\\)"),
)
def test_uncorrelated_figures_fail(left: Any, right: Any, options: Any, message: str) -> None:
    refuses(message, pearson_correlation, left, right, **options)


def test_effect_sizes_and_t_tests_equal_their_definitions() -> None:
    generator = np.random.default_rng(1)
    x, y = generator.normal(0.4, 1, 12), generator.normal(0, 2, 30)
    vx, vy = x.var(ddof=1), y.var(ddof=1)
    pooled = math.sqrt((11 * vx + 29 * vy) / 40)
    assert cohen_d(x, y) == pytest.approx((x.mean() - y.mean()) / pooled)
    assert cohen_d(y, x) == pytest.approx(-cohen_d(x, y))
    welch = t_test(x, y)
    assert welch.t == pytest.approx((x.mean() - y.mean()) / math.sqrt(vx / 12 + vy / 30))
    expected = (vx / 12 + vy / 30) ** 2 / ((vx / 12) ** 2 / 11 + (vy / 30) ** 2 / 29)
    assert welch.degrees_of_freedom == pytest.approx(expected)
    student = t_test(x, y, equal_variances=True)
    assert student.t == pytest.approx(cohen_d(x, y) / math.sqrt(1 / 12 + 1 / 30))
    assert student.degrees_of_freedom == 40
    differences, paired = x - y[:12], paired_t_test(x, y[:12])
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(12))
    assert (paired.t, paired.degrees_of_freedom) == pytest.approx((t, 11))
    assert 0 < paired.p_value < 1


@cases(
    (lambda: cohen_d([1], [2]), "expected at least three values"),
    (lambda: cohen_d([1, 1], [2, 2]), "groups without spread"),
    (lambda: t_test([1], [2, 3]), "at least two values in each group and.*got 1 and 2 values$"),
    (lambda: cohen_d([0.1] * 3, [0.3] * 3), "groups without spread"),
    (lambda: cohen_d([0.1 + 0.2, 0.3], [1e9] * 3), "groups without spread"),
    (lambda: t_test([0.1 + 0.2, 0.3], [0.7] * 3), "each group without spread"),
    (lambda: paired_t_test([1.1, 2.1, 1e6 + 0.1], [1, 2, 1e6]), "in all 3 pairs, without spread"),
    (lambda: t_test([1, 1], [2, 2]), "got 2 and 2 values, each group without spread"),
    (lambda: paired_t_test([1, 2], [2]), "expected at least two pairs, got 2 and 1"),
    (lambda: paired_t_test([1, 2], [2, 3]), "expected differences that differ, got -1.0"),
)
def test_undefined_tests_are_refused(call: object, message: str) -> None:
    assert callable(call)
    refuses(message, call)


def test_correlations_equal_those_of_scipy() -> None:
    generator = np.random.default_rng(2)
    x = generator.integers(0, 8, 15).astype(float)
    y = x + generator.integers(0, 6, 15)
    found = rank_correlation(x.tolist(), y.tolist(), n_resamples=200, seed=3)
    assert found.spearman == pytest.approx(float(spearmanr(x, y).statistic), abs=1e-12)
    assert found.kendall == pytest.approx(float(kendalltau(x, y).statistic), abs=1e-12)
    naive = [
        (float(spearmanr(x[row], y[row]).statistic), float(kendalltau(x[row], y[row]).statistic))
        for row in np.random.default_rng(3).integers(0, 15, size=(200, 15))
    ]
    quantiles = np.quantile(naive, [0.025, 0.975], axis=0)
    for i, interval in enumerate((found.spearman_interval, found.kendall_interval)):
        assert limits(interval) == pytest.approx(quantiles[:, i], abs=1e-12)
    assert found.n_undefined == 0


def test_resamples_without_order_are_counted() -> None:
    found = rank_correlation([1, 2, 3], [1, 2, 3], n_resamples=2000)
    assert found.n_undefined == pytest.approx(2000 / 9, rel=0.3)
    assert (found.spearman, found.kendall) == pytest.approx((1, 1))
    missing = reason(found.spearman_interval)
    assert f"undefined in {found.n_undefined} of 2000" in missing == reason(found.kendall_interval)
    assert rank_correlation([1, 2, 3], [3, 2, 1]).kendall == pytest.approx(-1)


def test_values_that_differ_by_rounding_alone_have_equal_ranks() -> None:
    exact = rank_correlation([0.3, 0.3, 0.5, 0.7], [1, 2, 3, 4], n_resamples=50)
    assert rank_correlation([0.3, 0.1 + 0.2, 0.5, 0.7], [1, 2, 3, 4], n_resamples=50) == exact


@cases(
    ([1, 2], [1, 2], "the same 3 or more items"),
    ([1, 2, 3], [1, 2], r"of shape \(3,\) and \(2,\)"),
    ([1, 1, 1], [1, 2, 3], "left: expected numbers that differ, got"),
    ([0.3, 0.1 + 0.2, 0.3], [1, 2, 3], "left: expected numbers that differ"),
    ([1, 2, 3], [1, 2, float("nan")], "right"),
)
def test_figures_without_order_are_refused(x: list[float], y: list[float], message: str) -> None:
    refuses(message, rank_correlation, x, y)
