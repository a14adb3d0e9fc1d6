"""cc-hf publish dataset: upload the folder of a dataset to the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import (
    DataDir,
    Dataset,
    PairOfRows,
    chosen_data,
)
from cc_hf.cli.publishing import (
    FolderOutput,
    Repo,
    SendingOptions,
    published,
)
from cc_hf.plugins.dataset_folders.build_command import Configs, notes_on

__all__ = ["dataset"]


def dataset(
    dataset: Dataset,
    configs: Configs = None,
    *,
    repo: Repo,
    language_pair: PairOfRows = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A task that the Hub shows a leaderboard for, as"
                " CONFIGURATION--prompted_choice--accuracy, of a configuration with contrastive"
                " translations. Repeat the option for up to three. Default: one of the default"
                " configuration or one made from it."
            )
        ),
    ] = None,
    sending: SendingOptions,
    output: FolderOutput = None,
    data_dir: DataDir = None,
) -> Outcome:
    """Build the folder of a dataset, as `cc-hf build` does, and upload it.

    Example: cc-hf publish dataset simplegen --repo my-org/simplegen
    """
    from cc_hf._version import __version__
    from cc_hf.data.dataset_folders import is_dataset_folder
    from cc_hf.plugins.dataset_folders.building import build_dataset_folder

    declared, chosen = chosen_data(dataset, configs, language_pair)
    # A folder is given by its name, since its card is kept.
    data = dataset if is_dataset_folder(dataset) else declared
    notes: list[str] = []

    def build(folder: Path) -> list[Path]:
        files = build_dataset_folder(
            data, chosen, output=folder, data_dir=data_dir, repo=repo, task_ids=task
        )
        notes.extend(notes_on(dataset, files))
        return files

    return published(
        build,
        repo,
        "dataset",
        output,
        sending,
        message=f"{dataset} in contrastive format, built with cc_hf {__version__}",
        notes=notes,
    )
