import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from cc_hf.statistics.rank_correlation import rank_correlation
from tests.helpers.usual import cases, limits, reason, refuses


def test_correlations_equal_those_of_scipy() -> None:
    generator = np.random.default_rng(2)
    x = generator.integers(0, 8, 15).astype(float)
    y = x + generator.integers(0, 6, 15)
    actual = rank_correlation(x.tolist(), y.tolist(), n_resamples=200, seed=3)

    assert actual.spearman == pytest.approx(float(spearmanr(x, y).statistic), abs=1e-12)
    assert actual.kendall == pytest.approx(float(kendalltau(x, y).statistic), abs=1e-12)

    naive = [
        (float(spearmanr(x[row], y[row]).statistic), float(kendalltau(x[row], y[row]).statistic))
        for row in np.random.default_rng(3).integers(0, 15, size=(200, 15))
    ]
    quantiles = np.quantile(naive, [0.025, 0.975], axis=0)
    for i, interval in enumerate((actual.spearman_interval, actual.kendall_interval)):
        assert limits(interval) == pytest.approx(quantiles[:, i], abs=1e-12)
    assert actual.n_undefined == 0


def test_resamples_without_order_are_counted() -> None:
    actual = rank_correlation([1, 2, 3], [1, 2, 3], n_resamples=2000)
    assert actual.n_undefined == pytest.approx(2000 / 9, rel=0.3)
    assert (actual.spearman, actual.kendall) == pytest.approx((1, 1))
    for interval in (actual.spearman_interval, actual.kendall_interval):
        assert f"undefined in {actual.n_undefined} of 2000" in reason(interval)


def test_the_correlation_of_a_turned_order_is_minus_1() -> None:
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
