"""Other metrics beside a judge, segment by segment, as tables for the terminal. Correlations are
not scaled.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from cc_hf.comparing.segments import PairFigures, SegmentFigures
from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, decimal
from cc_hf.reports.tables.base import heading, plain_table

__all__ = ["pair_table", "segment_table"]


def segment_table(figures: Sequence[SegmentFigures], *, title: str) -> Group:
    """Return a row for each metric and category.

    Args:
        figures: at least one.
    """
    columns = ("category", "correct", "incorrect", "Spearman (95 %)", "separation (95 %)")
    table = plain_table("metric", *columns)
    for row in figures:
        table.add_row(
            Text(row.metric),
            Text(row.category or "all"),
            count(row.n_correct),
            count(row.n_incorrect),
            "-" if row.spearman is None else decimal(row.spearman, row.spearman_interval),
            "-"
            if row.separation is None
            else with_interval(row.separation, row.separation_interval),
        )
    about = (
        "Spearman: correlation with the judge's probability of the correct reading, or its verdict;"
        " separation: % of pairs of a correct and an incorrect translation in which the metric"
        " gives the correct one the higher score, 50 is chance"
    )
    return Group(heading(title), table, Text(about, style="italic"))


def pair_table(figures: Sequence[PairFigures], *, title: str) -> Group:
    """Return a row for each metric and category.

    Args:
        figures: at least one.
    """
    has_judge = figures[0].judge is not None
    columns = ("category", "pairs", "ranked rightly (95 %)", "tau")
    beside = ("judge right (95 %)", "both agree")
    table = plain_table("metric", *columns, *(beside if has_judge else ()))
    for row in figures:
        cells = [with_interval(row.ranked.value, row.ranked.interval), decimal(row.tau)]
        if row.judge is not None and row.agreement is not None:
            cells.append(with_interval(row.judge.value, row.judge.interval))
            cells.append(with_interval(row.agreement.value, None))
        table.add_row(Text(row.metric), Text(row.category or "all"), count(row.ranked.n), *cells)
    about = (
        "percent; ranked rightly: the correct translation has the higher score, a tie is wrong;"
        " tau: right minus wrong pairs, of all (ACES)"
    )
    return Group(heading(title), table, Text(about, style="italic"))
