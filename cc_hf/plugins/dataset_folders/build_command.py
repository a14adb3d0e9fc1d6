"""cc-hf build: write a dataset as a folder for a Hub repository."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import (
    DataDir,
    Dataset,
    NewFolder,
    PairOfRows,
    chosen_data,
)
from cc_hf.cli.publishing import sizes

__all__ = ["Configs", "build", "notes_on"]

Configs = Annotated[
    list[str] | None,
    typer.Argument(
        help=(
            "Configurations of the dataset (see `cc-hf list datasets NAME`), or all. Default: the"
            " one that the dataset declares as its default."
        )
    ),
]


def build(
    dataset: Dataset,
    configs: Configs = None,
    *,
    language_pair: PairOfRows = None,
    output: NewFolder,
    data_dir: DataDir = None,
) -> Outcome:
    """Write a dataset as Parquet with its card, or sheets for raters.

    `cc-hf build sheets` writes the sheets, on which people label translations.

    The folder has the shape of a repository on the Hub: README.md, croissant.json and Parquet
    files, and for datasets of cc_hf loading/NAME.py, too, and eval.yaml where there are contrastive
    translations. `cc-hf evaluate` and `datasets.load_dataset` read it.

    Example: cc-hf build simplegen --output simplegen
    """
    from cc_hf.data.dataset_folders import is_dataset_folder
    from cc_hf.plugins.dataset_folders.building import build_dataset_folder

    declared, chosen = chosen_data(dataset, configs, language_pair)
    # A folder is given by its name, since its card is kept.
    data = dataset if is_dataset_folder(dataset) else declared

    files = build_dataset_folder(data, chosen, output=output, data_dir=data_dir)
    row = {"folder": str(output), "files": [path.relative_to(output).as_posix() for path in files]}
    return Outcome(
        row,
        lambda: sizes((str(path), path.stat().st_size) for path in files),
        notes=notes_on(dataset, files),
    )


def notes_on(dataset: str, files: Iterable[Path]) -> list[str]:
    """Return why the folder of a registered dataset has no eval.yaml, if it has none."""
    from cc_hf.plugins.dataset_folders.benchmark import no_benchmark

    is_benchmark = any(path.name == "eval.yaml" for path in files)
    return [] if is_benchmark else no_benchmark(dataset)
