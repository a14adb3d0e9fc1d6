from typing import Any

import numpy as np
import pytest
from cc_hf_studies.common.pearson import pearson_correlation
from scipy.stats import pearsonr

from tests.helpers.usual import cases, limits, refuses


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_correlation_and_interval_are_those_of_scipy(level: float) -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=20)
    y = x + generator.normal(size=20)
    expected = pearsonr(x, y)
    actual = pearson_correlation(x.tolist(), y.tolist(), level=level)

    assert actual.r == pytest.approx(expected.statistic)
    expected_limits = tuple(expected.confidence_interval(level))
    assert limits(actual.interval) == pytest.approx(expected_limits)
    assert (actual.interval.level, actual.interval.method) == (level, "fisher")


@cases(
    ([1, 2, 3], [1, 2, 3], {}, "expected two figures of the same 4 or more items"),
    ([1, 2, 3, 4], [1, 2, 3], {}, "expected two figures of the same 4 or more items"),
    ([1, 1, 1, 1], [1, 2, 3, 4], {}, "left: expected numbers that differ"),
    ([0.3, 0.1 + 0.2, 0.3, 0.3], [1, 2, 3, 4], {}, "left: expected numbers that differ"),
    ([1, 2, 3, 4], [1, 2, 3, float("nan")], {}, "right: expected finite numbers"),
    ([1, 2, 3, 4], [1, 2, 4, 3], {"level": 1}, "level: expected a number in \\(0, 1\\)"),
)
def test_figures_that_cannot_be_correlated_are_refused(
    left: Any, right: Any, options: Any, message: str
) -> None:
    refuses(message, pearson_correlation, left, right, **options)
