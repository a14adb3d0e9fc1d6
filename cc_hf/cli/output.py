"""Standard output and error, lines on standard error, and files that commands write."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from cc_hf.errors import InputError
from cc_hf.evaluators import distributed as sharding
from cc_hf.reports.formats.terminal import show
from cc_hf.reports.report_parts import Line
from cc_hf.writing import STANDARD, check_output

__all__ = [
    "JsonFile",
    "OutputFile",
    "PictureFile",
    "prepare_streams",
    "say",
    "say_written",
    "silence_broken_streams",
]

_OTHER_FORMATS = (".csv", ".html", ".md", ".pdf", ".png", ".svg", ".tex", ".tsv")


def prepare_streams() -> tuple[TextIO, ...]:
    """Make the open streams, which are returned, escape characters that their encoding lacks."""
    streams = tuple(stream for stream in (sys.stdout, sys.stderr) if stream is not None)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return streams


def silence_broken_streams(streams: Iterable[TextIO]) -> list[str]:
    """Flush the streams, and redirect those that fail to the null device.

    Returns:
        One reason per failed stream; "" for a pipe that its reader has closed.
    """
    reasons = []
    for stream in streams:
        try:
            stream.flush()
        except OSError as error:
            reasons.append("" if isinstance(error, BrokenPipeError) else str(error.strerror))
            # Otherwise Python would print an error when it exits.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    return reasons


def say(kind: str, text: str) -> None:
    """Print a line on standard error; `kind` is error, warning, note or written."""
    style = {"error": "bold red", "warning": "alert"}.get(kind, "")
    # A terminal breaks lines at words; a program that reads them gets each whole.
    is_whole = not sys.stderr.isatty()
    show([Line.named(f"{kind}: ", text, style)], is_whole=is_whole, stderr=True)


def say_written(path: Path | None, more: str = "") -> None:
    """Print on standard error which file was written; nothing for standard output or None."""
    if path is not None and path != STANDARD:
        say("written", f"{path}{more}")


@dataclass(frozen=True)
class OutputFile:
    """Mark a parameter as a file that the command writes, which is checked before the command runs.

    Attributes:
        suffixes: endings of which the file must have one; () for any.
    """

    suffixes: tuple[str, ...] = ()

    def check(self, name: str, path: Path | None) -> None:
        """Raise an InputError for a file that cannot be written, or that ends otherwise."""
        # Other processes write no files.
        if not sharding.is_main_process():
            return
        if path is not None and self.suffixes and path.suffix.lower() not in self.suffixes:
            endings = " or ".join(self.suffixes)
            raise InputError(f"{name}: expected a file that ends in {endings}, got {path}")
        check_output(path, name)


class JsonFile(OutputFile):
    """Mark the file of `--output`, which holds JSON whatever its name says."""

    def check(self, name: str, path: Path | None) -> None:
        """Raise an InputError for a name that asks for another format."""
        if path is not None and path.suffix.lower() in _OTHER_FORMATS:
            raise InputError(
                f"{name}: expected a file for JSON, such as {path.with_suffix('.json')}, got"
                f" {path}; other files have options of their own, see --help"
            )
        super().check(name, path)


class PictureFile(OutputFile):
    """Mark a parameter as a picture that the command draws."""

    def __init__(self) -> None:
        super().__init__((".svg", ".png", ".pdf"))

    def check(self, name: str, path: Path | None) -> None:
        """Refuse a missing matplotlib as well, before hours are spent on the figures."""
        super().check(name, path)
        if path is not None:
            from cc_hf.reports.formats.plots import empty_figure

            empty_figure(1, width=1, height=1)

    @staticmethod
    def format_of(path: Path) -> str:
        """Return the format of a picture by the name of its file."""
        return path.suffix.lower().removeprefix(".")
