"""cc-hf cache: the scores that are stored on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import AsJson
from cc_hf.cli.output import STANDARD, Console, json_text, write_atomically

__all__ = ["app"]

CachePath = Annotated[
    Path | None,
    typer.Option(
        "--path", help="File in which scores are stored. Default: HF_HOME/cc_hf/scores.sqlite."
    ),
]

_FIRST = ("eval", "dtype", "device")
# These fields are shown elsewhere or are not useful to users.
_HIDDEN = ("class", "max_tokens", "on_too_long", "scoring", "src_lang", "tgt_lang")

app = typer.Typer(help="Show or remove the scores that are stored on disk.", no_args_is_help=True)


@app.command("info")
def info(path: CachePath = None, as_json: AsJson = False) -> None:
    """Show where the cache is, how large it is, and whose scores it holds."""
    from dataclasses import asdict

    from cc_hf.evaluators.score_cache import ScoreCache

    contents = ScoreCache(path).info()
    if as_json:
        write_atomically(STANDARD, json_text({**asdict(contents), "path": str(contents.path)}))
        return
    console = Console()
    console.print(
        Text(f"{contents.path}: {contents.n_scores:,} scores, {contents.n_bytes:,} bytes"),
        soft_wrap=True,
    )
    for identity in contents.identities:
        fields = identity.fields
        languages = f"{fields.get('src_lang') or '?'}-{fields.get('tgt_lang') or '?'}"
        others = [
            f"{name}:{value}" for name, value in fields.items() if name not in (*_FIRST, *_HIDDEN)
        ]
        words = [*(fields[name] for name in _FIRST if name in fields), languages, *others]
        console.print(Text(f"{identity.n_scores:>12,}  {' '.join(words)}"), soft_wrap=True)


@app.command("clear")
def clear(path: CachePath = None) -> None:
    """Remove the cache, and show what was removed."""
    from cc_hf.evaluators.score_cache import ScoreCache

    removed = ScoreCache(path).clear()
    text = (
        f"removed: {removed.path}, {removed.n_scores:,} scores, {removed.n_bytes:,} bytes"
        if removed.n_bytes
        else f"nothing to remove: there is no cache at {removed.path}"
    )
    Console().print(Text(text), soft_wrap=True)
