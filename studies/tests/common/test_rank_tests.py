import math

import numpy as np
import pytest
from cc_hf_studies.common.rank_tests import effect_thresholds, mann_whitney

from tests.helpers.usual import cases, refuses


def test_the_mann_whitney_test_equals_its_definition() -> None:
    generator = np.random.default_rng(0)
    x = generator.integers(1, 4, size=40).astype(float)
    y = generator.integers(1, 5, size=25).astype(float)
    greater, smaller = (x[:, None] > y).sum(), (x[:, None] < y).sum()
    test = mann_whitney(x, y)

    assert test.u == greater + (40 * 25 - greater - smaller) / 2
    assert test.rank_biserial == pytest.approx((greater - smaller) / (40 * 25), abs=1e-12)
    assert (test.n_first, test.n_second) == (40, 25)

    _, ties = np.unique(np.concatenate([x, y]), return_counts=True)
    variance = 40 * 25 / 12 * (66 - (ties**3 - ties).sum() / (65 * 64))
    z = (abs(test.u - 500) - 0.5) / math.sqrt(variance)
    assert test.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-9)

    exchanged = mann_whitney(y, x)
    assert exchanged.p_value == pytest.approx(test.p_value)
    assert exchanged.rank_biserial == pytest.approx(-test.rank_biserial)


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


def test_a_base_rate_of_1_is_refused() -> None:
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
        large = row[2]
        product = large**2 / (0.8**2 * (1 - large**2))  # p1 p2
        actual = effect_thresholds((1 - math.sqrt(1 - 4 * product)) / 2)
        assert (actual.small, actual.medium, actual.large) == pytest.approx(row, abs=1.01e-4)
