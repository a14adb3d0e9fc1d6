"""The one reader of text files: UTF-8, split at line feeds only, since a sentence may contain other
Unicode line separators.

`read_lines` is for users' files, `text_lines` for files of upstream repositories.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cc_hf.errors import DataError, InputError

__all__ = ["read_lines", "read_text", "text_lines"]

_STANDARD = Path("-")


def read_lines(path: Path, *, keeps_end: bool = False) -> list[str]:
    """Return the lines of a user's file, without carriage returns and without blank lines at the
    end.

    Args:
        path: the file; "-" for standard input.
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


def read_text(path: Path) -> str:
    """Return the whole text of an upstream file, with line feeds for all line ends.

    Args:
        path: the file.

    Raises:
        DataError: when the file does not exist or is not UTF-8. The message names the line.
    """
    return _decoded(path, DataError).replace("\r\n", "\n").replace("\r", "\n")


def text_lines(path: Path) -> list[str]:
    """Return all lines of an upstream file.

    Args:
        path: the file.

    Raises:
        DataError: when the file does not exist or is not UTF-8. The message names the line.
    """
    return read_text(path).removesuffix("\n").split("\n")


def _decoded(path: Path, error: type[InputError] | type[DataError]) -> str:
    """Return the text of a file without a byte order mark, or raise `error`."""
    try:
        raw = sys.stdin.buffer.read() if path == _STANDARD else path.read_bytes()
    except FileNotFoundError:
        raise error(f"file not found: {path}") from None
    except (OSError, ValueError) as reason:  # a null character in the path is a ValueError
        raise error(
            f"{path}: cannot be read: {getattr(reason, 'strerror', None) or reason}"
        ) from reason
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = raw.count(b"\n", 0, reason.start) + 1
        raise error(
            f"{path}: line {line}: expected UTF-8, got the byte 0x{raw[reason.start]:02x}; convert"
            " the file, for example with iconv -t UTF-8"
        ) from None
