"""The changes of texts that a metric tried, as a table."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from cc_hf.comparing.changes import ExplainedChanges
from cc_hf.reports.figure_text import metric_name
from cc_hf.reports.numbers import decimal
from cc_hf.reports.spans import change_name
from cc_hf.reports.tables.base import heading, note_lines, plain_table

__all__ = ["changes_table"]

_NOTHING = "∅"


def changes_table(explained: ExplainedChanges) -> Group:
    """Return the texts, and a line for each change, the one that helps most first."""
    table = plain_table("change", "nats per token", "")
    for change, is_error in zip(explained.changes, explained.is_error, strict=True):
        becomes = (
            "" if change.replacement is None else f" → {change.replacement.strip() or _NOTHING}"
        )
        table.add_row(
            Text(f"{change_name(change)}: {change.text.strip() or _NOTHING}{becomes}"),
            decimal(change.difference, digits=3),
            "error" if is_error else "",
        )
    verdict = "correct" if explained.is_correct else "incorrect"
    return Group(
        heading(f"{metric_name(explained.metric)}: {verdict}"),
        Text(f"source: {explained.source}"),
        Text(f"translation: {explained.translation}"),
        table,
        Text("error: the other text is more probable with the change"),
        *note_lines(explained.notes),
    )
