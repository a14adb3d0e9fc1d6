from __future__ import annotations

from dataclasses import replace

import pytest

from cc_hf.reports.key_figures import gap_of, key_figures, main_figure
from cc_hf.results import CategoryAccuracy, EvaluationResult, Interval


def result(metric: str, scores: dict[str, float]) -> EvaluationResult:
    return EvaluationResult("", "", "de", metric, f"{metric}|n:2", 2, scores, {}, (), ())


def test_key_figures_are_those_of_leaderboards_and_gaps() -> None:
    scores = {"coverage": 0.5, "precision": 0.5, "accuracy": 0.5, "f1_a": 0.5, "recall_b": 0.1}
    assert key_figures(result("mucow_pattern_matching", scores)) == (
        "precision",
        "f1_a",
        "coverage",
    )
    assert key_figures(result("own", {"x": 0.1, "y": 0.2})) == ("x", "y")


def test_the_main_figure_is_the_one_of_the_ranking() -> None:
    assert main_figure(result("own", {"accuracy": 0.5, "min_accuracy": 0.1})) == "min_accuracy"
    assert main_figure(result("gender_accuracy", {"pair_accuracy": 0.5, "accuracy": 0.1})) == (
        "accuracy"
    )
    assert main_figure(result("own", {})) == ""


def test_a_gap_is_that_of_the_metric_or_of_best_and_worst_category() -> None:
    named = replace(
        result("winomt_pattern_matching", {"accuracy": 0.5, "delta_g": -0.2}),
        intervals={"delta_g": Interval(-0.3, -0.1)},
    )
    gap = gap_of(named)
    assert gap is not None
    assert (gap.value, gap.interval) == (-0.2, Interval(-0.3, -0.1))
    assert gap.label.startswith("gender gap")
    categories = tuple(
        CategoryAccuracy(name, 10, n, n / 10) for name, n in (("b", 3), ("a", 9), ("none", 0))
    )
    gap = gap_of(replace(result("own", {"accuracy": 0.5}), categories=categories))
    assert gap is not None
    assert (gap.label, gap.interval) == ("a − b", None)
    assert gap.value == pytest.approx(0.6)
    many = tuple(CategoryAccuracy(str(i), 10, i, i / 10) for i in range(8))
    assert gap_of(replace(result("own", {"accuracy": 0.5}), categories=many)) is None
    assert gap_of(result("own", {"accuracy": 0.5})) is None
