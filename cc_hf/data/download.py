"""Pinned files: read from a local copy or the cache, or downloaded once. Every use verifies them, a
broken download is resumed, and a file is written completely or not at all.
"""

from __future__ import annotations

import hashlib
import os
import time
from http import HTTPStatus
from pathlib import Path

from huggingface_hub import constants

from cc_hf.data.declaration import SourceFile
from cc_hf.errors import DataError
from cc_hf.files import file_sha256, is_file, is_folder

__all__ = ["fetch", "is_here", "is_local", "local_folder"]

_TIMEOUT = 60
_ATTEMPTS = 3
_CHUNK = 1 << 20
_LARGEST = 1 << 31  # bytes of a file whose size is not declared
_SLOWEST = 100  # bytes a second, below which a server is given up
_SHA256_LENGTH = 64
_LOCAL_HINT = "set CC_HF_DATA_DIR (or `data_dir`) to a folder that holds owner/repository/path"


def fetch(file: SourceFile, data_dir: str | Path | None = None) -> Path:
    """Return the local path of a pinned file, downloading it if needed.

    Args:
        data_dir: a local copy of upstream repositories with the layout DIR/owner/repository/path.
            None uses the environment variable CC_HF_DATA_DIR, or else the cache (HF_HOME/cc_hf, or
            the Hub's own cache for files of the Hub).

    Raises:
        DataError: when the folder or the file is missing, the content is not the pinned one, or the
            download fails.
    """
    local = local_folder(data_dir)
    if local and (not file.is_of_a_model or is_here(file, local)):
        folder = Path(local)
        if not is_folder(folder):
            name = "data_dir" if data_dir is not None else "CC_HF_DATA_DIR"
            raise DataError(
                f"{name}: expected a folder with DIR/owner/repository/path, {folder} is not a"
                " folder"
            )
        path = folder / file.repository / file.path
        if not is_file(path):
            raise DataError(
                f"file not found: {path}; expected the file of {file.repository} at commit"
                f" {file.commit[:7]}. Put it there from {file.url}, or leave the local copy out and"
                " let it be downloaded"
            )
        _verify(path, file)
        return path
    if file.host == "hub":
        return _from_hub(file)
    path = Path(constants.HF_HOME) / "cc_hf" / file.repository / file.commit / file.path
    if not path.is_file():
        _download(file, path)
    _verify(path, file)
    return path


def is_here(file: SourceFile, data_dir: str | Path | None = None) -> bool:
    """Return whether `fetch` finds the file without the network. The content is not checked."""
    local = local_folder(data_dir)
    if local:
        return is_file(Path(local) / file.repository / file.path)
    if file.host == "hub":
        from huggingface_hub import try_to_load_from_cache

        return isinstance(
            try_to_load_from_cache(
                file.repository, file.path, repo_type="dataset", revision=file.commit
            ),
            str,
        )
    return (Path(constants.HF_HOME) / "cc_hf" / file.repository / file.commit / file.path).is_file()


def is_local(data_dir: str | Path | None = None) -> bool:
    """Return whether `fetch` reads a local copy."""
    return bool(local_folder(data_dir))


def local_folder(data_dir: str | Path | None) -> str | Path | None:
    """Return `data_dir`, or the folder that CC_HF_DATA_DIR names; None without either."""
    return data_dir if data_dir is not None else os.environ.get("CC_HF_DATA_DIR")


def _verify(path: Path, file: SourceFile) -> None:
    if not file.sha256:
        return  # the file is pinned by its commit only
    received = file_sha256(path)
    if received != file.sha256:
        raise DataError(
            f"{path}: expected sha256 {file.sha256}, received {received}: this is not the file of"
            f" {file.repository} at commit {file.commit[:7]}. Restore it from {file.url}, or delete"
            " it so that it is downloaded again"
        )


