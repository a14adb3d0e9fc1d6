from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr

from cc_hf.statistics.pearson import pearson_correlation
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses


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
def test_figures_without_a_correlation_are_refused(
    left: list[float], right: list[float], options: dict[str, Any], message: str
) -> None:
    refuses(message, pearson_correlation, left, right, **options)
