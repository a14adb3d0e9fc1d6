"""cc-hf build: a dataset as the folder that a Hub repository holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from cc_hf.cli.options import Config, DataDir, Dataset, Quiet
from cc_hf.errors import InputError

__all__ = ["build"]


def build(
    dataset: Dataset,
    config: Config = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All configurations.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="New folder to write: README.md with YAML, Parquet, loading/NAME.py.")],
    data_dir: DataDir = None,
    quiet: Quiet = False,
) -> None:
    """Write a dataset as Parquet with its card, ready for the Hub."""
    from cc_hf.data.loading import declaration
    from cc_hf.hub.parquet import build as run_build

    if every and config is not None:
        raise InputError(f"expected a configuration or --all, got both {config!r} and --all")
    configs = None if every else [declaration(dataset).config(config).name]
    files = run_build(dataset, configs, output=output, data_dir=data_dir)
    if not quiet:
        console = Console()
        for path in files:
            console.print(Text(f"{path.stat().st_size:>12,}  {path}"), soft_wrap=True)
