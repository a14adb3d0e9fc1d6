"""The one reader of text files: UTF-8, split at line feeds only, since a sentence may contain other
Unicode line separators.

`read_lines` is for users' files, `text_lines` for files of upstream repositories.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from cc_hf.errors import DataError, InputError

__all__ = ["read_lines", "read_text", "stream_lines", "text_lines"]

_STANDARD = Path("-")


def read_lines(path: Path, *, keeps_end: bool = False) -> list[str]:
    """Return the lines of a user's file, without carriage returns and without blank lines at the
    end.

    Args:
        path: "-" for standard input.
        keeps_end: whether blank lines at the end are returned, too.

    Raises:
        InputError: when the file does not exist or is not UTF-8. The message names the line.
    """
    lines = [line.removesuffix("\r") for line in _decoded(path, InputError).split("\n")]
    if keeps_end:
        return lines if lines[-1] else lines[:-1]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def stream_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a user's file, blank ones included, without loading it whole and without
    carriage returns.

    Raises:
        InputError: when the file does not exist or is not UTF-8. The message names the line.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                try:
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as reason:
                    raise InputError(_not_utf8(path, number, raw[reason.start])) from None
                yield line.removesuffix("\n").removesuffix("\r")
    except OSError as reason:
        raise InputError(_unreadable(path, reason)) from reason


def read_text(path: Path) -> str:
    """Return the whole text of an upstream file, with line feeds for all line ends.

    Raises:
        DataError: when the file does not exist or is not UTF-8. The message names the line.
    """
    return _decoded(path, DataError).replace("\r\n", "\n").replace("\r", "\n")


def text_lines(path: Path) -> list[str]:
    """Return all lines of an upstream file.

    Raises:
        DataError: when the file does not exist or is not UTF-8. The message names the line.
    """
    return read_text(path).removesuffix("\n").split("\n")


def _decoded(path: Path, error: type[InputError] | type[DataError]) -> str:
    """Return the text of a file without a byte order mark, or raise `error`."""
    try:
        raw = sys.stdin.buffer.read() if path == _STANDARD else path.read_bytes()
    except (OSError, ValueError) as reason:  # a null character in the path is a ValueError
        raise error(_unreadable(path, reason)) from reason
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = raw.count(b"\n", 0, reason.start) + 1
        raise error(_not_utf8(path, line, raw[reason.start])) from None


def _unreadable(path: Path, reason: OSError | ValueError) -> str:
    if isinstance(reason, FileNotFoundError):
        return f"file not found: {path}"
    return f"{path}: cannot be read: {getattr(reason, 'strerror', None) or reason}"


def _not_utf8(path: Path, line: int, byte: int) -> str:
    return (
        f"{path}: line {line}: expected UTF-8, got the byte 0x{byte:02x}; convert the file, for"
        " example with iconv -t UTF-8"
    )
