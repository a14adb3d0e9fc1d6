"""Writing for people and files: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from cc_hf.errors import InputError

__all__ = ["check_output", "write_atomically"]


def check_output(path: Path | None) -> None:
    """Refuse an output that cannot be written before hours are spent on it.

    Raises:
        InputError: when the folder does not exist or is not writable, or the path is a folder.
    """
    if path is None:
        return
    folder = path.absolute().parent
    if path.is_dir():
        raise InputError(f"output: expected a file, {path} is a folder")
    if not folder.is_dir():
        raise InputError(f"output: the folder {folder} does not exist; create it first")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name}.", suffix=".part"):
            pass
    except OSError as error:
        raise InputError(f"output: the folder {folder} cannot be written to ({error.strerror})") from error


def write_atomically(path: Path, text: str) -> None:
    """Write UTF-8 text to a file beside it, then rename: a reader, and a run that was stopped, never sees half a file."""
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp makes it private
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
