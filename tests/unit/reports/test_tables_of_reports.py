import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

from cc_hf.reports.formats.latex import latex_report, latex_text
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.formats.plots import empty_figure, plots, saved_figure
from cc_hf.reports.numbers import percent
from cc_hf.reports.page.page import html_page, html_table
from cc_hf.reports.report import Report, build_report
from cc_hf.reports.report_parts import ReportTable, TableRow
from cc_hf.reports.report_tables import figure_cell, report_tables, summary_table
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import result_table
from cc_hf.reports.templates import render_page, render_piece
from cc_hf.results import EvaluationResult
from tests.helpers import reported
from tests.helpers.metrics import simplegen
from tests.helpers.reported import HOSTILE_NAME
from tests.helpers.usual import fails, limits, printed, refuses


def test_colours_of_differences_follow_the_direction_of_the_figure() -> None:
    results = [simplegen(n_right) for n_right in ((9, 9, 5, 5), (8, 8, 8, 8))]
    systems = [ReportedSystem(name, {r.metric: r}) for name, r in zip("ab", results, strict=True)]
    report = build_report(systems, n_resamples=10)
    expected = {"accuracy": True, "delta": True, "accuracy_pro": False, "inconclusive_rate": None}
    cells = [figure_cell(report, results[0].metric, "b", name) for name in expected]
    assert [cell.is_better for cell in cells] == list(expected.values())
    assert [cell.difference[0] for cell in cells] == ["+", "−", "−", "0"]
    for cell, colour in zip(cells, ("better", "better", "worse", "flat"), strict=True):
        row = TableRow("b", (replace(cell, is_significant=True),))
        assert f'class="difference {colour}"' in html_table(ReportTable("", "", ("x",), (row,)))


def test_the_summary_table_shows_quality_and_metrics() -> None:
    report = reported.report()
    table = summary_table(report)
    metric, others = "contrastive_conditioning", ("a|<i>b</i>", "male", "female")
    groups = (("standing", 2), ("quality", 1), ("contrastive conditioning", 6), ("words", 6))
    assert table.groups == groups
    beside = tuple(f"accuracy on {name}" for name in others)
    # much is unread by words: no accuracy stands there
    shares = [
        f"{kind} on {name}" for name in ("female", *others[:2]) for kind in ("wrong", "unread")
    ]
    first_columns = ("band", "rank", "BLEU", "minimum accuracy", *beside)
    assert table.columns == (*first_columns, "accuracy", "weighted accuracy", *shares)
    assert table.bests == ("low", "low", *["high"] * 7, *["low"] * 6)
    first, second = table.rows
    labels = [(row.label, row.note) for row in table.rows]
    assert labels == [("first", "baseline"), (HOSTILE_NAME, "not fit to cite")]
    scores = report.systems[0].results[metric].scores
    names = ("min_accuracy", *(f"accuracy_{name}" for name in others))
    values = [percent(scores[name]) for name in (*names, "accuracy", "weighted_accuracy")]
    assert [cell.value for cell in first.cells[:9]] == ["1", "1 – 2", "31.2", *values]
    assert {cell.difference for cell in first.cells} == {""}
    compared = report.comparisons[metric, HOSTILE_NAME].differences["min_accuracy"]
    shown = second.cells[3]
    assert shown.difference.replace("−", "-").lstrip("+") == percent(compared.difference)
    assert shown.is_significant == (compared.p_value < 0.05)
    low, high = limits(report.systems[1].results[metric].intervals["accuracy"])
    assert second.cells[7].interval == f"{percent(low)} – {percent(high)}"
    assert "Differences to first are in percentage points" in table.caption
    alone = summary_table(build_report(reported.systems()[:1], n_resamples=1))
    assert alone.rows[0].note == ""
    assert "Differences" not in alone.caption


