"""The decision of a gate as a table for the terminal and the logs of a CI."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from cc_hf.comparing.gate import Gate, GateFigure
from cc_hf.reports.figure_text import figure_label, metric_name, signed_percent
from cc_hf.reports.numbers import count, p_text, percent
from cc_hf.reports.tables.base import heading, plain_table

__all__ = ["gate_tables"]


def gate_tables(decided: Gate) -> Group:
    """Return the decision, a row for each figure, and what the columns are.

    Figures that fail, or that are not sure, come first.
    """
    columns = ("n", decided.baseline, decided.system, "change", "not below", "p of a drop", "")
    table = plain_table("", *columns)
    order = ("fail", "cannot tell", "pass")
    for figure in sorted(decided.figures, key=lambda f: (f.margin is None, order.index(f.verdict))):
        table.add_row(
            Text(f"{metric_name(figure.metric)}: {figure_label(figure.metric, figure.figure)}"),
            count(figure.n),
            percent(figure.baseline),
            percent(figure.system),
            signed_percent(figure.system - figure.baseline),
            signed_percent(figure.low),
            p_text(figure.p_value),
            Text(_verdict(figure)),
        )
    return Group(
        heading(f"gate: {decided.verdict}"),
        table,
        Text(
            "percent; not below: one-sided limit of the change; p is exact, and corrected by Holm",
            style="italic",
        ),
        Text(f"signature: {decided.signature}"),
    )


def _verdict(figure: GateFigure) -> str:
    if figure.margin is None:
        return "fail" if figure.verdict == "fail" else ""
    if figure.verdict == "cannot tell" and figure.n_needed:
        return f"cannot tell: about {figure.n_needed:,} samples are needed"
    return figure.verdict
