from __future__ import annotations

from dataclasses import replace

import pytest

from cc_hf.reports.formats.latex import latex_paper_table, latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.page.page import html_page
from cc_hf.reports.paper_table import MOST_FIGURES, paper_table
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import System
from cc_hf.results import EvaluationResult
from tests.helpers import reported


def result(metric: str, scores: dict[str, float]) -> EvaluationResult:
    return EvaluationResult("", "", "de", metric, f"{metric}|data:own@1|n:2", 2, scores, {}, (), ())


def best(metric: str, *scores: dict[str, float]) -> dict[str, list[bool]]:
    """Return which systems have the best value, by the name of the column."""
    systems = [
        System(str(i), {metric: result(metric, by_name)}) for i, by_name in enumerate(scores)
    ]
    table = paper_table(build_report(systems), list(scores[0]))
    return {
        column: [row.cells[i].is_best for row in table.rows]
        for i, column in enumerate(table.columns)
    }


@pytest.mark.parametrize(
    ("metric", "name", "values", "expected"),
    [
        ("winomt_pattern_matching", "accuracy", (0.5, 0.7, 0.70001), (False, True, True)),  # shown
        ("winomt_pattern_matching", "delta_g", (-0.1, 0.2, 0.1), (True, False, True)),
        ("gender_quality_gap", "bleu_gap", (0.3, -0.1, 0.2), (False, True, False)),
        ("simplegen_accuracy", "incorrect_rate_pro", (0.2, 0.1, 0.3), (False, True, False)),
        ("prompted_choice", "valid_rate", (0.2, 0.1, 0.3), (False, False, True)),
        ("prompted_choice", "first_rate", (0.2, 0.1, 0.3), (False, False, False)),
        ("contrastive_conditioning", "mean_confidence", (0.1, 0.2, 0.3), (False, False, False)),
        ("own", "delta", (0.1, 0.2, 0.3), (False, False, False)),  # nobody says what is best
    ],
)
def test_the_best_value_is_the_one_that_the_metric_declares(
    metric: str, name: str, values: tuple[float, ...], expected: tuple[bool, ...]
) -> None:
    [marked] = best(metric, *({name: value} for value in values)).values()
    assert marked == list(expected)


def test_a_system_that_judged_itself_is_marked_and_never_bold() -> None:
    name = "contrastive_conditioning"
    results = [
        replace(
            result(name, {"accuracy": accuracy}),
            signature=f"cc|data:own@1|sys:{system}@1a2b3c4/beam5|eval:judge@1a2b3c4|n:2",
        )
        for system, accuracy in (("judge", 0.9), ("a", 0.7), ("b", 0.6))
    ]
    results[1:] = [
        replace(r, signature=r.signature.replace("@1a2b3c4/", "@5d6e7f8/")) for r in results[1:]
    ]
    systems = [System(system, {name: r}) for system, r in zip("jab", results, strict=True)]
    report = build_report(systems)
    table = paper_table(report, ["accuracy"])
    assert [row.cells[0].is_best for row in table.rows] == [False, True, False]
    assert "not fit to cite" in table.rows[0].note
    assert [row.note for row in table.rows[1:]] == ["", ""]
    for text in (
        latex_paper_table(report),
        latex_report(report),
        markdown_report(report),
        html_page(report),
    ):
        assert "judged by itself: judge is the system and the evaluator" in " ".join(text.split())


def test_the_default_has_as_many_figures_as_fit_of_every_metric() -> None:
    results = reported.results(0)
    many = {
        name: replace(results["words"], metric=name) for name in ("words", "a", "b", "c", "d")
    } | {"contrastive_conditioning": results["contrastive_conditioning"]}
    table = paper_table(build_report([System("s", many, 0.3)], n_resamples=1))
    assert len(table.columns) == MOST_FIGURES
    assert table.columns[0] == "BLEU"
    assert [n for _, n in table.groups] == [1] * 6
