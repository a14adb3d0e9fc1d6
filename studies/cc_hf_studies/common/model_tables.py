"""Two models side by side as a table."""

from __future__ import annotations

from collections.abc import Sequence

from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, p_text, percent
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.results import NoInterval
from cc_hf_studies.common.model_comparison import ComparedFigure

__all__ = ["model_comparison_tables"]

#: Names of figures in words, and whether higher is better.
_NAMES = {
    "bleu": "BLEU",
    "wsd_errors": "errors on homographs, %",
    "attack_success": "attacks that succeed, %",
    "wino_x_accuracy": "Wino-X, %",
}


def model_comparison_tables(
    figures: Sequence[ComparedFigure], *, names: tuple[str, str]
) -> list[Piece]:
    """Return the figures of both models, with differences and tests."""
    table: list[tuple[str, ...]] = []
    parts: list[Piece] = [
        ReportTable.of(
            f"{names[0]} (first) and {names[1]} (second)",
            ("", "first", "second", "difference (95 %)", "p", "McNemar"),
            table,
        )
    ]
    for row in figures:
        n = count(row.n[0]) + (f" and {row.n[1]:,}" if row.n[0] != row.n[1] else "")
        table.append(
            (
                f"{_NAMES[row.figure]}\n{row.data}, n = {n}",
                percent(row.difference.first),
                percent(row.difference.second),
                with_interval(row.difference.difference, row.difference.interval),
                p_text(row.difference.p_value),
                "" if row.mcnemar is None else p_text(row.mcnemar.p_value),
            )
        )
        if isinstance(row.difference.interval, NoInterval):
            parts.append(f"{_NAMES[row.figure]}: {row.difference.interval.note}")
    parts.append(
        Line(
            "intervals of rates by score, of others by paired bootstrap; p by paired approximate"
            " randomisation (both over seeds for attacks); McNemar's exact test over samples that"
            " count for both; nothing is corrected for multiple comparisons",
            "about",
        )
    )
    for row in figures:
        for name, signature in zip(names, row.signatures, strict=True):
            parts.append(f"{_NAMES[row.figure].partition(',')[0]}, {name}: {signature}")
    return parts
