"""Options of commands that make tables of systems from files of results, and how these are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.options import pairs_of
from cc_hf.cli.output import say
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.comparing.system_rows import SystemRow

__all__ = [
    "Group",
    "Names",
    "SeqKD",
    "Size",
    "SystemOptions",
    "Timing",
    "read_systems",
    "table_of_systems",
]

Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        help=(
            "Name of a system with its seed, such as small-seed1. Repeat the option once for each"
            " file of results. Default: the names in the results, else those of the files. Systems"
            " whose names differ only in the part seedN are seeds of one system."
        ),
    ),
]
Timing = Annotated[
    list[Path] | None,
    typer.Option(help="JSON file that `cc-hf time --output` wrote. May be repeated."),
]
Group = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=GROUP",
        help=(
            "Group of a system, such as its teacher; the name is with or without seed, or a"
            " pattern such as student-*. May be repeated."
        ),
    ),
]
Size = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=SIZE",
        help=(
            "Size of a system, in words or as a number such as 50.9M. Sizes in words are in the"
            " order in which the options name them. May be repeated."
        ),
    ),
]
SeqKD = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="System that was trained by sequence-level knowledge distillation. May be repeated.",
    ),
]
_RESULT = ".json"


@dataclass(frozen=True)
class SystemOptions:
    """What the options say of systems."""

    name: Sequence[str] | None = None
    bleu: Sequence[str] | None = None
    timing: Sequence[Path] | None = None
    group: list[str] | None = None
    size: list[str] | None = None
    seqkd: Sequence[str] | None = None
    metric: str | None = None


def read_systems(paths: Sequence[Path], options: SystemOptions) -> list[SystemRow]:
    """Read files of results and what the options name, and print notes on them.

    Returns:
        A row for each system and seed.
    """
    from cc_hf.comparing.system_rows import SystemLabels, system_rows
    from cc_hf.data.files.quality_scores import read_quality_scores
    from cc_hf.data.files.timings import read_timings
    from cc_hf.reports.inputs import read_report_systems

    groups, _ = read_report_systems(paths, options.name)
    results = [
        (system.name, result)
        for systems in groups
        for system in systems
        for result in system.results.values()
        if options.metric in (None, result.metric)
    ]
    if not results:
        raise InputError(f"expected results of the metric {options.metric}, got none")
    timings = read_timings(options.timing)
    labels = SystemLabels(
        pairs_of(options.group, "--group"),
        pairs_of(options.size, "--size"),
        options.seqkd or (),
    )
    rows = system_rows(
        results, labels=labels, quality=read_quality_scores(options.bleu), timings=timings
    )
    for note in timings.notes:
        say("note", note)
    return rows


def table_of_systems(paths: Sequence[Path], options: SystemOptions) -> list[dict[str, str]]:
    """Return the rows of a table of systems, or those that files of results give."""
    from cc_hf.comparing.system_table import read_system_table
    from cc_hf.reports.tables.systems import row_columns

    n_results = sum(path.suffix.lower() == _RESULT for path in paths)
    if n_results == len(paths):
        return row_columns(read_systems(paths, options))
    if len(paths) > 1:
        raise InputError(
            "expected one table of systems (.csv or .tsv) or files of results (.json), got"
            f" {len(paths) - n_results} and {n_results}"
        )
    if options != SystemOptions(metric=options.metric):
        raise InputError(
            "--name, --bleu, --timing, --group, --size and --seqkd: expected files of results"
            f" (.json), which they complete, got the table {paths[0]}"
        )
    return read_system_table(paths[0])
