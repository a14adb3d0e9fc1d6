import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr

from cc_hf.errors import InputError
from cc_hf.statistics.pearson import pearson_correlation
from cc_hf.statistics.regression import CONSTANT, least_squares
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


_X: dict[str, list[float]] = {"a": [1.0, 2.0, 4.0, 3.0, 6.0, 5.0], "b": [0, 0, 1, 1, 0, 1]}
_Y = [1.0, 2.5, 3.0, 2.0, 7.0, 4.0]


def test_coefficients_equal_the_normal_equations() -> None:
    found = least_squares(("y", _Y), _X, level=0.9)
    design = np.column_stack([np.ones(6), *_X.values()])
    inverse = np.linalg.inv(design.T @ design)
    values = inverse @ design.T @ _Y
    residuals = np.array(_Y) - design @ values
    errors = np.sqrt(np.diag(inverse) * (residuals @ residuals) / 3)
    assert [c.name for c in found.coefficients] == [CONSTANT, "a", "b"]
    assert [c.value for c in found.coefficients] == pytest.approx(values)
    assert [c.standard_error for c in found.coefficients] == pytest.approx(errors)
    assert [c.t for c in found.coefficients] == pytest.approx(values / errors)
    assert {c.interval.method for c in found.coefficients} == {"t"}
    one = found.coefficient("a")
    margin = 2.3533634348018264 * one.standard_error  # t with 3 degrees of freedom at 0.95
    interval = one.interval.low, one.interval.high, one.interval.level
    assert interval == pytest.approx((one.value - margin, one.value + margin, 0.9))
    total = ((np.array(_Y) - np.mean(_Y)) ** 2).sum()
    assert found.r_squared == pytest.approx(1 - residuals @ residuals / total)
    assert (found.n, found.residual_degrees_of_freedom, found.dependent) == (6, 3, "y")
    assert found.f == pytest.approx(found.r_squared / 2 / ((1 - found.r_squared) / 3))
    assert 0 < found.f_p_value < 0.05
    assert found.adjusted_r_squared < found.r_squared


def test_the_scale_of_a_column_changes_only_its_coefficient() -> None:
    plain = least_squares(("y", _Y), _X)
    small = least_squares(("y", _Y), {**_X, "a": [1e-9 * value for value in _X["a"]]})
    assert small.coefficient("a").value == pytest.approx(1e9 * plain.coefficient("a").value)
    assert small.coefficient("a").p_value == pytest.approx(plain.coefficient("a").p_value)


@cases(
    (_Y, {}, "at least one independent variable, with names other than 'y' and.*got none"),
    (_Y, {"y": _Y}, "got y$"),
    (_Y, {"a": [1, 2]}, "a: expected 6 values, as many as of y, got 2"),
    (_Y[:3], {"a": [1, 2, 4], "b": [1, 0, 1]}, "at least 4 observations for 2.*got 3"),
    (_Y, {"a": [1] * 6}, "a: expected values that differ, got 1.0 in all 6"),
    ([2.0] * 6, {"a": _X["a"]}, "y: expected values that differ"),
    (_Y, {"a": [0.3, 0.1 + 0.2] * 3}, "a: expected values that differ"),
    (_Y, {**_X, "b": [2 * value + 1 for value in _X["a"]]}, "none follows from .*, got a, b"),
    (_X["a"], {"a": _X["a"], "b": _X["b"]}, "y follows exactly from a, b"),
    ([*_Y[:5], math.nan], _X, "y: expected finite numbers, got nan at position 5"),
)
def test_unfit_models_are_refused(y: list[float], x: dict[str, list[float]], message: str) -> None:
    refuses(message, least_squares, ("y", y), x)


def test_unknown_names_of_coefficients_are_refused() -> None:
    with pytest.raises(InputError, match="coefficient: expected one of constant, a, b, got 'c'"):
        least_squares(("y", _Y), _X).coefficient("c")
