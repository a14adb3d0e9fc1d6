"""`cc-hf cache FILE...`: the command takes the scores of files into the cache."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import Outcome
from cc_hf.errors import InputError

__all__ = ["merge_files"]


def merge_files(
    cache: Callable[..., Outcome],
    /,
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help=(
                "Files of `cc-hf evaluate --scores`, or caches of other machines, whose scores are"
                " taken in. The same scores twice do no harm."
            ),
        ),
    ] = None,
) -> Callable[..., Outcome]:
    """Return what takes scores into the cache."""
    return functools.partial(_outcome, files) if files else cache


def _outcome(files: list[Path], /, **arguments: Any) -> Outcome:
    from cc_hf.evaluators.score_cache import ScoreCache
    from cc_hf.plugins.scale.merging import merge

    if arguments["clear"]:
        raise InputError("files, clear: expected one of the two, got both")
    store = ScoreCache(arguments["path"])
    merged = merge(store, files)
    notes = [
        f"{n:,} scores by {evaluator} are in none of the files: merge the other parts, too;"
        " otherwise the next evaluation computes them"
        for evaluator, n in merged.missing.items()
    ]
    if merged.n_rounded:
        notes.append(
            f"{merged.n_rounded:,} scores were known from other batches and differ by rounding;"
            " those that were first stay. In a cache of its own (--path FILE, then --cache FILE),"
            " an evaluation has no other scores"
        )
    return Outcome(
        {**asdict(merged), "path": str(store.path)},
        lambda: [f"{store.path}: {merged.n_new:,} new scores, {merged.n_known:,} known before"],
        notes=notes,
    )
