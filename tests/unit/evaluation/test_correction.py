import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cc_hf import evaluate
from cc_hf.comparing.systems import compare
from cc_hf.evaluation.correction import audited, corrected, random_part, transferred
from cc_hf.evaluation.material import Material
from cc_hf.metrics.figures import summarize
from cc_hf.metrics.headline import headline, key_names
from cc_hf.reports.derived_figures import ratio_figures
from cc_hf.reports.figures import category_bars
from cc_hf.reports.page.charts import bar_chart
from cc_hf.reports.report import build_report
from cc_hf.reports.report_tables import report_tables
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import result_table
from cc_hf.reports.tables.comparisons import comparison_tables
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Focus, Judgement
from cc_hf.statistics.bootstrap import known_intervals
from tests.helpers.usual import cases, limits, printed, refuses, result_of

_PEOPLE: dict[str, Any] = {"by": "people", "about": "labels"}
Verdicts = dict[str, float]


def _judged(
    n: int = 600, *, accuracy: float = 0.8, judge: float = 0.9, seed: int = 0, system: str = "a"
) -> tuple[EvaluationResult, Verdicts]:
    """Return a result by a judge, and the true verdict on each of its samples."""
    random = np.random.default_rng(seed)
    truth = random.random(n) < accuracy
    verdicts = np.where(random.random(n) < judge, truth, ~truth).tolist()
    rows = [(str(i), "ab"[i % 2], v, f"{system}{i}") for i, v in enumerate(verdicts)]
    judgements = [Judgement(*row, ("incorrect", "correct")[row[2]]) for row in rows]
    summary = summarize(judgements)
    named = {"dataset": "", "config": "own", "metric": "contrastive_conditioning", "system": system}
    figures = {"scores": summary.scores, "intervals": known_intervals(summary.intervals)}
    signature = f"cc|sys:{system}|data:own@1|eval:small@1|norm:nfc-cf|n:{n}|m:4|v:1"
    fields = {**named, **figures, "categories": summary.categories, "signature": signature}
    return result_of(judgements, **fields), {str(i): float(t) for i, t in enumerate(truth)}


def _by_gender(result: EvaluationResult) -> EvaluationResult:
    genders = {"a": "male", "b": "female"}
    judgements = [replace(j, category=genders[j.category]) for j in result.judgements]
    categories = [replace(c, category=genders[c.category]) for c in result.categories]
    return replace(result, judgements=tuple(judgements), categories=tuple(categories))


def _part(truth: Mapping[str, float], size: int = 200, seed: int = 0) -> dict[str, float]:
    return {name: truth[name] for name in random_part(list(truth), size, seed=seed)}


def test_corrected_figures_are_in_the_result_and_its_file() -> None:
    result, truth = _judged()
    corrected_result = corrected(result, _part(truth), **_PEOPLE)
    names = ["accuracy", "min_accuracy", "accuracy_a", "accuracy_b"]
    assert list(corrected_result.scores)[-4:] == [f"corrected_{name}" for name in names]
    assert {name: corrected_result.scores[name] for name in result.scores} == result.scores
    low, high = limits(corrected_result.intervals["corrected_accuracy"])
    assert low < np.mean(list(truth.values())) < high
    assert "|trusted:people/n200|norm:nfc-cf|" in corrected_result.signature
    assert "200 of 600" in corrected_result.notes[0]
    assert EvaluationResult.from_json(corrected_result.to_json()) == corrected_result
    columns = Counter(
        name for row in json.loads(corrected_result.to_json())["judgements"] for name in row
    )
    assert (corrected_result.counts["n_trusted"], columns["trusted"], columns["inclusion"]) == (
        200,
        200,
        0,
    )
    said = headline(corrected_result)
    named = ["corrected_accuracy_a", "corrected_accuracy_b"]
    assert (said.by, sorted(said.beside)) == ("corrected_min_accuracy", named)
    assert key_names(corrected_result.metric, corrected_result.scores)[:2] == (
        "corrected_accuracy",
        "accuracy",
    )


