"""Masculine and feminine translations of sources, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cc_hf.plugins.reranking.alternative_options import METHODS
from cc_hf.plugins.reranking.alternatives import Alternatives
from cc_hf.reports.numbers import count
from cc_hf.reports.report_parts import Piece, ReportTable

__all__ = ["alternatives_table"]

_SHOWN = 5


def alternatives_table(rows: Sequence[Alternatives]) -> list[Piece]:
    """Return how many sources have a pair, why others have none, and the first pairs."""
    n_of = Counter(row.how for row in rows)
    first = Counter(row.first_reads for row in rows if row.first_reads)
    figures = [
        ("all", count(len(rows))),
        *((f"pair by {method}", count(n_of[method])) for method in METHODS),
        ("without a pair", count(n_of[None])),
        *((f"plain translation reads {g}", count(first[g])) for g in ("male", "female")),
    ]
    lines = [str(row) for row in rows if row.how]
    title = "masculine and feminine translations"
    return [ReportTable.of(title, ("sources", "number"), figures), *lines[:_SHOWN]]
