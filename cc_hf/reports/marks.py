"""How systems are told apart in charts: by colour and shape together, and by names in full, on as
many lines as they need.
"""

from __future__ import annotations

__all__ = ["COLOURS", "N_COLOURS", "N_SHAPES", "colour", "mark_classes", "name_lines", "shape"]

#: The colours of the page (`.s0`, `.s1`, ...) on white, as on paper.
COLOURS = ("#1f6fc4", "#d0610f", "#7a4cc2", "#0f8272", "#b8327a", "#7c7a10", "#46617f", "#97451b")
#: Number of colours and of shapes (`.m0`, `.m1`, ... of the page).
N_COLOURS, N_SHAPES = len(COLOURS), 6
_BREAKS = " -_/"


def colour(system: int) -> int:
    """Return the number of the colour of a system, by its index in the report."""
    return system % N_COLOURS


def shape(system: int) -> int:
    """Return the number of the shape of a system: circle, diamond, square, triangle up, triangle
    down, cross. No two of 48 systems have the same colour and shape.
    """
    return (system + system // 24) % N_SHAPES


def mark_classes(system: int) -> str:
    """Return the CSS classes of the mark of a system."""
    return f"s{colour(system)} m{shape(system)}"


def name_lines(name: str, width: int) -> list[str]:
    """Return a name on lines of at most `width` characters, without loss, broken after a separator
    if there is one in the second half of the line.

    Examples:
        >>> name_lines("opus-mt-en-de-tiny", 10)
        ['opus-mt-', 'en-de-tiny']
    """
    lines, rest = [], " ".join(name.split())
    while len(rest) > width:
        end = max(rest.rfind(character, width // 2, width) for character in _BREAKS) + 1
        lines.append(rest[: end or width].rstrip(" "))
        rest = rest[end or width :].lstrip(" ")
    return [*lines, rest]
