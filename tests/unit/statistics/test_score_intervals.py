import dataclasses
import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from cc_hf.results import Interval, NoInterval
from cc_hf.statistics import accuracy, correction, score_intervals
from cc_hf.statistics.bootstrap import resampled_strata
from cc_hf.statistics.correction import corrected_share, transferred_share
from cc_hf.statistics.paired import estimated_difference
from cc_hf.statistics.score_intervals import difference, estimate_share, lowest, wilson_interval
from cc_hf.statistics.shares import Share, part_shares, wilson_share
from cc_hf.statistics.verdict_columns import VerdictColumns
from tests.helpers.usual import cases, limits, reason, refuses


def _share(k: int, n: int, level: float = 0.95) -> score_intervals.Estimate:
    return score_intervals.estimate_share(np.arange(n) < k, np.ones(n), level=level)


@pytest.mark.parametrize(("part", "whole"), [(0, 1), (1, 1), (1, 2), (3, 7), (50, 50), (0, 400)])
def test_intervals_of_simple_proportions_equal_those_of_scipy(part: int, whole: int) -> None:
    theirs = tuple(stats.binomtest(part, whole).proportion_ci(method="wilson"))
    assert limits(score_intervals.wilson_interval(part, whole)) == pytest.approx(theirs, abs=1e-12)
    # Samples without a whole and equal weights do not matter, nor groups of one sample.
    parts, wholes = np.zeros(whole + 3), np.repeat([2.0, 0.0], [whole, 3])
    parts[:part] = 2
    for groups in (None, range(whole + 3)):
        interval = score_intervals.share_interval(parts, wholes, groups=groups)
        assert limits(interval) == pytest.approx(theirs, abs=1e-12)


def test_the_effective_number_of_samples_follows_from_the_variance() -> None:
    flags = np.repeat([True, False, True, False], [900, 100, 300, 700])
    strata = np.repeat(["a", "b"], 1000).tolist()
    alike, doubled = np.tile(flags, 2), [i % 2000 for i in range(4000)]
    share = score_intervals.estimate_share(flags, np.ones(2000), strata=strata)
    variance = (0.9 * 0.1 + 0.3 * 0.7) / 4 / 1000
    assert share.n_effective == pytest.approx(0.6 * 0.4 / variance, rel=0.01)
    grouped = score_intervals.estimate_share(alike, np.ones(4000), groups=doubled)
    assert grouped.n_effective == pytest.approx(2000, rel=0.01)
    weights = np.arange(1.0, 2001)
    weighted = score_intervals.estimate_share(flags * weights, weights)
    p = weighted.value
    linear = (weights**2 * (flags - p) ** 2).sum() / weights.sum() ** 2
    assert weighted.n_effective == pytest.approx(p * (1 - p) / linear, rel=0.01)


@pytest.mark.parametrize(("first", "second"), [((56, 70), (48, 80)), ((9, 10), (3, 10))])
def test_differences_equal_newcombes(first: tuple[int, int], second: tuple[int, int]) -> None:
    (a, m), (b, n) = first, second
    flags, is_first = np.repeat([1, 0, 1, 0], [a, m - a, b, n - b]), np.arange(m + n) < m
    shares = [score_intervals.estimate_share(flags * m, m) for m in (is_first, ~is_first)]
    expected = confint_proportions_2indep(a, m, b, n, method="newcomb")
    assert limits(score_intervals.difference(*shares).interval) == pytest.approx(expected, abs=1e-9)
    low, high = limits(score_intervals.ratio(*shares))
    assert low < a / m / (b / n) < high
    logs = confint_proportions_2indep(a, m, b, n, compare="ratio", method="score")
    assert (low, high) == pytest.approx(logs, rel=0.1)


def test_correlated_shares_differ_with_more_certainty() -> None:
    random = np.random.default_rng(0)
    first = random.random(500) < 0.6
    second = np.where(random.random(500) < 0.8, first, random.random(500) < 0.7)
    pair = [score_intervals.estimate_share(flags, np.ones(500)) for flags in (first, second)]
    low, high = limits(score_intervals.difference(*pair).interval)
    deviation = (first * 1.0 - second).std() / np.sqrt(500)
    assert high - low == pytest.approx(2 * 1.96 * deviation, rel=0.05)
    never = score_intervals.estimate_share(np.zeros(500), np.ones(500))
    assert reason(score_intervals.ratio(pair[0], never)).endswith("it is divided by may be 0")


