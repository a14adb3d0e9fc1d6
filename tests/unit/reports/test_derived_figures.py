"""Figures of results: which are shown, which are best, which are derived, and who judged them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cc_hf.leaderboard.store import Store, StoredResult
from cc_hf.leaderboard.table import default_columns, leaderboard_rows
from cc_hf.reports.derived_figures import derived_figures
from cc_hf.reports.evaluators import evaluator_of, evaluators_text
from cc_hf.reports.figure_text import figure_label, figure_rows
from cc_hf.reports.key_figures import extremes, key_figures, main_figure
from cc_hf.reports.paper_table import MOST_FIGURES, paper_table
from cc_hf.reports.report import build_report
from cc_hf.reports.report_tables import figures_table, summary_table
from cc_hf.reports.samples import System
from cc_hf.reports.tables.base import interval_notes
from cc_hf.results import CategoryAccuracy, EvaluationResult
from cc_hf.schema import Judgement, Reading
from cc_hf.statistics.gender_figures import accuracy_ratio, reading_ratio
from tests.helpers import reported
from tests.helpers.cases import cases
from tests.helpers.intervals import limits
from tests.helpers.judged import result_of
from tests.helpers.results import small_result


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
    [row] = leaderboard_rows(Store((StoredResult("a", "a.json", simplegen),)))
    assert default_columns([row])[1:5] == list(names)


def test_the_main_figure_is_the_one_of_the_ranking() -> None:
    assert main_figure(result("own", {"accuracy": 0.5, "min_accuracy": 0.1})) == "min_accuracy"
    pairs = result("gender_accuracy", {"pair_accuracy": 0.5, "accuracy": 0.1})
    assert main_figure(pairs) == "accuracy"
    assert main_figure(result("own", {})) == ""


def test_extremes_are_the_worst_and_the_best_of_few_categories() -> None:
    counts = (("b", 3), ("a", 9), ("none", 0))
    categories = tuple(CategoryAccuracy(name, 10, n, n / 10) for name, n in counts)
    ends = extremes(replace(result("own", {"accuracy": 0.5}), categories=categories))
    assert ends is not None
    assert [c.category for c in ends] == ["b", "a"]
    many = tuple(CategoryAccuracy(str(i), 10, i, i / 10) for i in range(8))
    assert extremes(replace(result("own", {"accuracy": 0.5}), categories=many)) is None
    assert extremes(result("own", {"accuracy": 0.5})) is None


def own_result(metric: str, scores: dict[str, float]) -> EvaluationResult:
    return EvaluationResult("", "", "de", metric, f"{metric}|data:own@1|n:2", 2, scores, {}, (), ())


def best(metric: str, *scores: dict[str, float]) -> dict[str, list[bool]]:
    """Return which systems have the best value, by the name of the column."""
    results = [own_result(metric, by_name) for by_name in scores]
    systems = [System(str(i), {metric: made}) for i, made in enumerate(results)]
    table = paper_table(build_report(systems), list(scores[0]))
    marks = ([row.cells[i].is_best for row in table.rows] for i in range(len(table.columns)))
    return dict(zip(table.columns, marks, strict=True))


@cases(
    ("winomt_pattern_matching", "accuracy", (0.5, 0.7, 0.70001), (False, True, True)),  # shown
    ("winomt_pattern_matching", "delta_g", (-0.1, 0.2, 0.1), (True, False, True)),
    ("gender_quality_gap", "bleu_gap", (0.3, -0.1, 0.2), (False, True, False)),
    ("simplegen_accuracy", "incorrect_rate_pro", (0.2, 0.1, 0.3), (False, True, False)),
    ("prompted_choice", "valid_rate", (0.2, 0.1, 0.3), (False, False, True)),
    ("prompted_choice", "first_rate", (0.2, 0.1, 0.3), (False, False, False)),
    ("contrastive_conditioning", "mean_confidence", (0.1, 0.2, 0.3), (False, False, False)),
    ("own", "delta", (0.1, 0.2, 0.3), (False, False, False)),  # nobody says what is best
)
def test_metrics_declare_the_best_value(metric: str, name: str, values: Any, expected: Any) -> None:
    [marked] = best(metric, *({name: value} for value in values)).values()
    assert marked == list(expected)


def test_the_default_has_as_many_figures_as_fit_of_every_metric() -> None:
    results = reported.results(0)
    many = results | {name: replace(results["words"], metric=name) for name in "abcd"}
    table = paper_table(build_report([System("s", many, 0.3)], n_resamples=1))
    assert (len(table.columns), table.columns[0]) == (MOST_FIGURES, "BLEU")
    assert [n for _, n in table.groups] == [1] * 6


def readings(*pairs: tuple[str, str]) -> EvaluationResult:
    """Return a result with a judgement for each pair of gold gender and reading."""
    judgements = []
    for i, (gold, read) in enumerate(pairs):
        verdict = "correct" if gold == read else "incorrect"
        judgements.append(Judgement(str(i), gold, gold == read, "", verdict, read, gold))
    return replace(small_result((0.5, 0.8)), judgements=tuple(judgements), n=len(judgements))


def test_the_ratio_of_accuracies_has_the_interval_of_a_bootstrap_within_genders() -> None:
    ratio = accuracy_ratio(small_result((0.5, 0.8)))
    assert ratio is not None
    assert ratio.value == pytest.approx(1.6)
    rng = np.random.default_rng(1)
    resampled = rng.binomial(10, 0.8, 100_000) / np.maximum(rng.binomial(10, 0.5, 100_000), 1)
    expected_low, expected_high = np.quantile(resampled, [0.025, 0.975])
    low, high = limits(ratio.interval)
    assert low == pytest.approx(expected_low, abs=0.15)
    assert high == pytest.approx(expected_high, rel=0.25)


def test_there_is_no_ratio_without_two_genders_or_a_right_female_sample() -> None:
    assert accuracy_ratio(small_result((0.0, 0.8))) is None
    only_male = replace(small_result((0.5, 0.8)), categories=())
    assert accuracy_ratio(only_male) is None
    assert reading_ratio(only_male) is None
    assert reading_ratio(readings(("male", "male"), ("female", "male"))) is None
    assert reading_ratio(readings(("bank", "male"), ("female", "female"))) is None


def test_the_ratio_of_readings_counts_what_is_read_whatever_is_right() -> None:
    read = (("male", "male"), ("female", "male"), ("female", "female"), ("neutral", "male"))
    ratio = reading_ratio(readings(*read))
    assert ratio is not None
    assert ratio.value == 3


def test_readings_of_neutral_samples_are_shown_in_all_tables() -> None:
    golds = [("neutral", "male")] * 6 + [("neutral", "")] * 2
    result = readings(*golds, ("male", "male"), ("female", "female"))
    shown = {row.label: (row.n, row.value) for row in figure_rows(result)}
    assert shown["neutral samples read as male"] == ("8", "75.0 (40.9 – 92.9)")
    assert shown["neutral samples read as nothing"] == ("8", "25.0 ( 7.1 – 59.1)")
    assert shown["ratio M:F, 1 is best"][1].startswith("×1.60 (")
    table = figures_table(build_report([System("a", {result.metric: result})]), result.metric)
    cells = {row.label: (row.note, row.cells[0].value, row.meaning) for row in table.rows}
    assert cells["neutral samples read as male"][:2] == ("n = 8", "75.0")
    assert cells["ratio M:F, 1 is best"][:2] == ("", "×1.60")
    assert all(cells[f.label][2] == f.meaning for f in derived_figures(result))


def test_the_score_of_stereotypes_needs_ten_rows_of_each() -> None:
    rng = np.random.default_rng(0)
    rows = [
        Reading(f"{i}", f"stereotype_{i % 16 + 1:02}", "", "masculine", float(rng.uniform()))
        for i in range(320)
    ]
    values = np.reshape([r.probability_counted for r in rows], (-1, 16)).mean(axis=0)
    whole = replace(result("m", {"masculine_preference": 0.5}), readings=tuple(rows))
    (figure,) = derived_figures(whole)
    assert figure.value == pytest.approx(values[7:].mean() / values[:7].mean())
    low, high = limits(figure.interval)
    assert 0.8 < low / figure.value < 1 < high / figure.value < 1.25
    few = replace(whole, readings=tuple(rows[:159]))
    assert derived_figures(few) == []
    reason = "no figure: fewer than 10 rows of stereotype_16 (9): stereotype score g_s"
    assert interval_notes(few) == [reason]
    others = replace(whole, scores={"feminine_preference": 0.5})
    assert (derived_figures(others), interval_notes(others)) == ([], [])


def test_evaluators_are_named_with_their_metrics_where_they_differ() -> None:
    report = reported.report()
    name = evaluator_of(report.systems[0].results["contrastive_conditioning"])
    assert name.startswith("function hash_scores")
    assert evaluators_text(report) == f"{name} (contrastive conditioning); none (words)"
    assert evaluators_text(report, ["contrastive_conditioning"]) == name
    assert evaluators_text(report, ["words"]) == "none (words)"


def test_a_signature_that_cannot_be_read_names_no_evaluator() -> None:
    (result,) = reported.results(0, metrics=["words"]).values()
    assert evaluator_of(replace(result, signature="?")) == ""
    assert evaluators_text(build_report([System("a", {"words": result})])) == "none (words)"
