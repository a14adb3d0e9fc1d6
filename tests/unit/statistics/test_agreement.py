from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from cc_hf.statistics import agreement
from cc_hf.statistics.score_intervals import wilson_interval
from tests.helpers.usual import cases, limits, reason, refuses

_LABEL = st.sampled_from("abc")


def spread(table: list[list[int]]) -> tuple[list[int], list[int]]:
    """Return items with this confusion matrix."""
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    return [i for i, _ in pairs], [j for _, j in pairs]


@cases(
    ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.29 / 0.59),  # Cohen 1960: p_o .70, p_e .41
    ([[20, 5], [10, 15]], 0.4),
    ([[45, 15], [25, 15]], 0.13043478260869565),
    ([[25, 35], [5, 35]], 0.25925925925925924),
    ([[0, 5], [5, 0]], -1.0),
    ([[7, 0], [0, 0]], 1.0),  # 0 / 0
    ([[7, 3], [0, 0]], 0.0),
)
def test_kappas_equal_known_values(table: list[list[int]], kappa: float) -> None:
    left, right = spread(table)
    assert agreement.cohen_kappa(left, right) == pytest.approx(kappa, abs=1e-12)
    assert agreement.confusion_matrix(left, right, labels=range(len(table))).tolist() == table

    # a label that does not occur changes nothing
    more = agreement.cohen_kappa(left, right, labels=[9, *range(len(table))])
    assert more == agreement.cohen_kappa(left, right)


@given(st.lists(st.tuples(_LABEL, _LABEL), min_size=1, max_size=40))
def test_kappa_does_not_depend_on_order_or_sides(pairs: list[tuple[str, str]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    kappa = agreement.cohen_kappa(left, right)
    assert -1 <= kappa <= 1
    assert (kappa == 1.0) == (left == right)
    assert agreement.cohen_kappa(left, left) == 1.0
    assert agreement.cohen_kappa(right, left) == pytest.approx(kappa)
    assert agreement.cohen_kappa(left[::-1], right[::-1]) == kappa


@given(st.lists(st.tuples(_LABEL, _LABEL), min_size=1, max_size=40))
def test_kappa_corrects_agreement_by_chance(pairs: list[tuple[str, str]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    kappa = agreement.cohen_kappa(left, right)
    agreed = agreement.proportion_of_agreement(left, right)
    assert agreed == np.trace(agreement.confusion_matrix(left, right)) / len(pairs)

    chance = sum(left.count(c) * right.count(c) for c in "abc") / len(pairs) ** 2
    if chance < 1:
        assert kappa == pytest.approx((agreed - chance) / (1 - chance))


def test_intervals_contain_the_value_and_equal_those_of_scipy() -> None:
    left, right = spread([[70, 10], [20, 100]])
    agreed = limits(agreement.agreement_interval(left, right))
    assert agreed == pytest.approx(limits(wilson_interval(170, 200)))

    low, high = limits(agreement.kappa_interval(left, right))
    assert low < agreement.cohen_kappa(left, right) < high
    assert limits(agreement.kappa_interval(left, right)) == (low, high)

    theirs = bootstrap(
        (np.array(left), np.array(right)),
        lambda x, y: agreement.cohen_kappa(x.tolist(), y.tolist()),
        paired=True,
        vectorized=False,
        n_resamples=1000,
        rng=0,
        method="percentile",
    ).confidence_interval
    ours = limits(agreement.kappa_interval(left, right, n_resamples=4000))
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_groups_are_resampled_as_a_whole() -> None:
    left, right = spread([[30, 5], [5, 30]])
    low, high = limits(agreement.agreement_interval(left, right))
    twice = left * 2, right * 2
    groups = [*range(70), *range(70)]
    assert limits(agreement.agreement_interval(*twice, groups=groups)) == (low, high)
    narrow_low, narrow_high = limits(agreement.agreement_interval(*twice))
    assert narrow_high - narrow_low < high - low
    assert agreement.kappa_interval(*twice, groups=groups) == agreement.kappa_interval(left, right)


def test_weights_apply_to_agreement_and_its_interval() -> None:
    assert agreement.proportion_of_agreement([*"aab"], [*"aba"], weights=[2, 1, 1]) == 0.5
    few = agreement.agreement_interval([*"aab"], [*"aba"], weights=[2, 1, 1])
    assert reason(few) == "n = 3, and an interval with weights needs at least 20 items"
    ones = agreement.agreement_interval([*"aab"], [*"aba"], weights=[1, 0, 0])
    assert limits(ones) == limits(agreement.agreement_interval(["a"], ["a"]))


def test_kappa_of_one_label_has_no_interval() -> None:
    assert agreement.cohen_kappa([*"aaaa"], [*"aaaa"]) == 1.0  # by definition
    missing = reason(agreement.kappa_interval([*"aaaa"], [*"aaaa"]))
    assert missing == "it is undefined in 1000 of 1000 resamples, more than 5 %"


_FUNCTIONS: dict[str, Callable[..., object]] = {
    "kappa": agreement.cohen_kappa,
    "agreement": agreement.proportion_of_agreement,
    "interval of kappa": agreement.kappa_interval,
    "interval of agreement": agreement.agreement_interval,
    "matrix": agreement.confusion_matrix,
}


@cases(
    (_FUNCTIONS, [], [], {}, "agreement on nothing"),
    (_FUNCTIONS, ["a", "b"], ["a"], {}, "got 2 on the left and 1 on the right"),
    (_FUNCTIONS, "ab", ["a", "b"], {}, "left: expected a list of labels, got one text"),
    (["kappa"], [*"ab"], [*"ac"], {"labels": [*"ab"]}, "row 1: right: .* labels a, b, got 'c'"),
    (["kappa"], [*"ab"], [*"ab"], {"labels": [*"aab"]}, "labels: expected each once"),
    (["agreement"], [*"ab"], [*"ab"], {"weights": [1]}, "one per item, 2 in all, got 1"),
    (["agreement"], [*"ab"], [*"ab"], {"weights": [1, -1]}, "row 1: weight: .* or more, got -1"),
    (["agreement"], [*"ab"], [*"ab"], {"weights": [0, 0]}, "at least one above 0"),
    (["interval of agreement"], [*"ab"], [*"ab"], {"weights": [1, 2], "groups": [1]}, "groups: "),
)
def test_unfit_labels_are_refused(
    names: Any, left: Any, right: Any, options: Any, message: str
) -> None:
    for name in names:
        refuses(message, _FUNCTIONS[name], left, right, **options)


def test_alpha_is_that_of_its_source_with_missing_labels() -> None:
    """The example of Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability": .743."""
    first = [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None]
    second = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3]
    third = [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None]
    assert agreement.krippendorff_alpha(
        [first, second, third, [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]
    ) == pytest.approx(0.743, abs=5e-4)


def test_alpha_of_a_single_label_is_1() -> None:
    assert agreement.krippendorff_alpha([["a", "a"], ["a", None]]) == 1


def test_alpha_of_labels_that_cannot_be_compared_is_refused() -> None:
    refuses("with two labels, got none", agreement.krippendorff_alpha, [["a", None], [None, "a"]])
    refuses(
        r"as many labels of every annotator, got \[1, 2\]",
        agreement.krippendorff_alpha,
        [["a"], ["a", "b"]],
    )


def test_f1_of_a_label_that_does_not_occur_is_undefined() -> None:
    scores = agreement.f_scores(np.array([[3, 1, 0], [0, 2, 0], [0, 0, 0]]))
    assert scores[:2] == pytest.approx((6 / 7, 4 / 5))
    assert np.isnan(scores[2])
