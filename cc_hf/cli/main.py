"""cc-hf: one verb per file. Errors of cc_hf become one message and exit status 2, Ctrl-C becomes 130."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from cc_hf import __version__
from cc_hf.cli import analyze, build, cache, compare, convert_fairseq, cues, evaluate, explain, leaderboard, list_names, publish, register, report, train, translate
from cc_hf.errors import CacheWarning, CCError, ResultWarning
from cc_hf.evaluators.sharding import is_main_process, process_label

__all__ = ["app", "run"]

_INTERRUPTED = 130
_GRACE_SECONDS = 3.0  # most errors come in all processes: the main one says it, and its end ends the others before they do

app = typer.Typer(
    name="cc-hf",
    help="Does a translation system understand which sense, which gender, which referent is meant?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("list")(list_names.list_names)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("explain")(explain.explain)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("translate")(translate.translate)
app.command("build")(build.build)
app.command("convert-fairseq")(convert_fairseq.convert_fairseq)
app.command("register")(register.register)
app.add_typer(cues.app, name="cues")
app.add_typer(analyze.app, name="analyze")
app.add_typer(cache.app, name="cache")
app.add_typer(publish.app, name="publish")
app.add_typer(train.app, name="train")


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"cc-hf {__version__}")
        raise typer.Exit


@app.callback()
def _main(version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit.")) -> None:
    pass


def run() -> None:
    """The entry point of the console script."""
    with warnings.catch_warnings():
        _say_warnings()
        _run()


def _say_warnings() -> None:
    """A warning of cc_hf is one line like an error; others stay as Python prints them."""
    as_python_does = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, (CacheWarning, ResultWarning)):
            Console(stderr=True, soft_wrap=True).print(Text.assemble(("warning: ", "bold yellow"), str(message)))
        else:
            as_python_does(message, category, *where, **more)

    warnings.showwarning = show


def _run() -> None:
    try:
        app()
    except CCError as error:
        if not is_main_process():
            time.sleep(_GRACE_SECONDS)
            error = CCError(f"{process_label()}: {error}")
        Console(stderr=True, soft_wrap=True).print(Text.assemble(("error: ", "bold red"), str(error)))
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, KeyboardInterrupt) or stop.code == _INTERRUPTED:  # typer turns Ctrl-C into an exit
            Console(stderr=True).print("stopped; nothing was written")
            sys.exit(_INTERRUPTED)
        raise


if __name__ == "__main__":
    run()
