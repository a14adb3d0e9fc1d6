"""cc-hf cache: the scores that are stored on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import Outcome

if TYPE_CHECKING:
    from cc_hf.evaluators.score_cache import CacheInfo

__all__ = ["cache"]

_FIRST = ("eval", "dtype", "device")
# These fields are shown elsewhere or are not useful to users.
_HIDDEN = ("class", "max_tokens", "on_too_long", "scoring", "src_lang", "tgt_lang")


def cache(
    *,
    path: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File in which scores are stored. Default: HF_HOME/cc_hf/scores.sqlite.",
        ),
    ] = None,
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove the file with its scores.")
    ] = False,
) -> Outcome:
    """Show, take in or remove the scores that are stored on disk.

    It shows where they are, how large the file is, and whose scores it holds. If a file to be taken
    in cannot be used, or two scores of one key differ, nothing is taken in. After those of all
    parts, the same `cc-hf evaluate` without --part and --scores gives the result.

    Example: cc-hf cache
    """
    from cc_hf.evaluators.score_cache import ScoreCache

    scores = ScoreCache(path)
    contents = scores.clear() if clear else scores.info()
    return Outcome(
        {**asdict(contents), "path": str(contents.path)},
        lambda: [_removed(contents)] if clear else _lines(contents),
    )


def _removed(contents: CacheInfo) -> str:
    if not contents.n_bytes:
        return f"nothing to remove: there is no cache at {contents.path}"
    return f"removed: {contents.path}, {contents.n_scores:,} scores, {contents.n_bytes:,} bytes"


def _lines(contents: CacheInfo) -> Iterator[str]:
    yield f"{contents.path}: {contents.n_scores:,} scores, {contents.n_bytes:,} bytes"
    for identity in contents.identities:
        fields = identity.fields
        languages = f"{fields.get('src_lang') or '?'}-{fields.get('tgt_lang') or '?'}"
        others = [
            f"{name}:{value}" for name, value in fields.items() if name not in (*_FIRST, *_HIDDEN)
        ]
        words = [*(fields[name] for name in _FIRST if name in fields), languages, *others]
        yield f"{identity.n_scores:>12,}  {' '.join(words)}"
