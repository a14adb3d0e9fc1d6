"""What disambiguation bias adds to a report. Every report loads this module, so the rest of the
study is imported only where there is something to show.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Section
from cc_hf.reports.sections import SectionHook

__all__ = ["SECTION"]


def _section(report: Report) -> Section | None:
    from cc_hf_studies.disambiguation_bias.report_tables import bias_section

    return bias_section(report)


def _attractors(path: Path) -> Any:
    from cc_hf_studies.disambiguation_bias.attractors import read_table

    return read_table(path)


SECTION = SectionHook(_section, keys=frozenset({"freq_diff"}), files={"attractors": _attractors})
