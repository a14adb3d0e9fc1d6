"""Translations of prompted models as tables in percent, and their conversations."""

from __future__ import annotations

from collections.abc import Iterator

from cc_hf.models.chat_templates import Conversation
from cc_hf.plugins.asking.runs import TranslationRun
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.reports.tables.base import note_lines

__all__ = ["conversation_lines", "translation_tables"]


def translation_tables(run: TranslationRun) -> Iterator[Piece]:
    """Yield the outcomes of requests by category, and why some translations are not usable."""
    cut = ["cut at the limit"] * bool(run.n_cut())
    names: list[str | None] = [None, *(run.categories if len(run.categories) > 1 else [])]
    rows = []
    for name in names:
        counts = run.counts(name)
        n = sum(counts.values())
        shown = [*counts.values(), *([run.n_cut(name)] if cut else [])]
        rows.append((name or "all", count(n), *(f"{count(k)} ({percent(k / n)} %)" for k in shown)))
    columns = ("", "n", "valid", "invalid", "failed", *cut)
    yield ReportTable.of(f"requests to {run.run['model']}", columns, rows)
    yield from (f"{n:,} without a translation: {why}" for why, n in run.reasons().items())
    yield from note_lines(run.run["notes"])


def conversation_lines(conversation: Conversation) -> Iterator[Line]:
    """Yield the turns of a conversation, each after its role."""
    for turn in conversation:
        yield Line.named(f"[{turn.role}]", f"\n{turn.content}\n")
