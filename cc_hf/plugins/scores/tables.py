"""What `cc-hf score` shows: BLEU and chrF of systems, and other metrics beside a judge.
Correlations are not scaled.
"""

from __future__ import annotations

from collections.abc import Sequence

from cc_hf.plugins.scores.quality import CorpusQuality
from cc_hf.plugins.scores.segments import PairFigures, SegmentFigures
from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, decimal, p_text, percent
from cc_hf.reports.report_parts import Piece, ReportTable

__all__ = ["pair_table", "quality_table", "segment_table"]

_NAMES = {"bleu": "BLEU", "chrf": "chrF"}


def quality_table(results: Sequence[CorpusQuality], *, title: str) -> list[Piece]:
    """Return one row for each system, with the signatures of sacreBLEU below."""
    names = list(results[0].scores)
    tested = bool(results[0].test)
    columns = [label for name in names for label in (_NAMES[name], *["p"] * tested)]
    rows = []
    for result in results:
        cells = [result.system, count(result.n)]
        for name in names:
            cells.append(percent(result.scores[name], digits=2))
            if tested:
                cells.append(p_text(result.p_values[name]) if name in result.p_values else "-")
        rows.append(cells)
    lines = [f"{_NAMES[name]}: {text}" for name, text in results[0].signatures.items()]
    if tested:
        lines.append(f"p: difference from {results[0].system}; {results[0].test}")
    lines += [
        f"{result.system}: {result.n_blank:,} blank translations"
        for result in results
        if result.n_blank
    ]
    return [ReportTable.of(title, ("system", "sentences", *columns), rows), *lines]


def segment_table(figures: Sequence[SegmentFigures], *, title: str) -> ReportTable:
    """Return a row for each metric and category."""
    rows = [
        (
            row.metric,
            row.category or "all",
            count(row.n_correct),
            count(row.n_incorrect),
            "-" if row.spearman is None else decimal(row.spearman, row.spearman_interval),
            "-"
            if row.separation is None
            else with_interval(row.separation, row.separation_interval),
        )
        for row in figures
    ]
    return ReportTable.of(
        title,
        ("metric", "category", "correct", "incorrect", "Spearman (95 %)", "separation (95 %)"),
        rows,
        "Spearman: correlation with the judge's probability of the correct reading, or its verdict;"
        " separation: % of pairs of a correct and an incorrect translation in which the metric"
        " gives the correct one the higher score, 50 is chance",
    )


def pair_table(figures: Sequence[PairFigures], *, title: str) -> ReportTable:
    """Return a row for each metric and category."""
    columns = ["metric", "category", "pairs", "ranked rightly (95 %)", "tau"]
    if figures[0].judge is not None:
        columns += ["judge right (95 %)", "both agree"]
    rows = []
    for row in figures:
        cells = [row.metric, row.category or "all", count(row.ranked.n)]
        cells += [with_interval(row.ranked.value, row.ranked.interval), decimal(row.tau)]
        if row.judge is not None and row.agreement is not None:
            cells.append(with_interval(row.judge.value, row.judge.interval))
            cells.append(with_interval(row.agreement.value, None))
        rows.append(cells)
    about = (
        "percent; ranked rightly: the correct translation has the higher score, a tie is wrong;"
        " tau: right minus wrong pairs, of all (ACES)"
    )
    return ReportTable.of(title, columns, rows, about)
