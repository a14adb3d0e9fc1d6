from __future__ import annotations

from dataclasses import replace

import pytest

from cc_hf.reports.paper_table import MOST_FIGURES, paper_table
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import System
from cc_hf.results import EvaluationResult
from tests.helpers import reported


def result(metric: str, scores: dict[str, float]) -> EvaluationResult:
    return EvaluationResult("", "", "de", metric, f"{metric}|data:own@1|n:2", 2, scores, {}, (), ())


def best(metric: str, *scores: dict[str, float]) -> dict[str, list[bool]]:
    """Return which systems have the best value, by the name of the column."""
    results = [result(metric, by_name) for by_name in scores]
    systems = [System(str(i), {metric: made}) for i, made in enumerate(results)]
    table = paper_table(build_report(systems), list(scores[0]))
    marks = ([row.cells[i].is_best for row in table.rows] for i in range(len(table.columns)))
    return dict(zip(table.columns, marks, strict=True))


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


def test_the_default_has_as_many_figures_as_fit_of_every_metric() -> None:
    results = reported.results(0)
    many = results | {name: replace(results["words"], metric=name) for name in "abcd"}
    table = paper_table(build_report([System("s", many, 0.3)], n_resamples=1))
    assert len(table.columns) == MOST_FIGURES
    assert table.columns[0] == "BLEU"
    assert [n for _, n in table.groups] == [1] * 6
