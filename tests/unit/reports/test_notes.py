"""The notes of a result are shown wherever its figures are shown."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import cc_hf
from cc_hf.comparing.explanation import explain
from cc_hf.comparing.systems import compare
from cc_hf.leaderboard.html import result_html
from cc_hf.leaderboard.store import read_folder
from cc_hf.leaderboard.table import leaderboard_rows, to_csv, to_json
from cc_hf.reports.formats.latex import latex_paper_table, latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.page.explanations import explanation_html, explanation_table
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import System
from cc_hf.reports.tables.base import result_table, results_table
from cc_hf.reports.tables.comparisons import comparison_tables
from cc_hf.results import EvaluationResult, ResultSet
from tests.helpers.command_line import invoke, printed_by
from tests.helpers.lines import write_lines
from tests.helpers.results import small_result, write_result
from tests.helpers.terminal import printed

NOTE = "Made for <b>another</b> kind"
BATS = """source,focus,correct_cues,incorrect_cues,category,tgt_lang
The bat was old.,bat,baseball|wooden,flying|{focus} (animal),sport,de
A bat slept in the attic.,bat,flying|{focus} (animal),baseball|wooden,animal,de
"""


def noted() -> EvaluationResult:
    return replace(small_result((0.4, 0.9)), notes=(NOTE,))


def test_notes_are_shown_in_the_table() -> None:
    other = replace(noted(), metric="words", notes=())
    assert f"note: {NOTE}" in printed(result_table(noted()), width=300)
    both = printed(results_table(ResultSet((noted(), other))), width=300)
    assert f"note: {noted().metric.replace('_', ' ')}: {NOTE}" in both


def test_notes_are_shown_in_a_comparison() -> None:
    found = compare({"a": noted(), "b": replace(noted(), notes=())}, n_resamples=10)
    assert f"note: a: {NOTE}" in printed(comparison_tables(found), width=300)
    assert json.loads(found.to_json())["notes"] == {"a": [NOTE], "b": []}


def test_notes_are_shown_in_every_report() -> None:
    results = {"a": noted(), "b": replace(noted(), notes=())}
    systems = [System(name, {r.metric: r}) for name, r in results.items()]
    report = build_report(systems, n_resamples=10)
    assert report.notes[0] == f"a: {NOTE}"
    assert "Made for &lt;b&gt;another&lt;/b&gt; kind" in html_page(report)
    markdown = markdown_report(report)
    assert markdown.index("another") < markdown.index("## Accuracy by category")
    latex = latex_report(report)
    assert latex.index("a: Made for") < latex.index(r"\caption")
    assert "a: Made for" in latex_paper_table(report)


def test_notes_are_shown_on_the_leaderboard(tmp_path: Path) -> None:
    write_result(tmp_path, "aws", noted())
    rows = leaderboard_rows(read_folder(tmp_path))
    assert rows[0].notes == (NOTE,)
    assert NOTE in to_csv(rows)
    assert NOTE in to_json(rows)
    page = result_html(noted())
    assert "Made for &lt;b&gt;another&lt;/b&gt; kind" in page
    assert NOTE not in page


def test_notes_are_shown_in_an_explanation() -> None:
    tiny = cc_hf.load_evaluator("cc-tiny-en-de")
    found = explain(tiny, "Der Schläger war alt.", ["A baseball bat."], ["A flying bat."])
    assert len(found.notes) == 1
    assert "this row has other cues" in printed(explanation_table(found), width=300)
    assert 'role="note"' in explanation_html(found)
    assert json.loads(found.to_json())["notes"] == list(found.notes)
    other = explain(tiny, "Die Ärztin.", ["The [female] doctor."], ["The [male] doctor."])
    assert other.notes == ()


@pytest.mark.parametrize(
    "evaluator", ["", "--evaluator cc-tiny-en-de"], ids=["default evaluator", "named evaluator"]
)
def test_the_bat_example_of_the_readme_gets_a_note(tmp_path: Path, evaluator: str) -> None:
    (tmp_path / "bats.csv").write_text(BATS, encoding="utf-8")
    texts = ["Der Schläger war alt.", "Eine Fledermaus schlief auf dem Dachboden."]
    path = write_lines(tmp_path / "bats.de.txt", texts)
    options = f"--translations {path} {evaluator} --output {tmp_path}/bats.json --quiet"
    found = invoke(f"evaluate {tmp_path}/bats.csv {options}")
    assert found.exit_code == 0, found.output
    text = " ".join(found.output.split())
    assert "note: cc-tiny-en-de was made to judge the gender of people" in text
    assert "facebook/wmt19-en-de" in text
    (note,) = EvaluationResult.from_json((tmp_path / "bats.json").read_text(encoding="utf-8")).notes
    assert "all 2 rows have other cues" in note


def test_evaluators_are_listed_with_their_agreement() -> None:
    text = " ".join(printed_by("list evaluators", columns=500).split())
    assert "93.75 %, 98.91 % weighted agreement with human annotators on winomt (n = 400)" in text
    recommended = "recommended: a member of the WMT19 ensemble of Ng et al. 2019, which has 97.6 %"
    assert f"{recommended} weighted agreement" in text
