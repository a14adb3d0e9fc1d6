from __future__ import annotations

from dataclasses import replace

from cc_hf.reports.evaluators import evaluator_of, evaluators_text
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import System
from tests.helpers import reported


def test_evaluators_are_named_with_their_metrics_where_they_differ() -> None:
    report = reported.report()
    name = evaluator_of(report.systems[0].results["contrastive_conditioning"])
    assert name.startswith("function hash_scores")
    assert evaluators_text(report) == f"{name} (contrastive conditioning); none (words)"
    assert evaluators_text(report, ["contrastive_conditioning"]) == name
    assert evaluators_text(report, ["words"]) == "none (words)"


def test_a_signature_that_cannot_be_read_names_no_evaluator() -> None:
    (result,) = reported.results(0, metrics=["words"]).values()
    odd = replace(result, signature="?")
    assert evaluator_of(odd) == ""
    assert evaluators_text(build_report([System("a", {"words": result})])) == "none (words)"
