"""The parts of which charts are drawn: SVG elements, marks and names of systems, and the grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from cc_hf.reports.marks import colour, name_lines, shape
from cc_hf.reports.templates import render_piece

__all__ = [
    "CHARACTER",
    "NAMES",
    "VALUES",
    "WIDTH",
    "Element",
    "Link",
    "are_long",
    "chart_svg",
    "group_mark",
    "legend_row",
    "name_row",
    "named_above",
    "no_link",
    "percent_grid",
    "shape_element",
    "system_mark",
    "text_element",
    "whisker",
]

#: Returns the address of the samples that the given filters select; "" if there are no samples.
Link = Callable[[Mapping[str, str]], str]

WIDTH = 440
NAMES = 104  # width for the names of the systems beside the bars
VALUES = 44
CHARACTER = 6.4  # approximate width of a character, to keep labels apart
_BESIDE = NAMES - 24  # widest name that stands beside its bar; a wider one stands above it
_SIZE = 12.5  # font size of the texts, in units of the chart
_LINE = 64  # characters in the width of the chart, beside a mark
_SHAPES = (
    "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z",
    "M0 -7.5L7.5 0L0 7.5L-7.5 0z",
    "M-5.5 -5.5H5.5V5.5H-5.5z",
    "M0 -7L7 5.5H-7z",
    "M-7 -5.5H7L0 7z",
    "M-7 -2.3H-2.3V-7H2.3V-2.3H7V2.3H2.3V7H-2.3V2.3H-7z",
)


class Element(NamedTuple):
    """An SVG element; `title` is the full name if `text` is abbreviated, or what a mark stands for,
    and `href` the address that a click opens. `is_stop` says whether the tab key stops at it.
    """

    tag: str
    attributes: Mapping[str, str]
    text: str = ""
    title: str = ""
    href: str = ""
    is_stop: bool = True


def no_link(filters: Mapping[str, str]) -> str:
    """Return "", where there are no samples to open."""
    return ""


def percent_grid(x: Callable[[float], float], top: float, bottom: float) -> list[Element]:
    """Return lines at quarters, with percentages below; `x` places a value in [0, 1]."""
    grid: list[Element] = []
    for t in (0, 0.25, 0.5, 0.75, 1):
        grid.append(shape_element("line", "grid", x1=x(t), x2=x(t), y1=top, y2=bottom))
        grid.append(text_element(x(t), bottom + 14, f"{100 * t:.0f}", "middle muted"))
    return grid


def chart_svg(height: float, label: str, elements: Sequence[Element]) -> Markup:
    """Return a chart of the usual width, with a label for screen readers; later elements on top."""
    return render_piece(
        "reports/page/pieces.html.jinja",
        "chart",
        width=WIDTH,
        height=f"{height:g}",
        label=label,
        elements=elements,
    )


def shape_element(tag: str, classes: str, **coordinates: float) -> Element:
    """Return an SVG element, such as "rect", with attributes that are numbers."""
    return Element(
        tag,
        {"class": classes, **{key: f"{coordinate:.4g}" for key, coordinate in coordinates.items()}},
    )


def text_element(
    x: float, y: float, text: str, classes: str = "", *, title: str = "", transform: str = ""
) -> Element:
    """Return a text, placed from the left and the upper edge.

    Args:
        classes: its CSS classes; it begins at `x` unless they say "end" or "middle".
        title: what it says in full; "" if it does so itself.
        transform: an SVG transformation; "" for none.
    """
    attributes = {"class": classes, "x": f"{x:.4g}", "y": f"{y:.4g}"}
    if transform:
        attributes["transform"] = transform
    return Element("text", attributes, text, title if title != text else "")


def whisker(low: float, high: float, y: float, *, classes: str = "") -> list[Element]:
    """Return the lines that show an interval."""
    classes = f"whisker {classes}".strip()
    ends = [shape_element("line", classes, x1=x, x2=x, y1=y - 3.5, y2=y + 3.5) for x in (low, high)]
    return [shape_element("line", classes, x1=low, x2=high, y1=y, y2=y), *ends]


def system_mark(system: int, x: float, y: float, *, size: float = 1) -> Element:
    """Return the mark of a system by its index; no other system has it in this colour."""
    return group_mark(shape(system), f"fill s{colour(system)}", x, y, size=size)


def group_mark(number: int, classes: str, x: float, y: float, *, size: float = 1) -> Element:
    """Return one of the shapes, whose number is below `N_SHAPES`."""
    scale = "" if size == 1 else f" scale({size})"
    attributes = {"d": _SHAPES[number], "transform": f"translate({x:.4g} {y:.4g}){scale}"}
    return Element("path", {"class": classes, **attributes})


def are_long(systems: Sequence[str]) -> bool:
    """Return whether names of systems stand above what is drawn, because one is long."""
    return max(map(_widest, systems)) > _BESIDE


def _widest(text: str) -> float:
    """Return about how wide a text is in the widest of the page's fonts."""
    ems = (0.95 if c in "mwMW@%" else 0.35 if c in "fijlrtI.,:;'|!()[]- " else 0.62 for c in text)
    return _SIZE * sum(ems)


def name_row(
    parts: list[Element],
    systems: Sequence[str],
    system: int,
    left: float,
    y: float,
    *,
    has_mark: bool = True,
) -> float:
    """Add mark and name of a system left of what is drawn, or above it if any name is long."""
    if not are_long(systems):
        parts += [system_mark(system, 8, y + 8.5)] * has_mark
        parts.append(text_element(left - 8, y + 12, systems[system], "end"))
        return y
    return named_above(parts, systems[system], system, y, has_mark=has_mark)


def named_above(
    parts: list[Element], name: str, system: int, y: float, *, has_mark: bool = True
) -> float:
    """Add the mark and the name of a system, on as many lines as it needs, and return where the
    next line is.
    """
    parts += [system_mark(system, 8, y + 8.5)] * has_mark
    for line in name_lines(name, _LINE):
        parts.append(text_element(20 if has_mark else 8, y + 12, line))
        y += 15
    return y + 1


def legend_row(parts: list[Element], systems: Sequence[str], system: int, y: float) -> float:
    """Add the number, the mark and the name of a system, and return where the next line is."""
    return named_above(parts, f"{1 + system}. {systems[system]}", system, y)
