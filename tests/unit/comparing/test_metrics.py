from __future__ import annotations

import dataclasses

import pytest

from cc_hf.comparing.metrics import evaluator_agreement
from cc_hf.errors import InputError
from tests.helpers.results import agreement_result, agreement_results


def test_orders_of_systems_are_correlated_between_evaluators() -> None:
    found = evaluator_agreement(
        agreement_results(a=(0.1, 0.2, 0.3, 0.4), b=(0.5, 0.7, 0.6, 0.9), c=(0.4, 0.3, 0.2, 0.1))
    )
    assert found.systems == ("a.0", "a.1", "a.2", "a.3")
    assert found.scores["b"] == (0.5, 0.7, 0.6, 0.9)
    values = {(p.left, p.right): round(p.correlation.spearman, 4) for p in found.pairs}
    assert values == {("a", "b"): 0.8, ("a", "c"): -1, ("b", "c"): -0.8}
    assert found.mean_spearman == pytest.approx(-1 / 3)
    assert found.mean_kendall == pytest.approx((2 / 3 - 1 - 2 / 3) / 3)


def test_the_order_of_files_does_not_change_correlations() -> None:
    rows = agreement_results(a=(0.1, 0.2, 0.3, 0.4), b=(0.5, 0.7, 0.6, 0.9))
    turned = dict(reversed(rows.items()))
    left, right = evaluator_agreement(rows), evaluator_agreement(turned)
    assert left.pairs[0].correlation.spearman == pytest.approx(right.pairs[0].correlation.spearman)


def test_one_model_with_two_options_and_metrics_without_one_count_as_several_evaluators() -> None:
    rows = {
        f"{options}{n}": agreement_result(f"s{n}", "a", n / 10, options=options)
        for options in ("score:geometric", "score:reference")
        for n in range(3)
    }
    names = ["cc score:geometric", "cc score:reference"]
    assert list(evaluator_agreement(rows).evaluators) == names
    signature = "wxpm|data:winomt|n:2|seed:0"
    rows = {name: rows[name] for name in rows if "geometric" in name}
    others = {f"b{name}": dataclasses.replace(r, signature=signature) for name, r in rows.items()}
    assert list(evaluator_agreement({**rows, **others}).evaluators) == ["cc", "wxpm"]


def test_results_that_cannot_be_compared_are_refused() -> None:
    rows = agreement_results(a=(0.1, 0.2, 0.3), b=(0.5, 0.7, 0.6))
    with pytest.raises(InputError, match="at least three systems by at least two evaluators, got"):
        evaluator_agreement(agreement_results(a=(0.1, 0.2, 0.3)))
    with pytest.raises(InputError, match=r"the translations of a\.2 were not judged by .*eval:b"):
        evaluator_agreement({name: one for name, one in rows.items() if name != "b.2"})
    with pytest.raises(InputError, match=r"again and a\.0 are the same translations by the same"):
        evaluator_agreement({**rows, "again": rows["a.0"]})
    with pytest.raises(InputError, match=r"figure: expected one of accuracy, which.*got 'bleu'"):
        evaluator_agreement(rows, figure="bleu")
    with pytest.raises(InputError, match=r"a gives all 3 systems the same accuracy, 0\.1"):
        evaluator_agreement(agreement_results(a=(0.1, 0.1, 0.1), b=(0.5, 0.7, 0.6)))
    with pytest.raises(InputError, match="expected results of the same examples"):
        evaluator_agreement({**rows, "c.0": agreement_result("s0", "c", 0.3, ids=("0", "2"))})
