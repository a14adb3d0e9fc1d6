"""Sends a folder to the Hub. Dry run first: what would be sent is told, nothing is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError
from huggingface_hub.utils._validators import validate_repo_id

from cc_hf.errors import DataError, InputError

__all__ = ["Upload", "plan", "push"]


#: what the Hub's client raises, whatever library it speaks HTTP with
_REFUSALS: tuple[type[Exception], ...] = (
    *(kind for kind in HfHubHTTPError.__mro__ if issubclass(kind, Exception) and kind is not Exception),
    LocalTokenNotFoundError,
    OSError,
)


@dataclass(frozen=True)
class Upload:
    """What goes where. `files`: path in the repository and size in bytes."""

    repo: str
    repo_type: Literal["dataset", "space", "model"]
    folder: Path
    files: tuple[tuple[str, int], ...]

    @property
    def url(self) -> str:
        """The page of the repository."""
        kind = "" if self.repo_type == "model" else f"{self.repo_type}s/"
        return f"https://huggingface.co/{kind}{self.repo}"


def plan(folder: str | Path, repo: str, *, repo_type: Literal["dataset", "space", "model"]) -> Upload:
    """What `push` would send; nothing leaves the machine.

    Args:
        folder: an existing folder.
        repo: ORGANISATION/NAME.
        repo_type: dataset, space or model.

    Raises:
        InputError: for a folder that is not there or is empty, or a name that the Hub does not take.
    """
    folder = Path(folder)
    files = tuple((path.relative_to(folder).as_posix(), path.stat().st_size) for path in sorted(folder.rglob("*")) if path.is_file())
    if not files:
        raise InputError(f"folder: expected a folder with files, {folder} has none")
    try:
        validate_repo_id(repo)
    except HFValidationError as error:
        raise InputError(f"repo: expected ORGANISATION/NAME, got {repo!r} ({error})") from None
    if repo.count("/") != 1:
        raise InputError(f"repo: expected ORGANISATION/NAME, got {repo!r}")
    return Upload(repo, repo_type, folder, files)


def push(upload: Upload, *, message: str, private: bool = True, create_pr: bool = False, api: HfApi | None = None) -> str:
    """Send the folder in one commit, making the repository if it is not there; answers the commit's address.

    Args:
        upload: from `plan`.
        message: of the commit.
        private: of a repository that is made now.
        create_pr: as a pull request instead.
        api: with the token and endpoint to use; None for those of the environment.

    Raises:
        DataError: when there is no token, or the Hub refuses or cannot be reached; nothing was sent then.
    """
    api = api or HfApi()
    try:
        if not create_pr:
            api.create_repo(upload.repo, repo_type=upload.repo_type, private=private, exist_ok=True)
        commit = api.upload_folder(repo_id=upload.repo, repo_type=upload.repo_type, folder_path=upload.folder, commit_message=message, create_pr=create_pr)
    except _REFUSALS as error:
        raise DataError(f"{upload.url}: the Hub did not take the files ({error}). Log in with `hf auth login` or set HF_TOKEN to a token that may write there") from error
    return commit.pr_url or commit.commit_url
