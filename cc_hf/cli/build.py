"""cc-hf build: write a dataset as a folder for a Hub repository."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cc_hf import registry
from cc_hf.cli.command import Outcome
from cc_hf.cli.options import (
    Configs,
    DataDir,
    Dataset,
    NewFolder,
    PairOfRows,
    chosen_data,
)
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.errors import InputError
from cc_hf.folders import new_folder
from cc_hf.schema import dataset_in_words

__all__ = ["build", "notes_on", "sizes"]


def build(
    dataset: Dataset,
    configs: Configs = None,
    *,
    language_pair: PairOfRows = None,
    output: NewFolder,
    lm_eval: Annotated[
        Path | None,
        typer.Option(
            "--lm-eval",
            metavar="DIR",
            help=(
                "New folder for tasks of lm-eval, which `lm_eval --include_path DIR` reads, on the"
                " contrastive translations in the folder of --output."
            ),
            rich_help_panel="Output",
        ),
    ] = None,
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
    from cc_hf.hub.parquet import build_dataset_folder

    declared, chosen = chosen_data(dataset, configs, language_pair)
    # A folder is given by its name, since its card is kept.
    data = dataset if is_dataset_folder(dataset) else declared

    def built() -> list[Path]:
        return build_dataset_folder(data, chosen, output=output, data_dir=data_dir)

    tasks = []
    if lm_eval is None:
        files = built()
    else:
        write_tasks = registry.resolve("public name", "write_lm_eval_tasks")
        _check_choices(declared, chosen)
        with new_folder(lm_eval) as folder:  # checked before the dataset is built
            files = built()
            written = write_tasks(output, folder, name=Path(dataset).stem)
        tasks = [lm_eval / path.name for path in written]
    row = {"folder": str(output), "files": [path.relative_to(output).as_posix() for path in files]}
    if lm_eval is not None:
        row["tasks"] = [path.stem for path in tasks]
    files += tasks
    return Outcome(
        row,
        lambda: sizes((str(path), path.stat().st_size) for path in files),
        notes=notes_on(dataset, files),
    )


def _check_choices(declared: DatasetDeclaration, configs: Sequence[str] | None) -> None:
    """Refuse a dataset for lm-eval of which no configuration has contrastive translations."""
    chosen = [declared.config(config) for config in configs] if configs else declared.configs
    if any(config.has_choices for config in chosen):
        return
    others = [config.name for config in declared.configs if config.has_choices]
    raise InputError(
        "lm_eval: expected contrastive translations, got"
        f" {dataset_in_words(declared.name)} {', '.join(config.name for config in chosen)}"
        + f"; name a configuration that has them, such as {''.join(others[:1])}"
        * bool(others)
    )


def notes_on(dataset: str, files: Iterable[Path]) -> list[str]:
    """Return why the folder of a registered dataset has no eval.yaml, if it has none."""
    from cc_hf.hub.tasks import no_benchmark

    is_benchmark = any(path.name == "eval.yaml" for path in files)
    return [] if is_benchmark else no_benchmark(dataset)


def sizes(files: Iterable[tuple[str, int]]) -> list[Text]:
    """Return a line with size and path of each file."""
    return [Text(f"{size:>12,}  {path}") for path, size in files]
