"""Output to the terminal, in which control characters of external text are escaped."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, TextIO

import rich.console
from rich.console import ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.text import Text

from cc_hf.writing import STANDARD, printable

__all__ = [
    "Console",
    "Group",
    "RenderableType",
    "has_long_word",
    "prepare_streams",
    "say",
    "say_written",
    "silence_broken_streams",
]

_UNLIMITED = 100_000  # columns


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
