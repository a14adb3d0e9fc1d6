"""A report of several systems: samples, comparisons, annotations, and figures of its plots."""

import re
from dataclasses import replace

import pytest

from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.systems import compare
from cc_hf.errors import UnknownNameError
from cc_hf.reports.figures import Histogram, category_bars, histograms, nice_ticks, quality_points
from cc_hf.reports.page.charts import histogram_chart
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.results import EvaluationResult
from tests.helpers import reported
from tests.helpers.reported import HOSTILE_NAME, N
from tests.helpers.usual import cases, fails, refuses


def test_every_sample_has_its_verdicts_by_all_systems() -> None:
    actual = reported.report()
    assert [sample.id for sample in actual.samples] == [f"id{i}" for i in range(N)]
    assert actual.categories == ("male", "female", "a|<i>b</i>")
    assert actual.judging == actual.metrics == ("contrastive_conditioning", "words")
    texts = zip(*map(reported.translations, (0, 1)), strict=True)
    rows = zip(actual.samples, reported.examples(), texts, strict=True)
    for index, (sample, example, pair) in enumerate(rows):
        assert (sample.example, sample.translations) == (example, pair)
        by_system = [
            [s.results[m].judgements[index] for m in actual.metrics] for s in actual.systems
        ]
        assert sample.judgements == tuple(map(tuple, by_system))


def test_differences_equal_those_of_compare() -> None:
    actual = reported.report()
    for metric in actual.metrics:
        pair = {system.name: system.results[metric] for system in actual.systems}
        assert actual.comparisons[metric, HOSTILE_NAME] == compare(pair, n_resamples=50).systems[0]
    assert set(actual.comparisons) == {(metric, HOSTILE_NAME) for metric in actual.metrics}
    other = build_report(reported.systems(), baseline=HOSTILE_NAME, n_resamples=50)
    assert set(other.comparisons) == {(metric, "first") for metric in actual.metrics}
    by = actual.metrics[0]
    before = actual.comparisons[by, HOSTILE_NAME].differences["accuracy"]
    after = other.comparisons[by, "first"].differences["accuracy"]
    assert before.difference == -after.difference != 0


def test_annotations_apply_only_to_the_annotated_translation() -> None:
    actual = reported.report()
    assert actual.samples[0].annotations == (reported.labels()[0], None)
    assert (
        "1 of the 4 human annotations "
        "belong to translations that no system of this report made; they are not shown"
    ) in actual.notes
    pairs = [(agreement.system, agreement.metric) for agreement in actual.agreements]
    assert pairs == [("first", metric) for metric in actual.metrics]
    words = actual.systems[0].results["words"]
    expected = agreement_with_labels(words, reported.labels(), skip_others=True, n_resamples=50)
    assert actual.agreements[1].agreement == replace(expected, n_skipped=0)
    assert actual.agreements[1].agreement.n_labels == 6


def test_systems_that_cannot_be_compared_are_noted() -> None:
    first, second = reported.systems()
    words = second.results["words"]
    other = replace(words, signature=words.signature.replace("word:", "word:other"))
    report = build_report([first, replace(second, results={"words": other})], n_resamples=1)
    assert report.comparisons == {}
    assert re.search("words: .*judged with different options", "\n".join(report.notes))
    half = replace(words, judgements=words.judgements[:40], n=40)
    report = build_report([first, ReportedSystem("half", {"words": half})], n_resamples=1)
    assert "half: no judgement of 50 of the 90 samples" in report.notes
    assert "half was not compared to first: half has no judgement of 50" in "\n".join(report.notes)
    assert report.samples[-1].translations[1] is None


def test_samples_are_in_the_order_of_the_dataset_and_those_that_it_lacks_are_noted() -> None:
    report = build_report(reported.systems(), examples=reported.examples()[::-1], n_resamples=1)
    assert [sample.id for sample in report.samples] == [f"id{i}" for i in reversed(range(N))]
    report = build_report(reported.systems(), examples=reported.examples()[:80], n_resamples=1)
    assert (
        "10 of the 90 samples "
        "are not in the dataset on this machine: they are shown without their sources"
    ) in report.notes
    assert report.samples[-1].example is None


FIRST, SECOND = reported.systems()
WORDS = FIRST.results["words"]


def _b(words: EvaluationResult) -> ReportedSystem:
    return ReportedSystem("b", {"words": words})


@cases(
    ([], "at least one system"),
    ([FIRST, FIRST], "'first' twice"),
    ([FIRST, _b(replace(WORDS, tgt_lang="fr"))], "expected results on the same data: first"),
    ([_b(replace(WORDS, n=10))], "expected 10 judgements, as the result says, got 90"),
    (
        [ReportedSystem("b", {**FIRST.results, "words": SECOND.results["words"]})],
        "b: .*got .* example id0",
    ),
    ([replace(FIRST, bleu=31)], r"bleu: expected a number in \[0, 1\], got 31"),
    ([ReportedSystem("b", {})], "expected at least one result, got none"),
)
def test_bad_systems_and_results_are_refused(systems: list[ReportedSystem], message: str) -> None:
    refuses(message, build_report, systems)


def test_an_unknown_baseline_is_refused() -> None:
    fails(
        UnknownNameError,
        r"unknown baseline 'frist'; did you mean 'first'",
        build_report,
        [FIRST],
        baseline="frist",
    )


def test_plots_get_the_figures_of_the_report() -> None:
    actual = reported.report()
    metric, *_ = actual.metrics
    results = [system.results[metric] for system in actual.systems]
    bars = [(bar.category, bar.system, bar.value) for bar in category_bars(actual, metric)]
    of = [(c, s, results[s].scores[f"accuracy_{c}"]) for c in actual.categories for s in (0, 1)]
    assert bars == of

    for histogram in histograms(actual, metric):
        p = [j.probability_correct or 0 for j in results[histogram.system].judgements]
        assert sum(histogram.counts) == N
        assert sum(histogram.counts[10:]) == histogram.n_correct == sum(value >= 0.5 for value in p)
        assert histogram.counts[9] == sum(0.45 <= value < 0.5 for value in p)
    assert histograms(actual, "words") == ()

    for is_weighted, name in ((False, "min_accuracy"), (True, "weighted_min_accuracy")):
        points = quality_points(replace(actual, is_weighted=is_weighted), metric)
        label = name.replace("_", " ").replace("min ", "minimum ")
        values = [(s.bleu, r.scores[name]) for s, r in zip(actual.systems, results, strict=True)]
        assert [(p.bleu, p.min_accuracy) for p in points] == values
        assert {p.label for p in points} == {label}
    assert nice_ticks(0, 0.03) == (0.0, 0.01, 0.02, 0.03)


@pytest.mark.parametrize("highest", [1, 2, 7])
def test_the_axis_of_counts_has_whole_numbers_only(highest: int) -> None:
    chart = histogram_chart(Histogram(0, (0, highest), 0), ["a"], highest=highest, label="a")
    labels = re.findall(r'class="end muted"[^>]*>([^<]*)<', chart)
    assert [float(label) for label in labels] == [int(label) for label in labels]
    assert len(labels) >= 2
