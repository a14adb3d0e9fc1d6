import itertools
from dataclasses import replace

import pytest

from cc_hf.comparing.metrics import evaluator_agreement
from tests.helpers.results import agreement_result, agreement_results
from tests.helpers.usual import refuses


def test_orders_of_systems_are_correlated_between_evaluators() -> None:
    b, c = (0.5, 0.7, 0.6, 0.9), (0.4, 0.3, 0.2, 0.1)
    actual = evaluator_agreement(agreement_results(a=c[::-1], b=b, c=c))
    assert actual.systems == ("a.0", "a.1", "a.2", "a.3")
    assert actual.scores["b"] == (0.5, 0.7, 0.6, 0.9)

    values = {(p.left, p.right): round(p.correlation.spearman, 4) for p in actual.pairs}
    assert values == {("a", "b"): 0.8, ("a", "c"): -1, ("b", "c"): -0.8}
    assert actual.mean_spearman == pytest.approx(-1 / 3)
    assert actual.mean_kendall == pytest.approx((2 / 3 - 1 - 2 / 3) / 3)


def test_the_order_of_files_does_not_change_correlations() -> None:
    rows = agreement_results(a=(0.1, 0.2, 0.3, 0.4), b=(0.5, 0.7, 0.6, 0.9))
    left, right = evaluator_agreement(rows), evaluator_agreement(dict(reversed(rows.items())))
    assert left.pairs[0].correlation.spearman == pytest.approx(right.pairs[0].correlation.spearman)


def test_one_model_with_two_options_counts_as_two_evaluators() -> None:
    rows = {}
    for way, n in itertools.product(("score:geometric", "score:reference"), range(3)):
        rows[f"{way}{n}"] = agreement_result(f"s{n}", "a", n / 10, options=way)
    names = ["cc score:geometric", "cc score:reference"]
    assert list(evaluator_agreement(rows).evaluators) == names


def test_a_metric_without_an_evaluator_counts_as_one() -> None:
    rows = agreement_results(a=(0.0, 0.1, 0.2))
    signature = "wxpm|data:winomt|n:2|seed:0"
    others = {f"b{name}": replace(row, signature=signature) for name, row in rows.items()}
    assert list(evaluator_agreement({**rows, **others}).evaluators) == ["cc", "wxpm"]


def test_incomparable_results_are_refused() -> None:
    rows = agreement_results(a=(0.1, 0.2, 0.3), b=(0.5, 0.7, 0.6))
    refuses(r"figure: .* one of accuracy, .*got 'bleu'", evaluator_agreement, rows, figure="bleu")
    fewer = {name: result for name, result in rows.items() if name != "b.2"}
    other = agreement_result("s0", "c", 0.3, ids=("0", "2"))
    equal = agreement_results(a=(0.1, 0.1, 0.1), b=(0.5, 0.7, 0.6))
    for results, message in (
        (agreement_results(a=(0.1, 0.2, 0.3)), "at least three systems by at least two evaluators"),
        (fewer, r"the translations of a\.2 were not judged by .*eval:b"),
        ({**rows, "again": rows["a.0"]}, r"again and a\.0 are the same translations by the same"),
        (equal, r"a gives all 3 systems the same accuracy, 0\.1"),
        ({**rows, "c.0": other}, "expected results of the same examples"),
    ):
        refuses(message, evaluator_agreement, results)
