"""The section of reports on the words that are most often left out or added."""

from __future__ import annotations

from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Section
from cc_hf.reports.sections import SectionHook

__all__ = ["SECTION"]


def _section(report: Report) -> Section | None:
    from cc_hf.plugins.omissions.span_words import word_section

    return word_section(report)


#: For every report, since metrics of other packages mark parts of texts, too.
SECTION = SectionHook(_section)
