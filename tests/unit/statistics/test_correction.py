import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cc_hf.results import Interval
from cc_hf.statistics.bootstrap import resampled_strata
from cc_hf.statistics.correction import (
    corrected_accuracies,
    corrected_share,
    labels_needed,
    transferred_share,
)
from cc_hf.statistics.score_intervals import difference, lowest, wilson_interval
from tests.helpers.usual import cases, limits, reason, refuses

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
def test_corrected_shares_equal_those_of_ppi_python(
    n: int, n_labels: int, expected: tuple[float, float, float]
) -> None:
    _, judged, labels = _drawn(n, n_labels, 0.7, (0.85, 0.85), n)
    share = corrected_share(judged, labels)
    half = 1.959963984540054 * math.sqrt((share.influence**2).sum())
    actual = share.value, share.value - half, share.value + half
    assert actual == pytest.approx(expected, abs=1e-8)


@cases((0.5, (0.6, 0.6), 1.0), (0.8, (0.95, 0.7), 0.9), (0.9, (0.99, 0.99), 0.7))
def test_intervals_cover_the_share_and_are_narrower_than_those_of_labels_alone(
    p: float, judge: Any, narrower: float
) -> None:
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
    covariance = np.cov(labels[has_label], judged[has_label], bias=True)[0, 1]
    weight = float(covariance) / (judged.var(ddof=1) * (1 + 400 / 1600))

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
        n = labels_needed(judged, labels, width)
        more = np.where(np.arange(3000) < n, truth, np.nan)
        low, high = limits(corrected_share(judged, more).interval)
        widths.append(high - low)
    assert np.mean(widths) == pytest.approx(width, rel=0.05)
    assert labels_needed(judged, labels, 0.001) == 3000


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


def test_a_share_with_all_labels_has_the_interval_of_the_labels() -> None:
    truth, judged, labels = _drawn(50, 50, 0.5, (0.9, 0.9), 0)
    assert corrected_share(judged, labels).interval == wilson_interval(truth.sum(), 50)


def test_verdicts_that_cannot_be_corrected_are_refused() -> None:
    without_labels = np.full(3, np.nan)
    refuses("trusted: expected at least one verdict", corrected_share, np.ones(3), without_labels)
    refuses("judged: expected numbers from 0 to 1", corrected_share, np.array([2.0]), np.ones(1))
    for correct in (corrected_share, partial(corrected_accuracies, categories=["a", "a"])):
        refuses(
            "inclusion: expected probabilities above 0",
            correct,
            np.ones(2),
            np.ones(2),
            inclusion=np.array([0.0, 1.0]),
        )


def test_labels_that_say_nothing_of_the_judge_are_refused_or_give_no_interval() -> None:
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
