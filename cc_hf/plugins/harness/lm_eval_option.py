"""`cc-hf build --lm-eval`: the command also writes tasks of lm-eval on the dataset."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import chosen_data
from cc_hf.cli.publishing import sizes
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.errors import InputError
from cc_hf.folders import new_folder
from cc_hf.schema import dataset_in_words

__all__ = ["lm_eval"]


def lm_eval(
    build: Callable[..., Outcome],
    /,
    *,
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
) -> Callable[..., Outcome]:
    """Return what runs `cc-hf build`, and writes tasks on its folder."""
    return build if lm_eval is None else functools.partial(_outcome, build, lm_eval)


def _outcome(build: Callable[..., Outcome], tasks_folder: Path, /, **arguments: Any) -> Outcome:
    from cc_hf.plugins.harness.lm_eval_tasks import write_lm_eval_tasks

    dataset, output = arguments["dataset"], arguments["output"]
    _check_choices(*chosen_data(dataset, arguments["configs"], arguments["language_pair"]))
    with new_folder(tasks_folder) as folder:  # checked before the dataset is built
        built = build(**arguments)
        written = write_lm_eval_tasks(output, folder, name=Path(dataset).stem)
    tasks = [tasks_folder / path.name for path in written]
    return replace(
        built,
        row={**built.row, "tasks": [path.stem for path in tasks]},
        tables=lambda: [
            *built.tables(),
            *sizes((str(path), path.stat().st_size) for path in tasks),
        ],
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
