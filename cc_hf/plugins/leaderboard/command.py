"""cc-hf leaderboard: serve results as a web page, or write one that needs no server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.options import Bleu, LanguagePair
from cc_hf.errors import InputError
from cc_hf.languages import language_pair as parsed_pair
from cc_hf.reports.formats.terminal import show

__all__ = ["ResultsFolder", "leaderboard"]

ResultsFolder = Annotated[
    Path, typer.Argument(help="Folder with results of `cc-hf evaluate --output`.")
]

_PORT, _HOST, _PAIR = 7860, "127.0.0.1", "en-de"


def leaderboard(
    results: ResultsFolder,
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port on which the page is served.")
    ] = _PORT,
    host: Annotated[
        str,
        typer.Option(
            help="Address on which the page is served; 0.0.0.0 for all addresses of the machine."
        ),
    ] = _HOST,
    bleu: Bleu = None,
    evaluator: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Evaluator model, by default the one that ships for the pair. A second one, of the"
                " other direction, finds what translations add."
            )
        ),
    ] = None,
    language_pair: LanguagePair = _PAIR,
    static: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help=(
                "Write a page that needs no server into this new folder, with bands of systems and"
                " the sentences behind them. Nothing is served."
            ),
        ),
    ] = None,
) -> None:
    """Serve results as a web page.

    It shows the table of systems, and visitors can judge their own texts in --language-pair.

    Example: cc-hf leaderboard .
    """
    names = evaluator or []
    if static is not None:
        serving = {"evaluator": names, "port": port != _PORT, "host": host != _HOST}
        serving["language_pair"] = language_pair != _PAIR
        if given := [name for name, value in serving.items() if value]:
            raise InputError(
                f"static, {given[0]}: expected one of the two, a folder to write or how texts of"
                " visitors are served and judged, which a page without a server cannot do; got both"
            )
        _write(results, static, bleu)
        return
    from cc_hf.plugins.leaderboard.app import serve, wait_for_end

    src_lang, tgt_lang = parsed_pair(language_pair)
    if len(names) > 2:
        raise InputError(f"evaluator: expected at most two, for each direction, got {len(names)}")
    forward, backward = [*names, None, None][:2]
    page = serve(
        results,
        quality=bleu,
        evaluator=forward,
        backward_evaluator=backward,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        host=host,
        port=port,
        wait=False,
    )
    show([f"serving {results} at {page.local_url} (stop with Ctrl-C)"], is_whole=True)
    wait_for_end(page)


def _write(results: Path, folder: Path, bleu: list[str] | None) -> None:
    from cc_hf.plugins.leaderboard.static.page import write_static_board

    board = write_static_board(results, folder, quality=bleu)
    warnings = [f"{name} is not shown: {why}" for name, why in board.broken.items()]
    outcome = Outcome(
        files=[NewFile(folder / "index.html", None)], warnings=[*warnings, *board.notes]
    )
    outcome.show(None, as_json=False, quiet=False)
