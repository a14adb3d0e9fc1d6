from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.statistics.accuracy import (
    category_accuracies,
    min_accuracy,
    rank_weights,
    total_accuracy,
)
from tests.helpers.refusals import refuses

_ROW = st.tuples(st.floats(0, 1), st.sampled_from("abc"))
_PROBABILITIES = st.lists(_ROW, min_size=1, max_size=40)


def test_rank_weights_of_ties_follow_the_order_of_the_input() -> None:
    weights = rank_weights(np.array([0.5, 0.9, 0.1, 0.5, 0.7]), list("aaaaa"))
    assert weights.tolist() == [2, 5, 4, 1, 3]


@given(_PROBABILITIES)
def test_rank_weights_are_a_permutation_within_each_category(rows: list[tuple[float, str]]) -> None:
    probabilities, categories = np.array([p for p, _ in rows]), [c for _, c in rows]
    weights = rank_weights(probabilities, categories)
    for name in set(categories):
        found = sorted(w for w, c in zip(weights, categories, strict=True) if c == name)
        assert found == list(range(1, categories.count(name) + 1))


@given(_PROBABILITIES)
def test_more_confident_samples_never_weigh_less(rows: list[tuple[float, str]]) -> None:
    probabilities = np.array([p for p, _ in rows])
    weights = rank_weights(probabilities, ["x"] * len(rows))
    order = np.argsort(-weights)
    confidence = np.abs(probabilities - 0.5)[order]
    assert (np.diff(confidence) <= 0).all()


def test_weights_are_not_normalised_between_categories() -> None:
    correct, weights = np.array([True, False, False]), np.array([2, 1, 1])
    assert total_accuracy(correct, weights) == 2 / 4
    assert total_accuracy(correct) == 1 / 3


def test_the_minimum_of_no_category_is_refused() -> None:
    refuses("at least one category", min_accuracy, (), weighted=False)


def test_category_none_counts_in_the_total_but_not_in_the_minimum() -> None:
    probability = np.array([0.9, 0.8, 0.1])
    found = category_accuracies(probability, probability >= 0.5, ["male", "male", "none"])
    assert [c.category for c in found] == ["male", "none"]
    assert min_accuracy(found, weighted=False) == 1.0
    assert found[1].accuracy == 0.0


def test_ties_are_counted() -> None:
    probability = np.array([0.5, 0.5, 0.4])
    (found,) = category_accuracies(probability, probability >= 0.5, ["a"] * 3)
    assert (found.n, found.n_correct, found.n_ties) == (3, 2, 2)
