"""A section of a made-up study: every format shows it, and it is built only where it applies. The
notes of a result are shown wherever its figures are shown. Twelve systems whose long names differ
at the end only are told apart everywhere.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from unittest.mock import Mock
from xml.etree import ElementTree as ET

import pytest
from markupsafe import Markup

import cc_hf
from cc_hf import registry
from cc_hf.comparing.explanation import explain
from cc_hf.comparing.metrics import evaluator_agreement
from cc_hf.comparing.systems import compare
from cc_hf.errors import UnknownNameError
from cc_hf.reports.figures import category_bars, histograms, quality_points
from cc_hf.reports.formats.latex import latex_paper_table, latex_report, latex_text
from cc_hf.reports.formats.markdown import markdown_report, markdown_text
from cc_hf.reports.formats.plots import plots
from cc_hf.reports.marks import mark_classes, name_lines
from cc_hf.reports.page.charts import bar_chart, quality_chart
from cc_hf.reports.page.drawing import are_long
from cc_hf.reports.page.explanations import explanation_html, explanation_table
from cc_hf.reports.page.page import html_page, html_table
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.report_parts import Cell, ReportTable, Section, SectionPart, TableRow
from cc_hf.reports.report_tables import category_table, figures_table, summary_table
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.sections import SectionHook, read_section_files
from cc_hf.reports.tables.base import result_table, results_table
from cc_hf.reports.tables.comparisons import comparison_tables, evaluator_agreement_tables
from cc_hf.results import EvaluationResult, ResultSet
from tests.helpers import reported
from tests.helpers.browser import Page
from tests.helpers.printing import assert_print_is_whole
from tests.helpers.results import agreement_results, small_result
from tests.helpers.usual import cases, fails, invoke, printed, printed_by, write_lines, write_text

EVIL = "<script>x</script> | a_b & 100%"


def table(title: str) -> ReportTable:
    return ReportTable(title, "corner", ("column",), (TableRow(EVIL, (Cell(EVIL),)),), caption=EVIL)


def toy(report: Report, *, is_on_page: bool = True) -> Section | None:
    n = len(report.section_inputs.get("toys", "x"))
    first = SectionPart(table(f"{n} toys, {EVIL}"), f"heading {EVIL}", Markup("<svg></svg>"), "own")
    parts = (first, SectionPart(table("Second toys")))
    return Section("toys", f"link {EVIL}", f"title {EVIL}", f"lead {EVIL}", parts, is_on_page)


Hooked = Callable[[SectionHook], None]


@pytest.fixture
def hooked(monkeypatch: pytest.MonkeyPatch) -> Hooked:
    return lambda hook: monkeypatch.setitem(registry._TABLES, "report section", {"toys": hook})


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


def test_a_section_can_be_of_tables_only_or_of_nothing(hooked: Hooked) -> None:
    hooked(SectionHook(lambda report: toy(report, is_on_page=False), keys=frozenset({"toy"})))
    report = report_on("toy")
    assert "toys" not in html_page(report)
    assert "Second toys" in markdown_report(report)
    hooked(SectionHook(lambda report: None, keys=frozenset({"toy"})))
    assert report_on("toy").sections == ()


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


def test_a_file_that_no_study_reads_is_refused(hooked: Hooked) -> None:
    hooked(SectionHook(toy, files={"toys": Path.read_text}))
    fails(UnknownNameError, r"'toy'.* mean 'toys'", read_section_files, {"toy": Path("toys.txt")})


def test_registered_hooks_read_files_of_different_names() -> None:
    hooks = registry.load_all("report section").values()
    names = [name for hook in hooks for name in hook.files]
    assert len(names) == len(set(names))


def test_a_report_without_sections_imports_hooks_only() -> None:
    program = """
