"""cc-hf publish: what cc_hf makes, sent to the Hub; a dry run without --yes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from cc_hf.cli.options import Configs, DataDir, Dataset, Every, chosen_configs

if TYPE_CHECKING:
    from cc_hf.hub.push import Upload

__all__ = ["Private", "PullRequest", "Yes", "app", "send"]

app = typer.Typer(help="Send datasets, metrics and results to the Hub; a dry run without --yes.", no_args_is_help=True)

Yes = Annotated[bool, typer.Option("--yes", help="Send the files; without, only say what would be sent.")]
Private = Annotated[bool, typer.Option("--private/--public", help="Of a repository that is made now.")]
PullRequest = Annotated[bool, typer.Option("--pull-request", help="Propose the files to an existing repository.")]


@app.callback()
def _main() -> None:
    pass


def send(upload: Upload, *, message: str, yes: bool, private: bool = True, create_pr: bool = False, description: str = "", parent_commit: str | None = None) -> None:
    """Say what goes where, and send it if told so.

    Args:
        upload: from `cc_hf.hub.push.plan`.
        yes: whether to send.
        message, description, private, create_pr, parent_commit: as of `cc_hf.hub.push.push`.

    Raises:
        DataError: as `cc_hf.hub.push.push`.
    """
    from cc_hf.hub.push import push

    console = Console()
    for path, size in upload.files:
        console.print(Text(f"{size:>12,}  {path}"), soft_wrap=True)
    way = " as a pull request" if create_pr else ""
    what = f"{len(upload.files)} files, {upload.size:,} bytes"
    if not yes:
        console.print(Text(f"dry run: {what} would be sent to the {upload.repo_type} {upload.url}{way}; send them with --yes"), soft_wrap=True)
        return
    address = push(upload, message=message, description=description, private=private, create_pr=create_pr, parent_commit=parent_commit)
    console.print(Text(f"sent: {what}{way}; {address}"), soft_wrap=True)


@app.command("dataset")
def dataset(
    dataset: Dataset,
    configs: Configs = None,
    *,
    repo: Annotated[str, typer.Option(help="Repository on the Hub, ORGANISATION/NAME.")],
    every: Every = False,
    yes: Yes = False,
    private: Private = True,
    pull_request: PullRequest = False,
    data_dir: DataDir = None,
) -> None:
    """Build a dataset's folder (as `cc-hf build`) and upload it."""
    from cc_hf import __version__
    from cc_hf.hub.parquet import build
    from cc_hf.hub.push import check_repo, plan

    check_repo(repo)
    chosen = chosen_configs(dataset, configs, every=every)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "dataset"
        build(dataset, chosen, output=folder, data_dir=data_dir)
        upload = plan(folder, repo, repo_type="dataset")
        send(upload, message=f"{dataset} in contrastive format, built with cc_hf {__version__}", yes=yes, private=private, create_pr=pull_request)
