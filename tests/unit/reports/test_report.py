from __future__ import annotations

import re
from dataclasses import replace

import pytest

from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.systems import compare
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.reports.figures import Histogram, category_bars, histograms, nice_ticks, quality_points
from cc_hf.reports.page.charts import histogram_chart
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import System
from tests.helpers import reported
from tests.helpers.reported import HOSTILE_NAME, N


def test_every_sample_has_its_verdicts_by_all_systems() -> None:
    found = reported.report()
    assert [sample.id for sample in found.samples] == [f"id{i}" for i in range(N)]
    assert found.categories == ("male", "female", "a|<i>b</i>")
    assert found.judging == found.metrics == ("contrastive_conditioning", "words")
    for at, sample in enumerate(found.samples):
        assert sample.example == reported.examples()[at]
        assert sample.translations == (reported.translations(0)[at], reported.translations(1)[at])
        for system, own in enumerate(found.systems):
            assert sample.judgements[system] == tuple(
                own.results[metric].judgements[at] for metric in found.metrics
            )


def test_differences_equal_those_of_compare() -> None:
    found = reported.report()
    for metric in found.metrics:
        pair = {system.name: system.results[metric] for system in found.systems}
        assert found.comparisons[metric, HOSTILE_NAME] == compare(pair, n_resamples=50).systems[0]
    assert set(found.comparisons) == {(metric, HOSTILE_NAME) for metric in found.metrics}
    other = build_report(reported.systems(), baseline=HOSTILE_NAME, n_resamples=50)
    assert set(other.comparisons) == {(metric, "first") for metric in found.metrics}
    before, after = (
        r.comparisons[found.metrics[0], name].differences["accuracy"]
        for r, name in ((found, HOSTILE_NAME), (other, "first"))
    )
    assert before.difference == -after.difference != 0


def test_samples_are_in_the_order_of_the_dataset() -> None:
    found = build_report(reported.systems(), examples=reported.examples()[::-1], n_resamples=1)
    assert [sample.id for sample in found.samples] == [f"id{i}" for i in reversed(range(N))]


def test_annotations_apply_only_to_the_annotated_translation() -> None:
    found = reported.report()
    assert found.samples[0].annotations == (reported.labels()[0], None)
    assert (
        "1 of the 4 human annotations belong to translations that no system of this report made; they"
        " are not shown" in found.notes
    )
    assert [(one.system, one.metric) for one in found.agreements] == [
        ("first", metric) for metric in found.metrics
    ]
    expected = agreement_with_labels(
        found.systems[0].results["words"], reported.labels(), skip_others=True, n_resamples=50
    )
    assert found.agreements[1].agreement == replace(expected, n_skipped=0)
    assert found.agreements[1].agreement.n_labels == 6


def test_systems_that_cannot_be_compared_are_noted() -> None:
    first, second = reported.systems()
    other = replace(
        second.results["words"],
        signature=second.results["words"].signature.replace("word:", "word:other"),
    )
    found = build_report([first, replace(second, results={"words": other})], n_resamples=1)
    assert found.comparisons == {}
    assert any(
        "words: " in note and "judged with different options" in note for note in found.notes
    )
    half = second.results["words"]
    half = replace(half, judgements=half.judgements[:40], n=40)
    found = build_report([first, System("half", {"words": half})], n_resamples=1)
    assert "half: no judgement of 50 of the 90 samples" in found.notes
    assert any(
        "half was not compared to first: half has no judgement of 50" in note
        for note in found.notes
    )
    assert found.samples[-1].translations[1] is None


def test_a_dataset_that_lacks_samples_is_noted() -> None:
    found = build_report(reported.systems(), examples=reported.examples()[:80], n_resamples=1)
    assert (
        "10 of the 90 samples are not in the dataset on this machine: they are shown without their"
        " sources" in found.notes
    )
    assert found.samples[-1].example is None


def test_bad_systems_and_results_are_refused() -> None:
    first, second = reported.systems()
    result = first.results["words"]
    with pytest.raises(InputError, match="at least one system"):
        build_report([])
    with pytest.raises(InputError, match="'first' twice"):
        build_report([first, first])
    with pytest.raises(UnknownNameError, match=r"unknown baseline 'frist'; did you mean 'first'"):
        build_report([first], baseline="frist")
    with pytest.raises(InputError, match="expected results on the same data: first"):
        build_report([first, System("b", {"words": replace(result, tgt_lang="fr")})])
    with pytest.raises(InputError, match="several of example id0"):
        build_report(
            [
                System(
                    "b",
                    {
                        "words": replace(
                            result, judgements=(result.judgements[0], *result.judgements)
                        )
                    },
                )
            ]
        )
    with pytest.raises(InputError, match="expected 90 judgements, as the result says, got 10"):
        build_report([System("b", {"words": replace(result, judgements=result.judgements[:10])})])
    with pytest.raises(InputError, match=r"b: expected results on the same.*got .* of example id0"):
        build_report([System("b", {**first.results, "words": second.results["words"]})])
    with pytest.raises(InputError, match=r"bleu: expected a number in \[0, 1\], got 31"):
        build_report([replace(first, bleu=31)])
    with pytest.raises(InputError, match="expected at least one result, got none"):
        build_report([System("b", {})])


def test_plots_get_the_figures_of_the_report() -> None:
    found = reported.report()
    metric = found.metrics[0]
    bars = category_bars(found, metric)
    assert [(bar.category, bar.system) for bar in bars] == [
        (c, s) for c in found.categories for s in (0, 1)
    ]
    assert all(
        bar.value == found.systems[bar.system].results[metric].scores[f"accuracy_{bar.category}"]
        for bar in bars
    )
    for one in histograms(found, metric):
        p = [
            j.probability_correct or 0 for j in found.systems[one.system].results[metric].judgements
        ]
        assert sum(one.counts) == N
        assert sum(one.counts[10:]) == one.n_correct == sum(value >= 0.5 for value in p)
        assert one.counts[9] == sum(0.45 <= value < 0.5 for value in p)
    assert histograms(found, "words") == ()
    points = quality_points(found, metric)
    assert [(p.bleu, p.min_accuracy) for p in points] == [
        (s.bleu, s.results[metric].scores["min_accuracy"]) for s in found.systems
    ]
    weighted = quality_points(replace(found, is_weighted=True), metric)
    assert [(p.min_accuracy, p.label) for p in weighted] == [
        (s.results[metric].scores["weighted_min_accuracy"], "weighted minimum accuracy")
        for s in found.systems
    ]
    assert nice_ticks(0, 0.03) == (0.0, 0.01, 0.02, 0.03)


@pytest.mark.parametrize("highest", [1, 2, 7])
def test_the_axis_of_counts_has_whole_numbers_only(highest: int) -> None:
    histogram = Histogram(0, (0, highest), 0)
    chart = histogram_chart(histogram, ["a"], highest=highest, label="a")
    labels = re.findall(r'class="end muted"[^>]*>([^<]*)<', chart)
    assert [float(label) for label in labels] == [int(label) for label in labels]
    assert len(labels) >= 2