def test_the_limits_of_a_minimum_are_those_of_its_shares_at_other_levels() -> None:
    shares = [_share(k, 40) for k in (20, 22, 39)]
    low, high = limits(score_intervals.lowest(shares).interval)
    assert low < score_intervals.wilson_interval(20, 40).low
    assert high > score_intervals.wilson_interval(20, 40, level=1 - 0.05 / 3).high
    assert score_intervals.lowest(shares).value == 0.5
    assert score_intervals.lowest(shares[:1]) == shares[0]
    more = limits(score_intervals.lowest([*shares, _share(21, 40)]).interval)
    assert (more[0], more[1] > high) == (low, True)


@cases(
    (
        lambda: score_intervals.estimate_share(np.full(1, 2), np.ones(1)),
        "row 0: expected a part from 0 to its whole",
    ),
    (
        lambda: score_intervals.estimate_share(np.zeros(1), np.zeros(1)),
        "wholes: expected at least one above 0",
    ),
    (
        lambda: score_intervals.difference(_share(1, 2), _share(1, 3)),
        "same samples, got figures of 2 and 3",
    ),
    (lambda: score_intervals.lowest([]), "expected at least one share, got none"),
    (
        lambda: score_intervals.lowest([score_intervals.difference(_share(1, 2), _share(2, 2))]),
        "got what is computed from them",
    ),
    (
        lambda: score_intervals.ratio(_share(1, 2), _share(1, 2, level=0.9)),
        "intervals of one level, got",
    ),
)
def test_what_has_no_interval_is_refused(call: object, message: str) -> None:
    assert callable(call)
    refuses(message, call)


def test_accuracies_have_intervals_of_their_categories() -> None:
    correct = np.repeat([True, False, True, False], [15, 10, 30, 1])
    actual = accuracy.accuracy_estimates(correct, np.repeat(["a", "none"], [25, 31]).tolist())
    expected = limits(score_intervals.wilson_interval(15, 25))
    assert limits(actual["accuracy_a"].interval) == pytest.approx(expected)
    assert actual["min_accuracy"].interval == actual["accuracy_a"].interval
    names = ["b" if i < 9 else "a" for i in range(56)]
    few = VerdictColumns.of(names, correct, np.linspace(0.5, 1, 56)).intervals()
    assert reason(few["weighted_accuracy_b"]) == reason(few["weighted_min_accuracy"])
    assert reason(few["weighted_accuracy_b"]).startswith("n = 9, ")
    assert limits(few["weighted_accuracy"])


_PROBABILITIES = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from("abc")), min_size=1, max_size=40
)


def _weights(probability: Any, categories: list[str]) -> npt.NDArray[np.int64]:
    return VerdictColumns.of(
        categories, np.ones(len(categories), bool), np.array(probability)
    ).weights


def test_rank_weights_of_ties_follow_the_order_of_the_input() -> None:
    weights = _weights([0.5, 0.9, 0.1, 0.5, 0.7], list("aaaaa"))
    assert weights.tolist() == [2, 5, 4, 1, 3]


@given(_PROBABILITIES)
def test_rank_weights_are_a_permutation_within_each_category(rows: list[tuple[float, str]]) -> None:
    probabilities, categories = np.array([p for p, _ in rows]), [c for _, c in rows]
    weights = _weights(probabilities, categories)
    for name in set(categories):
        actual = sorted(w for w, c in zip(weights, categories, strict=True) if c == name)
        assert actual == list(range(1, categories.count(name) + 1))


@given(_PROBABILITIES)
def test_more_confident_samples_never_weigh_less(rows: list[tuple[float, str]]) -> None:
    probabilities = np.array([p for p, _ in rows])
    order = np.argsort(-_weights(probabilities, ["x"] * len(rows)))
    assert (np.diff(np.abs(probabilities - 0.5)[order]) <= 0).all()


_EIGHTHS = st.tuples(st.integers(0, 8), st.sampled_from(["none", "a", "ä"]))


