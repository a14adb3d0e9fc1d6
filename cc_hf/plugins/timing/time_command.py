"""cc-hf compare --by time: decoding time of systems, measured in turns."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.fields import Fields
from cc_hf.errors import InputError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.files import exists
from cc_hf.plugins.timing.options import TimingOptions
from cc_hf.systems.system import DEFAULT_BEAMS, System

__all__ = ["time"]

_PANEL = "Systems"


def time(
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
            help=(
                "Number of beams. May be repeated, to time each system with each. Default:"
                f" {DEFAULT_BEAMS}."
            ),
            rich_help_panel=_PANEL,
        ),
    ] = None,
    precision: Annotated[
        list[str] | None,
        typer.Option(
            help="fp32, or int8 on the CPU. May be repeated. Default: fp32.", rich_help_panel=_PANEL
        ),
    ] = None,
    backend: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Library that runs the models: torch, or ctranslate2 for Marian and M2M100 on the"
                " CPU. May be repeated. Default: torch."
            ),
            rich_help_panel=_PANEL,
        ),
    ] = None,
    loading: Annotated[LoadingOptions, Fields("language_pair device", _PANEL)],
    timing: Annotated[TimingOptions, Fields("rounds threads allow_busy", "Timing")],
    progress: bool = False,
) -> Outcome:
    """Time how long systems take to translate a file.

    The systems are loaded and warmed up first. Then they take turns: in each round each translates
    the whole file, with tokenization. Option --timing of `cc-hf compare --by seed` takes the file
    that --output writes.

    Example: cc-hf compare --by time cc-tiny-en-de --source-file sources.txt --allow-busy
    """
    from cc_hf.plugins.timing.table import timing_table
    from cc_hf.plugins.timing.timing import time_systems
    from cc_hf.reading import read_lines

    sources = read_lines(source_file)
    if not sources:
        raise InputError(f"source_file: {source_file}: expected sentences, got an empty file")
    report = time_systems(
        _settings(
            systems, num_beams or [DEFAULT_BEAMS], precision or ["fp32"], backend or ["torch"]
        ),
        sources,
        options=timing,
        loading=loading,
        progress=progress,
    ).to_dict()
    return Outcome(report, lambda: timing_table(report, title=f"decoding time of {source_file}"))


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
