"""Text files of upstream repositories; what is not UTF-8 is a DataError."""

from __future__ import annotations

from pathlib import Path

from cc_hf.errors import DataError

__all__ = ["read_text", "text_lines"]


def read_text(path: Path) -> str:
    """The whole text of a UTF-8 file, without a byte order mark.

    Raises:
        DataError: when it is not UTF-8, or the path holds a null character.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: expected UTF-8, got the byte 0x{error.object[error.start]:02x} at byte"
            f" {error.start}"
        ) from None
    except ValueError as error:  # a null character in the path
        raise DataError(f"{path}: cannot be read: {error}") from None


def text_lines(path: Path) -> list[str]:
    """Its lines, split at line feeds only (a sentence may hold other Unicode line separators).

    Raises:
        DataError: as `read_text`.
    """
    return read_text(path).removesuffix("\n").split("\n")
