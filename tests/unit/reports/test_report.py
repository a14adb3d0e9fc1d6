import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.systems import compare
from cc_hf.errors import UnknownNameError
from cc_hf.reports import highlights
from cc_hf.reports.figures import Histogram, category_bars, histograms, nice_ticks, quality_points
from cc_hf.reports.page.charts import histogram_chart
from cc_hf.reports.page.standing_out import filter_name, sample_link, standing_out
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import System
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample
from tests.helpers import reported
from tests.helpers.cases import cases
from tests.helpers.refusals import refuses
from tests.helpers.reported import HOSTILE_NAME, OCCUPATIONS, N


def test_every_sample_has_its_verdicts_by_all_systems() -> None:
    found = reported.report()
    assert [sample.id for sample in found.samples] == [f"id{i}" for i in range(N)]
    assert found.categories == ("male", "female", "a|<i>b</i>")
    assert found.judging == found.metrics == ("contrastive_conditioning", "words")
    texts = zip(*map(reported.translations, (0, 1)), strict=True)
    rows = zip(found.samples, reported.examples(), texts, strict=True)
    for at, (sample, example, pair) in enumerate(rows):
        assert (sample.example, sample.translations) == (example, pair)
        by_system = [[s.results[m].judgements[at] for m in found.metrics] for s in found.systems]
        assert sample.judgements == tuple(map(tuple, by_system))


def test_differences_equal_those_of_compare() -> None:
    found = reported.report()
    for metric in found.metrics:
        pair = {system.name: system.results[metric] for system in found.systems}
        assert found.comparisons[metric, HOSTILE_NAME] == compare(pair, n_resamples=50).systems[0]
    assert set(found.comparisons) == {(metric, HOSTILE_NAME) for metric in found.metrics}
    other = build_report(reported.systems(), baseline=HOSTILE_NAME, n_resamples=50)
    assert set(other.comparisons) == {(metric, "first") for metric in found.metrics}
    by = found.metrics[0]
    before = found.comparisons[by, HOSTILE_NAME].differences["accuracy"]
    after = other.comparisons[by, "first"].differences["accuracy"]
    assert before.difference == -after.difference != 0


def test_annotations_apply_only_to_the_annotated_translation() -> None:
    found = reported.report()
    assert found.samples[0].annotations == (reported.labels()[0], None)
    others = "belong to translations that no system of this report made; they are not shown"
    assert f"1 of the 4 human annotations {others}" in found.notes
    pairs = [(one.system, one.metric) for one in found.agreements]
    assert pairs == [("first", metric) for metric in found.metrics]
    words = found.systems[0].results["words"]
    expected = agreement_with_labels(words, reported.labels(), skip_others=True, n_resamples=50)
    assert found.agreements[1].agreement == replace(expected, n_skipped=0)
    assert found.agreements[1].agreement.n_labels == 6


def test_systems_that_cannot_be_compared_are_noted() -> None:
    first, second = reported.systems()
    words = second.results["words"]
    other = replace(words, signature=words.signature.replace("word:", "word:other"))
    found = build_report([first, replace(second, results={"words": other})], n_resamples=1)
    assert found.comparisons == {}
    assert re.search("words: .*judged with different options", "\n".join(found.notes))
    half = replace(words, judgements=words.judgements[:40], n=40)
    found = build_report([first, System("half", {"words": half})], n_resamples=1)
    assert "half: no judgement of 50 of the 90 samples" in found.notes
    assert "half was not compared to first: half has no judgement of 50" in "\n".join(found.notes)
    assert found.samples[-1].translations[1] is None


def test_samples_are_in_the_order_of_the_dataset_and_those_that_it_lacks_are_noted() -> None:
    found = build_report(reported.systems(), examples=reported.examples()[::-1], n_resamples=1)
    assert [sample.id for sample in found.samples] == [f"id{i}" for i in reversed(range(N))]
    found = build_report(reported.systems(), examples=reported.examples()[:80], n_resamples=1)
    where = "are not in the dataset on this machine: they are shown without their sources"
    assert f"10 of the 90 samples {where}" in found.notes
    assert found.samples[-1].example is None


FIRST, SECOND = reported.systems()
WORDS = FIRST.results["words"]


def _b(words: EvaluationResult) -> System:
    return System("b", {"words": words})


