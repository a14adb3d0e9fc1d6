import itertools
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest
from scipy.stats import binomtest, fisher_exact

from cc_hf.results import Interval
from cc_hf.statistics import bootstrap
from cc_hf.statistics.accuracy import min_accuracy, total_accuracy
from cc_hf.statistics.bootstrap import percentile_interval, resampled_strata, resampled_sums
from cc_hf.statistics.corpus_quality import score_of_sums, sentence_statistics
from cc_hf.statistics.paired import (
    OfCategories,
    estimated_difference,
    f1_differences,
    mcnemar,
    paired_differences,
)
from cc_hf.statistics.randomization import (
    LEAST_P,
    MOST_ENUMERATED,
    exchange_p,
    exchange_tests,
    minimum_p,
)
from cc_hf.statistics.score_intervals import difference, estimate_share
from cc_hf.statistics.verdict_columns import VerdictColumns
from tests.helpers.usual import cases, limits, reason, refuses

RANDOM = np.random.default_rng(1)
CATEGORIES = ["a"] * 300 + ["b"] * 100
CORRECT = RANDOM.random((3, 400)) < np.array([[0.6], [0.7], [0.6]])


def test_compared_values_are_those_of_each_system() -> None:
    weights = RANDOM.integers(1, 50, size=CORRECT.shape)
    actual = paired_differences(CORRECT, CATEGORIES, weights=weights)
    assert len(actual) == 2
    for system, differences in enumerate(actual, 1):
        categories = VerdictColumns.of(CATEGORIES, CORRECT[system]).categories
        expected = {
            **{f"accuracy_{c.category}": c.accuracy for c in categories},
            "accuracy": total_accuracy(CORRECT[system]),
            "weighted_accuracy": total_accuracy(CORRECT[system], weights[system]),
            "min_accuracy": min_accuracy(categories, weighted=False),
        }

        assert {name: differences[name].second for name in expected} == expected
        assert differences["accuracy"].first == total_accuracy(CORRECT[0])

        for figure in differences.values():
            assert figure.difference == figure.second - figure.first
            low, high = limits(figure.interval)
            assert low <= figure.difference <= high
            assert 0 < figure.p_value <= 1


def test_intervals_are_close_to_the_normal_approximation() -> None:
    n = 2000
    left, right = RANDOM.random(n) < 0.60, RANDOM.random(n) < 0.63
    right = np.where(RANDOM.random(n) < 0.7, left, right)  # correlated, as systems are
    (all_found,) = paired_differences(np.stack([left, right]), ["all"] * n, n_resamples=5000)
    actual, differences = all_found["accuracy"], right.astype(float) - left
    margin = 1.96 * differences.std() / math.sqrt(n)
    expected = actual.difference - margin, actual.difference + margin
    assert limits(actual.interval) == pytest.approx(expected, abs=0.002)

    # the interval if they were not paired
    alone = differences.mean() - 1.96 * math.sqrt(left.var() / n + right.var() / n)
    assert limits(actual.interval)[0] > alone + 0.005


def test_a_system_does_not_differ_from_itself() -> None:
    (actual,) = paired_differences(np.stack([CORRECT[0], CORRECT[0]]), CATEGORIES)
    for name, figure in actual.items():
        assert (figure.difference, figure.p_value) == (0.0, 1.0)
        assert figure.is_exact
        if name != "min_accuracy":
            assert reason(figure.interval) == "the systems differ on no sample"
    assert mcnemar(CORRECT[0], CORRECT[0]).p_value == 1.0


def test_differences_depend_on_the_seed_and_not_on_other_systems() -> None:
    weights = np.random.default_rng(0).integers(1, 50, size=CORRECT.shape)
    both = paired_differences(CORRECT, CATEGORIES, weights=weights)
    assert both == paired_differences(CORRECT, CATEGORIES, weights=weights)
    other = paired_differences(CORRECT, CATEGORIES, weights=weights, seed=1)
    assert both[0]["weighted_accuracy"] != other[0]["weighted_accuracy"]
    assert both[0]["accuracy"] == other[0]["accuracy"]  # all exchanges

    alone = paired_differences(CORRECT[[0, 2]], CATEGORIES, weights=weights[[0, 2]])
    assert both[1] == alone[0]


