"""The measurements in words and Markdown, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.measure import Figures, Measured, Row
from benchmarks.processes import Comparison
from benchmarks.texts import DATASETS

__all__ = ["as_json", "processes_table", "scoring_tables", "table"]

_GIGA = 1e9
_NONE = "–"


def scoring_tables(models: Sequence[Measured], machine: str) -> str:
    """Return a table for each model, in Markdown, with a line about the machine."""
    return "\n\n".join([f"Measured on {machine}.", *(table(measured) for measured in models)])


def table(measured: Measured) -> str:
    """Return the table of one model, in Markdown, and why some ways could not be measured."""
    names = list(measured.n_pairs)
    pairs = " and ".join(
        f"{measured.n_pairs[name]:,} of {DATASETS[name]} ({measured.flops[name] / _GIGA:.2f} GFLOP"
        " a pair)"
        for name in names
    )
    peaks = ", ".join(f"{dtype} {rate / _GIGA:,.0f}" for dtype, rate in measured.peaks.items())
    rounds = "round" if measured.n_rounds == 1 else "rounds"
    about = (
        f"{measured.n_rounds} {rounds} of pairs: {pairs}. Weights in fp32:"
        f" {measured.model_bytes / _GIGA:.2f} GB. Peak of products, GFLOP/s: {peaks}."
    )
    heads = [
        *(head for name in names for head in (f"{DATASETS[name]}, of peak", "pairs/s", "× plain")),
        "largest deviation",
        *(f"flips {DATASETS[name]}" for name in names),
        "memory over the model, GB",
    ]
    lines = [
        f"### {measured.title}",
        "",
        about,
        "",
        "| way of scoring | " + " | ".join(heads) + " |",
        "|---|" + "---:|" * len(heads),
    ]
    lines += [
        f"| {row.title} | {' | '.join(_cells(row, names, measured.model_bytes))} |"
        for row in measured.rows
        if not row.reason
    ]
    missing = [f"- {row.title}: not measured, {row.reason}" for row in measured.rows if row.reason]
    return "\n".join([*lines, *(["", *missing] if missing else [])])


def _cells(row: Row, names: Sequence[str], model_bytes: int) -> list[str]:
    """Return the cells of a row after its title."""
    by_dataset = [row.figures[name] for name in names]
    memory = _NONE if row.memory is None else f"{(row.memory - model_bytes) / _GIGA:.2f}"
    speeds = [cell for figures in by_dataset for cell in _speed(figures)]
    return [
        *speeds,
        f"{max(figures.deviation for figures in by_dataset):.1e}",
        *(f"{figures.n_flips} of {figures.n_decisions:,}" for figures in by_dataset),
        memory,
    ]


def _speed(figures: Figures) -> tuple[str, str, str]:
    """Return the share of the peak, pairs per second, and the ratio to the baseline."""
    share = _NONE if figures.share_of_peak is None else f"{100 * figures.share_of_peak:.0f} %"
    rate = figures.pairs_per_second
    return share, f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}", f"{figures.ratio:.2f}"


def processes_table(comparisons: Sequence[Comparison], machine: str) -> str:
    """Return a table that compares several processes with one process, in Markdown."""
    lines = [
        f"Measured on {machine}.",
        "",
        "| model, mode | processes | threads of each | pairs/s | × one process |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in comparisons:
        lines.append(f"| {row.title}, {row.mode} | 1 | {row.threads} | {row.one_process:.1f} | 1 |")
        lines.append(
            f"| {row.title}, {row.mode} | {row.threads} | 1 | {row.several_processes:.1f} |"
            f" {row.ratio:.2f} |"
        )
    return "\n".join(lines)


def as_json(
    models: Sequence[Measured], comparisons: Sequence[Comparison], machine: str
) -> Mapping[str, Any]:
    """Return all figures, unrounded, as JSON values."""
    return {
        "machine": machine,
        "models": [asdict(measured) for measured in models],
        "processes": [asdict(comparison) for comparison in comparisons],
    }
