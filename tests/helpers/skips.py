"""Tests that are skipped: why, and which skips are no failures where everything is required."""

import os
from typing import TypeVar

import pytest

#: How reasons begin that no package and no data removes: they are of the machine, or of what CI
#: does not download.
MAY_BE_SKIPPED = ("this machine", "this system", "this torch", "real models")

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a test was skipped, in one line.

    Args:
        report: a report with the outcome "skipped".
    """
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    return " ".join(text.removeprefix("Skipped: ").split())


def refused(report: Report) -> Report:
    """Return the report, with a failure in place of a skip if CC_HF_REQUIRE_ALL is set.

    Reasons that `MAY_BE_SKIPPED` names, and tests that are expected to fail, stay as they are.

    Args:
        report: the report of a test, or of collecting a file.
    """
    if report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return report
    reason = skip_reason(report)
    if os.environ.get("CC_HF_REQUIRE_ALL") and not reason.startswith(MAY_BE_SKIPPED):
        report.outcome = "failed"
        report.longrepr = f"CC_HF_REQUIRE_ALL is set, and this was skipped: {reason}"
    return report
