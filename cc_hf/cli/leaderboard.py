"""cc-hf leaderboard: serve results as a web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import Bleu, DataDir, EvaluatorName
from cc_hf.cli.output import Console

__all__ = ["leaderboard"]


def leaderboard(
    results: Annotated[
        Path, typer.Argument(help="Folder with JSON files that `cc-hf evaluate --output` wrote.")
    ],
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port on which the page is served.")
    ] = 7860,
    host: Annotated[
        str,
        typer.Option(
            help="Address on which the page is served; 0.0.0.0 for all addresses of the machine."
        ),
    ] = "127.0.0.1",
    bleu: Bleu = None,
    evaluator: EvaluatorName = None,
    src_lang: Annotated[
        str, typer.Option(help="Source language of the visitors' sentences as an ISO 639-1 code.")
    ] = "en",
    tgt_lang: Annotated[
        str, typer.Option(help="Target language of the visitors' sentences as an ISO 639-1 code.")
    ] = "de",
    data_dir: DataDir = None,
) -> None:
    """Serve a page with the table of systems; visitors can judge their own texts."""
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
