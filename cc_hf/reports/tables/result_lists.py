"""Uncertain samples as tables for the terminal, in percent."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from cc_hf.comparing.uncertain import UncertainSamples
from cc_hf.metrics.open_choice import counted_share
from cc_hf.reports.figure_text import (
    category_key,
    data_name,
    metric_name,
    with_interval,
)
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.tables.base import heading, plain_table, unfit_lines
from cc_hf.results import EvaluationResult
from cc_hf.statistics.shares import wilson_share

__all__ = ["uncertain_tables"]


def uncertain_tables(
    uncertain: UncertainSamples, result: EvaluationResult, *, n_shown: int
) -> Group:
    """Return numbers of uncertain samples by category, and the samples, the least sure first."""
    low, high = (percent(0.5 + sign * uncertain.within) for sign in (-1, 1))
    table = plain_table("category", "samples", "uncertain", "% (95 %)")
    rows = sorted(uncertain.categories.items(), key=lambda row: category_key(row[0]))
    rows.append(("total", wilson_share(len(uncertain.samples), uncertain.n)))
    for name, share in rows:
        text = with_interval(share.value, share.interval)
        table.add_row(Text(name), count(share.n), count(share.k), text)
    counted = counted_share(result).rpartition("_")[0] or "correct"
    parts: list[RenderableType] = [
        heading(f"{data_name(result)}: {metric_name(result.metric)}"),
        table,
        Text(
            f"uncertain: a probability of the {counted} reading from {low} to {high} %. Such a"
            " translation may be neutral, may lack the word, or the evaluator may not know it",
            style="italic",
        ),
        *unfit_lines([("", result)]),
    ]
    for sample in uncertain.samples[:n_shown]:
        facts = [f"{percent(sample.probability_correct)} %", sample.category]
        facts += [f"{metric_name(m)}: {r}" for m, r in sample.readings.items() if r]
        parts.append(Text(f"\n{sample.example_id}: {', '.join(facts)}", style="bold"))
        parts += [Text(text) for text in (sample.source, sample.translation) if text]
    if len(uncertain.samples) > n_shown:
        parts.append(Text(f"\nand {len(uncertain.samples) - n_shown:,} more"))
    return Group(*parts)
