"""A judge and a dictionary stand side by side, and what they differ about comes first."""

from dataclasses import replace
from pathlib import Path

from cc_hf.plugins.gender_reading.witness import witness_tables, witnessed
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import ReportedSystem
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Reading
from tests.helpers.usual import cc_hf as command
from tests.helpers.usual import judgement, result_of, write_lines

_TEXTS = ["Direktor", "Direktorin"]


_VERDICTS = {"+": "correct", "-": "incorrect", "?": "inconclusive"}


def _result(metric: str, signs: str) -> EvaluationResult:
    judgements = [
        judgement(i, _VERDICTS[sign], f"text {i}", probability_correct=0.5 + i / 100)
        for i, sign in enumerate(signs)
    ]
    return replace(result_of(judgements), metric=metric)


def _results(judged: str, read: str) -> dict[str, EvaluationResult]:
    """Return the results of a judge and of the reader: + is right, - wrong, ? inconclusive."""
    names = {"contrastive_conditioning": judged, "gender_reading": read}
    return {name: _result(name, signs) for name, signs in names.items()}


def _open(metric: str, *genders: str) -> EvaluationResult:
    readings = tuple(Reading(str(i), "all", "text", gender) for i, gender in enumerate(genders))
    return replace(_result(metric, "+"), judgements=(), readings=readings)


def test_only_what_both_decide_is_compared() -> None:
    judge, reading = _results("++--?", "+-+-+").values()
    rows = witnessed(judge, reading)
    assert [(row.judge == "correct", row.reader == "correct") for row in rows] == [
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    ]


def test_agreement_is_counted_by_category() -> None:
    ((table, rows),) = witness_tables({"a": _results("++-", "+-+")})
    (row,) = table.rows
    assert [cell.value for cell in row.cells][0::2] == ["3", "1"]
    assert [witness.agrees for witness in rows["a"]] == [True, False, False]


def test_readings_of_open_sources_are_compared_likewise() -> None:
    judge = _open("contrastive_conditioning", "feminine", "masculine", "feminine")
    reading = _open("gender_reading", "feminine", "feminine", "both")
    assert [row.agrees for row in witnessed(judge, reading)] == [True, False]


def test_a_result_without_a_reader_has_no_witness() -> None:
    judge = {"contrastive_conditioning": _result("contrastive_conditioning", "++")}
    assert not [*witness_tables({"a": judge})]


def test_the_surest_verdicts_come_first_on_the_page() -> None:
    results = _results("+" * 12, "-" * 12)
    page = html_page(build_report([ReportedSystem("a", results)], examples=None))
    section = page[page.index('id="witness"') :]
    assert "Where they differ, the surest verdicts first" in section


def test_the_option_adds_the_reader_to_the_judge(tmp_path: Path) -> None:
    write_lines(tmp_path / "texts.txt", _TEXTS * 1332)
    done = command(
        "evaluate simplegen en-de --limit 4 --translations texts.txt --witness german-nouns"
        " --cache no -o both.json",
        cwd=tmp_path,
    )
    assert "Second witness" in done.stdout
    results = ResultSet.from_json((tmp_path / "both.json").read_text(encoding="utf-8"))
    names = [result.metric for result in results.results]
    assert names == ["contrastive_conditioning", "gender_reading"]


def test_an_unknown_reader_is_refused_before_anything_is_scored(tmp_path: Path) -> None:
    write_lines(tmp_path / "texts.txt", _TEXTS * 1332)
    done = command(
        "evaluate simplegen en-de --translations texts.txt --witness apertim",
        cwd=tmp_path,
        status=2,
    )
    assert "unknown morphology reader 'apertim'" in done.stderr
