"""The table of times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cc_hf.reports.numbers import count
from cc_hf.reports.report_parts import Piece, ReportTable

__all__ = ["timing_table"]


def timing_table(report: Mapping[str, Any], *, title: str) -> list[Piece]:
    """Return one row for each system, and below how it was measured."""
    times = ("seconds", "from", "to", "CPU seconds")
    rows = [
        (
            row["system"],
            f"{row['seconds']:.2f}{'*' if row['busy'] else ''}",
            f"{min(row['rounds']):.2f}",
            f"{max(row['rounds']):.2f}",
            f"{row['cpu_seconds']:.2f}",
            count(row["tokens_per_second"]),
            f"{row['precision']} {row['backend']}",
            str(row["beams"]),
        )
        for row in report["timings"]
    ]
    columns = ("system", *times, "tokens/s", "precision", "beams")
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
    return [ReportTable.of(title, columns, rows), *lines]
