import math
from collections.abc import Callable

import numpy as np
import pytest
from cc_hf_studies.common.mean_tests import cohen_d, paired_t_test, t_test

from tests.helpers.usual import cases, refuses

_GENERATOR = np.random.default_rng(1)
_X, _Y = _GENERATOR.normal(0.4, 1, 12), _GENERATOR.normal(0, 2, 30)
_DIFFERENCE = _X.mean() - _Y.mean()
_VARIANCE_X, _VARIANCE_Y = _X.var(ddof=1), _Y.var(ddof=1)


def test_the_effect_size_is_the_difference_by_the_pooled_deviation() -> None:
    pooled = math.sqrt((11 * _VARIANCE_X + 29 * _VARIANCE_Y) / 40)
    assert cohen_d(_X, _Y) == pytest.approx(_DIFFERENCE / pooled)
    assert cohen_d(_Y, _X) == pytest.approx(-cohen_d(_X, _Y))


def test_the_test_of_unequal_variances_is_that_of_welch() -> None:
    actual = t_test(_X, _Y)
    error_x, error_y = _VARIANCE_X / 12, _VARIANCE_Y / 30
    assert actual.t == pytest.approx(_DIFFERENCE / math.sqrt(error_x + error_y))
    expected = (error_x + error_y) ** 2 / (error_x**2 / 11 + error_y**2 / 29)
    assert actual.degrees_of_freedom == pytest.approx(expected)


def test_the_test_of_equal_variances_is_that_of_student() -> None:
    actual = t_test(_X, _Y, equal_variances=True)
    assert actual.t == pytest.approx(cohen_d(_X, _Y) / math.sqrt(1 / 12 + 1 / 30))
    assert actual.degrees_of_freedom == 40


def test_the_paired_test_is_that_of_the_differences() -> None:
    actual = paired_t_test(_X, _Y[:12])
    differences = _X - _Y[:12]
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(12))
    assert (actual.t, actual.degrees_of_freedom) == pytest.approx((t, 11))
    assert 0 < actual.p_value < 1


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
def test_undefined_tests_are_refused(call: Callable[[], object], message: str) -> None:
    refuses(message, call)
