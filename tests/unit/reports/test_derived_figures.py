"""Figures of results: which are shown, which are best, which are derived, and who judged them."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from cc_hf.metrics.figures import summarize
from cc_hf.metrics.headline import headline, shown_figures
from cc_hf.reports.derived_figures import derived_figures
from cc_hf.reports.evaluators import evaluator_of, evaluators_text
from cc_hf.reports.figure_text import figure_label, figure_rows
from cc_hf.reports.findings import findings, most_split, splits
from cc_hf.reports.highlights import Attribute, attributes
from cc_hf.reports.page.page import _split_charts
from cc_hf.reports.paper_table import MOST_FIGURES, paper_table
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.report_tables import figures_table, summary_table
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import interval_notes
from cc_hf.results import CategoryAccuracy, EvaluationResult, Interval
from cc_hf.schema import Reading
from cc_hf.statistics import gender_ratios
from cc_hf.statistics.gender_ratios import GenderRatio, accuracy_ratio, reading_ratio
from tests.helpers import reported
from tests.helpers.results import result_of_twenty
from tests.helpers.usual import cases, judgement, known, limits, result_of, small_result


def result(metric: str, scores: dict[str, float]) -> EvaluationResult:
    return result_of((), metric=metric, scores=scores)


def test_key_figures_are_those_of_leaderboards_and_gaps() -> None:
    names = ("coverage", "precision", "accuracy", "f1_a", "recall_b")
    mucow = result("mucow_pattern_matching", dict.fromkeys(names, 0.5))
    assert shown_figures([mucow]) == ("precision", "f1_a", "coverage")
    assert shown_figures([result("own", {"x": 0.1, "y": 0.2})]) == ("x", "y")


def test_simplegen_shows_inconclusive_rates_beside_pro_and_anti_everywhere() -> None:
    names = ("accuracy_pro", "inconclusive_rate_pro", "accuracy_anti", "inconclusive_rate_anti")
    scores = dict.fromkeys(("accuracy", "min_accuracy", *names, "delta", "incorrect_rate"), 0.5)
    simplegen = result("simplegen_accuracy", scores)
    assert shown_figures([simplegen]) == ("min_accuracy", "delta", *names, "accuracy")
    report = build_report([ReportedSystem("a", {simplegen.metric: simplegen})])
    labels = [figure_label(simplegen.metric, name) for name in names]
    assert list(paper_table(report).columns[2:6]) == labels
    assert list(summary_table(report).columns[2:6]) == labels


def test_the_main_figure_is_the_one_of_the_ranking() -> None:
    minimum = result("own", {"accuracy": 0.5, "min_accuracy": 0.1})
    assert headline(minimum).main == "min_accuracy"
    pairs = result("gender_accuracy", {"pair_accuracy": 0.5, "accuracy": 0.1})
    assert (headline(pairs).main, headline(result("own", {})).main) == ("accuracy", "")


def best(metric: str, *scores: dict[str, float]) -> dict[str, list[bool]]:
    """Return which systems have the best value, by the name of the column."""
    results = [result(metric, by_name) for by_name in scores]
    systems = [ReportedSystem(str(i), {metric: made}) for i, made in enumerate(results)]
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
    table = paper_table(build_report([ReportedSystem("s", many, 0.3)], n_resamples=1))
    assert (len(table.columns), table.columns[0]) == (MOST_FIGURES, "BLEU")
    # those that the box names, and the first of the next metric
    assert [n for _, n in table.groups] == [1, 4, 1]


def readings(*pairs: tuple[str, str]) -> EvaluationResult:
    """Return a result with a judgement for each pair of gold gender and reading."""
    said = ("incorrect", "correct")
    rows = [
        judgement(i, said[g == r], "", g, predicted=r, gold=g) for i, (g, r) in enumerate(pairs)
    ]
    return replace(result_of_twenty((0.5, 0.8)), judgements=tuple(rows), n=len(rows))


def test_the_ratio_of_accuracies_has_the_interval_of_a_bootstrap_within_genders() -> None:
    ratio = known(accuracy_ratio(result_of_twenty((0.5, 0.8))))
    assert ratio.value == pytest.approx(1.6)
    rng = np.random.default_rng(1)
    resampled = rng.binomial(10, 0.8, 100_000) / np.maximum(rng.binomial(10, 0.5, 100_000), 1)
    expected_low, expected_high = np.quantile(resampled, [0.025, 0.975])
    low, high = limits(ratio.interval)
    assert low == pytest.approx(expected_low, abs=0.15)
    assert high == pytest.approx(expected_high, rel=0.25)


def test_the_ratio_of_claimed_counts_needs_no_number_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def of_counts(n: int) -> GenderRatio:
        counted = {"male": 4 * n // 5, "female": n // 2}
        categories = tuple(CategoryAccuracy(g, n, k, k / n) for g, k in counted.items())
        actual = known(accuracy_ratio(replace(result_of_twenty((0.5, 0.8)), categories=categories)))
        return actual

    plain = of_counts(20_000)
    monkeypatch.setattr(gender_ratios, "_MOST_SAMPLES", 100)
    counted = of_counts(20_000)
    assert counted.value == plain.value
    assert limits(counted.interval) == pytest.approx(limits(plain.interval), abs=1e-6)
    low, high = limits(of_counts(900_000_000).interval)  # a number for each would take 30 GB
    assert 1.5998 < low < 1.6 < high < 1.6002


def test_there_is_no_ratio_without_two_genders_or_a_right_female_sample() -> None:
    assert accuracy_ratio(small_result((0.0, 0.8))) is None
    only_male = replace(small_result((0.5, 0.8)), categories=())
    assert accuracy_ratio(only_male) is None
    assert reading_ratio(only_male) is None
    assert reading_ratio(readings(("male", "male"), ("female", "male"))) is None
    assert reading_ratio(readings(("bank", "male"), ("female", "female"))) is None


def test_the_ratio_of_readings_counts_what_is_read_whatever_is_right() -> None:
    read = (("male", "male"), ("female", "male"), ("female", "female"), ("neutral", "male"))
    assert getattr(reading_ratio(readings(*read)), "value", None) == 3


def test_readings_of_neutral_samples_are_shown_in_all_tables() -> None:
    golds = [("neutral", "male")] * 6 + [("neutral", "")] * 2
    result = readings(*golds, ("male", "male"), ("female", "female"))
    shown = {row.label: (row.n, row.text) for row in figure_rows(result)}
    assert shown["neutral samples read as male"] == ("8", "75.0 (40.9 – 92.9)")
    assert shown["neutral samples read as nothing"] == ("8", "25.0 ( 7.1 – 59.1)")
    assert shown["ratio M:F, 1 is best"][1].startswith("×1.60 (")
    table = figures_table(
        build_report([ReportedSystem("a", {result.metric: result})]), result.metric
    )
    cells = {row.label: (row.note, row.cells[0].value, row.meaning) for row in table.rows}
    assert cells["neutral samples read as male"][:2] == ("n = 8", "75.0")
    assert cells["ratio M:F, 1 is best"][:2] == ("", "×1.60")
    assert all(cells[f.label][2] == f.meaning for f in derived_figures(result))


def test_the_score_of_stereotypes_needs_ten_rows_of_each() -> None:
    rng = np.random.default_rng(0)
    names = [f"stereotype_{i % 16 + 1:02}" for i in range(320)]
    rows = [Reading(str(i), name, "", "masculine", rng.uniform()) for i, name in enumerate(names)]
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
    assert evaluators_text(build_report([ReportedSystem("a", {"words": result})])) == "none (words)"


VALUES = ("driver", "nurse", "cook", "clerk", "chief", "guard", "tailor")
CATEGORIES, N = ("female", "male"), 20


def made_report(*systems: dict[tuple[str, str], int], n: int = N) -> tuple[Report, Attribute]:
    """Return a report of systems that have, of `n` samples of each value and category, all right
    but the given number, and its attribute.
    """
    cells, made = [(v, c, k) for v, c in product(VALUES, CATEGORIES) for k in range(n)], []
    for name, right in zip("abc", systems, strict=False):
        rows = [(v, c, k, k < right.get((v, c), n)) for v, c, k in cells]
        said = ("incorrect", "correct")
        judgements = [judgement(i, said[r], f"{v} {k}", c) for i, (v, c, k, r) in enumerate(rows)]
        categories = summarize(judgements).categories
        lowest = min(c.accuracy for c in categories)
        interval = Interval(lowest - 0.02, lowest + 0.02)
        result = result_of(
            judgements,
            dataset="",
            config="",
            signature=f"m|data:own@1|n:{len(rows)}",
            scores={"min_accuracy": lowest},
            intervals={"min_accuracy": interval},
            categories=categories,
        )
        made.append(ReportedSystem(name, {"m": result}))
    return build_report(made, n_resamples=5), Attribute("occupation", tuple(v for v, _, _ in cells))


def test_sentences_are_made_where_the_intervals_bear_them() -> None:
    weak = {("driver", "female"): 0, ("nurse", "female"): 10, ("cook", "female"): 5}
    report, occupation = made_report(weak, {("driver", "female"): 6})
    assert findings(report, most_split(report, [occupation])) == [
        "b is best by minimum accuracy, the accuracy on the worst category (m):"
        " 90.0 (88.0 – 92.0) %; a has 67.9 (65.9 – 69.9) %.",
        "With every system, women are translated right less often than men: by 10.0 points with b"
        " to 32.1 points with a.",
        "“driver”: a has 0 of 20 women right, and 20 of 20 men.",
    ]
    assert len(findings(report, None)) == 2
    alike, occupation = made_report(weak, {**weak, ("chief", "male"): 19})
    first, *_ = findings(alike, most_split(alike, [occupation]))
    assert first.endswith("but cannot be told apart from every other system.")


# a small gap, none, and few samples of a value
@cases(({("driver", "female"): 17}, N), ({}, N), ({("driver", "female"): 0}, 5))
def test_what_intervals_do_not_bear_is_not_said(right: dict[tuple[str, str], int], n: int) -> None:
    report, occupation = made_report(right, n=n)
    assert "driver" not in "".join(findings(report, most_split(report, [occupation])))


def test_values_are_split_by_category_with_the_widest_first() -> None:
    report, occupation = made_report({("driver", "female"): 0, ("nurse", "male"): 5})
    [shown] = splits(report, "m", occupation).values()
    first = [(s.value, s.spread.lowest.name, s.spread.gap) for s in shown[:3]]
    assert first == [("driver", "female", 1.0), ("nurse", "male", 0.75), ("chief", "male", 0.0)]
    assert len(shown) == len(VALUES)
    assert most_split(report, []) is None
    [(caption, chart)] = _split_charts(report, most_split(report, [occupation]))
    assert caption.startswith("a: where categories differ most, by occupation")
    assert chart.count(">0/20<") == 1
    assert "#samples?wrong=a&amp;data.occupation=driver&amp;category=female" in chart
    # nothing is wrong with the men, so their mark opens nothing
    assert "data.occupation=driver&amp;category=male" not in chart


def test_metrics_that_are_not_fit_say_nothing() -> None:
    report = reported.report()

    def unfit(results: Any) -> Any:
        return {m: replace(r, counts={"n_ties": r.n}) for m, r in results.items()}

    systems = [replace(s, results=unfit(s.results)) for s in report.systems]
    weak = build_report(systems, examples=reported.examples(), n_resamples=5)
    assert findings(weak, most_split(weak, attributes(weak))) == []
    figures = build_report([ReportedSystem("a", {"m": result_of((), scores={"accuracy": 0.5})})])
    assert most_split(figures, []) is None


@pytest.mark.parametrize("corrected", [False, True])
def test_verdicts_that_are_not_fit_say_nothing_beside_those_that_are(corrected: bool) -> None:
    weak = {("driver", "female"): 0, ("nurse", "female"): 10, ("cook", "female"): 5}
    report, occupation = made_report({("driver", "female"): 6}, weak)
    first, second = report.systems
    result = replace(second.results["m"], counts={"n_ties": 100})
    if corrected:  # by people, so that the corrected figure is fit, and the verdicts are not
        signed = result.signature.replace("|n:", "|trusted:people/n50|n:")
        result = replace(
            result, signature=signed, scores={**result.scores, "corrected_min_accuracy": 0.6}
        )
    report = build_report([first, replace(second, results={"m": result})], n_resamples=5)
    table = known(most_split(report, [occupation]))
    assert list(table.by_system) == [0]
    assert findings(report, table) == [
        "Women are translated right less often than men: by 10.0 points with a.",
        "“driver”: a has 6 of 20 women right, and 20 of 20 men.",
    ]
    alone = build_report([replace(second, results={"m": result})], n_resamples=5)
    assert findings(alone, most_split(alone, [occupation])) == []
