import math
import re
import sys

import numpy as np
import pytest
from scipy.stats import binomtest

from cc_hf.errors import InputError
from cc_hf.statistics.accuracy import min_accuracy, total_accuracy, verdict_accuracies
from cc_hf.statistics.paired import f1_differences, mcnemar, paired_differences
from tests.helpers.cases import cases
from tests.helpers.intervals import limits, reason
from tests.helpers.refusals import refuses

RANDOM = np.random.default_rng(1)
CATEGORIES = ["a"] * 300 + ["b"] * 100
CORRECT = RANDOM.random((3, 400)) < np.array([[0.6], [0.7], [0.6]])


def test_compared_values_are_those_of_each_system() -> None:
    weights = RANDOM.integers(1, 50, size=CORRECT.shape)
    found = paired_differences(CORRECT, CATEGORIES, weights=weights)
    assert len(found) == 2
    for system, differences in enumerate(found, 1):
        own = verdict_accuracies(CORRECT[system], CATEGORIES)
        expected = {
            **{f"accuracy_{c.category}": c.accuracy for c in own},
            "accuracy": total_accuracy(CORRECT[system]),
            "weighted_accuracy": total_accuracy(CORRECT[system], weights[system]),
            "min_accuracy": min_accuracy(own, weighted=False),
        }
        assert {name: differences[name].second for name in expected} == expected
        assert differences["accuracy"].first == total_accuracy(CORRECT[0])
        for one in differences.values():
            assert one.difference == one.second - one.first
            low, high = limits(one.interval)
            assert low <= one.difference <= high
            assert 0 < one.p_value <= 1


def test_intervals_are_close_to_the_normal_approximation() -> None:
    n = 2000
    left, right = RANDOM.random(n) < 0.60, RANDOM.random(n) < 0.63
    right = np.where(RANDOM.random(n) < 0.7, left, right)  # correlated, as systems are
    (all_found,) = paired_differences(np.stack([left, right]), ["all"] * n, n_resamples=5000)
    found, differences = all_found["accuracy"], right.astype(float) - left
    margin = 1.96 * differences.std() / math.sqrt(n)
    expected = found.difference - margin, found.difference + margin
    assert limits(found.interval) == pytest.approx(expected, abs=0.002)
    # the interval if they were not paired
    alone = differences.mean() - 1.96 * math.sqrt(left.var() / n + right.var() / n)
    assert limits(found.interval)[0] > alone + 0.005


def test_a_system_does_not_differ_from_itself() -> None:
    (found,) = paired_differences(np.stack([CORRECT[0], CORRECT[0]]), CATEGORIES)
    assert {(one.difference, one.p_value) for one in found.values()} == {(0.0, 1.0)}
    reasons = {reason(one.interval) for name, one in found.items() if name != "min_accuracy"}
    assert reasons == {"the systems differ on no sample"}
    assert all(one.is_exact for one in found.values())
    assert mcnemar(CORRECT[0], CORRECT[0]).p_value == 1.0


def test_the_largest_difference_has_the_smallest_p_value() -> None:
    (found,) = paired_differences(np.array([[False] * 9, [True] * 9]), ["a"] * 9, n_resamples=99)
    assert (found["accuracy"].difference, found["accuracy"].p_value) == (1.0, 2 / 2**9)
    assert mcnemar(np.array([False] * 9), np.array([True] * 9)).p_value == pytest.approx(2 / 2**9)


def test_differences_depend_on_the_seed_and_not_on_other_systems() -> None:
    both = paired_differences(CORRECT, CATEGORIES)
    assert both == paired_differences(CORRECT, CATEGORIES)
    assert both != paired_differences(CORRECT, CATEGORIES, seed=1)
    assert both[1] == paired_differences(CORRECT[[0, 2]], CATEGORIES)[0]


def test_opposite_differences_of_categories_cancel_in_the_total() -> None:
    first = np.repeat([True, False], 20)
    categories = ["a"] * 20 + ["b"] * 20
    (found,) = paired_differences(np.stack([first, ~first]), categories, n_resamples=50)
    assert limits(found["accuracy"].interval)[0] == -limits(found["accuracy"].interval)[1]
    assert found["accuracy_a"].difference == -1.0
    assert "weighted_accuracy" not in found


def test_one_sample_of_twenty_is_no_significant_difference_in_any_figure() -> None:
    first = np.array([True] * 12 + [False] * 8)
    second = np.array([True] * 11 + [False] * 9)
    categories = ["female"] * 11 + ["male"] + ["female"] * 8
    (found,) = paired_differences(np.stack([first, second]), categories)
    assert {(one.p_value, one.is_exact) for one in found.values()} == {(1.0, True)}
    assert (found["accuracy_male"].first, found["accuracy_male"].second) == (1.0, 0.0)
    assert mcnemar(first, second).p_value == 1.0