import sys
from cc_hf.reports.formats.markdown import markdown_report
from tests.helpers import reported
markdown_report(reported.report())
print(*(name for name in sys.modules if name.startswith("cc_hf_studies.")))
"""
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True).split()
    packages = {name for name in loaded if name.count(".") == 1}
    hooks = metadata.entry_points(group="cc_hf.report_sections")
    assert {*loaded} - packages == {hook.module for hook in hooks}


NOTE = "Made for <b>another</b> kind"
BATS = """source,focus,correct_cues,incorrect_cues,category,tgt_lang
The bat was old.,bat,baseball|wooden,flying|{focus} (animal),sport,de
A bat slept in the attic.,bat,flying|{focus} (animal),baseball|wooden,animal,de
"""


def noted() -> EvaluationResult:
    return replace(small_result((0.4, 0.9)), notes=(NOTE,))


def test_notes_are_shown_in_tables_comparisons_and_every_report() -> None:
    other = replace(noted(), metric="words", notes=())
    assert f"note: {NOTE}" in printed(result_table(noted()), width=300)
    both = printed(results_table(ResultSet((noted(), other))), width=300)
    assert f"note: {noted().metric.replace('_', ' ')}: {NOTE}" in both
    results = {"a": noted(), "b": replace(noted(), notes=())}
    comparison = compare(results, n_resamples=10)
    assert f"note: a: {NOTE}" in printed(comparison_tables(comparison), width=300)
    assert json.loads(comparison.to_json())["notes"] == {"a": [NOTE], "b": []}
    systems = [ReportedSystem(name, {r.metric: r}) for name, r in results.items()]
    report = build_report(systems, n_resamples=10)
    assert report.notes[0] == f"a: {NOTE}"
    assert "Made for &lt;b&gt;another&lt;/b&gt; kind" in html_page(report)
    markdown = markdown_report(report)
    assert markdown.index("another") < markdown.index("## Accuracy by category")
    latex = latex_report(report)
    assert latex.index("a: Made for") < latex.index(r"\caption")
    assert "a: Made for" in latex_paper_table(report)


def test_notes_are_shown_in_an_explanation() -> None:
    tiny = cc_hf.load_evaluator("cc-tiny-en-de")
    explanation = explain(tiny, "Der Schläger war alt.", ["A baseball bat."], ["A flying bat."])
    assert len(explanation.notes) == 1
    assert "this row has other cues" in printed(explanation_table(explanation), width=300)
    assert 'role="note"' in explanation_html(explanation)
    assert json.loads(explanation.to_json())["notes"] == list(explanation.notes)
    other = explain(tiny, "Die Ärztin.", ["The [female] doctor."], ["The [male] doctor."])
    assert other.notes == ()


@cases("", "--evaluator cc-tiny-en-de")
def test_the_bat_example_of_the_readme_gets_a_note(evaluator: str, tmp_path: Path) -> None:
    (tmp_path / "bats.csv").write_text(BATS, encoding="utf-8")
    texts = ["Der Schläger war alt.", "Eine Fledermaus schlief auf dem Dachboden."]
    path = write_lines(tmp_path / "bats.de.txt", texts)
    invoked = invoke(
        f"evaluate {tmp_path}/bats.csv "
        f"--translations {path} {evaluator} --output {tmp_path}/bats.json --quiet --verbose"
    )
    assert invoked.exit_code == 0, invoked.output
    text = " ".join(invoked.output.split())
    assert "note: cc-tiny-en-de was made to judge the gender of people" in text
    assert "`cc-hf judge check` counts how often a judge is right" in text
    (note,) = EvaluationResult.from_json((tmp_path / "bats.json").read_text(encoding="utf-8")).notes
    assert "all 2 rows have other cues" in note


def test_evaluators_are_listed_with_their_agreement() -> None:
    text = " ".join(printed_by("list evaluators", columns=500).split())
    assert "93.75 %, 98.91 % weighted agreement with human annotators on winomt (n = 400)" in text
    assert (
        "in the paper: a member of the WMT19 ensemble of Ng et al. 2019, which has 97.6 %"
        " weighted agreement"
    ) in text


N = 12
NAMES = [f"opus-mt-tc-big-en-de-finetune-on-the-same-data-with-seed-{i:03d}" for i in range(N)]
METRIC = "contrastive_conditioning"


@pytest.fixture(scope="module")
def report() -> Report:
    """A report on twelve systems, which differ in their names and their BLEU only."""
    results = reported.results(0, metrics=[METRIC])
    systems = [ReportedSystem(name, results, 0.30 + i / 100) for i, name in enumerate(NAMES)]
    return build_report(systems, n_resamples=20)


def words(svg: str) -> list[str]:
    """Return the texts that an SVG shows, without the names of its parts for screen readers."""
    return [part.text or "" for part in ET.fromstring(svg).iter() if part.tag.endswith("text")]


def test_charts_of_the_page_show_every_name_in_full(report: Report) -> None:
    bars = words(bar_chart(category_bars(report, METRIC), NAMES, label="x"))
    assert [name for name in bars if name in NAMES] == NAMES * len(report.categories)
    dots = words(quality_chart(quality_points(report, METRIC), NAMES, label="x"))
    joined = "".join(dots).replace(" ", "")
    for i, name in enumerate(NAMES):
        assert str(i + 1) in dots  # at the mark
        assert f"{i + 1}.{name}" in joined  # below the chart
    longer = [name * 2 for name in NAMES]
    joined = "".join(words(bar_chart(category_bars(report, METRIC), longer, label="x")))
    assert joined.count(longer[11]) == len(report.categories)


@cases(("Model alpha", True), ("MMW-Mwmm", False))
def test_a_name_stands_beside_its_bar_only_if_it_is_narrow(name: str, is_beside: bool) -> None:
    """Capitals and m are wide: the end of a name of few characters covered its mark."""
    assert are_long([name]) is not is_beside


def test_marks_differ_in_colour_or_shape(report: Report) -> None:
    assert len({mark_classes(i) for i in range(48)}) == 48
    assert len({mark_classes(i).split()[1] for i in range(6)}) == 6  # also without colours
    chart = ET.fromstring(quality_chart(quality_points(report, METRIC), NAMES, label="x"))
    paths = [part for part in chart.iter() if part.tag.endswith("path")]
    assert len({(path.get("class"), path.get("d")) for path in paths}) == N


def test_tables_have_names_in_full_and_systems_as_rows(report: Report) -> None:
    tables = [summary_table(report), category_table(report, METRIC)]
    for table in tables:
        assert [row.label for row in table.rows] == NAMES
        assert [row.system for row in table.rows] == list(range(N))
        shown = html_table(table)
        assert all(f">{name}<" in shown or f">{name} <" in shown for name in NAMES)
        assert all(mark_classes(i) in shown for i in range(N))
    assert figures_table(report, METRIC).columns == tuple(NAMES)
    assert {len(row.cells) for row in tables[1].rows} == {len(tables[1].columns)}
    few = build_report(reported.systems(), n_resamples=10)
    assert category_table(few, METRIC).corner == "category"


def test_page_and_texts_have_every_name(report: Report) -> None:
    latex = latex_report(report).replace(r"\allowbreak{}", "")
    for text in (html_page(report), markdown_report(report), latex):
        assert all(text.count(name) >= 3 for name in NAMES)
        assert "…" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_plots_have_every_name_and_a_mark_of_its_own(report: Report) -> None:
    actual = plots(report, file_format="svg")
    assert len(histograms(report, METRIC)) == N
    for name in ("categories", "probabilities", "quality"):
        text = "".join(words(actual[f"{name}.{METRIC}.svg"].decode()))
        assert all(system in text for system in NAMES), name
        assert "…" not in text
    categories = actual[f"categories.{METRIC}.svg"].decode()
    assert "<pattern" in categories  # the ninth system has the first colour, and is hatched
    width, height = re.findall(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', categories)[0]
    assert (float(width) < 20 * 72, float(height) < 12 * 72) == (True, True)
    alone = build_report([replace(reported.systems()[0], name=NAMES[0])], n_resamples=1)
    assert NAMES[0] in html_page(alone)
    assert plots(alone)  # a single system needs no legend


@pytest.mark.parametrize("name", ["", "a", "x" * 200, "a b " * 40, "-" * 90, "é/ü_" * 30])
def test_no_character_of_a_name_is_lost(name: str) -> None:
    lines = name_lines(name, 30)
    assert all(len(line) <= 30 for line in lines)
    assert "".join("".join(lines).split()) == "".join(name.split())


def test_print_holds_every_name_and_figure(page: Page, report: Report, tmp_path: Path) -> None:
    (tmp_path / "out.html").write_text(html_page(report), encoding="utf-8")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto((tmp_path / "out.html").as_uri())
    text = assert_print_is_whole(page, tmp_path / "out.pdf")
    assert all(text.count(name) >= 5 for name in NAMES)


def test_long_names_are_continued_on_further_lines() -> None:
    columns = ("", *(f"{i}0.0 (10.0 – 20.0)" for i in range(3)))
    rows = [(name, *["50.0 (45.1 – 54.9)"] * 3) for name in NAMES[:4]]
    shown = printed([ReportTable.of("", columns, rows)])
    joined = re.sub(r"\s", "", "".join(line[:22] for line in shown.splitlines()[2:]))
    assert shown.count("50.0 (45.1 – 54.9)") == 12
    assert all(name[-3:] in joined for name in NAMES[:4])


@cases(["a", "b", "c"], NAMES[:4], [f"facebook/wmt19-{i}" for i in range(4)])
def test_evaluator_agreement_fits_and_names_every_evaluator(names: list[str]) -> None:
    agreement = evaluator_agreement(agreement_results(**dict.fromkeys(names, (0.1, 0.2, 0.3, 0.4))))
    joined = re.sub(r"\s", "", printed(evaluator_agreement_tables(agreement)))
    assert all(name in joined for name in names)
