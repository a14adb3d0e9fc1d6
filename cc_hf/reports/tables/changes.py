"""The changes of texts that a metric tried, as a table."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from cc_hf.comparing.changes import ExplainedChanges
from cc_hf.reports.figure_text import metric_name
from cc_hf.reports.numbers import decimal
from cc_hf.reports.tables.base import heading, plain_table

__all__ = ["changes_table"]

_NOTHING = "∅"


def changes_table(explained: ExplainedChanges) -> Group:
    """Return the texts, and a line for each change, the one that helps most first."""
    n_errors = sum(explained.is_error)
    table = plain_table("change", "nats per token", "")
    for change, is_error in zip(explained.changes, explained.is_error, strict=True):
        name = change.phenomenon or f"{change.side} without"
        becomes = (
            "" if change.replacement is None else f" → {change.replacement.strip() or _NOTHING}"
        )
        table.add_row(
            Text(f"{name.replace('_', ' ')}: {change.text.strip() or _NOTHING}{becomes}"),
            decimal(change.difference, digits=3),
            "error" if is_error else "",
        )
    verdict = "incorrect" if n_errors else "correct"
    return Group(
        heading(f"{metric_name(explained.metric)}: {verdict}"),
        Text(f"source: {explained.source}"),
        Text(f"translation: {explained.translation}"),
        table,
        Text("error: the other text is more probable with the change"),
    )
