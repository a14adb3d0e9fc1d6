"""Upstream files whose lines belong together."""

from __future__ import annotations

from pathlib import Path

from cc_hf.errors import DataError
from cc_hf.reading import text_lines

__all__ = ["aligned_lines"]


def aligned_lines(*files: Path, is_blank_allowed: bool = True) -> list[tuple[str, ...]]:
    """Return the lines of several files side by side; refuse files of different length."""
    columns = [text_lines(path) for path in files]
    for path, lines in zip(files, columns, strict=True):
        for number, line in enumerate(lines, 1):
            if not (is_blank_allowed or line.strip()):
                raise DataError(f"{path}: line {number}: expected a sentence, got a blank line")
    if len({len(lines) for lines in columns}) != 1:
        numbers = [f"{len(lines)} in {path}" for path, lines in zip(files, columns, strict=True)]
        raise DataError(f"expected files with the same number of lines, got {', '.join(numbers)}")
    return list(zip(*columns, strict=True))
