"""cc-hf build: write a dataset as a folder for a Hub repository."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import Configs, DataDir, Every, Quiet, chosen_configs
from cc_hf.cli.output import Console
from cc_hf.errors import InputError

__all__ = ["build"]

_CUSTOM = "custom"


def build(
    dataset: Annotated[
        str,
        typer.Argument(
            help=(
                "Name of a dataset (see `cc-hf list datasets`), or `custom` for a file of your own."
            )
        ),
    ],
    configs: Configs = None,
    *,
    every: Every = False,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help=(
                "With custom: .csv, .tsv or .jsonl file with the columns source, focus,"
                " position, and correct_cues and incorrect_cues, or cluster and senses."
            ),
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help=(
                "New folder to write. It contains README.md and Parquet files, and for datasets"
                " of cc_hf also loading/NAME.py and eval.yaml."
            ),
        ),
    ],
    data_dir: DataDir = None,
    quiet: Quiet = False,
) -> None:
    """Write a dataset as Parquet with its card, ready for the Hub."""
    from cc_hf.hub.parquet import build_dataset_folder

    if (dataset == _CUSTOM) != (source is not None):
        raise InputError(
            "expected `cc-hf build custom --from FILE`, got"
            f" {'no --from' if source is None else f'--from with {dataset}'}"
        )
    name = dataset if source is None else str(source)
    files = build_dataset_folder(
        name, chosen_configs(name, configs, every=every), output=output, data_dir=data_dir
    )
    if not quiet:
        console = Console()
        for path in files:
            console.print(Text(f"{path.stat().st_size:>12,}  {path}"), soft_wrap=True)
