"""The command of the study: what the thesis prints of language models that are asked in words."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import CommandGroup, Outcome, add_command
from cc_hf.errors import InputError

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    help="Show printed figures of language models that choose and translate.",
    no_args_is_help=True,
)


def published(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help=(
                "Results of `cc-hf ask --output` on wino_x, to show beside the printed figures."
                " Default: all printed figures alone."
            )
        ),
    ] = None,
) -> Outcome:
    """Print the figures of Emelin's thesis, sections 3.5 and 4.6, beside one's own.

    Example: cc-hf study language_models published
    """
    from cc_hf.data.files.result_files import read_result_file
    from cc_hf.studies.language_models.published import (
        PUBLISHED_CHOICES,
        PUBLISHED_TRANSLATIONS,
    )
    from cc_hf.studies.language_models.tables import (
        published_choice_tables,
        published_translations_table,
    )

    judged = [result for path in results or () for result in read_result_file(path).results]
    if others := [result.metric for result in judged if result.metric != "prompted_choice"]:
        raise InputError(f"results: expected those of prompted_choice, got {', '.join(others)}")
    configs = dict.fromkeys(
        [result.config for result in judged] or [row.config for row in PUBLISHED_CHOICES]
    )
    choices = [row for row in PUBLISHED_CHOICES if row.config in configs]
    translations = () if judged else PUBLISHED_TRANSLATIONS
    return Outcome(
        {
            "choices": [asdict(row) for row in choices],
            "translations": [asdict(row) for row in translations],
        },
        lambda: (
            [
                part
                for config in configs
                for part in published_choice_tables(
                    config, [result for result in judged if result.config == config]
                )
            ]
            + ([published_translations_table()] if translations else [])
        ),
    )


add_command(app, "published", published)