def test_opposite_differences_of_categories_cancel_in_the_total() -> None:
    first = np.repeat([True, False], 20)
    categories = ["a"] * 20 + ["b"] * 20
    (actual,) = paired_differences(np.stack([first, ~first]), categories, n_resamples=50)
    assert limits(actual["accuracy"].interval)[0] == -limits(actual["accuracy"].interval)[1]
    assert actual["accuracy_a"].difference == -1.0
    assert "weighted_accuracy" not in actual


@cases(
    ({"a": 29}, "accuracy", "n = 29, and .* at least 30 samples"),
    ({"a": 30}, "accuracy", None),
    ({"a": 35, "b": 5}, "accuracy", None),
    ({"a": 35, "b": 5}, "accuracy_b", "n = 5, .* at least 30"),
    ({"a": 35, "b": 5}, "accuracy_a", None),
    ({"a": 35, "b": 5}, "weighted_min_accuracy", "n = 5, .* at least 30"),
    ({"a": 35, "none": 5}, "min_accuracy", None),
    ({"a": 35, "b": 5}, "delta", "n = 5, .* at least 30"),
    ({"a": 20, "b": 20, "c": 5}, "accuracy_both", None),
    ({"a": 20, "b": 20, "c": 5}, "inconclusive_rate_both", None),
    (dict.fromkeys("abcdef", 9), "weighted_accuracy", None),
)
def test_a_difference_of_few_samples_has_no_interval(n: Any, figure: str, message: Any) -> None:
    categories = [name for name, number in n.items() for _ in range(number)]
    random = np.random.default_rng(0)
    correct = random.random((2, len(categories))) < 0.5
    (actual,) = paired_differences(
        correct,
        categories,
        weights=random.integers(1, 5, size=correct.shape),
        inconclusive=~correct & (random.random(correct.shape) < 0.5),
        of_categories=OfCategories({"both": ("a", "b")}, {"delta": ("accuracy_a", "accuracy_b")}),
    )

    interval = actual[figure].interval
    assert limits(interval) if message is None else re.match(message, reason(interval))


def test_differences_of_f1_follow_its_definition_and_are_tested_by_exchanges() -> None:
    random = np.random.default_rng(3)
    gold = np.array(["male", "female"])[random.integers(0, 2, 300)]
    noise = random.random((2, 300)) < np.array([[0.1], [0.3]])
    predicted = np.where(noise, np.array(["unknown", "male"])[random.integers(0, 2, 300)], gold)
    deltas = {"delta_g": ("f1_male", "f1_female"), "other": ("f1_male", "f1_neutral")}
    (actual,) = f1_differences(
        list(gold), predicted.tolist(), labels=["male", "female"], deltas=deltas, seed=1
    )
    assert list(actual) == ["f1_male", "f1_female", "delta_g"]

    def f1(row: np.ndarray, label: str) -> float:
        right = ((row == label) & (gold == label)).sum()
        return float(2 * right / ((row == label).sum() + (gold == label).sum()))

    def gap(row: np.ndarray) -> float:
        return f1(row, "male") - f1(row, "female")

    assert actual["f1_male"].first == pytest.approx(f1(predicted[0], "male"))
    assert actual["delta_g"].difference == pytest.approx(gap(predicted[1]) - gap(predicted[0]))

    extreme = 1
    for _ in range(1000):
        turned = np.where(random.random(300) < 0.5, predicted, predicted[::-1])
        extreme += abs(gap(turned[1]) - gap(turned[0])) >= abs(actual["delta_g"].difference) - 1e-12
    assert actual["delta_g"].p_value == pytest.approx(extreme / 1001, abs=0.03)
    low, high = limits(actual["delta_g"].interval)
    assert low < actual["delta_g"].difference < high


def test_labels_that_no_gold_label_has_are_refused() -> None:
    gold, predicted = ["male", "female"], [["male", "male"], ["female", "male"]]
    message = "labels: expected some of those in gold, got 'neutral'"
    refuses(message, f1_differences, gold, predicted, labels=["neutral"])


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
        actual, other = mcnemar(first, ~first), mcnemar(~first, first)
    assert (actual.n_only_first, actual.n_only_second) == counts
    assert actual.p_value == other.p_value == pytest.approx(expected, rel=1e-9)


FIGURES = ("accuracy", "min_accuracy", "accuracy_0", "weighted_accuracy", "weighted_min_accuracy")