def test_drawn_with_unequal_probability_they_weigh_by_its_inverse() -> None:
    result, truth = _judged(4000)
    wrong = {j.example_id for j in result.judgements if not j.is_correct}
    inclusion = {name: 0.6 if name in wrong else 0.1 for name in truth}
    random = np.random.default_rng(1)
    trusted = {name: truth[name] for name, p in inclusion.items() if random.random() < p}
    mean = np.mean(list(truth.values()))
    weighted = corrected(result, trusted, inclusion=inclusion, **_PEOPLE)
    low, high = limits(weighted.intervals["corrected_accuracy"])
    assert low < mean < high
    assert abs(corrected(result, trusted, **_PEOPLE).scores["corrected_accuracy"] - mean) > 0.02


def test_few_trusted_verdicts_leave_figures_out() -> None:
    result, truth = _judged()
    part = {name: t for name, t in truth.items() if int(name) < 60 and int(name) % 2 == 0}
    corrected_result = corrected(result, part, **_PEOPLE)
    names = [name for name in corrected_result.scores if name.startswith("corrected")]
    assert names == ["corrected_accuracy", "corrected_accuracy_a"]
    assert "are of b" in corrected_result.notes[0]


def test_verdicts_that_show_neither_reading_correct_no_figure() -> None:
    result, truth = _judged()
    part = _part(truth)
    labelled = corrected(result, part, neither=dict.fromkeys(part, 1.0), **_PEOPLE)
    assert labelled.scores == result.scores
    assert labelled.notes[0].startswith("No figure could be corrected by labels: 200 of 600")


@cases(
    ({"no": 1.0}, None, "'no'"),
    ({str(i): 1.0 for i in range(19)}, None, "at least 20.*19"),
    ({str(i): 2.0 for i in range(30)}, None, "from 0 to 1"),
    ({str(i): 1.0 for i in range(30)}, {"0": 0.5}, "example 1: .*probability"),
)
def test_wrong_verdicts_are_refused(trusted: Verdicts, inclusion: Any, message: str) -> None:
    refuses(message, corrected, _judged()[0], trusted, inclusion=inclusion, **_PEOPLE)


def test_transferred_figures_assume_that_the_judge_errs_alike() -> None:
    labelled, truth = _judged(2000, accuracy=0.5, seed=1, system="other")
    labelled = corrected(labelled, _part(truth, 800), **_PEOPLE)
    result, truth = _judged(2000, accuracy=0.85, judge=0.8)
    actual = transferred(result, labelled)
    names = [f"transferred_accuracy{category}" for category in ("", "_a", "_b")]
    assert sorted(n for n in actual.scores if n.startswith("transferred")) == names
    assert "assume that the judge errs" in actual.notes[0]
    assert "|transferred:people/n800|" in actual.signature
    assert "trusted" not in actual.signature.replace("transferred", "")
    unequal = (replace(j, inclusion=0.1 + int(j.example_id) % 2 / 2) for j in labelled.judgements)
    biased = replace(labelled, judgements=tuple(unequal))
    alike = corrected(labelled, dict.fromkeys(map(str, range(50)), 1.0), **_PEOPLE)
    for wrong, message in ((result, "without"), (biased, "same probability"), (alike, "one kind")):
        refuses(message, transferred, result, wrong)


def _material(n: int) -> tuple[Material, list[str]]:
    """Return examples, and their translations."""
    examples = []
    for i in range(n):
        sides = [(f"The [{cue}] doctor {i}.",) for cue in "xy"]
        rest: Any = f"The doctor {i}.", Focus("doctor", 4), *sides, "ab"[i % 2], "x"
        examples.append(ContrastiveSourceExample(str(i), "en", "de", *rest))
    return Material("en", "de", examples), [f"{i}." for i in range(n)]


Scores = Callable[[Sequence[str], Sequence[str]], list[float]]