@given(st.lists(_EIGHTHS, min_size=1, max_size=90))
def test_columns_have_the_weights_and_intervals_of_lists(rows: list[tuple[int, str]]) -> None:
    probability, categories = np.array([p / 8 for p, _ in rows]), [c for _, c in rows]
    columns = VerdictColumns.of(categories, probability >= 0.5, probability)
    correct = probability >= 0.5
    expected = accuracy.accuracy_estimates(correct, categories, weights=columns.weights)
    intervals = {n: i for n, i in columns.intervals().items() if isinstance(i, Interval)}
    assert intervals == {name: expected[name].interval for name in intervals}
    alone = VerdictColumns.of(categories, probability >= 0.5)
    assert alone.intervals() == {n: i for n, i in intervals.items() if "weighted" not in n}
    assert alone.scores().items() <= columns.scores().items()


_ROWS = st.lists(st.tuples(*[st.booleans()] * 3, st.integers(1, 4)), min_size=2, max_size=90)


@given(_ROWS, st.booleans())
def test_intervals_hold_their_figure_and_stay_in_its_range(rows: Any, has_groups: bool) -> None:
    first, second, has_label, weight = (np.array(column) for column in zip(*rows, strict=True))
    weights = weight * 1.0
    groups = [i // 2 for i in range(len(rows))] if has_groups else None
    shares = [estimate_share(f * weights, weights, groups=groups) for f in (first, second)]
    trusted = np.where(has_label, second, np.nan)
    trusted[0] = first[0]
    corrected = [corrected_share(first, trusted, inclusion=1 / weight)]
    few = corrected_share(first, np.where(np.arange(len(rows)), trusted, 1.0))
    near_one = dataclasses.replace(shares[0], value=1 - 1e-12)
    near = (lowest([near_one, near_one]), lowest([shares[0], near_one]))
    for made in (*shares, *corrected, few, lowest(shares), *near):
        assert 0 <= made.interval.low <= made.value <= made.interval.high <= 1
        assert made.interval.low < made.interval.high
    change = difference(*shares)
    assert -1 <= change.interval.low <= change.value <= change.interval.high <= 1
    ratio = score_intervals.ratio(*shares)
    if isinstance(ratio, Interval):
        assert 0 <= ratio.low <= shares[0].value / shares[1].value <= ratio.high


_PAIR = st.tuples(st.integers(0, 400), st.integers(0, 400)).filter(any)


@example((400, 0), ((190, 10), (2, 60)))  # both limits are beyond 1
@example((5, 5), ((20, 5), (16, 4)))  # the added labels make the judge one by chance
@given(_PAIR, st.tuples(_PAIR, _PAIR))
def test_intervals_of_transferred_shares_hold_the_share(judged: Any, labels: Any) -> None:
    value, interval = transferred_share(np.array(judged), np.array(labels))
    assert 0 <= value <= 1
    if isinstance(interval, Interval):
        assert 0 <= interval.low <= value <= interval.high <= 1
        assert interval.low < interval.high


def test_ties_are_counted_and_category_none_is_in_the_total_but_not_in_the_minimum() -> None:
    probability = np.array([0.9, 0.5, 0.5, 0.1])
    actual = VerdictColumns.of(["male"] * 3 + ["none"], probability >= 0.5, probability).categories
    assert [(c.n, c.n_correct, c.n_ties) for c in actual] == [(3, 3, 2), (1, 0, 0)]
    assert accuracy.min_accuracy(actual, weighted=False) == 1.0


_ALL = np.ones(20, dtype=np.bool_)
_HALF = np.arange(20) % 2 == 0


def test_a_share_in_a_part_counts_its_own_groups() -> None:
    for share, (k, n) in zip(part_shares(_HALF, [_ALL, _HALF]), [(10, 20), (10, 10)], strict=True):
        assert (share.k, share.n) == (k, n)
        assert share.limits == pytest.approx(wilson_share(k, n).limits)
    whole, part = part_shares(_HALF, [_ALL, _HALF], groups=[row // 2 for row in range(20)])
    assert (whole.k, whole.n, part.k, part.n) == (10, 20, 10, 10)
    # Each pair has one sample of two, so that pairs vary less than independent samples.
    assert whole.limits[0] > wilson_share(10, 20).limits[0]
    assert part.limits == pytest.approx(wilson_share(10, 10).limits)
    (alone,) = part_shares(_HALF, [_ALL], groups=["a"] * 20)
    assert alone.interval == NoInterval("all samples are in one group")
    refuses("parts: row 1: expected at least one sample", part_shares, _HALF, [_ALL, ~_ALL])


def test_a_row_has_the_names_of_its_file() -> None:
    share, undefined = wilson_share(1, 4), Share(1, 4, NoInterval("it is undefined"))
    assert (share.limits, undefined.limits) == (limits(share.interval), (0.25, 0.25))
    row = undefined.to_row(value="rate", k="n_worse")
    reason_of = {"reason": "it is undefined", "n_undefined": 0}
    assert row == {"n": 4, "n_worse": 1, "rate": 0.25, "interval": reason_of}
    assert list(share.to_row(value="accuracy")) == ["n", "accuracy", "interval"]


_Floats = npt.NDArray[np.float64]


def _drawn(n: int, n_labels: int, p: float, judge: tuple[float, float], seed: int) -> list[_Floats]:
    """Return true verdicts, those of a judge with this sensitivity and specificity, and labels of
    the first samples.
    """
    random = np.random.default_rng(seed)
    truth = random.random(n) < p
    judged = np.where(truth, random.random(n) < judge[0], random.random(n) >= judge[1])
    return [truth * 1.0, judged * 1.0, np.where(np.arange(n) < n_labels, truth, np.nan)]


# ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05) of ppi-python 0.2.3 on the same verdicts
@cases(
    (600, 150, (0.7388057313, 0.6827182799, 0.7948931826)),
    (2000, 100, (0.7217683988, 0.6520845528, 0.7914522448)),
)
def test_it_equals_ppi_python(n: int, n_labels: int, expected: tuple[float, float, float]) -> None:
    _, judged, labels = _drawn(n, n_labels, 0.7, (0.85, 0.85), n)
    share = corrected_share(judged, labels)
    half = 1.959963984540054 * math.sqrt((share.influence**2).sum())
    actual = share.value, share.value - half, share.value + half
    assert actual == pytest.approx(expected, abs=1e-8)


@cases((0.5, (0.6, 0.6), 1.0), (0.8, (0.95, 0.7), 0.9), (0.9, (0.99, 0.99), 0.7))
def test_intervals_cover_and_are_narrower_than_alone(p: float, judge: Any, narrower: float) -> None:
    covered, transferred, ratios = [], [], []
    for seed in range(300):
        truth, judged, labels = _drawn(1000, 200, p, judge, seed)
        low, high = limits(corrected_share(judged, labels).interval)
        covered.append(low <= p <= high)
        alone = wilson_interval(truth[:200].sum(), 200)
        ratios.append((high - low) / (alone.high - alone.low))
        others, actual, _ = _drawn(400, 0, 0.5, judge, 1000 + seed)
        table = [[((others == r) & (actual == c)).sum() for c in (1, 0)] for r in (1, 0)]
        counts = np.array([judged.sum(), 1000 - judged.sum()], dtype=np.int64)
        low, high = limits(transferred_share(counts, np.array(table, dtype=np.int64))[1])
        transferred.append(low <= p <= high)
    error = math.sqrt(0.05 * 0.95 / 300)
    assert np.mean(covered) > 0.94 - 2 * error
    assert np.mean(transferred) > 0.94 - 2 * error
    assert np.mean(ratios) < narrower
    assert max(ratios) < 1.02


def test_the_bootstrap_of_rows_and_labels_together_agrees() -> None:
    """The weight of the judge is that of the data, as it is in each resample to first order."""
    _, judged, labels = _drawn(2000, 400, 0.75, (0.9, 0.8), 5)
    share = corrected_share(judged, labels)
    has_label = ~np.isnan(labels)
    y, f = labels[has_label], judged[has_label]
    weight = float(np.cov(y, f, bias=True)[0, 1]) / (judged.var(ddof=1) * (1 + 400 / 1600))
    columns = np.stack([np.nan_to_num(labels), judged, np.ones(2000)], axis=1)
    strata = np.where(has_label, "labelled", "other").tolist()
    sums = resampled_strata(columns, strata, n_resamples=4000)
    (y_sum, f_sum, n), (_, other, n_other) = (sums[name].T for name in ("labelled", "other"))
    values = y_sum / n + weight * (other / n_other - f_sum / n)
    assert np.mean(values) == pytest.approx(share.value, abs=0.002)
    low, high = limits(share.interval)
    assert np.quantile(values, [0.025, 0.975]) == pytest.approx([low, high], abs=0.005)


@cases((0.8, 0.9, 0.08), (0.8, 0.7, 0.1), (0.6, 0.95, 0.06))
def test_as_many_labels_as_needed_give_the_width(p: float, judge: float, width: float) -> None:
    widths = []
    for seed in range(20):
        truth, judged, labels = _drawn(3000, 150, p, (judge, judge), seed)
        n = correction.labels_needed(judged, labels, width)
        more = np.where(np.arange(3000) < n, truth, np.nan)
        low, high = limits(corrected_share(judged, more).interval)
        widths.append(high - low)
    assert np.mean(widths) == pytest.approx(width, rel=0.05)
    assert correction.labels_needed(judged, labels, 0.001) == 3000


def test_samples_that_were_drawn_more_often_weigh_less() -> None:
    values, unweighted = [], []
    for seed in range(100):
        random = np.random.default_rng(seed)
        truth = np.arange(2000) < 1000
        judged = np.where(random.random(2000) < 0.8, truth, ~truth)
        inclusion = np.where(judged, 0.05, 0.2)
        labels = np.where(random.random(2000) < inclusion, truth, np.nan)
        values.append(corrected_share(judged, labels, inclusion=inclusion).value)
        unweighted.append(corrected_share(judged, labels).value)
    assert np.mean(values) == pytest.approx(0.5, abs=0.01)
    assert np.mean(unweighted) < 0.48


def test_corrected_shares_are_compared_and_the_lowest_is_found() -> None:
    drawn = [_drawn(500, 100, p, (0.9, 0.9), seed) for seed, p in enumerate((0.9, 0.5))]
    shares = [corrected_share(judged, labels) for _, judged, labels in drawn]
    low, high = limits(difference(*shares).interval)
    assert 0 < low < shares[0].value - shares[1].value < high
    assert lowest(shares).value == shares[1].value
    everything = _drawn(50, 50, 0.5, (0.9, 0.9), 0)
    assert corrected_share(*everything[1:]).interval == wilson_interval(everything[0].sum(), 50)


def test_what_cannot_be_corrected_says_why() -> None:
    none = np.full(3, np.nan)
    refuses("trusted: expected at least one verdict", corrected_share, np.ones(3), none)
    refuses("judged: expected numbers from 0 to 1", corrected_share, np.array([2.0]), np.ones(1))
    for correct in (
        corrected_share,
        partial(correction.corrected_accuracies, categories=["a", "a"]),
    ):
        refuses(
            "inclusion: expected probabilities above 0",
            correct,
            np.ones(2),
            np.ones(2),
            inclusion=np.array([0.0, 1.0]),
        )
    transferred = partial(transferred_share, np.array([5, 5]))
    refuses(
        "labels of right and of wrong ones, got 10, 0 and 5",
        transferred,
        np.array([[0, 0], [2, 3]]),
    )
    value, missing = transferred(np.array([[1, 1], [1, 1]]))
    expected = "the judge is not better than chance on the labelled samples"
    assert (value, reason(missing)) == (0.5, expected)
    _, few = transferred(np.array([[9, 1], [2, 8]]))
    assert reason(few) == "10 right and 10 wrong labels, and an interval needs 20 of each"


@cases((40, 30), (30, 40), (40, 36), (36, 40), (40, 40), (50, 20))
def test_p_of_an_estimated_difference_follows_from_its_interval(first: int, second: int) -> None:
    shares = [estimate_share(np.arange(50) < k, np.ones(50)) for k in (first, second)]
    compared = estimated_difference(*shares)
    low, high = limits(difference(shares[1], shares[0]).interval)
    assert compared.difference == pytest.approx((second - first) / 50)
    assert (compared.p_value < 0.05) == (low > 0 or high < 0)
    margin = high - compared.difference if second < first else compared.difference - low
    z = 1.959963984540054 * abs(compared.difference) / margin if margin else 0.0
    assert compared.p_value == pytest.approx(math.erfc(z / math.sqrt(2)))
