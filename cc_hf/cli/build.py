"""cc-hf build: write a dataset as a folder for a Hub repository."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import (
    Configs,
    DataDir,
    Dataset,
    Every,
    NewFolder,
    chosen_configs,
)

__all__ = ["build", "sizes"]


def build(
    dataset: Dataset,
    configs: Configs = None,
    *,
    every: Every = False,
    output: NewFolder,
    data_dir: DataDir = None,
) -> Outcome:
    """Write a dataset as Parquet with its card.

    The folder has the shape of a repository on the Hub: README.md, croissant.json and Parquet
    files, and for datasets of cc_hf loading/NAME.py and eval.yaml, too. `cc-hf evaluate` and
    `datasets.load_dataset` read it.

    Example: cc-hf build simplegen --output simplegen
    """
    from cc_hf.hub.parquet import build_dataset_folder

    files = build_dataset_folder(
        dataset, chosen_configs(dataset, configs, every=every), output=output, data_dir=data_dir
    )
    return Outcome(
        {"folder": str(output), "files": [str(path.relative_to(output)) for path in files]},
        lambda: sizes((str(path), path.stat().st_size) for path in files),
    )


def sizes(files: Iterable[tuple[str, int]]) -> list[Text]:
    """Return a line with size and path of each file."""
    return [Text(f"{size:>12,}  {path}") for path, size in files]
