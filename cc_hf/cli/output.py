"""Output to files and the terminal: files are written as a whole or not at all, and control
characters in external text are escaped.

Every command writes its files before it prints, so that a result is not lost if standard output
fails.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, TextIO

import rich.console
from rich.console import ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.text import Text

from cc_hf.errors import InputError
from cc_hf.files import exists, file_slug, is_file, is_folder, resolved

try:
    import fcntl
except ImportError:  # Windows lacks these locks, so part files of killed processes remain there
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "STANDARD",
    "Console",
    "Group",
    "RenderableType",
    "check_output",
    "has_long_word",
    "json_text",
    "prepare_streams",
    "printable",
    "say",
    "say_written",
    "silence_broken_streams",
    "write_atomically",
]

_PART = ".part"
_UNLIMITED = 100_000  # columns
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


def printable(text: str) -> str:
    r"""Escape characters that would control a terminal, other than tabs and line feeds.

    The escapes are those of JSON, so that JSON remains valid JSON.

    Examples:
        >>> print(printable("red: \x1b[31m"))
        red: \u001b[31m
    """
    return text.translate(_UNPRINTABLE)


class Console(rich.console.Console):
    """A rich console that escapes control characters in every text.

    Where the stream is no terminal and COLUMNS does not set a width, lines are as long as they need
    to be, so that no table is cut in a file or a pipe.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not self.is_terminal and not os.environ.get("COLUMNS"):
            self.width = _UNLIMITED

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render like rich, after applying `printable` to texts, but not to styles and boxes."""
        if isinstance(renderable, str):
            renderable = printable(renderable)
        elif isinstance(renderable, Text) and renderable.plain != printable(renderable.plain):
            renderable = self._escaped(renderable)
        return super().render(renderable, options)

    def _escaped(self, text: Text) -> Text:
        escaped = text.blank_copy()
        edges = [
            edge
            for offset, character in enumerate(text.plain)
            if printable(character) != character
            for edge in (offset, offset + 1)
        ]
        for part in text.divide(edges):
            printable_part = printable(part.plain)
            (
                escaped.append_text(part)
                if printable_part == part.plain
                else escaped.append(printable_part, part.get_style_at_offset(self, 0))
            )
        return escaped

    def on_broken_pipe(self) -> NoReturn:
        """Raise for `cc_hf.cli.main.run` to handle; rich would silence stdout if any stream broke.

        Raises:
            BrokenPipeError: always.
        """
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def prepare_streams() -> tuple[TextIO, ...]:
    """Make standard output and error escape a character that their encoding lacks, not fail.

    Returns:
        The streams that are open.
    """
    streams = tuple(stream for stream in (sys.stdout, sys.stderr) if stream is not None)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return streams


def silence_broken_streams(streams: Iterable[TextIO]) -> list[str]:
    """Flush the streams, and redirect those that fail to the null device. Otherwise Python would
    print an error when it exits.

    Returns:
        One reason per failed stream; "" for a pipe that its reader has closed.
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


def has_long_word(piece: RenderableType, width: int) -> bool:
    """Return whether a line of text holds a word, such as a signature or a path, that would be
    broken in two; such lines are left whole, so that they can be copied."""
    return isinstance(piece, Text) and max(map(len, piece.plain.split()), default=0) > width


def json_text(row: Any) -> str:
    """Return the JSON that commands write and print.

    Args:
        row: plain dicts, lists, texts and finite numbers.
    """
    return json.dumps(row, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def say(kind: str, text: str) -> None:
    """Print a line on standard error.

    Args:
        kind: what the line is: error, warning, note or written.
    """
    style = {"error": "bold red", "warning": "bold yellow"}.get(kind, "")
    Console(stderr=True).print(Text.assemble((f"{kind}: ", style), text), soft_wrap=True)


def say_written(path: Path | None, more: str = "") -> None:
    """Print on standard error which file was written; nothing for standard output or None."""
    if path is not None and path != STANDARD:
        say("written", f"{path}{more}")


def check_output(path: Path | None, name: str = "output") -> None:
    """Check that an output file can be written, before hours are spent on its content.

    Args:
        path: the file; None for no output, "-" for standard output.
        name: the name of the parameter, for the message.

    Raises:
        InputError: if the folder does not exist or is not writable, or if the path is a folder.
    """
    if path is None or path == STANDARD:
        return
    if is_folder(path):
        raise InputError(f"{name}: expected a file, {path} is a folder")
    if _is_special(path):  # must precede `resolved`, which finds no path for a piped /dev/stdout
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
    r"""Write a file through a temporary file beside it, which is then renamed. Neither a reader nor
    an interrupted run ever sees half a file.

    A symbolic link is followed. A path that is not a regular file (a device, a pipe) is written to
    directly.

    Args:
        path: the file to create or replace; "-" for standard output.
        content: bytes, or text that is written as UTF-8; a lone surrogate, which UTF-8 cannot
            encode, is written as its escape, \ud800.

    Raises:
        InputError: if the file cannot be written, such as on a full disk; an existing file is
            unchanged.
        BrokenPipeError: for a pipe that its reader has closed.
    """
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
