"""BLEU and chrF of systems, as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from cc_hf.reports.numbers import count, p_text, percent
from cc_hf.reports.tables.base import heading, plain_table
from cc_hf.statistics.corpus_quality import CorpusQuality

__all__ = ["quality_table"]

_NAMES = {"bleu": "BLEU", "chrf": "chrF"}


def quality_table(results: Sequence[CorpusQuality], *, title: str) -> Group:
    """Return one row for each system, with the signatures of sacreBLEU below.

    Args:
        results: at least one system.
    """
    names = list(results[0].scores)
    tested = bool(results[0].test)
    columns = [label for name in names for label in (_NAMES[name], *["p"] * tested)]
    table = plain_table("system", "sentences", *columns)
    for result in results:
        cells: list[str] = []
        for name in names:
            cells.append(percent(result.scores[name], digits=2))
            if tested:
                cells.append(p_text(result.p_values[name]) if name in result.p_values else "-")
        table.add_row(Text(result.system), count(result.n), *cells)
    lines = [f"{_NAMES[name]}: {text}" for name, text in results[0].signatures.items()]
    if tested:
        lines.append(f"p: difference from {results[0].system}; {results[0].test}")
    lines += [
        f"{result.system}: {result.n_blank:,} blank translations"
        for result in results
        if result.n_blank
    ]
    return Group(heading(title), table, *map(Text, lines))
