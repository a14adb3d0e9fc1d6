"""cc-hf publish: upload what cc_hf builds to the Hub; without --yes, only a dry run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cc_hf.cli.build import notes_on, sizes
from cc_hf.cli.command import CommandGroup, Outcome, add_command
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import (
    Bleu,
    Configs,
    DataDir,
    Dataset,
    PairOfRows,
    Results,
    ResultsFolder,
    chosen_data,
)
from cc_hf.errors import InputError
from cc_hf.files import is_file
from cc_hf.reading import read_text

if TYPE_CHECKING:
    from cc_hf.hub.push import RepoType, Upload

__all__ = ["app"]

app = typer.Typer(cls=CommandGroup, help="Publish on the Hub; without --yes, a dry run.")

Repo = Annotated[str, typer.Option(help="Repository on the Hub, as ORGANISATION/NAME.")]
Requirement = Annotated[
    str | None,
    typer.Option(
        help=(
            "Line of requirements.txt with which pip installs cc_hf. Default: this version of cc_hf"
            " or a newer one, before the next major version."
        )
    ),
]
FolderOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="New folder to write. Nothing is uploaded.",
        rich_help_panel="Output",
    ),
]


_TRANSLATIONS_NOTE = (
    "the folder holds sources and translations; make sure that their licences allow to publish them"
)


@dataclass(frozen=True)
class Sending:
    """How files are sent to the Hub.

    Attributes:
        yes: upload the files. Without this option, the command lists what would be uploaded.
        public: make the repository public, if the command creates it.
        pull_request: open a pull request in an existing repository, in place of a commit, which
            needs write access.
    """

    yes: bool = False
    public: bool = False
    pull_request: bool = False


SendingFields = Fields("yes", "Upload", settings="public pull_request")


@dataclass(frozen=True)
class Entry:
    """What the repository of a model says of its results.

    Attributes:
        date: date of the evaluation, as YYYY-MM-DD; None for today.
        source_url: address of a page that describes the evaluation.
        source_name: name of that page.
        model_index: write the results into the metadata of the model's card, too, which is the
            older format.
    """

    date: str | None = None
    source_url: str | None = None
    source_name: str | None = None
    model_index: bool = True


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
    sending: Annotated[Sending, SendingFields],
    output: FolderOutput = None,
    data_dir: DataDir = None,
) -> Outcome:
    """Build the folder of a dataset, as `cc-hf build` does, and upload it.

    Example: cc-hf publish dataset simplegen --repo my-org/simplegen
    """
    from cc_hf._version import __version__
    from cc_hf.data.dataset_folders import is_dataset_folder
    from cc_hf.hub.parquet import build_dataset_folder
    from cc_hf.hub.push import check_repo

    check_repo(repo)
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

    return _published(
        build,
        repo,
        "dataset",
        output,
        sending,
        message=f"{dataset} in contrastive format, built with cc_hf {__version__}",
        notes=notes,
    )


def metric(
    metric: Annotated[str, typer.Argument(help="Name of a metric (see `cc-hf list metrics`).")],
    *,
    repo: Repo,
    requirement: Requirement = None,
    sending: Annotated[Sending, SendingFields],
    output: FolderOutput = None,
) -> Outcome:
    """Build the Space of a metric, and upload it.

    It holds the module that `evaluate.load` loads by the name of the Space, with card, page,
    requirements and tests.

    Example: cc-hf publish metric gender_accuracy --repo my-org/gender_accuracy
    """
    from cc_hf._version import __version__
    from cc_hf.hub.spaces import build_metric_space

    return _published(
        lambda folder: build_metric_space(metric, repo, output=folder, requirement=requirement),
        repo,
        "space",
        output,
        sending,
        message=f"{metric}, built with cc_hf {__version__}",
        notes=_requirement_notes(requirement, "models"),
    )


def model(
    model: Annotated[
        str,
        typer.Argument(help="Name of a model that ships with cc_hf (see `cc-hf list evaluators`)."),
    ],
    *,
    repo: Repo,
    sending: Annotated[Sending, SendingFields],
    output: FolderOutput = None,
) -> Outcome:
    """Build the folder of an embedded evaluator, and upload it.

    It holds the weights, the card and the calibration.

    Example: cc-hf publish model cc-tiny-en-de --repo my-org/cc-tiny-en-de
    """
    from cc_hf._version import __version__
    from cc_hf.hub.models import build_model_folder

    return _published(
        lambda folder: build_model_folder(model, repo, output=folder),
        repo,
        "model",
        output,
        sending,
        message=f"{model} of cc_hf {__version__}",
    )


def results(
    results: Results,
    *,
    repo: Annotated[
        str, typer.Option(help="Repository of the model on the Hub, as ORGANISATION/NAME.")
    ],
    dataset_repo: Annotated[
        list[str],
        typer.Option(
            help=(
                "Repository of the benchmark on the Hub (see `cc-hf publish dataset`), as"
                " ORGANISATION/NAME or ORGANISATION/NAME@COMMIT. For results on several datasets,"
                " repeat the option with DATASET=ORGANISATION/NAME for each. Default of the commit:"
                " the current one, at the time of the upload."
            )
        ),
    ],
    entry: Annotated[
        Entry, Fields("", "Entry", settings="date source_url source_name model_index")
    ],
    card: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Local copy of the model's README.md. Default: the README.md on the Hub at the"
                " time of the upload."
            )
        ),
    ] = None,
    sending: Annotated[
        Sending,
        replace(SendingFields, settings="pull_request", defaults={"pull_request": True}),
    ],
    output: FolderOutput = None,
) -> Outcome:
    """Upload the scores of a model to its repository.

    The leaderboards of the Hub read them there. All results must be of one model.

    Example: cc-hf publish results tiny.json --repo my-org/m --dataset-repo my-org/d
    """
    from cc_hf._version import __version__
    from cc_hf.hub.eval_results import evaluator_notes
    from cc_hf.hub.model_results import (
        CARD,
        pinned_repos,
        read_card,
        read_system_results,
        results_folder,
    )
    from cc_hf.hub.push import check_repo

    check_repo(repo)
    is_merged = entry.model_index and card is None
    options: dict[str, Any] = {"dataset_repos": dataset_repo, **asdict(entry)}
    system_results = read_system_results(results)
    notes = list(evaluator_notes(system_results))
    if card is not None and not is_file(card):
        raise InputError(f"card: expected a file, {card} is not a file")
    text = None if card is None else read_text(card)
    parent = None
    if output is None:
        with tempfile.TemporaryDirectory() as temporary:
            # This build is discarded: it finds errors in the input before the Hub is contacted.
            folder = Path(temporary) / "check"
            results_folder(system_results, repo, output=folder, card=text, **options)
        if sending.yes:
            options["dataset_repos"], missing = pinned_repos(dataset_repo, system_results)
            notes += missing
        if sending.yes and is_merged:
            text, parent = read_card(repo)
        elif is_merged:
            notes.append(
                f"the results will be merged into the metadata of {CARD} as it is on the Hub when"
                " they are sent; everything else in it is kept"
            )
    datasets = sorted({result.dataset for result in system_results})
    signatures = "\n".join(f"- `{result.signature}`" for result in system_results)
    return _published(
        lambda folder: results_folder(system_results, repo, output=folder, card=text, **options),
        repo,
        "model",
        output,
        sending,
        message=f"Results of {', '.join(datasets)} by cc_hf",
        description=f"Made with cc_hf {__version__}. Signatures:\n{signatures}",
        parent_commit=parent,
        notes=notes,
    )


def leaderboard(
    results: ResultsFolder,
    *,
    repo: Repo,
    bleu: Bleu = None,
    title: Annotated[str, typer.Option(help="Title of the Space.")] = "Disambiguation leaderboard",
    static: Annotated[
        bool,
        typer.Option(
            "--static",
            help=(
                "Build a page that needs no server, as `cc-hf leaderboard --static` writes it. It"
                " holds the translations. Static Spaces are free."
            ),
        ),
    ] = False,
    requirement: Requirement = None,
    sending: Annotated[Sending, SendingFields],
    output: FolderOutput = None,
) -> Outcome:
    """Build the Space of a leaderboard, as `cc-hf leaderboard` serves it, and upload it.

    Example: cc-hf publish leaderboard . --repo my-org/board
    """
    from cc_hf._version import __version__
    from cc_hf.hub.eval_results import evaluator_notes
    from cc_hf.hub.push import check_repo
    from cc_hf.leaderboard.space import build_leaderboard_space, build_static_space

    check_repo(repo)
    if static and requirement is not None:
        raise InputError(
            "static, requirement: expected one of the two, since a static Space installs nothing"
        )
    notes = (
        [_TRANSLATIONS_NOTE] if static else _requirement_notes(requirement, "leaderboard,models")
    )

    def build(folder: Path) -> list[Path]:
        if static:
            board = build_static_space(results, folder, title=title, quality=bleu)
            notes.extend(board.notes)
            broken, shown = board.broken, [r for k in board.rankings for r in k.results.values()]
        else:
            store = build_leaderboard_space(
                results, folder, title=title, quality=bleu, requirement=requirement
            )
            broken, shown = store.broken, [entry.result for entry in store.entries]
        notes.extend(f"{name} is ignored: {reason}" for name, reason in broken.items())
        notes.extend(evaluator_notes(shown))
        return sorted(path for path in folder.rglob("*") if path.is_file())

    return _published(
        build,
        repo,
        "space",
        output,
        sending,
        message=f"Leaderboard, built with cc_hf {__version__}",
        notes=notes,
    )


def _published(
    build: Callable[[Path], Sequence[Path]],
    repo: str,
    repo_type: RepoType,
    output: Path | None,
    sending: Sending,
    *,
    message: str,
    description: str = "",
    parent_commit: str | None = None,
    notes: Sequence[str] = (),
) -> Outcome:
    """Build a folder at `output`, or in a temporary folder from which it is sent.

    Args:
        message, description: title and text of the commit or pull request.
        parent_commit: the commit that the files are based on; None for the latest.
        notes: read after the folder was built, which may add some.

    Raises:
        InputError: for both a folder and an upload.
        DataError: if there is no token, the Hub refuses, or the Hub cannot be reached.
    """
    from cc_hf.hub.push import plan, push

    if output is not None:
        if sending.yes:
            raise InputError(
                "output, yes: expected one of the two, the folder or the upload, got both"
            )
        files = [(str(path), path.stat().st_size) for path in build(output)]
        return Outcome(
            {"folder": str(output), "files": dict(files)}, lambda: sizes(files), notes=notes
        )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "folder"
        build(folder)
        upload = plan(folder, repo, repo_type=repo_type)
        address = (
            push(
                upload,
                message=message,
                description=description,
                private=not sending.public,
                create_pr=sending.pull_request,
                parent_commit=parent_commit,
            )
            if sending.yes
            else ""
        )
    row = {"repo": upload.url, "files": dict(upload.files), "sent": address or None}
    return Outcome(row, lambda: _lines(upload, address, sending), notes=notes)


def _lines(upload: Upload, address: str, sending: Sending) -> list[Text]:
    """Return the files of an upload, and whether they were sent."""
    manner = " as a pull request" if sending.pull_request else ""
    amount = f"{len(upload.files)} files, {upload.size:,} bytes"
    return [
        *sizes(upload.files),
        Text(
            f"sent: {amount}{manner}; {address}"
            if sending.yes
            else f"dry run: {amount} would be sent to the {upload.repo_type} {upload.url}{manner};"
            " send them with --yes"
        ),
    ]


def _requirement_notes(requirement: str | None, extras: str) -> list[str]:
    """Return the note that a Space with the default requirement cannot start."""
    from cc_hf.hub.spaces import NO_INDEX_NOTE

    return [NO_INDEX_NOTE.format(extras=extras)] if requirement is None else []


for _function in (dataset, metric, model, results, leaderboard):
    add_command(app, _function.__name__, _function)
