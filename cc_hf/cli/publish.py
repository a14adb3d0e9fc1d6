"""cc-hf publish: upload what cc_hf builds to the Hub; without --yes, only a dry run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cc_hf.cli.options import Bleu, Configs, DataDir, Dataset, Every, chosen_configs
from cc_hf.cli.output import Console, say
from cc_hf.cli.publish_options import (
    FolderOutput,
    Private,
    PullRequest,
    Repo,
    Requirement,
    Yes,
)
from cc_hf.errors import InputError
from cc_hf.files import is_file
from cc_hf.reading import read_text

if TYPE_CHECKING:
    from cc_hf.hub.push import RepoType, Upload

__all__ = ["app", "send"]

app = typer.Typer(
    help=("Publish data, metrics, models, results or leaderboards on the Hub; dry run by default."),
    no_args_is_help=True,
)


def send(
    upload: Upload,
    *,
    message: str,
    yes: bool,
    private: bool = True,
    create_pr: bool = False,
    description: str = "",
    parent_commit: str | None = None,
) -> None:
    """Print the files of an upload, and send them if `yes` is set.

    Args:
        upload: a plan from `cc_hf.hub.push.plan`.
        message, description: title and text of the commit or pull request.
        private: whether a newly created repository is private.
        parent_commit: the commit that the files are based on; None for the latest.

    Raises:
        DataError: if there is no token, the Hub refuses, or the Hub cannot be reached.
    """
    from cc_hf.hub.push import push

    address = (
        push(
            upload,
            message=message,
            description=description,
            private=private,
            create_pr=create_pr,
            parent_commit=parent_commit,
        )
        if yes
        else ""
    )
    console = Console()
    for path, size in upload.files:
        console.print(Text(f"{size:>12,}  {path}"), soft_wrap=True)
    manner = " as a pull request" if create_pr else ""
    amount = f"{len(upload.files)} files, {upload.size:,} bytes"
    if not yes:
        console.print(
            Text(
                f"dry run: {amount} would be sent to the {upload.repo_type} {upload.url}{manner};"
                " send them with --yes"
            ),
            soft_wrap=True,
        )
        return
    console.print(Text(f"sent: {amount}{manner}; {address}"), soft_wrap=True)


@app.command("dataset")
def dataset(
    dataset: Dataset,
    configs: Configs = None,
    *,
    repo: Repo,
    every: Every = False,
    task: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A task that the Hub shows a leaderboard for, as CONFIGURATION--METRIC--SCORE, or"
                " CONFIGURATION--LANGUAGE--METRIC--SCORE where there are several target languages."
                " Repeat the option for up to three. Default: the scores of one metric on the"
                " default configuration."
            )
        ),
    ] = None,
    output: FolderOutput = None,
    yes: Yes = False,
    private: Private = True,
    pull_request: PullRequest = False,
    data_dir: DataDir = None,
) -> None:
    """Build the folder of a dataset, as `cc-hf build` does, and upload it."""
    from cc_hf._version import __version__
    from cc_hf.hub.parquet import build_dataset_folder
    from cc_hf.hub.push import check_repo

    check_repo(repo)
    chosen = chosen_configs(dataset, configs, every=every)
    _write_or_send(
        lambda folder: build_dataset_folder(
            dataset, chosen, output=folder, data_dir=data_dir, repo=repo, task_ids=task
        ),
        repo,
        repo_type="dataset",
        output=output,
        message=f"{dataset} in contrastive format, built with cc_hf {__version__}",
        yes=yes,
        private=private,
        create_pr=pull_request,
    )


@app.command("metric")
def metric(
    metric: Annotated[str, typer.Argument(help="Name of a metric (see `cc-hf list metrics`).")],
    *,
    repo: Annotated[
        str,
        typer.Option(
            help="Space on the Hub, as ORGANISATION/NAME. `evaluate.load` accepts this name."
        ),
    ],
    requirement: Requirement = None,
    output: FolderOutput = None,
    yes: Yes = False,
    private: Private = True,
    pull_request: PullRequest = False,
) -> None:
    """Build the Space of a metric (module, card, page, requirements, tests) and upload it."""
    from cc_hf._version import __version__
    from cc_hf.hub.spaces import build_metric_space

    _note_requirement(requirement, "models")
    _write_or_send(
        lambda folder: build_metric_space(metric, repo, output=folder, requirement=requirement),
        repo,
        repo_type="space",
        output=output,
        message=f"{metric}, built with cc_hf {__version__}",
        yes=yes,
        private=private,
        create_pr=pull_request,
    )


@app.command("model")
def model(
    model: Annotated[
        str,
        typer.Argument(help="Name of a model that ships with cc_hf (see `cc-hf list evaluators`)."),
    ],
    *,
    repo: Repo,
    output: FolderOutput = None,
    yes: Yes = False,
    private: Private = True,
    pull_request: PullRequest = False,
) -> None:
    """Build the folder of an embedded evaluator (card, weights, calibration) and upload it."""
    from cc_hf._version import __version__
    from cc_hf.hub.models import build_model_folder

    _write_or_send(
        lambda folder: build_model_folder(model, repo, output=folder),
        repo,
        repo_type="model",
        output=output,
        message=f"{model} of cc_hf {__version__}",
        yes=yes,
        private=private,
        create_pr=pull_request,
    )


@app.command("results")
def results(
    files: Annotated[
        list[Path],
        typer.Argument(help="JSON files that `cc-hf evaluate --output` wrote, all for one model."),
    ],
    *,
    model: Annotated[
        str, typer.Option(help="Repository of the model on the Hub, as ORGANISATION/NAME.")
    ],
    dataset_repo: Annotated[
        list[str],
        typer.Option(
            help=(
                "Repository of the benchmark on the Hub (see `cc-hf publish dataset`), as"
                " ORGANISATION/NAME. For results on several datasets, repeat the option with"
                " DATASET=ORGANISATION/NAME for each."
            )
        ),
    ],
    date: Annotated[
        str | None, typer.Option(help="Date of the evaluation, as YYYY-MM-DD. Default: today.")
    ] = None,
    source_url: Annotated[
        str | None, typer.Option(help="Address of a page that describes the evaluation.")
    ] = None,
    source_name: Annotated[
        str | None, typer.Option(help="Name of the page at --source-url.")
    ] = None,
    model_index: Annotated[
        bool,
        typer.Option(
            "--model-index/--no-model-index",
            help=(
                "Also write the results into the metadata of the model's card, which is the"
                " older format."
            ),
        ),
    ] = True,
    card: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Local copy of the model's README.md. Default: the README.md on the Hub at the"
                " time of the upload."
            )
        ),
    ] = None,
    output: FolderOutput = None,
    yes: Yes = False,
    pull_request: Annotated[
        bool,
        typer.Option(
            "--pull-request/--no-pull-request",
            help=(
                "Open a pull request. With --no-pull-request, commit the files directly, which"
                " needs write access to the repository."
            ),
        ),
    ] = True,
) -> None:
    """Upload the scores of a model to its repository, where the Hub's leaderboards read them."""
    from cc_hf._version import __version__
    from cc_hf.hub.eval_results import evaluator_notes
    from cc_hf.hub.model_results import CARD, read_card, read_system_results, results_folder
    from cc_hf.hub.push import check_repo, plan

    check_repo(model, "--model")
    options: dict[str, Any] = {
        "dataset_repos": dataset_repo,
        "date": date,
        "source_url": source_url,
        "source_name": source_name,
        "model_index": model_index,
    }
    system_results = read_system_results(files)
    for note in evaluator_notes(system_results):
        say("note", note)
    text = read_text(card) if card is not None and is_file(card) else None
    if card is not None and text is None:
        raise InputError(f"--card: expected a file, {card} is not a file")
    if output is not None:
        _check_only_written(yes=yes)
        _say_written(results_folder(system_results, model, output=output, card=text, **options))
        return
    with tempfile.TemporaryDirectory() as temporary:
        # This build is discarded: it finds errors in the input before the Hub is contacted.
        results_folder(
            system_results, model, output=Path(temporary) / "check", card=text, **options
        )
        parent = None
        if yes and model_index and card is None:
            text, parent = read_card(model)
        folder = Path(temporary) / "model"
        results_folder(system_results, model, output=folder, card=text, **options)
        upload = plan(folder, model, repo_type="model")
        if not yes and model_index and card is None:
            say(
                "note",
                f"the results will be merged into the metadata of {CARD} as it is on the Hub when"
                " they are sent; everything else in it is kept",
            )
        datasets = sorted({result.dataset for result in system_results})
        message = f"Results of {', '.join(datasets)} by cc_hf"
        signatures = "\n".join(f"- `{result.signature}`" for result in system_results)
        description = f"Made with cc_hf {__version__}. Signatures:\n{signatures}"
        send(
            upload,
            message=message,
            description=description,
            yes=yes,
            create_pr=pull_request,
            parent_commit=parent,
        )


