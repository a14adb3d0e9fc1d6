"""Masculine and feminine translations of sources, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cc_hf.plugins.reranking.alternative_options import METHODS
from cc_hf.plugins.reranking.alternatives import Alternatives
from cc_hf.plugins.reranking.structures import structures
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.report_parts import Piece, ReportTable

__all__ = ["alternatives_table"]

_SHOWN = 5


def alternatives_table(
    rows: Sequence[Alternatives], people: Sequence[Alternatives] = (), *, has_reader: bool = False
) -> list[Piece]:
    """Return how many sources have a pair, the first pairs, and how pairs by people compare."""
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
    table = ReportTable.of(title, ("sources", "number"), figures)
    beside = [_beside_people(rows, people, has_reader=has_reader)] if people else []
    return [table, *beside, *lines[:_SHOWN]]


def _beside_people(
    rows: Sequence[Alternatives], people: Sequence[Alternatives], *, has_reader: bool
) -> ReportTable:
    checks = [pair.check for pair in people if pair.check is not None]
    counts = structures(rows, people)
    n_refused = sum(row.check is not None and row.check.failed == ("shown",) for row in rows)
    read = [
        (
            "pairs by people that show both genders",
            _ratio(sum(c.shown for c in checks), len(checks)),
        ),
        ("pairs of the system that the reader alone refuses", count(n_refused)),
    ]
    return ReportTable.of(
        "Beside pairs by people",
        ("figure", "value"),
        [
            (
                "pairs by people that differ in few words",
                _ratio(sum(c.minimal for c in checks), len(checks)),
            ),
            *(read if has_reader else ()),
            ("sources for which both have a pair", count(counts.n_sources)),
            ("structure precision", _ratio(counts.n_common, counts.n_system)),
            ("structure recall", _ratio(counts.n_common, counts.n_people)),
        ],
        "A structure is a place where a pair differs, with the words of both sides.",
    )


def _ratio(n: int, of: int) -> str:
    return f"{percent(n / of)} % ({count(n)} of {count(of)})" if of else ""
