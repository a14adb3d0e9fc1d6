"""A result as a table for the terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from cc_hf.results import EvaluationResult, Interval

__all__ = ["result_table"]

# The paper lists «female» behind «male»; SimpleGEN's own order is that of its Table 2.
_ORDER = {name: i for i, name in enumerate(("male", "female", "frequent", "infrequent", "MoMc", "FoFc", "MoFc", "FoMc"))}


def result_table(result: EvaluationResult) -> Table:
    """Per category n, accuracy with interval, weighted accuracy; then the total and the minimum. Figures in percent."""
    title = " ".join(part for part in (result.dataset, result.config, result.tgt_lang) if part)
    table = Table(title=Text(f"{title}: {result.metric.replace('_', ' ')}"), title_justify="left")
    table.add_column("category")
    for name in ("n", "accuracy %", "95 % interval", "weighted %", "95 % interval", "ties"):
        table.add_column(name, justify="right")
    for found in sorted(result.categories, key=lambda c: (_ORDER.get(c.category, len(_ORDER)), c.category)):
        table.add_row(Text(found.category), str(found.n), *_figures(result, f"_{found.category}"), str(found.n_ties))
    table.add_section()
    table.add_row("total", str(result.n), *_figures(result, ""), str(result.counts.get("n_ties", 0)))
    values = (("min_accuracy", "weighted_min_accuracy"),)
    for plain, weighted in values:
        table.add_row("minimum", "", *_cells(result, plain), *_cells(result, weighted), "")
    return table


def _figures(result: EvaluationResult, suffix: str) -> tuple[str, ...]:
    return (*_cells(result, f"accuracy{suffix}"), *_cells(result, f"weighted_accuracy{suffix}"))


def _cells(result: EvaluationResult, name: str) -> tuple[str, str]:
    return f"{100 * result.scores[name]:.1f}", _interval(result.intervals.get(name))


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f"{100 * interval.low:.1f} – {100 * interval.high:.1f}"
