"""A result as a table for the terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from cc_hf.results import EvaluationResult, Interval

__all__ = ["result_table"]

# The paper lists «female» behind «male»; SimpleGEN's own order is that of its Table 2.
_ORDER = {name: i for i, name in enumerate(("male", "female", "frequent", "infrequent", "MoMc", "FoFc", "MoFc", "FoMc"))}


def result_table(result: EvaluationResult) -> Table:
    """Per category n, accuracy with interval, weighted accuracy; then the total and the minimum. Figures in percent."""
    title = " ".join(part for part in (result.dataset, result.config, result.tgt_lang) if part)
    table = Table(
        title=Text(f"{title}: {result.metric.replace('_', ' ')}"),
        title_justify="left",
        caption="percent; intervals by bootstrap within categories",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("category", no_wrap=True)
    for name in ("n", "accuracy (95 %)", "weighted (95 %)", "ties"):
        table.add_column(name, justify="right", no_wrap=True)
    for found in sorted(result.categories, key=lambda c: (_ORDER.get(c.category, len(_ORDER)), c.category)):
        table.add_row(Text(found.category), str(found.n), *_figures(result, "accuracy", f"_{found.category}"), str(found.n_ties))
    table.add_section()
    table.add_row("total", str(result.n), *_figures(result, "accuracy"), str(result.counts.get("n_ties", 0)))
    table.add_row("minimum", "", *_figures(result, "min_accuracy"), "")
    return table


def _figures(result: EvaluationResult, score: str, suffix: str = "") -> tuple[str, str]:
    return _cell(result, f"{score}{suffix}"), _cell(result, f"weighted_{score}{suffix}")


def _cell(result: EvaluationResult, name: str) -> str:
    return f"{100 * result.scores[name]:.1f}{_interval(result.intervals.get(name))}"


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f" ({100 * interval.low:4.1f} – {100 * interval.high:4.1f})"
