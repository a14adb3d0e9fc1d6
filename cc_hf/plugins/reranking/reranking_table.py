"""What reranking changed, as a table."""

from __future__ import annotations

from cc_hf.plugins.reranking.reranking import Reranking
from cc_hf.reports.numbers import count, decimal, percent
from cc_hf.reports.report_parts import Piece, ReportTable

__all__ = ["reranking_table"]


def reranking_table(reranking: Reranking) -> list[Piece]:
    """Return the figures of a reranking, one row for each, with its signature below."""
    figures = reranking.figures()
    n, judged, changed = (figures[name] or 0 for name in ("n", "n_judged", "n_changed"))
    rows = [
        ("sources", count(int(n))),
        ("with a wanted reading", count(int(judged))),
        ("of these, with a right hypothesis", count(int(figures["n_with_correct"] or 0))),
        ("of these, with hypotheses of either reading", count(int(figures["n_both"] or 0))),
        ("other than the first hypothesis", count(int(changed))),
    ]
    for name, label in (
        ("agreement_before", "right by the choosing metric, before"),
        ("agreement", "right by the choosing metric, after"),
        ("chrf_first", "chrF of the choices against the first hypotheses"),
    ):
        value = figures[name]
        rows.append((label, "-" if value is None else percent(value)))
    if (lost := figures["score_gap"]) is not None:
        rows.append(("mean loss of the system's score", decimal(lost, digits=3)))
    lines = [
        "The choosing metric agrees with its own choices, so that these shares are no accuracy:"
        " judge the translations by another metric or evaluator (`cc-hf evaluate`).",
        f"signature: {reranking.signature}",
    ]
    table = ReportTable.of(f"reranking by {reranking.metric}", ("figure", "value"), rows)
    return [table, *lines]
