"""cc-hf leaderboard: serve results as a web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import DataDir
from cc_hf.cli.output import Console

__all__ = ["leaderboard"]


def leaderboard(
    results: Annotated[
        Path, typer.Argument(help="Folder with JSON files that `cc-hf evaluate --output` wrote.")
    ],
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to serve on.")] = 7860,
    host: Annotated[
        str, typer.Option(help="Address to serve on; 0.0.0.0 for all of the machine's.")
    ] = "127.0.0.1",
    bleu: Annotated[
        Path | None,
        typer.Option(
            help=(
                "BLEU by system, 0 to 100: a .tsv with the columns system and bleu (and dataset,"
                " tgt_lang), or JSON."
            )
        ),
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(
            help=(
                "Evaluator of the live judgements (name, folder or Hub); default: the one that"
                " ships for the pair."
            )
        ),
    ] = None,
    src_lang: Annotated[
        str, typer.Option(help="Source language of sentences that are judged live.")
    ] = "en",
    tgt_lang: Annotated[
        str, typer.Option(help="Target language of sentences that are judged live.")
    ] = "de",
    data_dir: DataDir = None,
) -> None:
    """Serve a page with the table of systems, where visitors judge their own texts."""
    from cc_hf.leaderboard.app import serve, wait_for_end

    page = serve(
        results,
        quality=bleu,
        data_dir=data_dir,
        evaluator=evaluator,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        host=host,
        port=port,
        wait=False,
    )
    Console().print(
        Text(f"serving {results} at {page.local_url} (stop with Ctrl-C)"), soft_wrap=True
    )
    wait_for_end(page)
