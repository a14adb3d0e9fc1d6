"""What a terminal shows."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType

__all__ = ["printed"]


def printed(*parts: RenderableType) -> str:
    """Return what a terminal of 80 columns shows; lines of text alone are wrapped by it."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    for part in parts:
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    return text
