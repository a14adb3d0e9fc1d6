"""Uncertain samples, and averages over seeds, as tables for the terminal, in percent."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cc_hf.comparing.seeds import SeedAverage
from cc_hf.comparing.uncertain import UncertainSamples
from cc_hf.reports.figure_text import (
    category_key,
    data_name,
    figure_label,
    metric_name,
    ratio_text,
    with_interval,
)
from cc_hf.reports.key_figures import key_figures
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.tables.base import heading, own_judge_lines, plain_table
from cc_hf.results import EvaluationResult
from cc_hf.statistics.gender_figures import RATIO
from cc_hf.statistics.seeds import SeedFigure
from cc_hf.statistics.shares import wilson_share

__all__ = ["seed_tables", "uncertain_tables"]

_SYSTEMS_PER_TABLE = 2  # beside a column of labels, so many fit into 80 characters


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
    parts: list[RenderableType] = [
        heading(f"{data_name(result)}: {metric_name(result.metric)}"),
        table,
        Text(
            f"uncertain: a probability of the correct reading from {low} to {high} %. Such a"
            " translation may be neutral, may lack the word, or the evaluator may not know it",
            style="italic",
        ),
        *own_judge_lines([("", result)]),
    ]
    for sample in uncertain.samples[:n_shown]:
        facts = [f"{percent(sample.probability_correct)} %", sample.category]
        facts += [f"{metric_name(m)}: {r}" for m, r in sample.readings.items() if r]
        parts.append(Text(f"\n{sample.example_id}: {', '.join(facts)}", style="bold"))
        parts += [Text(text) for text in (sample.source, sample.translation) if text]
    if len(uncertain.samples) > n_shown:
        parts.append(Text(f"\nand {len(uncertain.samples) - n_shown:,} more"))
    return Group(*parts)


def seed_tables(averages: Sequence[SeedAverage]) -> Group:
    """Return a table for each dataset and metric, with standard deviations over seeds."""
    groups: dict[tuple[str, str], list[SeedAverage]] = {}
    for average in averages:
        groups.setdefault((data_name(average.first), average.first.metric), []).append(average)
    parts: list[RenderableType] = []
    for (data, metric), systems in groups.items():
        parts.append(heading(f"{data}: {metric_name(metric)}: means over seeds"))
        names = [*dict.fromkeys(name for s in systems for name in key_figures(s.first)), RATIO]
        for start in range(0, len(systems), _SYSTEMS_PER_TABLE):
            block = systems[start : start + _SYSTEMS_PER_TABLE]
            table = plain_table("", *(f"{s.system or 'system'} (n = {s.n_seeds})" for s in block))
            for name in names:
                if any(name in s.figures for s in block):
                    cells = [_cell(name, s.figures.get(name)) for s in block]
                    table.add_row(
                        Text("ratio M:F" if name == RATIO else figure_label(metric, name)), *cells
                    )
            parts.append(table)
        for system in systems:
            if system.undefined:
                missing = ", ".join(
                    f"{name} ({n} of {system.n_seeds})" for name, n in system.undefined.items()
                )
                parts.append(Text(f"{system.system}: undefined for some seeds: {missing}"))
    parts.append(
        Text(
            "percent, ± standard deviation over seeds; differences, minima and ratios are computed"
            " from the means",
            style="italic",
        )
    )
    parts += own_judge_lines((average.system, average.first) for average in averages)
    return Group(*parts)


def _cell(name: str, figure: SeedFigure | None) -> str:
    if figure is None:
        return ""
    texts = [
        "" if value is None else ratio_text(value, None) if name == RATIO else percent(value)
        for value in (figure.mean, figure.sd)
    ]
    return " ± ".join(filter(None, texts)).replace("-", "−")
