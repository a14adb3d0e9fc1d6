import math

import numpy as np
import pytest

from cc_hf.statistics.regression import CONSTANT, least_squares
from tests.helpers.usual import cases, limits, refuses

_X: dict[str, list[float]] = {"a": [1.0, 2.0, 4.0, 3.0, 6.0, 5.0], "b": [0, 0, 1, 1, 0, 1]}
_Y = [1.0, 2.5, 3.0, 2.0, 7.0, 4.0]
_DESIGN = np.column_stack([np.ones(6), *_X.values()])


def test_coefficients_equal_the_normal_equations() -> None:
    actual = least_squares(("y", _Y), _X)
    inverse = np.linalg.inv(_DESIGN.T @ _DESIGN)
    values = inverse @ _DESIGN.T @ _Y
    residuals = np.array(_Y) - _DESIGN @ values
    errors = np.sqrt(np.diag(inverse) * (residuals @ residuals) / 3)

    assert [c.name for c in actual.coefficients] == [CONSTANT, "a", "b"]
    assert [c.value for c in actual.coefficients] == pytest.approx(values)
    assert [c.standard_error for c in actual.coefficients] == pytest.approx(errors)
    assert [c.t for c in actual.coefficients] == pytest.approx(values / errors)


def test_the_interval_of_a_coefficient_is_that_of_t() -> None:
    coefficient = least_squares(("y", _Y), _X, level=0.9).coefficient("a")
    margin = 2.3533634348018264 * coefficient.standard_error  # t with 3 degrees of freedom at 0.95
    expected = coefficient.value - margin, coefficient.value + margin
    assert limits(coefficient.interval) == pytest.approx(expected)
    assert (coefficient.interval.level, coefficient.interval.method) == (0.9, "t")


def test_the_fit_is_measured_by_squared_residuals() -> None:
    actual = least_squares(("y", _Y), _X)
    residuals = np.array(_Y) - _DESIGN @ [c.value for c in actual.coefficients]
    total = ((np.array(_Y) - np.mean(_Y)) ** 2).sum()

    assert (actual.n, actual.residual_degrees_of_freedom, actual.dependent) == (6, 3, "y")
    assert actual.r_squared == pytest.approx(1 - residuals @ residuals / total)
    assert actual.adjusted_r_squared < actual.r_squared
    assert actual.f == pytest.approx(actual.r_squared / 2 / ((1 - actual.r_squared) / 3))
    assert 0 < actual.f_p_value < 0.05


def test_the_scale_of_a_column_changes_only_its_coefficient() -> None:
    plain = least_squares(("y", _Y), _X)
    small = least_squares(("y", _Y), {**_X, "a": [1e-9 * value for value in _X["a"]]})
    assert small.coefficient("a").value == pytest.approx(1e9 * plain.coefficient("a").value)
    assert small.coefficient("a").p_value == pytest.approx(plain.coefficient("a").p_value)


def test_an_unknown_coefficient_is_refused() -> None:
    plain = least_squares(("y", _Y), _X)
    refuses("coefficient: expected one of constant, a, b, got 'c'", plain.coefficient, "c")


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
