"""`cc-hf evaluate --part`: the command computes a part of the scores, and has no result."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.fields import Fields
from cc_hf.errors import InputError
from cc_hf.plugins.scale.parts import Part, PartDone

__all__ = ["evaluate_part"]


def evaluate_part(
    evaluate: Callable[..., Outcome],
    /,
    *,
    part: Annotated[Part | None, Fields("", "Evaluator", rare="part scores")],
) -> Callable[..., Outcome]:
    """Return what runs `cc-hf evaluate` until the scores of a part are computed."""
    return evaluate if part is None else functools.partial(_outcome, evaluate, part)


def _outcome(evaluate: Callable[..., Outcome], part: Part, /, **arguments: Any) -> Outcome:
    _check(part, arguments)
    try:
        evaluate(**{**arguments, "loading": replace(arguments["loading"], part=part)})
    except PartDone as ended:
        done = ended
    else:
        return Outcome(
            {"part": part.part, "n_scores": 0, "n_new": 0},
            lambda: [
                "nothing to compute: the cache has every score of this evaluation; the same"
                " command without --part and --scores prints the result"
            ],
        )
    return Outcome(
        {name: getattr(done, name) for name in ("part", "n_scores", "n_new", "n_pairs")},
        lambda: [
            f"part {done.part}: {done.n_scores:,} of {done.n_pairs:,} scores, {done.n_new:,} of"
            " them new"
        ],
        files=[NewFile(part.path, None)],
        notes=["when all parts are done, merge them: cc-hf cache FILE..."],
    )


def _check(part: Part, arguments: Mapping[str, Any]) -> None:
    """Refuse what a part does not have: a result, several systems, or translations to be made."""
    if arguments["system"] is not None:
        raise InputError(
            "part: expected --translations FILE with it, got --system, which every part would run;"
            " translate first (`cc-hf translate`)"
        )
    if arguments["output"] is not None:
        raise InputError(
            "output: a part has no result; leave it out, merge the parts (`cc-hf cache FILE...`),"
            " and run the command with it, without --part and --scores"
        )
    if (n_files := len(arguments["translations"] or ())) > 1:
        raise InputError(f"part: expected one file of --translations, got {n_files}")
    OutputFile((".parquet",)).check("scores", part.path)
