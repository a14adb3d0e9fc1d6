from __future__ import annotations

import math

import numpy as np
import pytest

from cc_hf.statistics.mean_tests import cohen_d, paired_t_test, t_test
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses


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
