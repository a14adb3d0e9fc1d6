"""cc-hf cache: the scores that are stored on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.output import Console

__all__ = ["app"]

Place = Annotated[
    Path | None, typer.Option("--path", help="The cache; default: HF_HOME/cc_hf/scores.sqlite.")
]

_FIRST = ("eval", "dtype", "device")
# These fields are shown elsewhere or are not useful to users.
_HIDDEN = ("class", "max_tokens", "on_too_long", "scoring", "src_lang", "tgt_lang")

app = typer.Typer(help="The scores that are kept on disk.", no_args_is_help=True)


@app.command("info")
def info(path: Place = None) -> None:
    """Show where the cache is, how large it is, and whose scores it holds."""
    from cc_hf.evaluators.score_cache import ScoreCache

    found = ScoreCache(path).info()
    console = Console()
    console.print(
        Text(f"{found.path}: {found.n_scores:,} scores, {found.n_bytes:,} bytes"), soft_wrap=True
    )
    for identity in found.identities:
        fields = identity.fields
        languages = f"{fields.get('src_lang') or '?'}-{fields.get('tgt_lang') or '?'}"
        others = [
            f"{name}:{value}" for name, value in fields.items() if name not in (*_FIRST, *_HIDDEN)
        ]
        words = [*(fields[name] for name in _FIRST if name in fields), languages, *others]
        console.print(Text(f"{identity.n_scores:>12,}  {' '.join(words)}"), soft_wrap=True)


@app.command("clear")
def clear(path: Place = None) -> None:
    """Remove the cache, and show what was removed."""
    from cc_hf.evaluators.score_cache import ScoreCache

    found = ScoreCache(path).clear()
    text = (
        f"removed: {found.path}, {found.n_scores:,} scores, {found.n_bytes:,} bytes"
        if found.n_bytes
        else f"nothing to remove: there is no cache at {found.path}"
    )
    Console().print(Text(text), soft_wrap=True)
