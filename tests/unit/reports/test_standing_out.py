"""What stands out in a report: spreads, hard values, confusions, and links to their samples."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from cc_hf.reports import highlights
from cc_hf.reports.page.standing_out import filter_name, sample_link, standing_out
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.schema import ContrastiveSourceExample
from tests.helpers import reported
from tests.helpers.reported import HOSTILE_NAME, OCCUPATIONS, N

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


def test_a_metric_with_many_readings_has_no_table_of_confusions() -> None:
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


def test_samples_of_one_system_are_not_divided() -> None:
    actual, _ = standing_out(build_report(reported.systems()[:1], n_resamples=1), ())
    assert actual.divided is None


def test_links_are_to_samples_of_metrics_and_columns_that_the_page_has() -> None:
    assert sample_link(reported.report(), "another")({"system": "first"}) == ""
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