def mean(parts: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, npt.NDArray[np.float64]]:
    """Return the ratio of the first and the second column of sums over all strata."""
    sums = np.sum(list(parts.values()), axis=0)
    defined = sums[:, 1] != 0
    ratio = np.divide(sums[:, 0], sums[:, 1], out=np.full(len(sums), np.nan), where=defined)
    return {"mean": ratio}


def columns(values: Any) -> npt.NDArray[np.float64]:
    return np.stack([values, np.ones(len(values))], axis=1)


@pytest.mark.parametrize("n_categories", [1, 2, 10])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 20, 50, 100, 300])
def test_equal_systems_differ_in_at_most_five_percent_of_runs(n: int, n_categories: int) -> None:
    random = np.random.default_rng(n)
    categories = [str(row % n_categories) for row in range(n)]
    n_runs = 100
    n_significant = dict.fromkeys(FIGURES, 0)
    for seed in range(n_runs):
        # Both systems have the same chance on a sample; some samples are easier than others.
        correct = random.random((2, n)) < random.beta(0.8, 0.5, size=n)
        weights = random.integers(1, n + 1, size=(2, n))
        (actual,) = paired_differences(
            correct, categories, weights=weights, n_resamples=99, seed=seed
        )
        for name in FIGURES:
            n_significant[name] += actual[name].p_value <= 0.05

    most = 0.05 * n_runs + 3.5 * math.sqrt(0.05 * 0.95 * n_runs)
    assert max(n_significant.values()) <= most, n_significant


@cases((0, 0), (1, 0), (1, 1), (0, 5), (0, 6), (9, 2), (13, 1))
def test_few_differences_have_the_exact_p_of_mcnemar(n_only_first: int, n_only_second: int) -> None:
    first = np.repeat([True, False, True], [n_only_first, n_only_second, 30])
    second = np.repeat([False, True, True], [n_only_first, n_only_second, 30])
    categories = ["a", "b"] * 15 + ["a"] * (len(first) - 30)
    (actual,) = paired_differences(np.stack([first, second]), categories)
    assert actual["accuracy"].is_exact
    assert actual["accuracy"].p_value == pytest.approx(mcnemar(first, second).p_value, rel=1e-12)


@cases(20, 40, 60)
def test_random_exchanges_come_close_to_the_exact_p(n_only_second: int) -> None:
    first = np.repeat([True, False, True], [20, n_only_second, 300])
    second = np.repeat([False, True, True], [20, n_only_second, 300])
    expected = mcnemar(first, second).p_value
    (exact,) = paired_differences(np.stack([first, second]), ["a"] * len(first), n_resamples=9)
    assert exact["accuracy"].p_value == exact["min_accuracy"].p_value == expected

    tests_of_figures = exchange_tests(columns(first), columns(second), mean, n_resamples=4000)[
        "mean"
    ]
    assert not tests_of_figures.is_exact
    error = 3.5 * math.sqrt(expected * (1 - expected) / 4000) + 1 / 4001
    assert tests_of_figures.p_value == pytest.approx(expected, abs=error)


@cases(
    # 8 of 9 that differ: as binomtest; 100 of 100: what a Fourier transform cannot say
    ([8, 1], None, binomtest(1, 9).pvalue),
    ([100, 0], None, 2.0**-99),
    ([5000, 0], None, sys.float_info.min),
    ([100, 0], [*range(98), 98, 98], LEAST_P),
)
def test_a_p_is_no_smaller_than_can_be_computed(n: Any, units: Any, expected: float) -> None:
    first = np.repeat([True, False], n)
    assert exchange_p(first, ~first, units=units) == pytest.approx(expected, rel=1e-9)


def minimum(first: Any, second: Any, sizes: Any) -> tuple[float, float]:
    """Return p of the minima over the categories "a" and "b", and of the accuracies on "a"."""
    names = np.repeat(["a", "b"], sizes)
    left, right = (
        np.concatenate([np.arange(n) < k for k, n in zip(n_right, sizes, strict=True)])
        for n_right in (first, second)
    )
    is_a = names == "a"
    return minimum_p(left, right, names.tolist()), exchange_p(left[is_a], right[is_a])


