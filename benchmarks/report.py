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


def scoring_tables(found: Sequence[Measured], machine: str) -> str:
    """A table for each model, under what they were measured on."""
    return "\n\n".join([f"Measured on {machine}.", *(table(measured) for measured in found)])


def table(found: Measured) -> str:
    """The ways of scoring of one model; what could not be measured stands below, with the
    reason.
    """
    names = list(found.n_pairs)
    pairs = " and ".join(
        f"{found.n_pairs[name]:,} of {DATASETS[name]} ({found.flops[name] / _GIGA:.2f} GFLOP a"
        " pair)"
        for name in names
    )
    peaks = ", ".join(f"{dtype} {rate / _GIGA:,.0f}" for dtype, rate in found.peaks.items())
    rounds = "round" if found.n_rounds == 1 else "rounds"
    about = (
        f"{found.n_rounds} {rounds} of pairs: {pairs}. Weights in fp32:"
        f" {found.model_bytes / _GIGA:.2f} GB. Peak of products, GFLOP/s: {peaks}."
    )
    heads = [
        *(head for name in names for head in (f"{DATASETS[name]} pairs/s", "× plain", "of peak")),
        "largest deviation",
        *(f"flips {DATASETS[name]}" for name in names),
        "memory over the model, GB",
    ]
    lines = [
        f"### {found.title}",
        "",
        about,
        "",
        "| way of scoring | " + " | ".join(heads) + " |",
        "|---|" + "---:|" * len(heads),
    ]
    lines += [
        f"| {row.title} | {' | '.join(_cells(row, names, found.model_bytes))} |"
        for row in found.rows
        if not row.reason
    ]
    missing = [f"- {row.title}: not measured, {row.reason}" for row in found.rows if row.reason]
    return "\n".join([*lines, *(["", *missing] if missing else [])])


def _cells(row: Row, names: Sequence[str], model_bytes: int) -> list[str]:
    figures = [row.figures[name] for name in names]
    memory = _NONE if row.memory is None else f"{(row.memory - model_bytes) / _GIGA:.2f}"
    speeds = [cell for one in figures for cell in _speed(one)]
    return [
        *speeds,
        f"{max(one.deviation for one in figures):.1e}",
        *(f"{one.n_flips} of {one.n_decisions:,}" for one in figures),
        memory,
    ]


def _speed(figures: Figures) -> tuple[str, str, str]:
    share = _NONE if figures.share_of_peak is None else f"{100 * figures.share_of_peak:.0f} %"
    rate = figures.pairs_per_second
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}", f"{figures.ratio:.2f}", share


def processes_table(found: Sequence[Comparison], machine: str) -> str:
    """Several processes of one thread against one of several."""
    lines = [
        f"Measured on {machine}.",
        "",
        "| model, mode | processes | threads of each | pairs/s | × one process |",
        "|---|---:|---:|---:|---:|",
    ]
    for one in found:
        lines.append(f"| {one.title}, {one.mode} | 1 | {one.threads} | {one.one_process:.1f} | 1 |")
        lines.append(
            f"| {one.title}, {one.mode} | {one.threads} | 1 | {one.several_processes:.1f} |"
            f" {one.ratio:.2f} |"
        )
    return "\n".join(lines)


def as_json(
    found: Sequence[Measured], comparisons: Sequence[Comparison], machine: str
) -> Mapping[str, Any]:
    """All figures, unrounded."""
    return {
        "machine": machine,
        "models": [asdict(measured) for measured in found],
        "processes": [asdict(comparison) for comparison in comparisons],
    }
