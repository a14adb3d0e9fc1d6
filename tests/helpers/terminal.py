"""What a terminal shows."""

import io
from collections.abc import Iterable
from typing import Any

from cc_hf.reports.formats.terminal import show
from cc_hf.reports.report_parts import Piece


def printed(pieces: Iterable[Piece], width: int = 80, *, is_whole: bool = False) -> str:
    """Return what a terminal shows, which must not truncate figures.

    Args:
        width: columns of the terminal.
        is_whole: whether lines of text alone are not wrapped.
    """
    file = io.StringIO()
    options: Any = {"width": width, "force_terminal": True, "color_system": None}
    show(pieces, is_whole=is_whole, file=file, **options)
    text = file.getvalue()
    assert "…" not in text
    assert is_whole or max(map(len, text.splitlines())) <= width
    return text
