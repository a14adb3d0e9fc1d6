"""The report of a result that Python writes to a file."""

from __future__ import annotations

from pathlib import Path

from cc_hf.errors import InputError
from cc_hf.reports.formats.markdown import markdown_report
from cc_hf.reports.inputs import read_examples
from cc_hf.reports.page.page import html_page
from cc_hf.reports.tables.answer import report_of
from cc_hf.reports.tables.scores import results_of
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.writing import check_output, write_atomically

__all__ = ["write_report"]

_WRITERS = {".html": html_page, ".md": markdown_report}


def write_report(outcome: EvaluationResult | ResultSet, path: Path) -> None:
    """Write the page of one system, or its tables as Markdown."""
    if path.suffix.lower() not in _WRITERS:
        endings = " or ".join(_WRITERS)
        raise InputError(f"path: expected a file that ends in {endings}, got {path}")
    check_output(path, "path")
    examples, notes = read_examples(results_of(outcome)[0])
    report = report_of([outcome], examples, notes=notes)
    write_atomically(path, _WRITERS[path.suffix.lower()](report))
