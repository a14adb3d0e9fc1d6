"""The section of reports on a second witness."""

from __future__ import annotations

from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Section
from cc_hf.reports.sections import SectionHook

__all__ = ["SECTION"]


def _section(report: Report) -> Section | None:
    if all("gender_reading" not in system.results for system in report.systems):
        return None
    from cc_hf.plugins.gender_reading.witness import witness_section

    return witness_section(report)


SECTION = SectionHook(_section)