@cases(
    ([], "at least one system"),
    ([FIRST, FIRST], "'first' twice"),
    ([FIRST, _b(replace(WORDS, tgt_lang="fr"))], "expected results on the same data: first"),
    ([_b(replace(WORDS, n=10))], "expected 10 judgements, as the result says, got 90"),
    ([System("b", {**FIRST.results, "words": SECOND.results["words"]})], "b: .*got .* example id0"),
    ([replace(FIRST, bleu=31)], r"bleu: expected a number in \[0, 1\], got 31"),
    ([System("b", {})], "expected at least one result, got none"),
)
def test_bad_systems_and_results_are_refused(systems: list[System], message: str) -> None:
    refuses(message, build_report, systems)


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown baseline 'frist'; did you mean 'first'"):
        build_report([FIRST], baseline="frist")


def test_plots_get_the_figures_of_the_report() -> None:
    found = reported.report()
    metric, *_ = found.metrics
    results = [system.results[metric] for system in found.systems]
    bars = [(bar.category, bar.system, bar.value) for bar in category_bars(found, metric)]
    of = [(c, s, results[s].scores[f"accuracy_{c}"]) for c in found.categories for s in (0, 1)]
    assert bars == of
    for one in histograms(found, metric):
        p = [j.probability_correct or 0 for j in results[one.system].judgements]
        assert sum(one.counts) == N
        assert sum(one.counts[10:]) == one.n_correct == sum(value >= 0.5 for value in p)
        assert one.counts[9] == sum(0.45 <= value < 0.5 for value in p)
    assert histograms(found, "words") == ()
    for is_weighted, name in ((False, "min_accuracy"), (True, "weighted_min_accuracy")):
        points = quality_points(replace(found, is_weighted=is_weighted), metric)
        label = name.replace("_", " ").replace("min ", "minimum ")
        values = [(s.bleu, r.scores[name]) for s, r in zip(found.systems, results, strict=True)]
        assert [(p.bleu, p.min_accuracy) for p in points] == values
        assert {p.label for p in points} == {label}
    assert nice_ticks(0, 0.03) == (0.0, 0.01, 0.02, 0.03)


@pytest.mark.parametrize("highest", [1, 2, 7])
def test_the_axis_of_counts_has_whole_numbers_only(highest: int) -> None:
    chart = histogram_chart(Histogram(0, (0, highest), 0), ["a"], highest=highest, label="a")
    labels = re.findall(r'class="end muted"[^>]*>([^<]*)<', chart)
    assert [float(label) for label in labels] == [int(label) for label in labels]
    assert len(labels) >= 2


METRIC = "contrastive_conditioning"


def right(report: Report, system: int, metric: int = 0) -> list[bool]:
    found = [sample.judgements[system][metric] for sample in report.samples]
    return [judgement.is_correct for judgement in found if judgement is not None]


def test_attributes_are_the_columns_whose_values_occur_again() -> None:
    occupation, stereotype = highlights.attributes(reported.report())
    assert (occupation.name, stereotype.name) == ("occupation", "stereotype")
    assert set(occupation.distinct) == set(OCCUPATIONS)
    assert occupation.has_words
    assert not occupation.has_groups
    assert stereotype.has_groups
    assert not stereotype.has_words
    assert not highlights.Attribute("number", tuple(map(str, range(9)))).has_words
    assert highlights.attributes(reported.report(with_examples=False)) == ()


def test_words_in_focus_are_an_attribute_unless_a_column_repeats_them() -> None:
    def found(examples: Sequence[ContrastiveSourceExample]) -> list[tuple[str, set[str]]]:
        report = build_report(reported.systems()[:1], examples=examples, n_resamples=1)
        return [(a.name, set(a.distinct)) for a in highlights.attributes(report)]

    words, examples = ("Cook", "Nurse", "Guard"), []
    for i, example in enumerate(reported.examples()):
        word = words[i % 3] if i % 2 else words[0]
        text = example.source.replace("cook", word)
        changes: dict[str, Any] = {"source": text, "extra": {}}
        changes |= dict.fromkeys(("correct_sources", "incorrect_sources"), (f"A{text}",))
        examples.append(replace(example, focus=replace(example.focus, text=word), **changes))
    distinct = {"cook", "nurse", "guard"}
    assert found(examples) == [("word", distinct)]
    repeated = [replace(e, extra={"occupation": e.focus.text.lower()}) for e in examples]
    assert found(repeated) == [("occupation", distinct)]
    assert found([replace(e, extra={"gender": e.category}) for e in reported.examples()]) == []