def _judge(name: str, is_right: Callable[[int], bool]) -> Scores:
    """Return a judge that prefers the correct source of the samples that it finds right."""

    def scores(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        pairs = zip(sources, translations, strict=True)
        return [float(("[x]" in source) == is_right(int(text[:-1]))) for source, text in pairs]

    scores.__name__ = name
    return scores


SMALL, LARGE = _judge("small", lambda i: i % 5 > 1), _judge("large", lambda i: i % 4 > 0)


def test_an_audit_reproduces_the_larger_judge_in_19_of_20_seeds() -> None:
    material, texts = _material(800)
    small, large = (evaluate(material, translations=texts, evaluator=e) for e in (SMALL, LARGE))
    truth, hits = large.scores["accuracy"], 0
    for seed in range(20):
        actual = audited(small, material, LARGE, size=150, seed=seed)
        low, high = limits(actual.intervals["corrected_accuracy"])
        hits += low <= truth <= high
    assert hits >= 19
    assert "seed19/n150" in actual.signature
    judged = {j.example_id for j in actual.judgements if j.trusted is not None}
    assert judged == random_part([str(i) for i in range(800)], 150, seed=19)
    assert audited(small, material, LARGE, size=10_000).scores["corrected_accuracy"] == truth


@cases(
    ({"size": 5}, "size: .*20"),
    ({"evaluator": SMALL}, "another evaluator"),
    ({"options": {"ties": "incorrect"}}, "another 'tie'"),
    ({"options": {"nothing": 1}}, "nothing"),
)
def test_audits_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    material, texts = _material(60)
    small = evaluate(material, translations=texts, evaluator=SMALL)
    arguments: dict[str, Any] = {"material": material, "evaluator": LARGE, "size": 30, **change}
    refuses(message, audited, small, **arguments)


def test_corrected_systems_are_compared_and_others_are_not() -> None:
    first, truth = _judged(1000, accuracy=0.9)
    second, other_truth = _judged(1000, accuracy=0.7, seed=2, system="b")
    ours = corrected(first, _part(truth, 300), **_PEOPLE)
    theirs = corrected(second, _part(other_truth, 300), **_PEOPLE)
    compared = compare({"a": ours, "b": theirs}, n_resamples=50)
    difference = compared.systems[0].differences["corrected_accuracy"]
    assert -0.3 < difference.difference < -0.1
    assert difference.p_value < 0.001
    assert limits(difference.interval)[1] < 0
    text = printed(comparison_tables(compared))
    assert text.index(" corrected ") < text.index(" accuracy ")
    assert "include the judge's mistakes" in " ".join(text.split())
    other = corrected(second, _part(other_truth), by="model@1/seed0", about="an audit")
    for result, reason in ((second, "only a has"), (other, "model@1 and people")):
        mixed = compare({"a": ours, "b": result}, n_resamples=50)
        assert "corrected_accuracy" not in mixed.systems[0].differences
        assert reason in mixed.not_compared["corrected figures of a and b"]


def test_corrected_figures_come_first_wherever_figures_are_shown() -> None:
    result, truth = _judged()
    corrected_result = corrected(result, _part(truth), **_PEOPLE)
    lines = printed(result_table(corrected_result)).splitlines()
    head = next(line for line in lines if "category" in line)
    assert head.index("corrected (95 %)") < head.index("judge alone (95 %)")
    assert any(line.startswith("corrected: ") and "mistakes" in line for line in lines)
    ratios = {f.name: f.value for f in ratio_figures(_by_gender(corrected_result))}
    assert list(ratios)[:2] == ["corrected_ratio_male_female", "ratio_male_female"]
    male, female = (corrected_result.scores[f"corrected_accuracy_{category}"] for category in "ab")
    assert ratios["corrected_ratio_male_female"] == pytest.approx(male / female)
    alone = _judged(system="b", seed=4)[0]
    report = build_report(
        [ReportedSystem(r.system, {r.metric: r}) for r in (corrected_result, alone)], n_resamples=10
    )
    summary, by_category, figures = report_tables(report)
    corrected_first = summary.columns.index("corrected minimum accuracy")
    assert corrected_first < summary.columns.index("minimum accuracy, judge alone")
    assert by_category.columns == ("corrected accuracy", "accuracy, judge alone") * 2
    labels = ["corrected accuracy", "accuracy, judge alone"]
    assert [row.label for row in figures.rows[:2]] == labels
    bars = category_bars(report, corrected_result.metric)
    assert [bar.corrected is not None for bar in bars] == [True, False] * 2
    chart = bar_chart(bars, ["a", "b"], label="x")
    assert chart.count("whisker alone") == 2 * 3  # a line and both ends for each category
    assert all(words in chart for words in ("judge alone", "judge&#39;s mistakes included"))
    bars = category_bars(build_report([report.systems[1]]), corrected_result.metric)
    assert "alone" not in bar_chart(bars, ["b"], label="x")
