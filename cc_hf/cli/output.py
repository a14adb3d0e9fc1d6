"""Writing for people and files: files whole or not at all, the terminal without control characters
from outside.

Every command writes its files before it prints, so that a result survives a standard output that
fails.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn, TextIO

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from cc_hf.errors import InputError
from cc_hf.files import exists, file_slug, is_file, is_folder, resolved

try:
    import fcntl
except ImportError:  # Windows has no such locks: part files of killed processes stay there
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "Console",
    "check_output",
    "prepare_streams",
    "printable",
    "silence_broken_streams",
    "write_atomically",
]

_PART = ".part"
#: control characters but tab and line feed, and those that change the direction of what follows
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


def printable(text: str) -> str:
    r"""Escape what would command a terminal instead of being shown; tabs and line feeds stay.

    The escapes are those of JSON, so that JSON stays JSON.

    >>> print(printable("red: \x1b[31m"))
    red: \u001b[31m
    """
    return text.translate(_UNPRINTABLE)


class Console(rich.console.Console):
    """A console of rich that escapes control characters in every text."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As rich does, after `printable`; styles and boxes are no part of a text, and stay."""
        if isinstance(renderable, str):
            renderable = printable(renderable)
        elif isinstance(renderable, Text) and renderable.plain != printable(renderable.plain):
            renderable = self._escaped(renderable)
        return super().render(renderable, options)

    def _escaped(self, text: Text) -> Text:
        found = text.blank_copy()
        edges = [
            edge
            for offset, character in enumerate(text.plain)
            if printable(character) != character
            for edge in (offset, offset + 1)
        ]
        for part in text.divide(edges):
            shown = printable(part.plain)
            (
                found.append_text(part)
                if shown == part.plain
                else found.append(shown, part.get_style_at_offset(self, 0))
            )
        return found

    def on_broken_pipe(self) -> NoReturn:
        """Raise, for `cc_hf.cli.main.run`; rich would silence standard output even where another
        stream broke.
        """
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def prepare_streams() -> tuple[TextIO, ...]:
    """Let standard output and error show a character that their encoding lacks as an escape,
    instead of failing.

    Returns:
        The streams that are open.
    """
    streams = tuple(stream for stream in (sys.stdout, sys.stderr) if stream is not None)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return streams


def silence_broken_streams(streams: Iterable[TextIO]) -> list[str]:
    """Flush; direct a stream that fails to nowhere, or Python would complain at its own end.

    Returns:
        Why each of these failed, "" for a pipe that nobody reads any more.
    """
    reasons = []
    for stream in streams:
        try:
            stream.flush()
        except OSError as error:
            reasons.append("" if isinstance(error, BrokenPipeError) else str(error.strerror))
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    return reasons


def check_output(path: Path | None, name: str = "output") -> None:
    """Refuse an output that cannot be written before hours are spent on it.

    Args:
        path: the output; None for none.
        name: of the parameter, for the message.

    Raises:
        InputError: when the folder does not exist or is not writable, or the path is a folder.
    """
    if path is None:
        return
    if is_folder(path):
        raise InputError(f"{name}: expected a file, {path} is a folder")
    if _is_special(path):  # before it is resolved: where /dev/stdout is a pipe, it leads to nowhere
        return
    path = resolved(path, name)
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
    r"""Write text, as UTF-8, or bytes to a file beside it, then rename: a reader, and a run that
    was stopped, never sees half a file.

    Half of a surrogate pair, which UTF-8 has not, is written as its code, \ud800.

    A symbolic link is followed; what is no regular file (a device, a pipe) is written to as it is.

    Raises:
        InputError: when it cannot be written, such as on a full disk; the old file is still there.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if _is_special(path):
            path.write_bytes(data)
        else:
            _write_beside(resolved(path), data)
    except BrokenPipeError:  # of /dev/stdout: no error, nobody reads any more
        raise
    except OSError as error:
        raise InputError(f"{path} could not be written ({error.strerror})") from error


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
        os.chmod(name, 0o666 & ~umask)  # mkstemp makes it private
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
