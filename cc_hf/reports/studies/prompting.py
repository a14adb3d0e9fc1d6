"""Choices and translations of prompted models as tables for the terminal, in percent."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cc_hf.prompting.conversations import Conversation
from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.tables import heading, note_lines, plain_table, result_table
from cc_hf.results import EvaluationResult
from cc_hf.studies.language_models.asking import TranslationRun
from cc_hf.studies.language_models.published import (
    MODEL,
    PUBLISHED_TRANSLATIONS,
    SOURCE,
    published_choices,
)

__all__ = [
    "choice_tables",
    "conversation_text",
    "published_translations_table",
    "translation_tables",
]


def choice_tables(
    results: Sequence[EvaluationResult], *, published: bool = False
) -> list[RenderableType]:
    """Return the figures of choices, and beside them those that the thesis prints.

    Args:
        results: results of `prompted_choice` on one configuration.
        published: whether the printed figures are shown.
    """
    parts: list[RenderableType] = [result_table(result) for result in results]
    if published:
        parts += _published(results)
    return parts


def _published(results: Sequence[EvaluationResult]) -> list[RenderableType]:
    rows = published_choices(results[0].config)
    if not rows:
        return [Text(f"no printed figures: {SOURCE} has none for {results[0].config}")]
    table = plain_table("", "accuracy of valid answers", "valid", "from")
    for result in results:
        value, name = result.scores.get("valid_accuracy"), "valid_accuracy"
        table.add_row(
            result.system or "this model",
            "" if value is None else with_interval(value, result.intervals.get(name)),
            count(result.counts["n_valid"]),
            f"{result.n:,} samples",
        )
    for row in rows:
        table.add_row(
            f"{MODEL}, {row.strategy}",
            percent(row.accuracy),
            count(row.n_valid),
            f"Tables {row.tables}",
        )
    return [
        heading(f"beside the printed figures of {SOURCE}"),
        table,
        Text(
            f"The printed rows are of {MODEL}, with other demonstrations and other samples left"
            " out; they cannot be reproduced."
        ),
    ]


def translation_tables(run: TranslationRun, *, published: bool = False) -> list[RenderableType]:
    """Return what became of the requests for translations, by category, and why some are not
    usable.

    Args:
        run: the translations.
        published: whether the printed figures are shown.
    """
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
    return [*parts, published_translations_table()] if published else parts


def published_translations_table() -> Group:
    """Return the printed shares of valid replies and failure rates of word senses."""
    table = plain_table(
        "", "failed", "invalid", "valid", "basic, errors %", "cot, errors %", "transformer"
    )
    for row in PUBLISHED_TRANSLATIONS:
        table.add_row(
            row.name,
            *(count(n) for n in (row.n_failed, row.n_invalid, row.n_valid)),
            *(percent(value) for value in (row.basic, row.cot, row.transformer)),
        )
    return Group(
        heading(f"{MODEL} on word senses, {SOURCE}, Tables 3.20, 3.21 and 3.23"),
        table,
        Text("They cannot be reproduced: the model no longer exists."),
    )


def conversation_text(conversation: Conversation) -> Text:
    """Return the turns of a conversation, each after its role.

    Args:
        conversation: the turns.
    """
    text = Text()
    for turn in conversation:
        text.append(f"[{turn.role}]\n", style="bold")
        text.append(f"{turn.content}\n\n")
    return text