@app.command("leaderboard")
def leaderboard(
    *,
    repo: Annotated[str, typer.Option(help="Space on the Hub, as ORGANISATION/NAME.")],
    results: Annotated[
        Path, typer.Option(help="Folder with JSON files that `cc-hf evaluate --output` wrote.")
    ],
    bleu: Bleu = None,
    title: Annotated[str, typer.Option(help="Title of the Space.")] = "Disambiguation leaderboard",
    requirement: Requirement = None,
    output: FolderOutput = None,
    yes: Yes = False,
    private: Private = True,
    pull_request: PullRequest = False,
) -> None:
    """Build the Space of a leaderboard, as `cc-hf leaderboard` serves it, and upload it."""
    from cc_hf._version import __version__
    from cc_hf.hub.eval_results import evaluator_notes
    from cc_hf.hub.push import check_repo
    from cc_hf.leaderboard.space import build_leaderboard_space

    check_repo(repo)
    _note_requirement(requirement, "leaderboard,models")

    def build(folder: Path) -> list[Path]:
        store = build_leaderboard_space(
            results, folder, title=title, quality=bleu, requirement=requirement
        )
        for name, reason in store.broken.items():
            say("note", f"{name} is ignored: {reason}")
        for note in evaluator_notes(entry.result for entry in store.entries):
            say("note", note)
        return sorted(path for path in folder.rglob("*") if path.is_file())

    _write_or_send(
        build,
        repo,
        repo_type="space",
        output=output,
        message=f"Leaderboard, built with cc_hf {__version__}",
        yes=yes,
        private=private,
        create_pr=pull_request,
    )


def _write_or_send(
    build: Callable[[Path], Sequence[Path]],
    repo: str,
    *,
    repo_type: RepoType,
    output: Path | None,
    yes: bool,
    **sending: Any,
) -> None:
    """Build a folder at `output` and list its files, or send it from a temporary folder."""
    if output is not None:
        _check_only_written(yes=yes)
        _say_written(build(output))
        return
    from cc_hf.hub.push import plan

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "folder"
        build(folder)
        send(plan(folder, repo, repo_type=repo_type), yes=yes, **sending)


def _note_requirement(requirement: str | None, extras: str) -> None:
    """Say that a Space with the default requirement cannot start."""
    from cc_hf.hub.spaces import NO_INDEX_NOTE

    if requirement is None:
        say("note", NO_INDEX_NOTE.format(extras=extras))


def _check_only_written(*, yes: bool) -> None:
    if yes:
        raise InputError(
            "expected --output, which only writes the folder, or --yes, which sends it, got both"
        )


def _say_written(files: Sequence[Path]) -> None:
    console = Console()
    for path in files:
        console.print(Text(f"{path.stat().st_size:>12,}  {path}"), soft_wrap=True)
