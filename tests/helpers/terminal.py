"""What a terminal shows."""

import io

from rich.console import Console, RenderableType


def printed(*parts: RenderableType, width: int = 80, soft_wrap: bool = False) -> str:
    """Return what a terminal shows, which must not truncate figures.

    Args:
        parts: tables and texts; lines of text alone are wrapped.
        width: columns of the terminal.
        soft_wrap: whether the terminal wraps longer lines.
    """
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True, color_system=None)
    for part in parts:
        console.print(part, soft_wrap=soft_wrap)
    text = file.getvalue()
    assert "…" not in text
    assert soft_wrap or max(map(len, text.splitlines())) <= width
    return text
