"""Writing files as a whole or not at all, and JSON and external texts for a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError
from cc_hf.files import exists, file_slug, is_file, is_folder, resolved

try:
    import fcntl
except ImportError:  # Windows lacks these locks, so part files of killed processes remain there
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "STANDARD",
    "check_output",
    "json_text",
    "keeping_inputs",
    "printable",
    "write_atomically",
]

_PART = ".part"
#: The path that names standard output.
STANDARD = Path("-")
#: Control characters except tab and line feed, and characters that change the text direction.
_UNPRINTABLE = {
    code: f"\\u{code:04x}"
    for code in (
        *range(9),
        *range(11, 32),
        *range(127, 160),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    )
}


@dataclass
class _NamedFiles:
    """The files of a run by the names of their parameters."""

    inputs: Mapping[str, Sequence[Path]]
    outputs: dict[str, Path] = field(default_factory=dict)

    def check(self, path: Path, name: str) -> None:
        """Raise an InputError for an output that is an input or another output."""
        for parameter, inputs in self.inputs.items():
            if parameter != name and any(_is_same(path, file) for file in inputs):
                raise InputError(
                    f"{name}: expected another file than that of `{parameter}`, which would be"
                    f" overwritten, got {path}"
                )
        for parameter, output in self.outputs.items():
            if parameter != name and (output == resolved(path, name) or _is_same(path, output)):
                raise InputError(
                    f"{name}: expected another file than that of `{parameter}`, since one would"
                    f" overwrite the other, got {path} for both"
                )


_RUN: ContextVar[_NamedFiles | None] = ContextVar("files of a run", default=None)


@contextlib.contextmanager
def keeping_inputs(inputs: Mapping[str, Sequence[Path]]) -> Iterator[None]:
    """Refuse, within a context, outputs that are an input or another output."""
    token = _RUN.set(_NamedFiles(inputs))
    try:
        yield
    finally:
        _RUN.reset(token)


def _is_same(path: Path, other: Path) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):  # one of them does not exist
        return False


def printable(text: str) -> str:
    r"""Escape characters that would control a terminal, other than tabs and line feeds.

    Examples:
        >>> print(printable("red: \x1b[31m"))
        red: \u001b[31m
    """
    # The escapes are those of JSON, so that JSON remains valid JSON.
    return text.translate(_UNPRINTABLE)


def json_text(row: Any) -> str:
    """Return the JSON that commands write and print."""
    return json.dumps(row, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def check_output(path: Path | None, name: str = "output") -> None:
    """Check that an output file can be written, before hours are spent on its content.

    Args:
        path: the file; None for no output, "-" for standard output.

    Raises:
        InputError: if the folder does not exist or is not writable, if the path is a folder, or, in
            a run (`keeping_inputs`), if it is an input or another output.
    """
    if path is None or path == STANDARD:
        return
    if is_folder(path):
        raise InputError(f"{name}: expected a file, {path} is a folder")
    if _is_special(path):  # must precede `resolved`, which finds no path for a piped /dev/stdout
        return
    run = _RUN.get()
    if run is not None:
        run.check(path, name)
    path = resolved(path, name)
    if run is not None:
        run.outputs[name] = path
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"{name}: the folder {folder} does not exist; create it first")
    try:
        with tempfile.NamedTemporaryFile(
            dir=folder, prefix=f".{file_slug(path.name)}.", suffix=_PART
        ):
            pass
    except OSError as error:
        raise InputError(
            f"{name}: the folder {folder} cannot be written to ({error.strerror})"
        ) from error


def write_atomically(path: Path, content: str | bytes) -> None:
    r"""Write a file as a whole or not at all: neither a reader nor an interrupted run sees half of
    it.

    A symbolic link is followed. A path that is not a regular file (a device, a pipe) is written to
    directly, as is standard output, "-".

    Raises:
        InputError: if the file cannot be written, such as on a full disk; an existing file is
            unchanged.
        BrokenPipeError: for a pipe that its reader has closed.
    """
    # UTF-8 cannot encode a lone surrogate, which becomes its escape.
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if path == STANDARD:
            _write_standard(data)
        elif _is_special(path):
            path.write_bytes(data)
        else:
            _write_beside(resolved(path), data)
    except BrokenPipeError:  # not an error for the user: the reader of /dev/stdout has closed it
        raise
    except OSError as error:
        raise InputError(f"{path} could not be written ({error.strerror})") from error


def _locked_part(folder: Path, prefix: str) -> tuple[int, str]:
    """Return a new part file, which this process locks until it closes the file or ends."""
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=_PART)
        if fcntl is None:
            return handle, name
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        # Between `mkstemp` and the lock, another process may have removed the file as abandoned;
        # then a new one is needed.
        if os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)  # another process removed it before it was locked


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove the part files that no process holds a lock on: their processes were killed."""
    if fcntl is None:
        return
    for name in os.listdir(folder):
        if not (name.startswith(prefix) and name.endswith(_PART)):
            continue
        with contextlib.suppress(OSError), (folder / name).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (folder / name).unlink()


def _write_standard(data: bytes) -> None:
    """Write to standard output: UTF-8 without changes, or `printable` text for a terminal."""
    stream: Any = sys.stdout
    if stream is None:
        raise InputError("standard output is closed; expected a file to write to")
    if stream.isatty() or not hasattr(stream, "buffer"):
        stream.write(printable(data.decode("utf-8")))
    else:
        stream.flush()
        stream.buffer.write(data)
    stream.flush()


def _is_special(path: Path) -> bool:
    return exists(path) and not is_file(path)


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
        os.chmod(name, 0o666 & ~umask)  # mkstemp creates private files
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
