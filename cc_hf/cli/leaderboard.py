"""cc-hf leaderboard: serve results as a web page."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import Bleu, DataDir, LanguagePair, ResultsFolder
from cc_hf.cli.output import Console
from cc_hf.errors import InputError
from cc_hf.languages import language_pair as parsed_pair

__all__ = ["leaderboard"]


def leaderboard(
    results: ResultsFolder,
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
    evaluator: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Evaluator model: a name, a folder, a model on the Hub, or server:URL#MODEL. A"
                " second one, of the other direction, finds what translations add. Default: the"
                " model that ships with cc_hf for the language pair."
            )
        ),
    ] = None,
    language_pair: LanguagePair = "en-de",
    data_dir: DataDir = None,
) -> None:
    """Serve results as a web page.

    It shows the table of systems, and visitors can judge their own texts in --language-pair.

    Example: cc-hf leaderboard .
    """
    from cc_hf.leaderboard.app import serve, wait_for_end

    src_lang, tgt_lang = parsed_pair(language_pair)
    names = evaluator or []
    if len(names) > 2:
        raise InputError(
            f"evaluator: expected at most two, one for each direction, got {len(names)}"
        )
    page = serve(
        results,
        quality=bleu,
        data_dir=data_dir,
        evaluator=names[0] if names else None,
        backward_evaluator=names[1] if len(names) > 1 else None,
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
