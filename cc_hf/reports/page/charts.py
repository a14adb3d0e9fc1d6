"""The charts of the page, as inline SVG. Colours are CSS classes, so that the page decides on light
and dark; the figures are also given as text for screen readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from cc_hf.reports.figure_text import percent, with_interval
from cc_hf.reports.figures import Bar, Histogram, QualityPoint, nice_ticks
from cc_hf.reports.marks import N_COLOURS, colour, name_lines, shape
from cc_hf.reports.templates import render_piece

__all__ = ["bar_chart", "histogram_chart", "quality_chart"]

_WIDTH = 440
_NAMES = 104  # width for the names of the systems beside the bars
_VALUES = 44
_CHARACTER = 6.4  # approximate width of a character, to keep labels apart
_BESIDE = 14  # longest name that stands beside its bar; a longer one stands above it
_LINE = 62  # characters in the width of the chart, beside a mark
_AT_DOT = 24  # longest name that stands at its dot; longer ones are numbered
_SHAPES = (
    "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z",
    "M0 -7.5L7.5 0L0 7.5L-7.5 0z",
    "M-5.5 -5.5H5.5V5.5H-5.5z",
    "M0 -7L7 5.5H-7z",
    "M-7 -5.5H7L0 7z",
    "M-7 -2.3H-2.3V-7H2.3V-2.3H7V2.3H2.3V7H-2.3V2.3H-7z",
)
_Box = tuple[float, float, float, float]


class _Element(NamedTuple):
    """An SVG element; `title` is the full name if `text` is abbreviated."""

    tag: str
    attributes: Mapping[str, str]
    text: str = ""
    title: str = ""


def bar_chart(bars: Sequence[Bar], systems: Sequence[str], *, label: str) -> Markup:
    """Draw horizontal bars with intervals in percent, grouped by category.

    Args:
        bars: the bars of one metric, category by category.
        systems: the names of the report's systems.
        label: a description of the chart for screen readers.

    Returns:
        An SVG element.
    """
    left, right, y = 8 if _are_long(systems) else _NAMES, _WIDTH - _VALUES, 6.0
    parts: list[_Element] = []

    def x(value: float) -> float:
        return left + (right - left) * value

    for category, category_bars in groupby(bars, key=lambda bar: bar.category):
        parts.append(_text(0, y + 12, category, "strong"))
        y += 20
        for bar in category_bars:
            y = _name_row(parts, systems, bar.system, left, y)
            parts.append(
                _shape(
                    "rect",
                    f"fill s{colour(bar.system)}",
                    x=left,
                    y=y + 2,
                    width=max(x(bar.value) - left, 0.5),
                    height=13,
                    rx=2,
                )
            )
            if bar.interval is not None:
                parts += _whisker(x(bar.interval.low), x(bar.interval.high), y + 8.5)
            parts.append(_text(_WIDTH, y + 12, percent(bar.value), "end"))
            y += 18
        y += 6
    grid: list[_Element] = []
    for t in (0, 0.25, 0.5, 0.75, 1):
        grid.append(_shape("line", "grid", x1=x(t), x2=x(t), y1=4, y2=y))
        grid.append(_text(x(t), y + 14, f"{100 * t:.0f}", "middle muted"))
    spoken = "; ".join(
        f"{bar.category}, {systems[bar.system]}: {with_interval(bar.value, bar.interval)}"
        for bar in bars
    )
    return _svg(y + 20, f"{label}. {spoken}", [*grid, *parts])


def histogram_chart(
    histogram: Histogram, systems: Sequence[str], *, highest: int, label: str
) -> Markup:
    """Draw a histogram of the samples of one system by probability; bins below 50 %, which count as
    incorrect, are paler.

    Args:
        histogram: the histogram of the system.
        systems: the names of the report's systems.
        highest: the largest count over all systems that are compared, at least 1.
        label: a description of the chart for screen readers.

    Returns:
        An SVG element.
    """
    left, right, top, bottom = 40, _WIDTH - 16, 10, 168
    ticks = [tick for tick in nice_ticks(0, max(highest, 1), n=3) if tick.is_integer()]
    width = (right - left) / len(histogram.counts)
    parts = []
    for tick in ticks:
        y = bottom - (bottom - top) * tick / ticks[-1]
        parts += [
            _shape("line", "grid", x1=left, x2=right, y1=y, y2=y),
            _text(left - 6, y + 4, f"{tick:g}", "end muted"),
        ]
    for index, n in enumerate(histogram.counts):
        height = (bottom - top) * n / ticks[-1]
        pale = " pale" if 2 * index < len(histogram.counts) else ""
        parts.append(
            _shape(
                "rect",
                f"fill s{colour(histogram.system)}{pale}",
                x=left + index * width + 0.75,
                y=bottom - height,
                width=width - 1.5,
                height=height,
            )
        )
    middle = (left + right) / 2
    parts.append(_shape("line", "middle-line", x1=middle, x2=middle, y1=top - 6, y2=bottom))
    for value in (0, 25, 50, 75, 100):
        parts.append(
            _text(left + (right - left) * value / 100, bottom + 16, str(value), "middle muted")
        )
    parts.append(
        _text(middle, bottom + 32, "probability of the correct reading, %", "middle muted")
    )
    spoken = (
        f"{systems[histogram.system]}: samples in {len(histogram.counts)} bins from 0 to 100 %:"
        f" {', '.join(map(str, histogram.counts))}"
    )
    return _svg(bottom + 38, f"{label}. {spoken}", parts)


def quality_chart(points: Sequence[QualityPoint], systems: Sequence[str], *, label: str) -> Markup:
    """Draw minimum accuracy with intervals over BLEU, as a mark and a name for each system.

    If names are long, or systems many, marks are numbered and named below.

    Args:
        points: at least one point.
        systems: the names of the report's systems.
        label: a description of the chart for screen readers.

    Returns:
        An SVG element.
    """
    left, right, top, bottom = 48, _WIDTH - 12, 10, 250
    xs = nice_ticks(100 * min(p.bleu for p in points), 100 * max(p.bleu for p in points))
    lows = [p.interval.low if p.interval else p.min_accuracy for p in points]
    highs = [p.interval.high if p.interval else p.min_accuracy for p in points]
    ys = nice_ticks(100 * min(lows), 100 * max(highs))

    def x(value: float) -> float:
        return left + (right - left) * (100 * value - xs[0]) / (xs[-1] - xs[0])

    def y(value: float) -> float:
        return bottom - (bottom - top) * (100 * value - ys[0]) / (ys[-1] - ys[0])

    parts: list[_Element] = []
    for t in xs:
        parts.append(_shape("line", "grid", x1=x(t / 100), x2=x(t / 100), y1=top, y2=bottom))
        parts.append(_text(x(t / 100), bottom + 16, f"{t:g}", "middle muted"))
    for t in ys:
        parts.append(_shape("line", "grid", x1=left, x2=right, y1=y(t / 100), y2=y(t / 100)))
        parts.append(_text(left - 6, y(t / 100) + 4, f"{t:g}", "end muted"))
    is_numbered = max(len(systems[p.system]) for p in points) > _AT_DOT or len(points) > N_COLOURS
    occupied: list[_Box] = [
        (x(p.bleu) - 7, y(p.min_accuracy) - 7, x(p.bleu) + 7, y(p.min_accuracy) + 7) for p in points
    ]
    for point in points:
        px, py = x(point.bleu), y(point.min_accuracy)
        if point.interval is not None:
            parts.append(
                _shape(
                    "line",
                    f"line s{colour(point.system)}",
                    x1=px,
                    x2=px,
                    y1=y(point.interval.low),
                    y2=y(point.interval.high),
                )
            )
        parts.append(_mark(point.system, px, py))
        number = str(1 + point.system)
        name = number if is_numbered else systems[point.system]
        position, anchor, box = _free_place(px, py, len(name) * _CHARACTER, occupied, (left, right))
        occupied.append(box)
        parts.append(_text(position[0], position[1], name, anchor, title=systems[point.system]))
    parts.append(_text((left + right) / 2, bottom + 34, "BLEU", "middle muted"))
    parts.append(
        _text(
            -(top + bottom) / 2, 12, "minimum accuracy, %", "middle muted", transform="rotate(-90)"
        )
    )
    spoken = "; ".join(
        f"{systems[p.system]}: BLEU {percent(p.bleu)}, minimum accuracy"
        f" {with_interval(p.min_accuracy, p.interval)}"
        for p in points
    )
    height = bottom + 42.0
    if is_numbered:
        for point in points:
            height = _legend_row(parts, systems, point.system, height)
    return _svg(height, f"{label}. {spoken}", parts)


def _free_place(
    x: float, y: float, width: float, occupied: Iterable[_Box], limits: tuple[float, float]
) -> tuple[tuple[float, float], str, _Box]:
    """Return a free place for a label beside, above or below a dot; if all are occupied, the place
    to its right, or to its left if the label would leave the chart.
    """
    anchors = [
        (x + 10, y + 4, "start"),
        (x - 10, y + 4, "end"),
        (x, y - 12, "middle"),
        (x, y + 20, "middle"),
        (x + 10, y - 10, "start"),
        (x + 10, y + 18, "start"),
    ]
    candidates = []
    for px, py, anchor in anchors:
        start = px - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        candidates.append(((px, py), anchor, (start, py - 11, start + width, py + 3)))
    for candidate in candidates:
        box = candidate[2]
        inside = limits[0] <= box[0] and box[2] <= limits[1]
        if inside and not any(
            box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in occupied
        ):
            return candidate
    return candidates[0] if candidates[0][2][2] <= limits[1] else candidates[1]


def _svg(height: float, label: str, elements: Sequence[_Element]) -> Markup:
    return render_piece(
        "reports/page/pieces.html.jinja",
        "chart",
        width=_WIDTH,
        height=f"{height:g}",
        label=label,
        elements=elements,
    )


def _shape(tag: str, classes: str, **coordinates: float) -> _Element:
    return _Element(
        tag,
        {"class": classes, **{key: f"{coordinate:.4g}" for key, coordinate in coordinates.items()}},
    )


def _text(
    x: float, y: float, text: str, classes: str = "", *, title: str = "", transform: str = ""
) -> _Element:
    attributes = {"class": classes, "x": f"{x:.4g}", "y": f"{y:.4g}"}
    if transform:
        attributes["transform"] = transform
    return _Element("text", attributes, text, title if title != text else "")


def _whisker(low: float, high: float, y: float) -> list[_Element]:
    ends = [_shape("line", "whisker", x1=x, x2=x, y1=y - 3.5, y2=y + 3.5) for x in (low, high)]
    return [_shape("line", "whisker", x1=low, x2=high, y1=y, y2=y), *ends]


def _mark(system: int, x: float, y: float) -> _Element:
    """Return the mark of a system, which no other has in this colour."""
    return _Element(
        "path",
        {
            "class": f"fill s{colour(system)}",
            "d": _SHAPES[shape(system)],
            "transform": f"translate({x:.4g} {y:.4g})",
        },
    )


def _are_long(systems: Sequence[str]) -> bool:
    return max(map(len, systems)) > _BESIDE


def _name_row(
    parts: list[_Element], systems: Sequence[str], system: int, left: float, y: float
) -> float:
    """Add the mark and the name of a system left of what is drawn, or above it if any name is
    long.

    Returns:
        Where to draw.
    """
    if not _are_long(systems):
        parts += [_mark(system, 8, y + 8.5), _text(left - 8, y + 12, systems[system], "end")]
        return y
    return _named_above(parts, systems[system], system, y)


def _named_above(parts: list[_Element], name: str, system: int, y: float) -> float:
    """Add the mark and the name of a system.

    Returns:
        Where the next line is.
    """
    parts.append(_mark(system, 8, y + 8.5))
    for line in name_lines(name, _LINE):
        parts.append(_text(20, y + 12, line))
        y += 15
    return y + 1


def _legend_row(parts: list[_Element], systems: Sequence[str], system: int, y: float) -> float:
    """Add the number, the mark and the name of a system.

    Returns:
        Where the next line is.
    """
    return _named_above(parts, f"{1 + system}. {systems[system]}", system, y)
