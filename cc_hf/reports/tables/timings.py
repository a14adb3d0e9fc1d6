"""Decoding times of systems, as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from cc_hf.reports.numbers import count
from cc_hf.reports.tables.base import heading, plain_table

__all__ = ["timing_table"]


def timing_table(report: Mapping[str, Any], *, title: str) -> Group:
    """Return one row for each system, and below how it was measured.

    Args:
        report: a report, as `cc_hf.systems.timing.TimingReport.to_dict` returns it.
    """
    columns = ("seconds", "from", "to", "CPU seconds", "tokens/s", "precision", "beams")
    table = plain_table("system", *columns)
    for row in report["timings"]:
        marked = "*" if row["busy"] else ""
        table.add_row(
            Text(row["system"]),
            f"{row['seconds']:.2f}{marked}",
            f"{min(row['rounds']):.2f}",
            f"{max(row['rounds']):.2f}",
            f"{row['cpu_seconds']:.2f}",
            count(row["tokens_per_second"]),
            f"{row['precision']} {row['backend']}",
            str(row["beams"]),
        )
    machine, options = report["machine"], report["options"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    lines = [
        f"seconds: median of {options['rounds']} rounds, in which the systems take turns;"
        f" {options['sentences']:,} sentences, batches of {options['batch_tokens']:,} tokens",
        f"{machine['processor']}, {options['threads']} threads of {machine['cores']} cores, device"
        f" {machine['device']}; {versions}",
        f"load average: {machine['load_before']:.1f} before, {machine['load_after']:.1f} after",
    ]
    if any(row["busy"] for row in report["timings"]):
        lines.append(
            "* other processes shared the cores: such times say little; measure on an idle machine."
            " With one thread, the time of the processor is less disturbed"
        )
    return Group(heading(title), table, *map(Text, lines))
