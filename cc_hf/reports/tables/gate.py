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

    Figures that decide come first, then those that fail, or that are not sure.
    """
    columns = ("n", decided.baseline, decided.system, "change", "not below", "p", "")
    table = plain_table("", *columns)
    order = ("fail", "cannot tell", "pass")
    for figure in sorted(decided.figures, key=lambda f: (not f.decides, order.index(f.verdict))):
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
    margins = " and ".join(f"{100 * m:g}" for m in dict.fromkeys(f.margin for f in decided.figures))
    shared = "; only samples that both systems read" * decided.is_shared
    return Group(
        heading(f"gate: {decided.verdict}"),
        table,
        Text(
            f"percent; tolerated: a drop of {margins} points; not below: one-sided limit of the"
            " change; p: of a drop beyond what is tolerated, corrected by Holm; figures in brackets"
            f" close nothing unless they fail{shared}",
            style="italic",
        ),
        Text(f"signature: {decided.signature}"),
    )


def _verdict(figure: GateFigure) -> str:
    text: str = figure.verdict
    if figure.verdict == "cannot tell":
        text += f": about {figure.n_needed:,} samples are needed"
    return text if figure.decides or figure.verdict == "fail" else f"({text})"
