from __future__ import annotations

from dataclasses import replace

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


def test_the_best_value_is_the_highest_the_lowest_rate_or_the_smallest_gap() -> None:
    marked = best(
        "own",
        {"accuracy": 0.5, "delta_g": -0.1, "bleu_gap": 0.3, "incorrect_rate": 0.2},
        {"accuracy": 0.7, "delta_g": 0.2, "bleu_gap": 0.1, "incorrect_rate": 0.1},
        {"accuracy": 0.70001, "delta_g": 0.1, "bleu_gap": 0.2, "incorrect_rate": 0.3},
    )
    assert marked == {
        "accuracy": [False, True, True],  # equal as they are shown
        "delta g": [True, False, True],
        "bleu gap": [False, True, False],
        "incorrect rate": [False, True, False],
    }
    assert best("own", {"mean_confidence": 0.1}, {"mean_confidence": 0.2}) == {
        "mean confidence": [False, False]
    }


def test_the_default_has_as_many_figures_as_fit_of_every_metric() -> None:
    results = reported.results(0)
    many = {
        name: replace(results["words"], metric=name) for name in ("words", "a", "b", "c", "d")
    } | {"contrastive_conditioning": results["contrastive_conditioning"]}
    table = paper_table(build_report([System("s", many, 0.3)], n_resamples=1))
    assert len(table.columns) == MOST_FIGURES
    assert table.columns[0] == "BLEU"
    assert [n for _, n in table.groups] == [1] * 6
