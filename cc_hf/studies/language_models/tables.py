"""Printed figures of language models that were asked in words, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import count, percent
from cc_hf.reports.tables.base import heading, plain_table
from cc_hf.results import EvaluationResult
from cc_hf.studies.language_models.published import (
    MODEL,
    PUBLISHED_TRANSLATIONS,
    SOURCE,
    published_choices,
)

__all__ = ["published_choice_tables", "published_translations_table"]


def published_choice_tables(
    config: str, results: Sequence[EvaluationResult] = ()
) -> list[RenderableType]:
    """Return the printed accuracies of choices, after those of one's own results.

    Args:
        results: results of `prompted_choice` on it.
    """
    rows = published_choices(config)
    if not rows:
        return [Text(f"no printed figures: {SOURCE} has none for {config}")]
    table = plain_table("", "accuracy of\nvalid answers", "valid", "from")
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
        heading(f"{config}, printed figures of {SOURCE}"),
        table,
        Text(
            f"The printed rows are of {MODEL}, with other demonstrations and other samples left"
            " out; they cannot be reproduced."
        ),
    ]


def published_translations_table() -> Group:
    """Return the printed outcomes of requests and failure rates of word senses."""
    outcomes = plain_table("", "failed", "invalid", "valid")
    errors = plain_table("", "basic", "cot", "transformer")
    for row in PUBLISHED_TRANSLATIONS:
        outcomes.add_row(row.name, *map(count, (row.n_failed, row.n_invalid, row.n_valid)))
        errors.add_row(row.name, *map(percent, (row.basic, row.cot, row.transformer)))
    return Group(
        heading(f"{MODEL} on word senses, {SOURCE}, Table 3.20"),
        outcomes,
        heading("The same, errors in %, Tables 3.21 and 3.23"),
        errors,
        Text("They cannot be reproduced: the model no longer exists."),
    )