def test_p_of_a_minimum_is_that_of_the_category_that_is_worst_of_both() -> None:
    actual, of_a = minimum((100, 190), (120, 195), (200, 200))
    assert actual == of_a < 0.001

    # another category of the better one is hardly better: Fisher's exact test
    actual, of_a = minimum((100, 120), (130, 101), (200, 200))
    assert of_a < 0.001 < 0.5 < actual
    table = np.array([[100, 100], [101, 99]])
    assert actual == pytest.approx(fisher_exact(table).pvalue)
    assert minimum((100, 120), (100, 190), (200, 200))[0] == 1.0


def test_the_difference_of_minima_in_one_category_is_paired() -> None:
    random = np.random.default_rng(0)
    first = random.random(400) < np.repeat([0.4, 0.8], 200)
    second = np.where(random.random(400) < 0.9, first, random.random(400) < 0.5)
    (actual,) = paired_differences(np.stack([first, second]), ["a"] * 200 + ["b"] * 200)
    assert actual["min_accuracy"] == actual["accuracy_a"]


def test_all_exchanges_of_any_figure_are_counted() -> None:
    first, second = np.random.default_rng(0).random((2, 9, 2)) + 0.1
    distances = []
    for flags in itertools.product([False, True], repeat=9):
        exchanged = np.array(flags)[:, None]
        left, right = (
            np.where(exchanged, a, b).sum(axis=0) for a, b in ((second, first), (first, second))
        )
        distances.append(abs(left[0] / left[1] - right[0] / right[1]))

    as_far = sum(distance >= distances[0] - 1e-12 for distance in distances)
    tests_of_figures = exchange_tests(first, second, mean, strata=["a"] * 4 + ["b"] * 5)["mean"]
    assert tests_of_figures.is_exact
    assert tests_of_figures.p_value == pytest.approx(as_far / 2**9)


def test_differences_that_rounding_makes_smaller_are_as_far_as_the_observed_one() -> None:
    first, second = np.array([[0.1], [0.2], [0.0]]), np.array([[0.0], [0.0], [0.1]])
    # Of the distances 0.2, 0, 0.2 and 0.4 three are as far, though 0.1 + 0.2 - 0.1 is above 0.2.
    actual = exchange_tests(first, second, lambda parts: {"sum": parts["all"][:, 0]})
    assert actual["sum"].p_value == 3 / 4


def test_samples_that_contribute_the_same_do_not_matter() -> None:
    random = np.random.default_rng(0)
    first, second = columns(random.random(40) < 0.5), columns(random.random(40) < 0.7)
    same = columns(np.ones(500))
    tests_of_figures = exchange_tests(first, second, mean)["mean"]
    more = exchange_tests(np.concatenate([first, same]), np.concatenate([second, same]), mean)
    assert more["mean"].p_value == tests_of_figures.p_value < 1
    assert exchange_tests(same, same, mean)["mean"].p_value == 1.0


def test_samples_of_a_group_are_exchanged_together() -> None:
    first, second = columns(np.ones(6)), columns(np.zeros(6))
    assert exchange_tests(first, second, mean)["mean"].p_value == 2 / 2**6

    # Three pairs, whose samples are in two strata each.
    together = exchange_tests(first, second, mean, groups=list("aabbcc"), strata=list("mfmfmf"))
    assert together["mean"].p_value == 2 / 2**3


def test_exchanges_without_a_defined_figure_are_ignored() -> None:
    first, second = np.array([[1.0, 1], [0, 0]]), np.array([[0.0, 0], [0, 1]])
    # Where one sample is exchanged and the other is not, one system has nothing to count.
    assert exchange_tests(first, second, mean)["mean"].p_value == 1.0


def test_p_has_a_floor_by_the_number_of_exchanges() -> None:
    n = MOST_ENUMERATED + 20
    tests_of_figures = exchange_tests(
        columns(np.ones(n)), columns(np.zeros(n)), mean, n_resamples=99
    )["mean"]
    assert (tests_of_figures.p_value, tests_of_figures.is_exact) == (0.01, False)


