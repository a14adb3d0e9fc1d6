"""Pinned files: from a local copy, from the cache, or downloaded once; verified every time, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

from huggingface_hub import constants

from cc_hf.data.declaration import SourceFile
from cc_hf.errors import DataError

__all__ = ["fetch"]

_TIMEOUT = 60
_LOCAL_HINT = "Pass data_dir (--data-dir) or set CC_HF_DATA_DIR to a folder with DIR/owner/repository/path"


def fetch(file: SourceFile, data_dir: str | Path | None = None) -> Path:
    """The local path of a pinned file.

    Args:
        file: what is wanted.
        data_dir: a local copy of upstream repositories, laid out DIR/owner/repository/path; None: the environment variable
            CC_HF_DATA_DIR, and where that is not set, the cache (HF_HOME/cc_hf), downloading at the first time.

    Raises:
        DataError: when the folder or the file is missing, the content is not the pinned one, or the download fails.
    """
    local = data_dir if data_dir is not None else os.environ.get("CC_HF_DATA_DIR")
    if local:
        folder = Path(local)
        if not folder.is_dir():
            raise DataError(f"data_dir: expected a folder with DIR/owner/repository/path, {folder} is not a folder")
        path = folder / file.repository / file.path
        if not path.is_file():
            raise DataError(f"file not found: {path}; expected the file of {file.repository} at commit {file.commit[:7]}, as at {file.url}")
        _verify(path, file)
        return path
    path = Path(constants.HF_HOME) / "cc_hf" / file.repository / file.commit / file.path
    if not path.is_file():
        _download(file, path)
    _verify(path, file)
    return path


def _verify(path: Path, file: SourceFile) -> None:
    received = hashlib.sha256(path.read_bytes()).hexdigest()
    if received != file.sha256:
        raise DataError(
            f"{path}: expected sha256 {file.sha256}, received {received}: this is not the file of {file.repository} at commit {file.commit[:7]}. "
            f"Restore it from {file.url}, or delete it so that it is fetched anew"
        )


def _download(file: SourceFile, path: Path) -> None:
    if constants.HF_HUB_OFFLINE:
        raise DataError(f"{file.path} of {file.repository} is not in the cache ({path}) and HF_HUB_OFFLINE is set. {_LOCAL_HINT}, or go online once")
    try:
        with urllib.request.urlopen(file.url, timeout=_TIMEOUT) as response:
            content: bytes = response.read()
    except (OSError, HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it holds the connection
        raise DataError(f"{file.url} could not be downloaded ({error}); nothing was kept. Try again, or work offline. {_LOCAL_HINT}") from error
    received = hashlib.sha256(content).hexdigest()
    if received != file.sha256:
        raise DataError(
            f"{file.url}: expected {file.size} bytes with sha256 {file.sha256}, received {len(content)} bytes with {received}; nothing was kept. "
            "Try again; if it stays so, something between you and the server changes the file"
        )
    _store(content, path)


def _store(content: bytes, path: Path) -> None:
    """Whole or not at all; two processes that download at once each put the same bytes in place."""
    part = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        raise DataError(f"{path}: the cache cannot be written ({error}). Set HF_HOME to a folder that can, or work from a local copy. {_LOCAL_HINT}") from error
    finally:
        with suppress(OSError):
            part.unlink()
