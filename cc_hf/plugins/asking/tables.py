"""Choices and translations of prompted models as tables for the terminal, in percent."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from cc_hf.models.chat_templates import Conversation
from cc_hf.plugins.asking.runs import TranslationRun
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.tables.base import heading, note_lines, plain_table, result_table
from cc_hf.results import EvaluationResult

__all__ = [
    "choice_tables",
    "conversation_text",
    "translation_tables",
]


def choice_tables(results: Sequence[EvaluationResult]) -> list[RenderableType]:
    """Return the figures of choices.

    Args:
        results: results of `prompted_choice` on one configuration.
    """
    return [result_table(result) for result in results]


def translation_tables(run: TranslationRun) -> list[RenderableType]:
    """Return the outcomes of requests by category, and why some translations are not usable."""
    cut = ["cut at the limit"] * bool(run.n_cut())
    table = plain_table("", "n", "valid", "invalid", "failed", *cut)
    names: list[str | None] = [None, *(run.categories if len(run.categories) > 1 else [])]
    for name in names:
        counts = run.counts(name)
        n = sum(counts.values())
        shown = [*counts.values(), *([run.n_cut(name)] if cut else [])]
        cells = [f"{count(k)} ({percent(k / n)} %)" for k in shown]
        table.add_row("all" if name is None else name, count(n), *cells)
    parts: list[RenderableType] = [heading(f"requests to {run.run['model']}"), table]
    parts += [Text(f"{n:,} without a translation: {why}") for why, n in run.reasons().items()]
    parts += note_lines(run.run["notes"])
    return parts


def conversation_text(conversation: Conversation) -> Text:
    """Return the turns of a conversation, each after its role."""
    text = Text()
    for turn in conversation:
        text.append(f"[{turn.role}]\n", style="bold")
        text.append(f"{turn.content}\n\n")
    return text
