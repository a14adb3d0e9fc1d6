from __future__ import annotations

from dataclasses import replace

from cc_hf.leaderboard.store import Store, StoredResult
from cc_hf.leaderboard.table import default_columns, leaderboard_rows
from cc_hf.reports.figure_text import figure_label
from cc_hf.reports.key_figures import extremes, key_figures, main_figure
from cc_hf.reports.paper_table import paper_table
from cc_hf.reports.report import build_report
from cc_hf.reports.report_tables import summary_table
from cc_hf.reports.samples import System
from cc_hf.results import CategoryAccuracy, EvaluationResult
from tests.helpers.judged import result_of


def result(metric: str, scores: dict[str, float]) -> EvaluationResult:
    return result_of((), metric=metric, scores=scores)


def test_key_figures_are_those_of_leaderboards_and_gaps() -> None:
    names = ("coverage", "precision", "accuracy", "f1_a", "recall_b")
    mucow = result("mucow_pattern_matching", dict.fromkeys(names, 0.5))
    assert key_figures(mucow) == ("precision", "f1_a", "coverage")
    assert key_figures(result("own", {"x": 0.1, "y": 0.2})) == ("x", "y")


def test_simplegen_shows_inconclusive_rates_beside_pro_and_anti_everywhere() -> None:
    names = ("accuracy_pro", "inconclusive_rate_pro", "accuracy_anti", "inconclusive_rate_anti")
    scores = dict.fromkeys(("accuracy", "min_accuracy", *names, "delta", "incorrect_rate"), 0.5)
    simplegen = result("simplegen_accuracy", scores)
    assert key_figures(simplegen) == ("min_accuracy", *names, "delta", "accuracy")
    report = build_report([System("a", {simplegen.metric: simplegen})])
    labels = [figure_label(simplegen.metric, name) for name in names]
    assert list(paper_table(report).columns[1:5]) == labels
    assert list(summary_table(report).columns[1:5]) == labels
    entry = StoredResult("a", "a.json", simplegen)
    [row] = leaderboard_rows(Store((entry,)))
    assert default_columns([row])[1:5] == list(names)


def test_the_main_figure_is_the_one_of_the_ranking() -> None:
    assert main_figure(result("own", {"accuracy": 0.5, "min_accuracy": 0.1})) == "min_accuracy"
    assert main_figure(result("gender_accuracy", {"pair_accuracy": 0.5, "accuracy": 0.1})) == (
        "accuracy"
    )
    assert main_figure(result("own", {})) == ""


def test_extremes_are_the_worst_and_the_best_of_few_categories() -> None:
    categories = tuple(
        CategoryAccuracy(name, 10, n, n / 10) for name, n in (("b", 3), ("a", 9), ("none", 0))
    )
    ends = extremes(replace(result("own", {"accuracy": 0.5}), categories=categories))
    assert ends is not None
    assert [c.category for c in ends] == ["b", "a"]
    many = tuple(CategoryAccuracy(str(i), 10, i, i / 10) for i in range(8))
    assert extremes(replace(result("own", {"accuracy": 0.5}), categories=many)) is None
    assert extremes(result("own", {"accuracy": 0.5})) is None
