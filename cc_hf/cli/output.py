"""Writing for people and files: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from cc_hf.errors import InputError
from cc_hf.files import file_slug, resolved

try:
    import fcntl
except ImportError:  # Windows has no such locks: part files of killed processes stay there
    fcntl = None  # type: ignore[assignment]

__all__ = ["check_output", "write_atomically"]

_PART = ".part"


def check_output(path: Path | None) -> None:
    """Refuse an output that cannot be written before hours are spent on it.

    Raises:
        InputError: when the folder does not exist or is not writable, or the path is a folder.
    """
    if path is None:
        return
    path = resolved(path)
    folder = path.parent
    if path.is_dir():
        raise InputError(f"output: expected a file, {path} is a folder")
    if _is_special(path):
        return
    if not folder.is_dir():
        raise InputError(f"output: the folder {folder} does not exist; create it first")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{file_slug(path.name)}.", suffix=_PART):
            pass
    except OSError as error:
        raise InputError(f"output: the folder {folder} cannot be written to ({error.strerror})") from error


def write_atomically(path: Path, content: str | bytes) -> None:
    r"""Write text, as UTF-8, or bytes to a file beside it, then rename: a reader, and a run that was stopped, never sees half a file.

    Half of a surrogate pair, which UTF-8 has not, is written as its code, \ud800.

    A symbolic link is followed; what is no regular file (a device, a pipe) is written to as it is.

    Raises:
        InputError: when it cannot be written, such as on a full disk; the old file is still there.
    """
    path = resolved(path)
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if _is_special(path):
            path.write_bytes(data)
        else:
            _write_beside(path, data)
    except OSError as error:
        raise InputError(f"output: {path} could not be written ({error.strerror})") from error


def _locked_part(folder: Path, prefix: str) -> tuple[int, str]:
    """Make a part file that this process holds a lock on until it closes it, or ends."""
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=_PART)
        if fcntl is None:
            return handle, name
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)  # another process removed it before it was locked


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove the part files of processes that were killed: those that nobody holds a lock on."""
    if fcntl is None:
        return
    for name in os.listdir(folder):
        if not (name.startswith(prefix) and name.endswith(_PART)):
            continue
        with contextlib.suppress(OSError), (folder / name).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (folder / name).unlink()


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _write_beside(path: Path, data: bytes) -> None:
    prefix = f".{file_slug(path.name)}."
    _remove_abandoned(path.parent, prefix)
    handle, name = _locked_part(path.parent, prefix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
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
