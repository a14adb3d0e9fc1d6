"""cc-hf publish: what cc_hf makes, sent to the Hub; a dry run unless told otherwise."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from cc_hf.cli.options import Configs, DataDir, Dataset, Every, chosen_configs

__all__ = ["app"]

app = typer.Typer(help="Send datasets to the Hub; a dry run by default.", no_args_is_help=True)


@app.callback()
def _main() -> None:
    pass


@app.command("dataset")
def dataset(
    dataset: Dataset,
    configs: Configs = None,
    *,
    repo: Annotated[str, typer.Option(help="Repository on the Hub, ORGANISATION/NAME.")],
    every: Every = False,
    dry_run: Annotated[bool, typer.Option("--dry-run/--no-dry-run", help="Only say what would be sent.")] = True,
    private: Annotated[bool, typer.Option("--private/--public", help="Of a repository that is made now.")] = True,
    pull_request: Annotated[bool, typer.Option("--pull-request", help="Propose the files to an existing repository.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Build a dataset's folder (as `cc-hf build`) and upload it."""
    from cc_hf import __version__
    from cc_hf.hub.parquet import build
    from cc_hf.hub.push import plan, push

    chosen = chosen_configs(dataset, configs, every=every)
    console = Console()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "dataset"
        build(dataset, chosen, output=folder, data_dir=data_dir)
        upload = plan(folder, repo, repo_type="dataset")
        for path, size in upload.files:
            console.print(Text(f"{size:>12,}  {path}"), soft_wrap=True)
        total = sum(size for _, size in upload.files)
        if dry_run:
            text = f"dry run: {len(upload.files)} files, {total:,} bytes would be sent to {upload.url}; send them with --no-dry-run"
            console.print(Text(text), soft_wrap=True)
            return
        address = push(upload, message=f"{dataset} in contrastive format, built with cc_hf {__version__}", private=private, create_pr=pull_request)
    console.print(Text(f"sent: {len(upload.files)} files, {total:,} bytes; {address}"), soft_wrap=True)
