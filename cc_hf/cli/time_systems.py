"""cc-hf time: decoding time of systems, measured in turns."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.options import AsJson, Device, FamilyName, FiguresOutput, Quiet, TgtLang
from cc_hf.cli.output import (
    check_output,
    json_text,
    print_result,
    say_written,
    shows_progress,
)
from cc_hf.errors import InputError
from cc_hf.files import exists
from cc_hf.systems.system import DEFAULT_BEAMS, System

__all__ = ["time_systems"]


def time_systems(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]SYSTEM...",
            help=(
                "Models to time: names, folders, or models on the Hub. Default name: that of the"
                " model."
            ),
        ),
    ],
    *,
    source_file: Annotated[
        Path, typer.Option(help="Text file to translate, one sentence per line, none blank.")
    ],
    num_beams: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            help="Number of beams. May be repeated, to time each system with each. Default: 5.",
        ),
    ] = None,
    precision: Annotated[
        list[str] | None,
        typer.Option(help="fp32, or int8 on the CPU. May be repeated. Default: fp32."),
    ] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Library that runs the models: torch, or ctranslate2 for Marian and M2M100 on the"
                " CPU. May be repeated. Default: torch."
            )
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, help="Number of rounds, of which the median counts.")
    ] = 3,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of the CPU. Default: one for each core.")
    ] = None,
    batch_tokens: Annotated[
        int,
        typer.Option(
            min=1,
            help="Limit of a batch: twice its padded source tokens, for each of the beams.",
        ),
    ] = 2048,
    allow_busy: Annotated[
        bool,
        typer.Option(
            "--allow-busy",
            help="Measure also while other processes share the cores; such times are marked.",
        ),
    ] = False,
    src_lang: Annotated[
        str | None, typer.Option(help="Language of the sources, ISO 639-1.")
    ] = None,
    tgt_lang: TgtLang = None,
    kind: FamilyName = None,
    device: Device = None,
    output: FiguresOutput = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Time how long systems take to translate a file.

    The systems are loaded and warmed up first. Then they take turns: in each round each translates
    the whole file, with tokenization. `--timing FILE` of `cc-hf report systems` takes the file that
    --output writes.
    """
    from cc_hf.evaluators.options import LoadingOptions
    from cc_hf.reading import read_lines
    from cc_hf.reports.tables.timings import timing_table
    from cc_hf.systems.timing import TimingOptions
    from cc_hf.systems.timing import time_systems as run_rounds

    check_output(output)
    sources = read_lines(source_file)
    if not sources:
        raise InputError(f"--source-file: {source_file}: expected sentences, got an empty file")
    report = run_rounds(
        _settings(
            systems, num_beams or [DEFAULT_BEAMS], precision or ["fp32"], backend or ["torch"]
        ),
        sources,
        options=TimingOptions(rounds, threads, batch_tokens, allow_busy),
        loading=LoadingOptions(src_lang=src_lang, tgt_lang=tgt_lang, kind=kind, device=device),
        progress=shows_progress(quiet=quiet),
    ).to_dict()
    print_result(
        as_json,
        json_text(report),
        lambda: [timing_table(report, title=f"decoding time of {source_file}")],
        output=output,
    )
    say_written(output)


def _settings(
    systems: list[str], beams: list[int], precisions: list[str], backends: list[str]
) -> dict[str, System]:
    """Return each system with each setting, by a name that tells the settings apart."""
    settings: dict[str, System] = {}
    for text in systems:
        given, equals, model = text.partition("=")
        if not equals or exists(Path(text)):
            given, model = Path(text).name, text
        for precision, backend, n in itertools.product(
            dict.fromkeys(precisions), dict.fromkeys(backends), dict.fromkeys(beams)
        ):
            parts = [
                part
                for part, values in (
                    (precision, precisions),
                    (backend, backends),
                    (f"beam{n}", beams),
                )
                if len(set(map(str, values))) > 1
            ]
            name = ".".join([given, *parts])
            if name in settings:
                raise InputError(f"two systems are named {given}; give NAME=SYSTEM")
            settings[name] = System(model, n, None, precision, backend)
    return settings