@cases(
    ({"a": 19}, "accuracy", "n = 19, and .* at least 20 samples"),
    ({"a": 20}, "accuracy", None),
    ({"a": 25, "b": 5}, "accuracy", None),
    ({"a": 25, "b": 5}, "accuracy_b", "n = 5, .* at least 20"),
    ({"a": 25, "b": 5}, "accuracy_a", None),
    ({"a": 25, "b": 5}, "weighted_min_accuracy", "n = 5, .* at least 20"),
    ({"a": 25, "none": 5}, "min_accuracy", None),
    ({"a": 25, "b": 5}, "delta", "n = 5, .* at least 20"),
    ({"a": 15, "b": 15, "c": 5}, "accuracy_both", None),
    ({"a": 15, "b": 15, "c": 5}, "inconclusive_rate_both", None),
    (dict.fromkeys("abcdef", 9), "weighted_accuracy", None),
)
def test_a_difference_of_few_samples_says_why_it_has_no_interval(
    n: dict[str, int], figure: str, message: str | None
) -> None:
    categories = [name for name, number in n.items() for _ in range(number)]
    random = np.random.default_rng(0)
    correct = random.random((2, len(categories))) < 0.5
    (found,) = paired_differences(
        correct,
        categories,
        weights=random.integers(1, 5, size=correct.shape),
        inconclusive=~correct & (random.random(correct.shape) < 0.5),
        groups={"both": ("a", "b")},
        deltas={"delta": ("accuracy_a", "accuracy_b")},
    )
    interval = found[figure].interval
    assert limits(interval) if message is None else re.match(message, reason(interval))


def test_differences_of_f1_are_those_of_sklearns_definition_and_tested_by_exchanges() -> None:
    random = np.random.default_rng(3)
    gold = np.array(["male", "female"])[random.integers(0, 2, 300)]
    noise = random.random((2, 300)) < np.array([[0.1], [0.3]])
    predicted = np.where(noise, np.array(["unknown", "male"])[random.integers(0, 2, 300)], gold)
    deltas = {"delta_g": ("f1_male", "f1_female"), "other": ("f1_male", "f1_neutral")}
    (found,) = f1_differences(
        list(gold), predicted.tolist(), labels=["male", "female"], deltas=deltas, seed=1
    )
    assert list(found) == ["f1_male", "f1_female", "delta_g"]

    def f1(row: np.ndarray, label: str) -> float:
        right = ((row == label) & (gold == label)).sum()
        return float(2 * right / ((row == label).sum() + (gold == label).sum()))

    def gap(row: np.ndarray) -> float:
        return f1(row, "male") - f1(row, "female")

    assert found["f1_male"].first == pytest.approx(f1(predicted[0], "male"))
    assert found["delta_g"].difference == pytest.approx(gap(predicted[1]) - gap(predicted[0]))
    extreme = 1
    for _ in range(1000):
        turned = np.where(random.random(300) < 0.5, predicted, predicted[::-1])
        extreme += abs(gap(turned[1]) - gap(turned[0])) >= abs(found["delta_g"].difference) - 1e-12
    assert found["delta_g"].p_value == pytest.approx(extreme / 1001, abs=0.03)
    low, high = limits(found["delta_g"].interval)
    assert low < found["delta_g"].difference < high
    with pytest.raises(InputError, match="labels: expected some of those in gold, got 'neutral'"):
        f1_differences(list(gold), predicted.tolist(), labels=["neutral"])


def test_bad_shapes_are_refused() -> None:
    for correct, categories, weights, message in (
        (CORRECT[:1], CATEGORIES, None, "correct: expected at least two systems, got 1"),
        (CORRECT, ["a"] * 3, None, "categories: .* 400 in all, got 3"),
        (CORRECT, CATEGORIES, np.ones((3, 2), np.int64), r"weights: .* got the shape \(3, 2\)"),
    ):
        refuses(message, paired_differences, correct, categories, weights=weights)
    refuses("same samples", mcnemar, CORRECT[0], CORRECT[0][:3])


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (3, 3), (7, 2), (40, 61), (900, 1_000)])
def test_mcnemar_equals_scipy(counts: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = binomtest(counts[0], sum(counts)).pvalue if any(counts) else 1.0
    first = np.repeat([True, False], counts)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "scipy.stats", None)
        found, other = mcnemar(first, ~first), mcnemar(~first, first)
    assert (found.n_only_first, found.n_only_second) == counts
    assert found.p_value == other.p_value == pytest.approx(expected, rel=1e-9)
