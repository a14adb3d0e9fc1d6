"""cc-hf publish: upload what cc_hf builds to the Hub; without --yes, only a dry run."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cc_hf import registry
from cc_hf.cli.command import CommandGroup, Outcome, add_command
from cc_hf.cli.fields import Fields
from cc_hf.cli.options import Results
from cc_hf.cli.publishing import (
    FolderOutput,
    Repo,
    Requirement,
    Sending,
    SendingFields,
    SendingOptions,
    published,
    requirement_notes,
)
from cc_hf.errors import InputError
from cc_hf.files import is_file
from cc_hf.reading import read_text

__all__ = ["app"]

app = typer.Typer(cls=CommandGroup, help="Publish on the Hub; without --yes, a dry run.")


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


def metric(
    metric: Annotated[str, typer.Argument(help="Name of a metric (see `cc-hf list metrics`).")],
    *,
    repo: Repo,
    requirement: Requirement = None,
    sending: SendingOptions,
    output: FolderOutput = None,
) -> Outcome:
    """Build the Space of a metric, and upload it.

    It holds the module that `evaluate.load` loads by the name of the Space, with card, page,
    requirements and tests.

    Example: cc-hf publish metric gender_accuracy --repo my-org/gender_accuracy
    """
    from cc_hf._version import __version__
    from cc_hf.hub.spaces import build_metric_space

    return published(
        lambda folder: build_metric_space(metric, repo, output=folder, requirement=requirement),
        repo,
        "space",
        output,
        sending,
        message=f"{metric}, built with cc_hf {__version__}",
        notes=requirement_notes(requirement, "models"),
    )


def model(
    model: Annotated[
        str,
        typer.Argument(help="Name of a model that ships with cc_hf (see `cc-hf list evaluators`)."),
    ],
    *,
    repo: Repo,
    sending: SendingOptions,
    output: FolderOutput = None,
) -> Outcome:
    """Build the folder of an embedded evaluator, and upload it.

    It holds the weights, the card and the calibration.

    Example: cc-hf publish model cc-tiny-en-de --repo my-org/cc-tiny-en-de
    """
    from cc_hf._version import __version__
    from cc_hf.hub.models import build_model_folder

    return published(
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
    return published(
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


# The help begins with these, as they are needed; what else plug-ins publish follows by name.
_FIRST = ("dataset", "metric", "model", "results")
_publishers = {
    **registry.load_all("publisher"),
    "metric": metric,
    "model": model,
    "results": results,
}
for _name in sorted(_publishers, key=lambda name: (name not in _FIRST, name)):
    add_command(app, _name, _publishers[_name])
