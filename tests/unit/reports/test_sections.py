"""A section of a made-up study: every format shows it, and it is built only where it applies."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from markupsafe import Markup

from cc_hf import registry
from cc_hf.errors import UnknownNameError
from cc_hf.reports.formats.latex import latex_report, latex_text
from cc_hf.reports.formats.markdown import markdown_report, markdown_text
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.report_parts import Cell, ReportTable, Section, SectionPart, TableRow
from cc_hf.reports.sections import SectionHook, read_section_files
from tests.helpers import reported
from tests.helpers.lines import write_text
from tests.helpers.refusals import fails

EVIL = "<script>x</script> | a_b & 100%"
CHART = Markup("<svg></svg>")


def table(title: str) -> ReportTable:
    return ReportTable(title, "corner", ("column",), (TableRow(EVIL, (Cell(EVIL),)),), caption=EVIL)


def toy(report: Report, *, is_on_page: bool = True) -> Section | None:
    n = len(report.section_inputs.get("toys", "x"))
    first = SectionPart(table(f"{n} toys, {EVIL}"), f"heading {EVIL}", CHART, "own")
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
