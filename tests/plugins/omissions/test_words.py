"""The words that are most often left out or added, in tables and on the page."""

from typing import Any

from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import build_report
from cc_hf.reports.report_tables import report_tables
from cc_hf.reports.samples import ReportedSystem
from cc_hf.schema import TextSpan
from tests.helpers.usual import judgement, result_of


def _spans(*texts: str, side: str = "source", replacement: str | None = None) -> Any:
    """Return parts that follow one another, and one across the first two with less difference."""
    parts = [TextSpan(side, 9 * i, 9 * i + 8, t, 0.3, "", replacement) for i, t in enumerate(texts)]
    return (*parts, TextSpan(side, 0, 17, "a much longer part", 0.1, "", replacement))


def test_words_that_are_left_out_or_added_most_often_are_counted() -> None:
    actual = [_spans("the PLANE", "Plane", "Straße"), _spans("Plane", *"kjihgfedcb", "of")]
    actual.append(_spans("plane", replacement="ship"))
    actual.append(_spans("<b>bitte|", "die", side="translation"))
    systems = []
    for name, parts in {"a": actual, "b": actual[:1] + actual[2:3] * 3}.items():
        rows = [judgement(i, "incorrect", name, spans=p) for i, p in enumerate(parts)]
        result = result_of(rows, scores={"accuracy": 0.0}, signature="m|langs:en-de|n:4")
        systems.append(ReportedSystem(name, {result.metric: result}))
    left_out, added = report_tables(build_report(systems))[-2:]
    assert (left_out.title, added.title) == ("Most often left out: m", "Most often added: m")
    cells = {row.label: [cell.value for cell in row.cells] for row in left_out.rows}
    assert list(cells)[:4] == ["Plane", "Straße", "b", "c"]
    assert (cells["Plane"], cells["Straße"]) == (["3", "2", "2", "1"], ["1", "1"] * 2)
    assert len(cells) == 10
    assert left_out.caption.endswith(" Words not shown: 1.")
    assert [row.label for row in added.rows] == ["b", "bitte"]
    alone = build_report(systems[:1])
    rows_of = "| word | times | translations |\n| --- | ---: | ---: |\n| Plane | 3 | 2 |"
    assert rows_of in markdown_report(alone)
    assert "Words left out and added" in html_page(alone)
