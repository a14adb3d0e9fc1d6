"""What the commands of cc-hf publish share: their options, and how a folder is built and sent."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.fields import Fields
from cc_hf.errors import InputError

if TYPE_CHECKING:
    from cc_hf.hub.push import RepoType, Upload

__all__ = [
    "FolderOutput",
    "Repo",
    "Requirement",
    "Sending",
    "SendingFields",
    "SendingOptions",
    "published",
    "requirement_notes",
    "sizes",
]

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
SendingOptions = Annotated[Sending, SendingFields]


def published(
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
        parent_commit: the commit that the files are based on; None for the latest.

    Raises:
        InputError: for both a folder and an upload.
        DataError: if there is no token, the Hub refuses, or the Hub cannot be reached.
    """
    from cc_hf.hub.push import check_repo, plan, push

    check_repo(repo)
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


def _lines(upload: Upload, address: str, sending: Sending) -> list[str]:
    """Return the files of an upload, and whether they were sent."""
    manner = " as a pull request" if sending.pull_request else ""
    amount = f"{len(upload.files)} files, {upload.size:,} bytes"
    return [
        *sizes(upload.files),
        f"sent: {amount}{manner}; {address}"
        if sending.yes
        else f"dry run: {amount} would be sent to the {upload.repo_type} {upload.url}{manner};"
        " send them with --yes",
    ]


def requirement_notes(requirement: str | None, extras: str) -> list[str]:
    """Return the note that a Space with the default requirement cannot start."""
    from cc_hf.hub.spaces import NO_INDEX_NOTE

    return [NO_INDEX_NOTE.format(extras=extras)] if requirement is None else []


def sizes(files: Iterable[tuple[str, int]]) -> list[str]:
    """Return a line with size and path of each file."""
    return [f"{size:>12,}  {path}" for path, size in files]