def test_every_table_has_all_its_cells() -> None:
    tables = report_tables(reported.report())
    kinds, metrics = ("Accuracy by category", "All figures"), ("contrastive conditioning", "words")
    titles = [f"{kind}: {metric}" for kind in kinds for metric in metrics]
    titles = ["Systems and metrics", *titles, "Agreement with human labels"]
    assert [table.title for table in tables] == titles
    for table in tables:
        assert {len(row.cells) for row in table.rows} == {len(table.columns)}
        assert not table.groups or sum(n for _, n in table.groups) == len(table.columns)


def test_markdown_cells_are_escaped() -> None:
    text = markdown_report(reported.report())
    for part in re.split(r"\n## ", text):
        rows = [line for line in part.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in rows}) <= 1, part
    assert text.count("\n|") > 20
    assert r"&lt;/script>&lt;b>b\|c&lt;/b> \$x\_1\$ &amp; 100%" in text
    assert not re.search(r"<(?!-)", re.sub("`[^`]*`", "", text))
    assert "- &lt;em>a note&lt;/em>" in text
    assert reported.report().signature in text


def test_latex_is_escaped_and_complete() -> None:
    text = latex_report(reported.report())
    assert (
        r"\textless{}/script\textgreater{}"
        r"\textless{}b\textgreater{}b\textbar{}c\textless{}/b\textgreater{}"
        r" \$x\_1\$ \& 100\%"
    ) in text.replace(r"\allowbreak{}", "")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    column = r">\{\\ragged(?:left|right)\\arraybackslash\}p\{[0-9.]+\\linewidth\}"
    assert "<" not in body
    assert not re.search(r"(?<!\\)_", body)
    tables = re.findall(
        rf"\\begin\{{longtable\}}\{{((?:{column})+)\}}(.*?)\\end\{{longtable\}}", body, re.DOTALL
    )
    assert len(tables) >= len(set(re.findall(r"\\label\{.*?\}", body))) == 6  # wide ones go on
    for columns, content in tables:
        for line in re.findall(r"^(?!\\caption)(.* & .*) \\\\$", content, re.MULTILINE):
            n = sum(int(k) - 1 for k in re.findall(r"\\multicolumn\{(\d+)\}", line))
            n += len(re.findall(r"(?<!\\)&", line)) + 1
            assert n == len(re.findall(column, columns)), line
    escaped = r"{[}a{]} {*}b{*} c\textbackslash{}d \textasciitilde{}\textasciicircum{}"
    assert latex_text("[a] *b* c\\d\n~^") == escaped


def test_html_is_well_formed() -> None:
    page = html_page(reported.report())
    assert _parsed(page).tags.count("script") == page.count("</script>") == 2
    assert "<b>b|c" not in page
    assert "&lt;em&gt;a note" in page
    assert ' style="' not in page
    assert not re.search(r'(?:src|href)="(?!#|https://aclanthology\.org/)', page)


def test_texts_cannot_end_their_html_element() -> None:
    """This holds for names, categories, translations and notes, in elements and in attributes."""
    evil = f"\"><img src=x onerror='x'>{{{{ 7 * 7 }}}}' {HOSTILE_NAME}"
    actual = reported.report()
    fields: dict[str, Any] = {"dataset": evil, "signature": evil, "notes": (evil,)}
    judged = {}
    for metric, result in reported.results(0).items():
        categories = tuple(replace(c, category=evil) for c in result.categories)
        judged[metric] = replace(result, categories=categories, **fields)
    hostile = replace(actual, systems=(replace(actual.systems[0], name=evil, results=judged),))
    parser = _parsed(html_page(hostile))
    assert parser.tags.count("script") == 2
    assert not {"img", "b|c"} & set(parser.tags)
    assert not {name for name in parser.attributes if name.startswith("on") or name == "src"}
    assert evil in parser.texts
    assert f"Copy the signature: {evil}, words" in parser.values
    assert any(value.startswith(f"Accuracy by category: words. {evil}") for value in parser.values)
    # header cells have their scope
    shown = html_table(ReportTable("t", "system", ("a", "b"), (TableRow("x", ()),), (("g", 2),)))
    assert '<th scope="colgroup" colspan="2" class="group">g</th>' in shown
    assert shown.count('scope="col"') == 3
    assert '<th scope="row">x</th>' in shown


