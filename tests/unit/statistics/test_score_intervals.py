import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from cc_hf.results import Interval
from cc_hf.statistics.correction import corrected_share
from cc_hf.statistics.score_intervals import (
    Estimate,
    difference,
    estimate_share,
    lowest,
    ratio,
    share_interval,
    wilson_interval,
)
from tests.helpers.usual import cases, limits, reason, refuses


def _share(k: int, n: int, level: float = 0.95) -> Estimate:
    return estimate_share(np.arange(n) < k, np.ones(n), level=level)


@pytest.mark.parametrize(("part", "whole"), [(0, 1), (1, 1), (1, 2), (3, 7), (50, 50), (0, 400)])
def test_intervals_of_simple_proportions_equal_those_of_scipy(part: int, whole: int) -> None:
    theirs = tuple(stats.binomtest(part, whole).proportion_ci(method="wilson"))
    assert limits(wilson_interval(part, whole)) == pytest.approx(theirs, abs=1e-12)

    # Samples without a whole and equal weights do not matter, nor groups of one sample.
    parts, wholes = np.zeros(whole + 3), np.repeat([2.0, 0.0], [whole, 3])
    parts[:part] = 2
    for groups in (None, range(whole + 3)):
        interval = share_interval(parts, wholes, groups=groups)
        assert limits(interval) == pytest.approx(theirs, abs=1e-12)


def test_the_effective_number_of_samples_follows_from_the_variance() -> None:
    flags = np.repeat([True, False, True, False], [900, 100, 300, 700])
    share = estimate_share(flags, np.ones(2000), strata=np.repeat(["a", "b"], 1000).tolist())
    variance = (0.9 * 0.1 + 0.3 * 0.7) / 4 / 1000
    assert share.n_effective == pytest.approx(0.6 * 0.4 / variance, rel=0.01)

    doubled = [i % 2000 for i in range(4000)]
    grouped = estimate_share(np.tile(flags, 2), np.ones(4000), groups=doubled)
    assert grouped.n_effective == pytest.approx(2000, rel=0.01)

    weights = np.arange(1.0, 2001)
    weighted = estimate_share(flags * weights, weights)
    p = weighted.value
    linear = (weights**2 * (flags - p) ** 2).sum() / weights.sum() ** 2
    assert weighted.n_effective == pytest.approx(p * (1 - p) / linear, rel=0.01)


@pytest.mark.parametrize(("first", "second"), [((56, 70), (48, 80)), ((9, 10), (3, 10))])
def test_differences_equal_newcombes(first: tuple[int, int], second: tuple[int, int]) -> None:
    (a, m), (b, n) = first, second
    flags = np.repeat([1, 0, 1, 0], [a, m - a, b, n - b])
    is_first = np.arange(m + n) < m
    shares = [estimate_share(flags * m, m) for m in (is_first, ~is_first)]
    expected = confint_proportions_2indep(a, m, b, n, method="newcomb")
    assert limits(difference(*shares).interval) == pytest.approx(expected, abs=1e-9)

    low, high = limits(ratio(*shares))
    assert low < a / m / (b / n) < high
    logs = confint_proportions_2indep(a, m, b, n, compare="ratio", method="score")
    assert (low, high) == pytest.approx(logs, rel=0.1)


def test_correlated_shares_differ_with_more_certainty() -> None:
    random = np.random.default_rng(0)
    first = random.random(500) < 0.6
    second = np.where(random.random(500) < 0.8, first, random.random(500) < 0.7)
    shares = [estimate_share(flags, np.ones(500)) for flags in (first, second)]
    low, high = limits(difference(*shares).interval)
    deviation = (first * 1.0 - second).std() / np.sqrt(500)
    assert high - low == pytest.approx(2 * 1.96 * deviation, rel=0.05)


def test_a_ratio_to_a_share_that_may_be_0_has_no_interval() -> None:
    assert reason(ratio(_share(300, 500), _share(0, 500))).endswith("it is divided by may be 0")


def test_the_limits_of_a_minimum_are_those_of_its_shares_at_other_levels() -> None:
    shares = [_share(k, 40) for k in (20, 22, 39)]
    low, high = limits(lowest(shares).interval)
    assert lowest(shares).value == 0.5
    assert low < wilson_interval(20, 40).low
    assert high > wilson_interval(20, 40, level=1 - 0.05 / 3).high

    assert lowest(shares[:1]) == shares[0]
    more = limits(lowest([*shares, _share(21, 40)]).interval)
    assert (more[0], more[1] > high) == (low, True)


@cases(
    (
        lambda: estimate_share(np.full(1, 2), np.ones(1)),
        "row 0: expected a part from 0 to its whole",
    ),
    (
        lambda: estimate_share(np.zeros(1), np.zeros(1)),
        "wholes: expected at least one above 0",
    ),
    (
        lambda: difference(_share(1, 2), _share(1, 3)),
        "same samples, got figures of 2 and 3",
    ),
    (lambda: lowest([]), "expected at least one share, got none"),
    (
        lambda: lowest([difference(_share(1, 2), _share(2, 2))]),
        "got what is computed from them",
    ),
    (
        lambda: ratio(_share(1, 2), _share(1, 2, level=0.9)),
        "intervals of one level, got",
    ),
)
def test_parts_and_shares_that_do_not_fit_are_refused(
    call: Callable[[], object], message: str
) -> None:
    refuses(message, call)


_ROWS = st.lists(st.tuples(*[st.booleans()] * 3, st.integers(1, 4)), min_size=2, max_size=90)


@given(_ROWS, st.booleans())
def test_intervals_hold_their_figure_and_stay_in_its_range(rows: Any, has_groups: bool) -> None:
    first, second, has_label, weight = (np.array(column) for column in zip(*rows, strict=True))
    weights = weight * 1.0
    groups = [i // 2 for i in range(len(rows))] if has_groups else None
    shares = [estimate_share(f * weights, weights, groups=groups) for f in (first, second)]

    trusted = np.where(has_label, second, np.nan)
    trusted[0] = first[0]
    corrected = corrected_share(first, trusted, inclusion=1 / weight)
    few = corrected_share(first, np.where(np.arange(len(rows)), trusted, 1.0))

    near_one = dataclasses.replace(shares[0], value=1 - 1e-12)
    minima = [lowest(shares), lowest([near_one, near_one]), lowest([shares[0], near_one])]
    for share in (*shares, corrected, few, *minima):
        assert 0 <= share.interval.low <= share.value <= share.interval.high <= 1
        assert share.interval.low < share.interval.high

    change = difference(*shares)
    assert -1 <= change.interval.low <= change.value <= change.interval.high <= 1
    quotient = ratio(*shares)
    if isinstance(quotient, Interval):
        assert 0 <= quotient.low <= shares[0].value / shares[1].value <= quotient.high
