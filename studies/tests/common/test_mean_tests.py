import math
from typing import Any

import numpy as np
import pytest
from cc_hf_studies.common.mean_tests import cohen_d, paired_t_test, t_test
from cc_hf_studies.common.pearson import pearson_correlation
from cc_hf_studies.common.rank_tests import effect_thresholds, mann_whitney
from cc_hf_studies.common.weighted_kappa import weighted_kappa
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from cc_hf.statistics.agreement import cohen_kappa
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
    missing = reason(actual.spearman_interval)
    assert (
        f"undefined in {actual.n_undefined} of 2000" in missing == reason(actual.kendall_interval)
    )
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


def test_the_mann_whitney_test_equals_its_definition() -> None:
    generator = np.random.default_rng(0)
    x, y = (generator.integers(1, m, size=n).astype(float) for m, n in ((4, 40), (5, 25)))
    greater, smaller = (x[:, None] > y).sum(), (x[:, None] < y).sum()
    test = mann_whitney(x, y)
    assert test.u == greater + (40 * 25 - greater - smaller) / 2
    assert test.rank_biserial == pytest.approx((greater - smaller) / (40 * 25), abs=1e-12)
    assert (test.n_first, test.n_second) == (40, 25)
    _, ties = np.unique(np.concatenate([x, y]), return_counts=True)
    variance = 40 * 25 / 12 * (66 - (ties**3 - ties).sum() / (65 * 64))
    z = (abs(test.u - 500) - 0.5) / math.sqrt(variance)
    assert test.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-9)
    other = mann_whitney(y, x)
    assert (other.p_value, -other.rank_biserial) == pytest.approx(
        (test.p_value, test.rank_biserial)
    )


def test_equal_values_have_no_effect_and_separate_ones_an_effect_of_one() -> None:
    test = mann_whitney([2, 2], [2, 2, 2])
    assert (test.u, test.p_value, test.rank_biserial) == (3, 1, 0)
    assert [mann_whitney([x] * 5, [3 - x] * 5).rank_biserial for x in (2, 1)] == [1, -1]


def test_values_that_differ_by_rounding_alone_are_ties() -> None:
    test = mann_whitney([0.1 + 0.2] * 30, [0.3] * 30)
    assert (test.u, test.p_value, test.rank_biserial) == (450, 1, 0)
    # tiny values that are no rounding stay in their order
    assert mann_whitney([2e-12, 1], [1e-12, 0.5]).u == 3


@cases(
    ([], [1.0], "first group: expected at least one"),
    ([1.0], [2.0, math.nan], "second group: expected finite numbers, got nan at position 1"),
)
def test_empty_groups_and_nan_are_refused(x: list[float], y: list[float], message: str) -> None:
    refuses(message, mann_whitney, x, y)


def test_thresholds_fall_with_the_base_rate() -> None:
    actual = effect_thresholds()
    thresholds = actual.small, actual.medium, actual.large
    assert thresholds == pytest.approx((0.0995, 0.2425, 0.3714), abs=5e-5)
    assert [*map(actual.size, (0.09, 0.1, -0.3, -1))] == ["none", "small", "medium", "large"]
    assert effect_thresholds(0.1).medium == pytest.approx(effect_thresholds(0.9).medium)
    assert effect_thresholds(0.1).large < actual.large
    # The thesis prints .2121 and .1508 in Table 3.8; the card of homograph_accuracy has the rates.
    assert effect_thresholds(0.080).large == pytest.approx(0.2121, abs=5e-4)
    assert effect_thresholds(0.038).large == pytest.approx(0.1508, abs=1e-3)
    refuses(r"base_rate: expected a number in \(0, 1\)", effect_thresholds, 1.0)


_SMALL = [
    *(0.0542, 0.0666, 0.0710, 0.0381, 0.0458, 0.0502),  # of Table 3.8
    *(0.0339, 0.0338, 0.0328, 0.0166, 0.0178, 0.0219),  # of Table 3.11
]
_MEDIUM = [
    *(0.1344, 0.1647, 0.1753, 0.0949, 0.1138, 0.1247),
    *(0.0846, 0.0842, 0.0817, 0.0414, 0.0446, 0.0548),
]
_LARGE = [
    *(0.2121, 0.2581, 0.2740, 0.1508, 0.1803, 0.1971),
    *(0.1345, 0.1340, 0.1301, 0.0661, 0.0712, 0.0874),
]


def test_effect_thresholds_equal_those_of_the_thesis() -> None:
    """The thesis prints no base rates: the one that gives the printed "large" must give all three
    thresholds to the printed digits.
    """
    for row in zip(_SMALL, _MEDIUM, _LARGE, strict=True):
        product = row[2] ** 2 / (0.8**2 * (1 - row[2] ** 2))  # p1 p2
        actual = effect_thresholds((1 - math.sqrt(1 - 4 * product)) / 2)
        assert (actual.small, actual.medium, actual.large) == pytest.approx(row, abs=1.01e-4)


def test_weighted_kappa_of_two_labels_is_the_unweighted_one() -> None:
    left, right = [1, 1, 2, 2, 2], [1, 2, 2, 2, 1]
    for weights in ("linear", "quadratic"):
        weighted = weighted_kappa(left, right, labels=[1, 2], weights=weights)
        assert weighted == pytest.approx(cohen_kappa(left, right))


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_weighted_kappa_compares_observed_with_crossed_distances(weights: str, power: int) -> None:
    left, right, scale = [1, 2, 3, 4, 5, 3, 3, 4], [2, 2, 3, 5, 5, 1, 3, 4], [1, 2, 3, 4, 5]
    observed = np.mean([abs(a - b) ** power for a, b in zip(left, right, strict=True)])
    crossed = np.mean([abs(a - b) ** power for a in left for b in right])
    kappa = weighted_kappa(left, right, labels=scale, weights=weights)
    assert kappa == pytest.approx(1 - observed / crossed)
    assert weighted_kappa([3, 3], [3, 3], labels=scale, weights=weights) == 1.0
    refuses(
        "weights: expected one of linear, quad",
        weighted_kappa,
        [1],
        [1],
        labels=[1],
        weights="cubic",
    )