@pytest.mark.parametrize(("share", "n"), [(0.2, 150), (0.1, 40)])
def test_p_of_bleu_is_that_of_sacrebleu(share: float, n: int) -> None:
    random = np.random.default_rng(5)
    drawn = [random.integers(10, size=random.integers(5, 15)).astype(str) for _ in range(n)]
    references = [" ".join(row) for row in drawn]
    systems = [
        [
            " ".join(np.where(random.random(len(row)) < wrong, random.permutation(row), row))
            for row in drawn
        ]
        for wrong in (share, share + 0.02)
    ]
    first, second = (sentence_statistics(BLEU(), texts, references) for texts in systems)
    tests_of_figures = exchange_tests(
        first, second, score_of_sums("bleu", BLEU()), n_resamples=1000
    )["bleu"]
    outcomes: Any
    _, outcomes = PairedTest(
        list(zip("ab", systems, strict=True)),
        {"BLEU": BLEU()},
        references=[references],
        test_type="ar",
        n_samples=1000,
    )()
    expected = outcomes["BLEU"][1].p_value
    error = 3.5 * math.sqrt(2 * expected * (1 - expected) / 1000) + 2 / 1001
    assert tests_of_figures.p_value == pytest.approx(expected, abs=error)
    assert 0.01 < tests_of_figures.p_value < 0.99


def test_resampled_sums_are_of_samples_drawn_with_replacement() -> None:
    columns = np.stack([np.ones(5), np.arange(5.0)], axis=1)
    sums = resampled_sums(columns, n_resamples=600, seed=3)
    generator = np.random.default_rng(3)
    drawn = np.concatenate([generator.integers(0, 5, size=(rows, 5)) for rows in (250, 250, 100)])
    assert sums.tolist() == columns[drawn].sum(axis=1).tolist()


@pytest.mark.parametrize("counts", [None, [3, 1, 2, 5, 1, 1, 4]], ids=["without", "with"])
def test_memory_changes_nothing(counts: list[int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, strata = np.arange(7.0)[:, None], list("aabbbab")
    whole = resampled_sums(columns, strata, counts=counts, n_resamples=101)
    monkeypatch.setattr(bootstrap, "_DRAWN_AT_ONCE", 10)
    assert (resampled_sums(columns, strata, counts=counts, n_resamples=101) == whole).all()


def test_which_stratum_comes_first_changes_nothing() -> None:
    columns, strata = np.arange(7.0)[:, None], np.array([*"aabbbab"])
    turned = np.argsort(strata == "a", kind="stable")
    sums, of_turned = (
        resampled_sums(columns[rows], strata[rows].tolist(), n_resamples=20)
        for rows in (np.arange(7), turned)
    )
    assert of_turned.tolist() == sums.tolist()


@cases((1, True), (2, False))
def test_a_figure_undefined_in_one_of_twenty_resamples_has_an_interval(
    n_undefined: int, has_interval: bool
) -> None:
    values = np.where(np.arange(20) < n_undefined, np.nan, np.arange(20.0))
    actual = percentile_interval(values)
    assert (actual.n_undefined, isinstance(actual, Interval)) == (n_undefined, has_interval)


def test_resampling_keeps_the_size_of_strata() -> None:
    names = ["a", "b", "a", "c"]
    one_hot = np.array([[name == other for other in "abc"] for name in names], dtype=np.float64)
    sums = resampled_sums(one_hot, names, n_resamples=20)
    assert {tuple(row) for row in sums.tolist()} == {(2.0, 1.0, 1.0)}
    actual = resampled_strata(np.array([[1, 0], [0, 1]]), counts=[30, 70], n_resamples=2000)["all"]
    assert set(actual.sum(axis=1)) == {100}
    assert actual.mean(axis=0) == pytest.approx([30, 70], abs=0.5)


def test_groups_are_resampled_as_a_whole() -> None:
    sums = resampled_sums(np.eye(4), [*"xxxy"], groups=[*"pqpr"], n_resamples=50)
    assert (sums[:, 0] == sums[:, 2]).all()
    assert (sums[:, 0] + sums[:, 1] == 2).all()
    assert (sums[:, 3] == 1).all()


def test_input_that_cannot_be_resampled_is_refused() -> None:
    for n_rows, options, message in (
        (0, {}, "columns: expected at least one value"),
        (2, {"n_resamples": 0}, "n_resamples: expected an integer from 1"),
        (2, {"strata": ["a"]}, "strata: expected one per item, 2 in all, got 1"),
        (2, {"strata": [*"ab"], "groups": [7, 7]}, r"row 1: .* in.*got group 7 in 'a' and 'b'"),
    ):
        refuses(message, resampled_sums, np.ones((n_rows, 1)), **options)


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