def test_spreads_have_the_accuracies_of_the_categories_and_of_groups() -> None:
    report = reported.report()
    for spread in highlights.category_spreads(report, METRIC):
        result = report.systems[spread.system].results[METRIC]
        expected = {c.category: (c.n, c.n_correct, c.accuracy) for c in result.categories}
        assert {g.name: (g.n, g.n_correct, g.accuracy) for g in spread.groups} == expected
        accuracies = [c.accuracy for c in result.categories]
        assert spread.lowest.accuracy == min(accuracies)
        assert spread.gap == max(accuracies) - min(accuracies)
    stereotype = highlights.attributes(report)[1]
    first, second = highlights.spreads(report, METRIC, stereotype)
    assert (first.system, second.system) == (0, 1)
    verdicts = list(zip(right(report, 0), stereotype.values, strict=True))
    expected_groups = [(s, 36, verdicts.count((True, s))) for s in ("anti", "pro")]
    assert [(g.name, g.n, g.n_correct) for g in first.groups] == expected_groups
    assert highlights.spreads(report, METRIC, highlights.Attribute("one", ("a",) * N)) == ()


def test_hard_values_are_those_of_the_lowest_accuracy() -> None:
    report = reported.report()
    occupation = highlights.attributes(report)[0]
    verdicts = [right(report, system) for system in (0, 1)]

    def accuracy(value: str, systems: tuple[int, ...]) -> float:
        rows = [i for i, other in enumerate(occupation.values) if other == value]
        shares = [sum(verdicts[system][i] for i in rows) / len(rows) for system in systems]
        return sum(shares) / len(shares)

    for system, systems in ((None, (0, 1)), (1, (1,))):
        values = highlights.hard_values(report, METRIC, occupation, n=3, system=system)
        lowest = sorted(accuracy(value, systems) for value in OCCUPATIONS)[:3]
        assert [accuracy(row.value, systems) for row in values] == lowest
    few = highlights.Attribute("few", tuple(str(i // 9) for i in range(N)))
    assert highlights.hard_values(report, METRIC, few, n=3) == ()


def test_confusions_count_every_judgement_with_a_reading() -> None:
    report = reported.report()
    assert highlights.confusions(report, METRIC) == ()
    for table in highlights.confusions(report, "words"):
        judgements = report.systems[table.system].results["words"].judgements
        pairs = [(gold, reading) for gold in table.golds for reading in table.readings]
        counts = [count for row in table.counts for count in row]
        found = {pair: count for pair, count in zip(pairs, counts, strict=True) if count}
        assert found == Counter((j.gold, j.predicted) for j in judgements)
    words = reported.results(0)["words"]
    many = [replace(j, predicted=str(i % 9)) for i, j in enumerate(words.judgements)]
    system = System("a", {"words": replace(words, judgements=tuple(many))})
    assert highlights.confusions(build_report([system]), "words") == ()


def test_divided_samples_are_right_in_one_system_and_wrong_in_the_other() -> None:
    report = reported.report()
    pairs = list(zip(right(report, 0), right(report, 1), strict=True))
    one, other = pairs.count((True, False)), pairs.count((False, True))
    assert highlights.divided_samples(report, METRIC) == ((0, one), (other, 0))


def test_what_stands_out_is_said_of_every_metric_with_links() -> None:
    report = reported.report()
    by_metric = list(standing_out(report, highlights.attributes(report)))
    assert [len(found.confusions) for found in by_metric] == [0, 2]
    for found, metric in zip(by_metric, report.judging, strict=True):
        assert list(found.spreads) == ["category", "stereotype"]
        assert list(found.hard_values) == ["occupation"]
        assert [name for name, _ in found.systems.rows] == ["first", HOSTILE_NAME]
        best = found.systems.rows[0][1][0][0]
        link = sample_link(report, metric)({"system": "first", "category": best.text.split()[0]})
        assert link.startswith("#samples?system=first&")
        assert best.text[-1].isdigit()
        assert found.divided is not None
    assert "metric=words" in by_metric[1].spreads["category"]
    assert "metric=" not in by_metric[0].spreads["category"]
    assert sample_link(report, "another")({"system": "first"}) == ""
    found, _ = standing_out(build_report(reported.systems()[:1], n_resamples=1), ())
    assert found.divided is None
    assert filter_name("note") == "data.note"


def test_an_attribute_whose_values_have_few_samples_has_no_column() -> None:
    report = reported.report()
    pairs = highlights.Attribute("pair", tuple(str(i // 2) for i in range(N)))
    found, _ = standing_out(report, (*highlights.attributes(report), pairs))
    assert found.systems.columns[-1] == "fails most by occupation"
    assert {len(cells) for _, cells in found.systems.rows} == {len(found.systems.columns)}