def test_plots_are_png_files_with_a_colour_per_system() -> None:
    from PIL import Image

    report = reported.report()
    actual = plots(report)
    cc = [f"{kind}.contrastive_conditioning" for kind in ("categories", "probabilities", "quality")]
    kinds = ["categories.words", "quality.words", *cc]
    assert set(actual) == {f"{kind}.png" for kind in kinds}
    for name, content in actual.items():
        with Image.open(io.BytesIO(content)) as image:
            colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 20) or []}
            assert image.width > 500, name
        assert {(31, 111, 196), (208, 97, 15)} <= colours, name  # one for each system
    again = plots(report, file_format="svg")
    assert again == plots(report, file_format="svg")
    assert set(again) == {f"{kind}.svg" for kind in kinds}
    assert b"BLEU" in again["quality.words.svg"]
    assert b"&lt;/script&gt;" in again["quality.words.svg"]
    refuses("expected one of png, svg, pdf, got 'eps'", plots, report, file_format="eps")


def test_plots_as_pdf_have_searchable_text_and_no_date() -> None:
    from pypdf import PdfReader

    figure, (axes,) = empty_figure(1, width=3, height=2)
    axes.plot([-2, 2], [-0.5, 0.5])
    (page,) = PdfReader(io.BytesIO(saved_figure(figure, "pdf"))).pages
    assert "−2" in page.extract_text()  # a real minus
    assert "-2" not in page.extract_text()
    report = reported.report()
    pictures = plots(report, file_format="pdf")
    assert (pictures, len(pictures)) == (plots(report, file_format="pdf"), 5)
    for name, content in pictures.items():
        reader = PdfReader(io.BytesIO(content))
        (page,) = reader.pages
        fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
        # Type 42 is embedded as a TrueType font with a map to Unicode, never as type 3.
        assert {font["/Subtype"] for font in fonts} == {"/Type0"}, name
        assert not any("date" in key.lower() for key in reader.metadata or {})
        text = page.extract_text()
        assert "d (c), German" in text or "probability of the correct reading, %" in text
        assert "first" in text
        assert HOSTILE_NAME.split()[0] in text.replace("\n", ""), text


class _Balance(HTMLParser):
    """Collects elements, and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.tags, self.texts = list[str](), list[str](), list[str]()
        self.attributes, self.values = set[str](), set[str]()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.values |= {value for _, value in attrs if value}
        if tag not in ("meta", "input", "br", "link", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag


def _parsed(page: str) -> _Balance:
    """Return the parts of a page whose elements are all closed."""
    parser = _Balance()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def _report_of(result: EvaluationResult) -> Report:
    return build_report([ReportedSystem("a", {result.metric: result})], n_resamples=1)


@pytest.mark.parametrize("metric", ["../../evil", "/abs/evil", "..", "a\0b", "x" * 300, "", "a\nb"])
def test_plot_names_stay_in_their_folder(metric: str) -> None:
    result = replace(reported.results(0)["contrastive_conditioning"], metric=metric)
    names = list(plots(_report_of(result), file_format="svg"))
    assert names
    for name in names:
        assert re.fullmatch(r"(categories|probabilities|quality)\.[\w.-]{1,80}\.svg", name)
        assert Path(name).name == name


def test_tables_mark_the_category_excluded_from_the_minimum() -> None:
    plain = reported.results(0)["contrastive_conditioning"]
    excluded = replace(plain.categories[0], category="none")
    result = replace(plain, categories=(*plain.categories[1:], excluded))
    labels = [row.label for row in report_tables(_report_of(result))[1].rows]
    assert [label for label in labels if label.startswith("none")] == ["none (not in minimum)"]
    assert "none (not in minimum)" in printed(result_table(result), width=200)


def test_a_missing_template_value_raises() -> None:
    fails(UndefinedError, "table", render_piece, "reports/page/pieces.html.jinja", "table")
    fails(
        UndefinedError, "policy", render_page, "reports/page/explanation_page.html.jinja", title="a"
    )
