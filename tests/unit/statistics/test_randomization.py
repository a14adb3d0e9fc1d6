import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from cc_hf.errors import InputError
from cc_hf.statistics import bootstrap
from cc_hf.statistics.bootstrap import resampled_strata, resampled_sums
from cc_hf.statistics.corpus_quality import score_of_sums, sentence_statistics
from cc_hf.statistics.paired import mcnemar, paired_differences
from cc_hf.statistics.randomization import MOST_ENUMERATED, exchange_tests
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses

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
        options: dict[str, Any] = {"weights": weights, "n_resamples": 99, "seed": seed}
        (found,) = paired_differences(correct, categories, **options)
        for name in FIGURES:
            n_significant[name] += found[name].p_value <= 0.05
    most = 0.05 * n_runs + 3.5 * math.sqrt(0.05 * 0.95 * n_runs)
    assert max(n_significant.values()) <= most, n_significant


@cases((0, 0), (1, 0), (1, 1), (0, 5), (0, 6), (9, 2), (13, 1))
def test_few_differences_have_the_exact_p_of_mcnemar(n_only_first: int, n_only_second: int) -> None:
    first = np.repeat([True, False, True], [n_only_first, n_only_second, 30])
    second = np.repeat([False, True, True], [n_only_first, n_only_second, 30])
    categories = ["a", "b"] * 15 + ["a"] * (len(first) - 30)
    (found,) = paired_differences(np.stack([first, second]), categories)
    assert found["accuracy"].is_exact
    assert found["accuracy"].p_value == pytest.approx(mcnemar(first, second).p_value, rel=1e-12)


@pytest.mark.parametrize("n_only_second", [20, 40, 60])
def test_random_exchanges_come_close_to_the_exact_p(n_only_second: int) -> None:
    first = np.repeat([True, False, True], [20, n_only_second, 300])
    second = np.repeat([False, True, True], [20, n_only_second, 300])
    (found,) = paired_differences(np.stack([first, second]), ["a"] * len(first), n_resamples=4000)
    expected = mcnemar(first, second).p_value
    assert not found["accuracy"].is_exact
    error = 3.5 * math.sqrt(expected * (1 - expected) / 4000) + 1 / 4001
    assert found["accuracy"].p_value == pytest.approx(expected, abs=error)


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
    found = exchange_tests(first, second, mean, strata=["a"] * 4 + ["b"] * 5)["mean"]
    assert found.is_exact
    assert found.p_value == pytest.approx(as_far / 2**9)


def test_samples_that_contribute_the_same_do_not_matter() -> None:
    random = np.random.default_rng(0)
    first, second = columns(random.random(40) < 0.5), columns(random.random(40) < 0.7)
    same = columns(np.ones(500))
    found = exchange_tests(first, second, mean)["mean"]
    more = exchange_tests(np.concatenate([first, same]), np.concatenate([second, same]), mean)
    assert more["mean"].p_value == found.p_value < 1
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
    found = exchange_tests(columns(np.ones(n)), columns(np.zeros(n)), mean, n_resamples=99)["mean"]
    assert (found.p_value, found.is_exact) == (0.01, False)


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
    found = exchange_tests(first, second, score_of_sums("bleu", BLEU()), n_resamples=1000)["bleu"]
    options: Any = {"references": [references], "test_type": "ar", "n_samples": 1000}
    outcomes: Any
    _, outcomes = PairedTest(list(zip("ab", systems, strict=True)), {"BLEU": BLEU()}, **options)()
    expected = outcomes["BLEU"][1].p_value
    error = 3.5 * math.sqrt(2 * expected * (1 - expected) / 1000) + 2 / 1001
    assert found.p_value == pytest.approx(expected, abs=error)
    assert 0.01 < found.p_value < 0.99


def test_bad_shapes_are_refused() -> None:
    first = columns(np.ones(3))
    refuses(r"second: .* \(3, 2\), got .* \(2, 2\)", exchange_tests, first, first[:2], mean)
    with pytest.raises(InputError, match="groups: expected one per item, 3 in all, got 2"):
        exchange_tests(first, first, mean, groups=["a", "b"])


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


def test_resampling_keeps_the_size_of_strata() -> None:
    names = ["a", "b", "a", "c"]
    one_hot = np.array([[name == other for other in "abc"] for name in names], dtype=np.float64)
    sums = resampled_sums(one_hot, names, n_resamples=20)
    assert {tuple(row) for row in sums.tolist()} == {(2.0, 1.0, 1.0)}
    found = resampled_strata(np.array([[1, 0], [0, 1]]), counts=[30, 70], n_resamples=2000)["all"]
    assert set(found.sum(axis=1)) == {100}
    assert found.mean(axis=0) == pytest.approx([30, 70], abs=0.5)


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