def _from_hub(file: SourceFile) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        path = Path(
            hf_hub_download(file.repository, file.path, repo_type="dataset", revision=file.commit)
        )
    except LocalEntryNotFoundError as error:
        raise DataError(
            f"{file.path} of the dataset {file.repository} is not in the Hub's cache, and the Hub"
            f" cannot be reached ({error}). Go online once, or {_LOCAL_HINT}"
        ) from error
    except (HfHubHTTPError, OSError) as error:
        raise DataError(
            f"{file.url} could not be downloaded ({error}); nothing was kept. Try again, or"
            f" {_LOCAL_HINT}"
        ) from error
    # In the Hub's cache, the name of the blob of a large file is its sha256.
    expected = path.resolve().name
    if len(expected) == _SHA256_LENGTH and file_sha256(path) != expected:
        raise DataError(
            f"{path}: expected sha256 {expected}, as the Hub says of {file.url}, received other"
            " content; delete it so that it is downloaded again"
        )
    return path


def _download(file: SourceFile, path: Path) -> None:
    """Download into a part file next to the target; rename it once it is complete and verified."""
    from filelock import FileLock

    if constants.HF_HUB_OFFLINE:
        raise DataError(
            f"{file.path} of {file.repository} is not in the cache ({path}) and HF_HUB_OFFLINE is"
            f" set. Go online once, or {_LOCAL_HINT}"
        )
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        locks = Path(constants.HF_HOME) / "cc_hf" / ".locks"
        locks.mkdir(exist_ok=True)
        # One process downloads while the others wait for the file.
        with FileLock(locks / f"{hashlib.sha256(str(path).encode()).hexdigest()[:16]}.lock"):
            if path.is_file():
                return
            _complete(file, part)
            os.replace(part, path)
    except OSError as error:
        raise DataError(
            f"{path}: the cache cannot be written ({error}). Set HF_HOME to a folder that can, or"
            f" {_LOCAL_HINT}"
        ) from error


def _complete(file: SourceFile, part: Path) -> None:
    """Download what the part file lacks, also after a download that broke off."""
    import urllib.error
    from http.client import HTTPException

    problem = ""
    for _ in range(_ATTEMPTS):
        start = _size(part)
        if file.size and start >= file.size:
            break
        try:
            problem = _receive(file, part, start)
        except urllib.error.HTTPError as error:
            error.close()  # an HTTPError keeps its connection open
            part.unlink(missing_ok=True)
            raise DataError(
                f"{file.url} could not be downloaded ({error}); nothing was kept. Try again, or"
                f" {_LOCAL_HINT}"
            ) from error
        except (urllib.error.URLError, HTTPException, ConnectionError, TimeoutError) as error:
            problem = str(error)
        if not problem or _size(part) <= start:
            break
    size = _size(part)
    if problem:
        outcome = (
            f"{size} of {file.size or 'unknown'} bytes are kept, the next call goes on from there"
            if size
            else "nothing was kept"
        )
        raise DataError(
            f"{file.url} could not be downloaded ({problem}); {outcome}. Try again, or"
            f" {_LOCAL_HINT}"
        )
    received = file_sha256(part)
    if file.sha256 and received != file.sha256:
        part.unlink()
        raise DataError(
            f"{file.url}: expected {file.size} bytes with sha256 {file.sha256}, received {size}"
            f" bytes with {received}; nothing was kept. Try again; if the error remains, something"
            " between you and the server changes the file"
        )


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _receive(file: SourceFile, part: Path, start: int) -> str:
    """Append to the part file, or start it again; return what went wrong, "" for nothing."""
    import urllib.request

    request = urllib.request.Request(
        file.url, headers={"Range": f"bytes={start}-"} if start else {}
    )
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
        # A server without support for ranges answers 200 and sends the whole file.
        going_on = start and response.status == HTTPStatus.PARTIAL_CONTENT
        promised, n, begin = response.length, 0, time.monotonic()
        most = file.size - start * bool(going_on) if file.size else _LARGEST
        with part.open("ab" if going_on else "wb") as out:
            while chunk := response.read1(_CHUNK):
                n += out.write(chunk)
                seconds = time.monotonic() - begin
                if n > most:
                    part.unlink()
                    return f"the server sent more than {most} bytes"
                if seconds > _TIMEOUT and n < _SLOWEST * seconds:
                    return f"the server sent {n} bytes in {seconds:.0f} seconds"
    is_short = promised is not None and n < promised
    return f"the connection was closed after {n} of {promised} bytes" if is_short else ""
