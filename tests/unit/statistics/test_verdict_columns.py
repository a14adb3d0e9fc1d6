"""Accuracies of verdicts in columns: their intervals, and weights by rank of confidence."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.results import Interval
from cc_hf.statistics import accuracy, score_intervals
from cc_hf.statistics.verdict_columns import VerdictColumns
from tests.helpers.usual import limits, reason


def test_accuracies_have_intervals_of_their_categories() -> None:
    correct = np.repeat([True, False, True, False], [15, 10, 30, 1])
    actual = accuracy.accuracy_estimates(correct, np.repeat(["a", "none"], [25, 31]).tolist())
    expected = limits(score_intervals.wilson_interval(15, 25))
    assert limits(actual["accuracy_a"].interval) == pytest.approx(expected)
    assert actual["min_accuracy"].interval == actual["accuracy_a"].interval


def test_weighted_accuracies_of_few_samples_have_no_interval() -> None:
    correct = np.repeat([True, False, True, False], [15, 10, 30, 1])
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
    probabilities = np.array([p for p, _ in rows])
    categories = [c for _, c in rows]

    weights = _weights(probabilities, categories)
    for name in set(categories):
        actual = sorted(
            weight for weight, category in zip(weights, categories, strict=True) if category == name
        )
        assert actual == list(range(1, categories.count(name) + 1))


@given(_PROBABILITIES)
def test_more_confident_samples_never_weigh_less(rows: list[tuple[float, str]]) -> None:
    probabilities = np.array([p for p, _ in rows])
    order = np.argsort(-_weights(probabilities, ["x"] * len(rows)))
    assert (np.diff(np.abs(probabilities - 0.5)[order]) <= 0).all()


_EIGHTHS = st.tuples(st.integers(0, 8), st.sampled_from(["none", "a", "ä"]))


@given(st.lists(_EIGHTHS, min_size=1, max_size=90))
def test_columns_have_the_weights_and_intervals_of_lists(rows: list[tuple[int, str]]) -> None:
    # Eighths, so that many probabilities tie.
    probability, categories = np.array([p / 8 for p, _ in rows]), [c for _, c in rows]
    correct = probability >= 0.5

    columns = VerdictColumns.of(categories, correct, probability)
    expected = accuracy.accuracy_estimates(correct, categories, weights=columns.weights)
    intervals = {
        name: interval
        for name, interval in columns.intervals().items()
        if isinstance(interval, Interval)
    }
    assert intervals == {name: expected[name].interval for name in intervals}

    alone = VerdictColumns.of(categories, correct)
    assert alone.intervals() == {
        name: interval for name, interval in intervals.items() if "weighted" not in name
    }
    assert alone.scores().items() <= columns.scores().items()


def test_ties_are_counted_and_category_none_is_in_the_total_but_not_in_the_minimum() -> None:
    probability = np.array([0.9, 0.5, 0.5, 0.1])
    categories = ["male", "male", "male", "none"]
    actual = VerdictColumns.of(categories, probability >= 0.5, probability).categories

    assert [(c.n, c.n_correct, c.n_ties) for c in actual] == [(3, 3, 2), (1, 0, 0)]
    assert accuracy.min_accuracy(actual, weighted=False) == 1.0
