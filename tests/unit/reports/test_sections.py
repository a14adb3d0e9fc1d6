"""A section of a made-up study: every format shows it, and it is built only where it applies. The
notes of a result are shown wherever its figures are shown.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from markupsafe import Markup

import cc_hf
from cc_hf import registry
from cc_hf.comparing.explanation import explain
from cc_hf.comparing.systems import compare
from cc_hf.errors import UnknownNameError
from cc_hf.leaderboard.html import result_html
from cc_hf.leaderboard.store import read_folder
from cc_hf.leaderboard.table import leaderboard_rows, to_csv, to_json
from cc_hf.reports.formats.latex import latex_paper_table, latex_report, latex_text
from cc_hf.reports.formats.markdown import markdown_report, markdown_text
from cc_hf.reports.page.explanations import explanation_html, explanation_table
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.report_parts import Cell, ReportTable, Section, SectionPart, TableRow
from cc_hf.reports.samples import System
from cc_hf.reports.sections import SectionHook, read_section_files
from cc_hf.reports.tables.base import result_table, results_table
from cc_hf.reports.tables.comparisons import comparison_tables
from cc_hf.results import EvaluationResult, ResultSet
from tests.helpers import reported
from tests.helpers.cases import cases
from tests.helpers.command_line import invoke, printed_by
from tests.helpers.lines import write_lines, write_text
from tests.helpers.refusals import fails
from tests.helpers.results import small_result, write_result
from tests.helpers.terminal import printed

EVIL = "<script>x</script> | a_b & 100%"


def table(title: str) -> ReportTable:
    return ReportTable(title, "corner", ("column",), (TableRow(EVIL, (Cell(EVIL),)),), caption=EVIL)


def toy(report: Report, *, is_on_page: bool = True) -> Section | None:
    n = len(report.section_inputs.get("toys", "x"))
    first = SectionPart(table(f"{n} toys, {EVIL}"), f"heading {EVIL}", Markup("<svg></svg>"), "own")
    parts = (first, SectionPart(table("Second toys")))
    return Section("toys", f"link {EVIL}", f"title {EVIL}", f"lead {EVIL}", parts, is_on_page)


@pytest.fixture
def hooked(monkeypatch: pytest.MonkeyPatch) -> Callable[[SectionHook], None]:
    return lambda hook: monkeypatch.setattr(registry, "study_parts", lambda part: iter([hook]))


Hooked = Callable[[SectionHook], None]


def report_on(*keys: str, **inputs: str) -> Report:
    more, examples = dict.fromkeys(keys, "1"), reported.examples()
    examples = [replace(example, extra={**example.extra, **more}) for example in examples]
    return build_report(reported.systems(), examples=examples, n_resamples=1, section_inputs=inputs)


def test_every_format_shows_the_section_escaped(hooked: Hooked) -> None:
    hooked(SectionHook(toy, keys=frozenset({"toy"})))
    report = report_on("toy")
    page, markdown, latex = html_page(report), markdown_report(report), latex_report(report)
    assert "<script>x" not in page
    assert '<section id="toys" aria-labelledby="toys-title">' in page
    shown = EVIL.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert f'<li><a href="#toys">link {shown}</a></li>' in page
    assert f'<h2 id="toys-title">title {shown}</h2>\n<p class="lead">lead {shown}</p>' in page
    assert f'<h3>heading {shown}</h3>\n<div class="beside"><figure><svg></svg></figure>' in page
    assert '<table class="own">' in page
    assert "<h3>Second toys</h3>\n<div" in page
    assert page.count(f'<span class="value">{shown}</span>') == 2
    for text, escape in ((markdown, markdown_text), (latex, latex_text)):
        assert text.count(escape(f"1 toys, {EVIL}")) == 1
        assert text.count("Second toys") == 1
        assert escape(f"heading {EVIL}") not in text
        assert EVIL not in text


def test_a_section_can_be_of_tables_only(hooked: Hooked) -> None:
    hooked(SectionHook(lambda report: toy(report, is_on_page=False), keys=frozenset({"toy"})))
    report = report_on("toy")
    assert "toys" not in html_page(report)
    assert "Second toys" in markdown_report(report)


def test_a_section_is_built_once_and_only_where_it_applies(hooked: Hooked, tmp_path: Path) -> None:
    build = Mock(side_effect=toy)
    hooked(SectionHook(build, keys=frozenset({"toy"}), files={"toys": Path.read_text}))
    for other in (report_on(), report_on("other", others="abc")):
        assert "Second toys" not in markdown_report(other) + html_page(other)
    build.assert_not_called()
    path = write_text(tmp_path / "toys.txt", "abcde")
    report = report_on(**read_section_files({"toys": path, "others": None}))
    for show in (markdown_report, html_page, latex_report):
        assert "5 toys" in show(report)
    build.assert_called_once()


def test_a_study_can_have_nothing_to_show(hooked: Hooked) -> None:
    hooked(SectionHook(lambda report: None, keys=frozenset({"toy"})))
    assert report_on("toy").sections == ()


def test_a_file_that_no_study_reads_is_refused(hooked: Hooked) -> None:
    hooked(SectionHook(toy, files={"toys": Path.read_text}))
    fails(UnknownNameError, r"'toy'.* mean 'toys'", read_section_files, {"toy": Path("toys.txt")})


def test_registered_hooks_read_files_of_different_names() -> None:
    hooks = list(registry.study_parts("report_section"))
    assert all(isinstance(hook, SectionHook) and (hook.keys or hook.files) for hook in hooks)
    names = [name for hook in hooks for name in hook.files]
    assert len(names) == len(set(names))


def test_a_report_without_sections_imports_hooks_of_studies_only() -> None:
    program = """
import sys
from cc_hf.reports.formats.markdown import markdown_report
from tests.helpers import reported
markdown_report(reported.report())
print(*(name for name in sys.modules if name.startswith("cc_hf.studies.")))
"""
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True).split()
    hooks = {study.report_section for study in registry.STUDIES.values() if study.report_section}
    packages = {name for name in loaded if name.count(".") == 2}
    assert {*loaded} - packages == {hook.partition(":")[0] for hook in hooks}


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


@cases("", "--evaluator cc-tiny-en-de")
def test_the_bat_example_of_the_readme_gets_a_note(evaluator: str, tmp_path: Path) -> None:
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
