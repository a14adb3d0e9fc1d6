"""Masculine and feminine translations of sources, as tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from cc_hf.plugins.reranking.alternative_options import METHODS
from cc_hf.plugins.reranking.alternatives import Alternatives
from cc_hf.reports.numbers import count
from cc_hf.reports.tables.base import heading, plain_table

__all__ = ["alternatives_table"]

_SHOWN = 5


def alternatives_table(rows: Sequence[Alternatives]) -> Group:
    """Return how many sources have a pair, why others have none, and the first pairs."""
    n_of = Counter(row.how for row in rows)
    first = Counter(row.first_reads for row in rows if row.first_reads)
    table = plain_table("sources", "number")
    table.add_row("all", count(len(rows)))
    for method in METHODS:
        table.add_row(Text(f"pair by {method}"), count(n_of[method]))
    table.add_row("without a pair", count(n_of[None]))
    for gender in ("male", "female"):
        table.add_row(Text(f"plain translation reads {gender}"), count(first[gender]))
    lines = [
        f"{row.source} → {row.masculine} | {row.feminine}" for row in rows if row.how is not None
    ][:_SHOWN]
    return Group(heading("masculine and feminine translations"), table, *map(Text, lines))
