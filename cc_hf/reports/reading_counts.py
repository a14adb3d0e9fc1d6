"""What metrics read in translations without a verdict: numbers of readings by category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from cc_hf.reports.figure_text import category_key, category_name, metric_name
from cc_hf.reports.numbers import count
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Cell, ReportTable, Section, SectionPart, TableRow
from cc_hf.results import EvaluationResult
from cc_hf.schema import INCONCLUSIVE

__all__ = ["reading_sections", "reading_table"]

_CAPTION = "Numbers of translations by what is read in them, without verdicts."


def reading_sections(report: Report) -> tuple[Section, ...]:
    """Return a section with one table for each metric that reads without verdicts; () for none."""
    parts = tuple(
        SectionPart(reading_table(report.of_metric(metric), metric)) for metric in report.reading
    )
    return (Section("readings", "Readings", "What is read", "", parts),) if parts else ()


def reading_table(results: Mapping[str, EvaluationResult], metric: str) -> ReportTable:
    """Return the numbers of readings, with a row for each category and columns for each system.

    Examples:
        >>> from cc_hf.schema import Reading
        >>> read = tuple(Reading(str(i), "all", "", name) for i, name in enumerate(["both", ""]))
        >>> result = EvaluationResult("", "", "de", "m", "m|n:2", 2, {}, {}, (), (), readings=read)
        >>> table = reading_table({"a": result}, "m")
        >>> table.columns, [cell.value for cell in table.rows[0].cells]
        (('both', 'inconclusive'), ['1', '1'])
    """
    tables = {
        name: Counter((row.category, row.reading) for row in result.readings)
        for name, result in results.items()
    }
    used = {cell for table in tables.values() for cell in table}
    categories = sorted({category for category, _ in used}, key=category_key)
    read = sorted({reading for _, reading in used}, key=lambda name: (not name, name))
    return ReportTable(
        metric_name(metric),
        "category",
        tuple(name or INCONCLUSIVE for name in read) * len(tables),
        tuple(
            TableRow(
                category_name(category),
                tuple(
                    Cell(count(table[category, name])) for table in tables.values() for name in read
                ),
            )
            for category in categories
        ),
        tuple((name, len(read)) for name in tables) if len(tables) > 1 else (),
        _CAPTION,
    )
