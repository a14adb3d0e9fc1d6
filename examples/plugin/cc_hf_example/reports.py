"""What the package adds to reports: a figure of each result of listed_words, and a section where
examples have lists of words.
"""

from __future__ import annotations

from cc_hf.reports.derived_figures import DerivedFigure
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Cell, ReportTable, Section, SectionPart, TableRow
from cc_hf.reports.sections import SectionHook
from cc_hf.results import EvaluationResult, NoInterval

__all__ = ["SECTION", "silence"]


def silence(result: EvaluationResult) -> DerivedFigure | None:
    """Return the share of translations that have no listed word; None for another metric."""
    if result.metric != "listed_words":
        return None
    n = sum(judgement.verdict == "inconclusive" for judgement in result.judgements)
    meaning = "share of translations with no listed word, or with words of both senses"
    no_interval = NoInterval("an example of a figure")
    return DerivedFigure("silence", "silence", "low", meaning, n / result.n, no_interval, result.n)


def _section(report: Report) -> Section:
    extras = [sample.example.extra for sample in report.samples if sample.example is not None]
    words = {extra["correct_words"]: extra["incorrect_words"] for extra in extras}
    rows = [TableRow(right, (Cell(wrong),)) for right, wrong in words.items()]
    table = ReportTable("Listed words", "right sense", ("wrong sense",), tuple(rows))
    return Section("listed-words", "Listed words", "Listed words", "", (SectionPart(table),))


SECTION = SectionHook(_section, keys=frozenset({"correct_words"}))
