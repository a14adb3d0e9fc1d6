"""Standard output and error, and lines on standard error."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from cc_hf.reports.formats.terminal import show
from cc_hf.reports.report_parts import Line
from cc_hf.writing import STANDARD

__all__ = [
    "prepare_streams",
    "say",
    "say_written",
    "silence_broken_streams",
]


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


def say(kind: str, text: str) -> None:
    """Print a line on standard error.

    Args:
        kind: what the line is: error, warning, note or written.
    """
    style = {"error": "bold red", "warning": "alert"}.get(kind, "")
    show([Line.named(f"{kind}: ", text, style)], is_whole=True, stderr=True)


def say_written(path: Path | None, more: str = "") -> None:
    """Print on standard error which file was written; nothing for standard output or None."""
    if path is not None and path != STANDARD:
        say("written", f"{path}{more}")
