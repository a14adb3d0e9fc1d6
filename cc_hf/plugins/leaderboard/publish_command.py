"""cc-hf publish leaderboard: upload the Space of a leaderboard to the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import Bleu
from cc_hf.cli.publishing import (
    FolderOutput,
    Repo,
    Requirement,
    SendingOptions,
    published,
    requirement_notes,
)
from cc_hf.errors import InputError
from cc_hf.plugins.leaderboard.command import ResultsFolder

__all__ = ["leaderboard"]

_TRANSLATIONS = (
    "the folder holds sources and translations; make sure that their licences allow to publish them"
)


def leaderboard(
    results: ResultsFolder,
    *,
    repo: Repo,
    bleu: Bleu = None,
    title: Annotated[str, typer.Option(help="Title of the Space.")] = "Disambiguation leaderboard",
    static: Annotated[
        bool,
        typer.Option(
            "--static",
            help=(
                "Build a page that needs no server, as `cc-hf leaderboard --static` writes it. It"
                " holds the translations. Static Spaces are free."
            ),
        ),
    ] = False,
    requirement: Requirement = None,
    sending: SendingOptions,
    output: FolderOutput = None,
) -> Outcome:
    """Build the Space of a leaderboard, as `cc-hf leaderboard` serves it, and upload it.

    Example: cc-hf publish leaderboard . --repo my-org/board
    """
    from cc_hf._version import __version__
    from cc_hf.hub.eval_results import evaluator_notes
    from cc_hf.plugins.leaderboard.space import build_leaderboard_space, build_static_space

    if static and requirement is not None:
        raise InputError(
            "static, requirement: expected one of the two, since a static Space installs nothing"
        )
    notes = [_TRANSLATIONS] if static else requirement_notes(requirement, "leaderboard,models")

    def build(folder: Path) -> list[Path]:
        if static:
            board = build_static_space(results, folder, title=title, quality=bleu)
            notes.extend(board.notes)
            broken, shown = board.broken, [r for k in board.rankings for r in k.results.values()]
        else:
            store = build_leaderboard_space(
                results, folder, title=title, quality=bleu, requirement=requirement
            )
            broken, shown = store.broken, [entry.result for entry in store.entries]
        notes.extend(f"{name} is ignored: {reason}" for name, reason in broken.items())
        notes.extend(evaluator_notes(shown))
        return sorted(path for path in folder.rglob("*") if path.is_file())

    return published(
        build,
        repo,
        "space",
        output,
        sending,
        message=f"Leaderboard, built with cc_hf {__version__}",
        notes=notes,
    )
