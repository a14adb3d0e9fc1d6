"""Send a folder to the Hub. `plan` lists what would be sent, and `push` sends it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from huggingface_hub import CommitOperationAdd, HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError
from huggingface_hub.utils._validators import validate_repo_id

from cc_hf.errors import DataError, InputError

__all__ = [
    "REFUSALS",
    "RepoType",
    "Upload",
    "check_repo",
    "plan",
    "push",
    "refusal",
    "without_token",
]

RepoType = Literal["dataset", "space", "model"]

#: What the Hub's client raises, whichever HTTP library it uses. It raises ValueError and
#: RuntimeError for unexpected answers of the Hub and of its storage.
REFUSALS: tuple[type[Exception], ...] = (
    *(
        kind
        for kind in HfHubHTTPError.__mro__
        if issubclass(kind, Exception) and kind is not Exception
    ),
    LocalTokenNotFoundError,
    OSError,
    RuntimeError,
    ValueError,
)
_MAY_NOT = frozenset({401, 403, 404})  # the Hub answers 404 if the token may not see a repository
_SPACE_SDK = "gradio"


@dataclass(frozen=True)
class Upload:
    """A planned upload; `files` has the path in the repository and the size in bytes of each."""

    repo: str
    repo_type: RepoType
    folder: Path
    files: tuple[tuple[str, int], ...]

    @property
    def url(self) -> str:
        """The page of the repository."""
        kind = "" if self.repo_type == "model" else f"{self.repo_type}s/"
        return f"https://huggingface.co/{kind}{self.repo}"

    @property
    def size(self) -> int:
        """The size of all files together, in bytes."""
        return sum(size for _, size in self.files)


def check_repo(repo: str, what: str = "repo") -> str:
    """Check the name of a repository, and return it.

    Examples:
        >>> check_repo("org/name")
        'org/name'
    """
    try:
        validate_repo_id(repo)
    except HFValidationError as error:
        raise InputError(f"{what}: expected ORGANISATION/NAME, got {repo!r} ({error})") from None
    if repo.count("/") != 1:
        raise InputError(f"{what}: expected ORGANISATION/NAME, got {repo!r}")
    return repo


def plan(folder: str | Path, repo: str, *, repo_type: RepoType) -> Upload:
    """List what `push` would send. Nothing leaves the machine."""
    folder = Path(folder)
    files = tuple(
        (path.relative_to(folder).as_posix(), path.stat().st_size)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    )
    if not files:
        raise InputError(f"folder: expected a folder with files, {folder} has none")
    return Upload(check_repo(repo), repo_type, folder, files)


def push(
    upload: Upload,
    *,
    message: str,
    description: str = "",
    private: bool = True,
    create_pr: bool = False,
    parent_commit: str | None = None,
    api: HfApi | None = None,
) -> str:
    """Send the files of a plan in one commit, and create the repository if it does not exist.

    The commit is accepted as a whole or not at all. Files that the repository already has are not
    sent again, so that a push can be repeated.

    Args:
        create_pr: whether to open a pull request instead, in a repository that must exist.
        parent_commit: the commit that the files are based on; None for the latest.
    """
    api = api or HfApi()
    sent = "Nothing was sent"
    operations = [
        CommitOperationAdd(path_in_repo=path, path_or_fileobj=str(upload.folder / path))
        for path, _ in upload.files
    ]
    try:
        # A pull request goes to a repository that exists already, often one of somebody else.
        if not create_pr:
            sdk = _SPACE_SDK if upload.repo_type == "space" else None
            api.create_repo(
                upload.repo,
                repo_type=upload.repo_type,
                private=private,
                exist_ok=True,
                space_sdk=sdk,
            )
            sent = (
                f"The repository exists, without the {len(operations)} files: they are"
                " sent in one commit, all or none"
            )
        commit = api.create_commit(
            upload.repo,
            operations,
            commit_message=message,
            commit_description=description,
            repo_type=upload.repo_type,
            create_pr=create_pr,
            parent_commit=parent_commit,
        )
    except REFUSALS as error:
        raise DataError(refusal(error, upload.url, sent, api=api, is_pr=create_pr)) from error
    return commit.pr_url or commit.commit_url


def refusal(error: Exception, url: str, sent: str, *, api: HfApi, is_pr: bool = False) -> str:
    """Return the message for an error of the Hub's client, with what was sent and what to do."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, LocalTokenNotFoundError) or status in _MAY_NOT:
        remedy = (
            "Log in with `hf auth login` or set HF_TOKEN to a token that may write to it, then run"
            " the command again"
        )
    elif status is None and sent != "Nothing was sent":
        page = f"{url}/discussions" if is_pr else f"{url}/commits/main"
        remedy = (
            f"If the connection ended before the answer came, the commit may exist: see {page};"
            " otherwise run the command again"
        )
    else:
        remedy = "Run the command again; if the fault is the Hub's, wait before you do"
    reason = without_token(str(error) or repr(error), api)
    return f"{url}: the Hub did not accept the files ({reason}). {sent}. {remedy}"


def without_token(text: str, api: HfApi) -> str:
    """Return the text with every token in it masked.

    Examples:
        >>> without_token("got hf_abcdefghijklmnop", HfApi(token=False))
        'got hf_[hidden]'
    """
    for token in (api.token, get_token()):
        if isinstance(token, str) and token:
            text = text.replace(token, "hf_[hidden]")
    return re.sub(r"\bhf_[A-Za-z0-9]{8,}", "hf_[hidden]", text)
