"""Inputs of reports, and `cc-hf compare` of different data, of scores and of figures of studies."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.systems import compare
from cc_hf.data.files.quality_scores import QualityScores
from cc_hf.data.files.result_files import system_names
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.reports import highlights
from cc_hf.reports.figures import Histogram, category_bars, histograms, nice_ticks, quality_points
from cc_hf.reports.inputs import read_examples, read_report_systems
from cc_hf.reports.page.charts import histogram_chart
from cc_hf.reports.page.standing_out import filter_name, sample_link, standing_out
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.side_by_side import of_several_data, read_contents, side_by_side
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import ContrastiveSourceExample
from tests.helpers import reported
from tests.helpers.reported import HOSTILE_NAME, OCCUPATIONS, N
from tests.helpers.usual import (
    cases,
    constant_scores,
    evaluate_dataset,
    fails,
    judgement,
    known,
    printed_by,
    read_json,
    refuses,
    result_of,
    typed,
    write_lines,
    write_result,
    write_text,
)


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


METRIC = "contrastive_conditioning"


def right(report: Report, system: int, metric: int = 0) -> list[bool]:
    actual = [sample.judgements[system][metric] for sample in report.samples]
    return [judgement.is_correct for judgement in actual if judgement is not None]


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
    def actual(examples: Sequence[ContrastiveSourceExample]) -> list[tuple[str, set[str]]]:
        report = build_report(reported.systems()[:1], examples=examples, n_resamples=1)
        return [(a.name, set(a.distinct)) for a in highlights.attributes(report)]

    words, examples = ("Cook", "Nurse", "Guard"), []
    for i, example in enumerate(reported.examples()):
        word = words[i % 3] if i % 2 else words[0]
        text = example.source.replace("cook", word)
        changes: dict[str, Any] = {
            "source": text,
            "extra": {},
            **dict.fromkeys(("correct_sources", "incorrect_sources"), (f"A{text}",)),
        }
        examples.append(replace(example, focus=replace(example.focus, text=word), **changes))
    distinct = {"cook", "nurse", "guard"}
    assert actual(examples) == [("word", distinct)]
    repeated = [replace(e, extra={"occupation": e.focus.text.lower()}) for e in examples]
    assert actual(repeated) == [("occupation", distinct)]
    assert actual([replace(e, extra={"gender": e.category}) for e in reported.examples()]) == []


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


def test_hard_values_do_not_pool_women_and_men(monkeypatch: pytest.MonkeyPatch) -> None:
    report = reported.report()
    occupation = highlights.attributes(report)[0]
    # ten samples of a value and a gender are not here
    assert highlights.hard_values(report, METRIC, occupation, n=3) == ()
    monkeypatch.setattr(highlights, "_SMALLEST", 3)
    verdicts = [right(report, system) for system in (0, 1)]

    def accuracy(value: str, gender: str, systems: tuple[int, ...]) -> float:
        genders = [sample.category for sample in report.samples]
        actual = zip(occupation.values, genders, strict=True)
        rows = [i for i, pair in enumerate(actual) if pair == (value, gender)]
        shares = [sum(verdicts[system][i] for i in rows) / len(rows) for system in systems]
        return sum(shares) / len(shares)

    for system, systems in ((None, (0, 1)), (1, (1,))):
        values = highlights.hard_values(report, METRIC, occupation, n=3, system=system)
        every = product(OCCUPATIONS, ("female", "male"))
        lowest = sorted(accuracy(*pair, systems) for pair in every)[:3]
        assert [accuracy(row.value, row.gender, systems) for row in values] == lowest
        assert values[0].label == f"{values[0].value}, {values[0].gender}"


def test_confusions_count_every_judgement_with_a_reading() -> None:
    report = reported.report()
    assert highlights.confusions(report, METRIC) == ()
    for table in highlights.confusions(report, "words"):
        judgements = report.systems[table.system].results["words"].judgements
        pairs = [(gold, reading) for gold in table.golds for reading in table.readings]
        counts = [count for row in table.counts for count in row]
        actual = {pair: count for pair, count in zip(pairs, counts, strict=True) if count}
        assert actual == Counter((j.gold, j.predicted) for j in judgements)
    words = reported.results(0)["words"]
    many = [replace(j, predicted=str(i % 9)) for i, j in enumerate(words.judgements)]
    system = ReportedSystem("a", {"words": replace(words, judgements=tuple(many))})
    assert highlights.confusions(build_report([system]), "words") == ()


def test_divided_samples_are_right_in_one_system_and_wrong_in_the_other() -> None:
    report = reported.report()
    pairs = list(zip(right(report, 0), right(report, 1), strict=True))
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    assert highlights.divided_samples(report, METRIC) == ((0, only_first), (only_second, 0))


def test_what_stands_out_is_said_of_every_metric_with_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(highlights, "_SMALLEST", 3)
    report = reported.report()
    by_metric = list(standing_out(report, highlights.attributes(report)))
    assert [len(actual.confusions) for actual in by_metric] == [0, 2]
    for actual, metric in zip(by_metric, report.judging, strict=True):
        assert list(actual.spreads) == ["category", "stereotype"]
        assert list(actual.hard_values) == ["occupation"]
        assert [name for name, _ in actual.systems.rows] == ["first", HOSTILE_NAME]
        assert actual.systems.columns == ("fails most by occupation",)  # categories are told above
        worst = actual.systems.rows[0][1][0][0]
        assert worst.text.endswith("wrong")
        assert worst.href.startswith("#samples?system=first&data.occupation=")
        assert ("order=wrong" in worst.href) == (metric == METRIC)
        assert actual.divided is not None
    assert "metric=words" in by_metric[1].spreads["category"]
    assert "metric=" not in by_metric[0].spreads["category"]
    assert sample_link(report, "another")({"system": "first"}) == ""
    actual, _ = standing_out(build_report(reported.systems()[:1], n_resamples=1), ())
    assert actual.divided is None
    assert filter_name("note") == "data.note"


def test_an_attribute_whose_values_have_few_samples_has_no_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(highlights, "_SMALLEST", 3)
    report = reported.report()
    pairs = highlights.Attribute("pair", tuple(str(i // 2) for i in range(N)))
    actual, _ = standing_out(report, (*highlights.attributes(report), pairs))
    assert actual.systems.columns[-1] == "fails most by occupation"
    assert {len(cells) for _, cells in actual.systems.rows} == {len(actual.systems.columns)}


_OWN = ("simplegen", "en-de", "de", "own", "own|data:simplegen/en-de@1.0.0|n:1", 1)
PLAIN = EvaluationResult(*_OWN, {}, {}, (), ())


def test_results_are_grouped_into_systems_by_file_or_name(tmp_path: Path) -> None:
    first, second = reported.results(0), reported.results(1)
    a, b = write_result(tmp_path, "a", first["words"]), tmp_path / "b.json"
    more = write_result(tmp_path, "more", first["contrastive_conditioning"])
    b.write_text(ResultSet(tuple(second.values()), {"bleurt": "no"}).to_json(), encoding="utf-8")
    (actual,), notes = read_report_systems([a, b], quality=QualityScores({("b", "", ""): 0.3}))
    shown = [(s.name, list(s.results), s.bleu) for s in actual]
    assert shown == [("a", ["words"], None), ("b", list(second), 0.3)]
    assert notes == ["BLEU is not known for a"]
    unproved = "Not proved: the metric words is not registered here"
    words = replace(second["words"], notes=(unproved, *second["words"].notes))
    assert actual[1].results == {**second, "words": words}

    (actual,), _ = read_report_systems([a, more, b], ["x", "x", "y"])
    shown_as = [(s.name, list(s.results)) for s in actual]
    assert shown_as == [("x", ["words", "contrastive_conditioning"]), ("y", list(second))]

    twin, bad = write_result(tmp_path / "sub", "a", first["words"]), tmp_path / "no.json"
    bad.write_text("{", encoding="utf-8")
    for files, names, message in (
        ([a, twin], [], "several files are named a; give names, one"),
        ([a, a], ["x", "x"], "x has two results by words"),
        ([a, b], ["x"], "expected one for each file of results, 2 in all, got 1"),
        ([bad], [], r"no\.json: expected the JSON of an evaluation result"),
    ):
        refuses(message, read_report_systems, files, names)
    fails(
        UnknownNameError,
        "'c'",
        read_report_systems,
        [a, b],
        quality=QualityScores({("c", "", ""): 0.3}),
    )


def test_systems_have_the_names_in_their_results(tmp_path: Path) -> None:
    first, second = reported.results(0), reported.results(1)
    aws = replace(first["words"], system="aws")
    cc = replace(first["contrastive_conditioning"], system="aws")

    def read(third: EvaluationResult, *names: str) -> list[tuple[str, list[str], int]]:
        results = enumerate((aws, cc, third), 1)
        files = [write_result(tmp_path, str(i), result) for i, result in results]
        (actual,), _ = read_report_systems(files, names)
        return [(s.name, list(s.results), len(s.files)) for s in actual]

    bing = replace(second["words"], system="bing")
    both = ["words", "contrastive_conditioning"]
    assert read(bing) == [("aws", both, 2), ("bing", ["words"], 1)]
    assert read(bing, "x", "x", "y") == [("x", both, 2), ("y", ["words"], 1)]
    # Two results by one metric, or of different translations, are of different systems.
    for third in (replace(bing, system="aws"), replace(bing, metric="other", system="aws")):
        assert [name for name, *_ in read(third)] == ["1", "2", "3"]
    # On other data, a system has the same name.
    paths = tmp_path / "1.json", tmp_path / "2.json"
    results = aws, replace(aws, tgt_lang="cs")
    assert system_names(list(zip(paths, results, strict=True))) == ["aws", "aws"]


def test_results_on_several_datasets_are_divided_by_them(tmp_path: Path) -> None:
    first, second = (reported.results(i, metrics=["words"])["words"] for i in (0, 1))
    aws, bing = replace(first, system="aws"), replace(second, system="bing")
    results = enumerate((aws, replace(aws, tgt_lang="cs"), bing), 1)
    paths = [write_result(tmp_path, str(i), result) for i, result in results]
    quality = QualityScores({("aws", "", "de"): 0.3, ("aws", "", "cs"): 0.2})
    groups, notes = read_report_systems(paths, quality=quality)
    german, czech = ([(s.name, s.bleu, s.files) for s in systems] for systems in groups)
    assert german == [("aws", 0.3, (str(paths[0]),)), ("bing", None, (str(paths[2]),))]
    assert (czech, notes) == ([("aws", 0.2, (str(paths[1]),))], ["BLEU is not known for bing"])


def test_examples_are_found_for_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    examples, notes = read_examples(PLAIN)
    assert (len(known(examples)), notes) == (2664, [])
    _, notes = read_examples(replace(PLAIN, signature="own|data:simplegen/en-de@0.9"))
    said = "revision 0.9 of simplegen, but the sources shown are from revision 1.0.0"
    assert notes == [f"the results are on {said}"]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    absent = replace(
        PLAIN, dataset="winomt", config="default", signature="own|data:winomt/default@b2f1b31"
    )
    examples, (note,) = read_examples(absent)
    assert examples is None
    assert note.startswith(
        "winomt default is not available: ids and translations are shown without their sources ("
    )
    with pytest.raises(DataError):
        read_examples(absent, dataset="winomt")
    assert read_examples(replace(PLAIN, dataset="gone"))[0] is None
    examples, notes = read_examples(replace(PLAIN, dataset="", config="", signature="own|n:1"))
    assert examples is None
    assert "the file with the data" in notes[0]


def test_examples_of_user_data_are_read_from_their_file(tmp_path: Path) -> None:
    columns = "source,focus,correct_cues,incorrect_cues,category"
    path = write_lines(tmp_path / "bats.csv", [columns, "The bat was old.,bat,baseball,flying,a"])
    result = evaluate_dataset(
        str(path), evaluator=constant_scores, translations=["Der Schläger war alt."], tgt_lang="de"
    )
    # a result is not trusted to name a file of this machine
    for name in (result.dataset, str(path)):
        assert read_examples(replace(result, dataset=name))[0] is None
    examples, notes = read_examples(result, dataset=str(path))
    example_id = result.judgements[0].example_id
    assert [(e.source, e.id) for e in known(examples)] == [("The bat was old.", example_id)]
    assert notes == []


def test_data_of_the_user_are_shown_without_sources_unless_their_file_is_named() -> None:
    note = (
        "sources are not shown, because the results are on data of your own; to show them,"
        " name the file with the data (`--dataset FILE`, in Python `dataset`)"
    )
    assert read_examples(replace(PLAIN, dataset="custom", config="own")) == (None, [note])


def test_samples_have_the_sources_of_the_wording_that_judged() -> None:
    material = cc_hf.load_material("simplegen", "en-de", cues="gender_nouns")
    texts = ["Sie ist Ärztin."] * 2664
    result = cc_hf.evaluate(material, translations=texts, evaluator=constant_scores)
    examples, notes = read_examples(EvaluationResult.from_json(result.to_json()))
    assert not notes
    example = typed(ContrastiveSourceExample, known(examples)[0])
    assert " man " in example.correct_sources[0]
    assert "[male]" not in example.correct_sources[0]


def write_scores(path: Path, *rows: tuple[str, float]) -> Path:
    return write_text(path, json.dumps([{"system": s, "bleu": bleu} for s, bleu in rows]))


def judged(folder: Path, name: str, right: str, **fields: Any) -> Path:
    rows = [judgement(i, ("incorrect", "correct")[int(r)]) for i, r in enumerate(right)]
    return write_result(folder, name, result_of(rows, **fields))


def test_scores_of_several_test_sets_have_a_mean(tmp_path: Path) -> None:
    first = write_scores(tmp_path / "nt13.json", ("base", 20.0), ("big", 26.5))
    files = [first, write_scores(tmp_path / "nt14.json", ("base", 23.0))]
    shown = side_by_side(read_contents(files))
    values = {key: cell.value for key, cell in shown.tables["BLEU"].items()}
    assert values == {("nt13", "base"): 0.2, ("nt13", "big"): 0.265, ("nt14", "base"): 0.23}
    assert shown.means == {("BLEU", "base"): pytest.approx(0.215)}  # "big" lacks a set
    out = tmp_path / "out.json"
    picture = tmp_path / "bars.svg"
    printed = printed_by("compare", *files, "-o", out, "--plot", picture)
    drawn = picture.read_text(encoding="utf-8")
    assert all(f">{text}<" in drawn for text in ("BLEU", "nt13", "nt14", "base", "big"))
    bars = re.findall(r'd="M \S+ (\S+) \nL.*\nL \S+ (\S+) \nL.*\nz\n" clip-path', drawn)
    heights = [float(ground) - float(top) for ground, top in bars]
    assert [20 * height / heights[0] for height in heights] == pytest.approx([20, 23, 26.5])
    assert "mean   21.50" in printed
    assert read_json(out)["tables"][0]["means"] == {"base": pytest.approx(0.215)}


def test_results_on_different_data_stand_side_by_side(tmp_path: Path) -> None:
    systems = (("a", "0011", "de", "base"), ("b", "0111", "de", "big"), ("c", "0001", "fr", "base"))
    files = [
        judged(
            tmp_path,
            name,
            right,
            scores={"accuracy": right.count("1") / 4},
            dataset="wino_x",
            config=f"mt_en_{lang}.translations",
            system=system,
        )
        for name, right, lang, system in systems
    ]
    assert [of_several_data(read_contents(files[:n])) for n in (1, 2, 3)] == [False, False, True]
    (table,) = side_by_side(read_contents(files)).tables.values()
    shown = [(system, cell.value) for (_, system), cell in table.items()]
    assert shown == [("base", 0.5), ("big", 0.75), ("base", 0.25)]
    assert "no differences are tested" in printed_by("compare", *files)
    refuses("shared, right_alone: .* on the same data", printed_by, "compare --shared", *files)
    refuses(
        "plot: .* on different data", printed_by, f"compare --plot {tmp_path}/bars.svg", *files[:2]
    )


def test_a_figure_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    path = write_scores(tmp_path / "nt13.json", ("base", 20.0), ("base", 21.0))
    refuses("expected one value of base on nt13, got two", side_by_side, read_contents([path]))
    path.write_text('[{"system": 1, "bleu": 2}]', encoding="utf-8")
    refuses(
        r"nt13.json: item 1: system: expected a text, got 1", side_by_side, read_contents([path])
    )
