"""Twelve systems whose long names differ at the end only are told apart everywhere."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.text import Text

from cc_hf.comparing.metrics import evaluator_agreement
from cc_hf.reports.figures import category_bars, histograms, quality_points
from cc_hf.reports.formats.latex import latex_report
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.formats.plots import plots
from cc_hf.reports.marks import mark_classes, name_lines
from cc_hf.reports.page.charts import bar_chart, quality_chart
from cc_hf.reports.page.drawing import are_long
from cc_hf.reports.page.page import html_page, html_table
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.report_tables import category_table, figures_table, summary_table
from cc_hf.reports.samples import System
from cc_hf.reports.tables.base import plain_table
from cc_hf.reports.tables.metrics import evaluator_agreement_tables
from tests.helpers import reported
from tests.helpers.browser import Page
from tests.helpers.cases import cases
from tests.helpers.printing import assert_print_is_whole
from tests.helpers.results import agreement_results
from tests.helpers.terminal import printed

N = 12
NAMES = [f"opus-mt-tc-big-en-de-finetune-on-the-same-data-with-seed-{i:03d}" for i in range(N)]
METRIC = "contrastive_conditioning"


@pytest.fixture(scope="module")
def report() -> Report:
    """A report on twelve systems, which differ in their names and their BLEU only."""
    results = reported.results(0, metrics=[METRIC])
    systems = [System(name, results, 0.30 + i / 100) for i, name in enumerate(NAMES)]
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
    found = plots(report, file_format="svg")
    assert len(histograms(report, METRIC)) == N
    for name in ("categories", "probabilities", "quality"):
        text = "".join(words(found[f"{name}.{METRIC}.svg"].decode()))
        assert all(system in text for system in NAMES), name
        assert "…" not in text
    categories = found[f"categories.{METRIC}.svg"].decode()
    assert "<pattern" in categories  # the ninth system has the first colour, and is hatched
    width, height = re.findall(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', categories)[0]
    assert float(width) < 20 * 72
    assert float(height) < 12 * 72


@pytest.mark.parametrize("name", ["", "a", "x" * 200, "a b " * 40, "-" * 90, "é/ü_" * 30])
def test_no_character_of_a_name_is_lost(name: str) -> None:
    lines = name_lines(name, 30)
    assert all(len(line) <= 30 for line in lines)
    assert "".join("".join(lines).split()) == "".join(name.split())


def test_a_single_system_needs_no_legend() -> None:
    (system,) = reported.systems()[:1]
    report = build_report([replace(system, name=NAMES[0])], n_resamples=1)
    assert NAMES[0] in html_page(report)
    assert plots(report)


@pytest.mark.browser
def test_print_holds_every_name_and_figure(page: Page, report: Report, tmp_path: Path) -> None:
    (tmp_path / "out.html").write_text(html_page(report), encoding="utf-8")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto((tmp_path / "out.html").as_uri())
    text = assert_print_is_whole(page, tmp_path / "out.pdf")
    assert all(text.count(name) >= 5 for name in NAMES)


def test_long_names_are_continued_on_further_lines() -> None:
    rows = plain_table("", *(f"{i}0.0 (10.0 – 20.0)" for i in range(3)))
    for name in NAMES[:4]:
        rows.add_row(Text(name), *["50.0 (45.1 – 54.9)"] * 3)
    shown = printed(rows)
    joined = re.sub(r"\s", "", "".join(line[:22] for line in shown.splitlines()[2:]))
    assert shown.count("50.0 (45.1 – 54.9)") == 12
    assert all(len(name) == 60 for name in NAMES[:4])
    assert all(name[-3:] in joined for name in NAMES[:4])


@cases(["a", "b", "c"], NAMES[:4], [f"facebook/wmt19-{i}" for i in range(4)])
def test_evaluator_agreement_fits_and_names_every_evaluator(names: list[str]) -> None:
    agreement = evaluator_agreement(agreement_results(**dict.fromkeys(names, (0.1, 0.2, 0.3, 0.4))))
    joined = re.sub(r"\s", "", printed(evaluator_agreement_tables(agreement)))
    assert all(name in joined for name in names)
