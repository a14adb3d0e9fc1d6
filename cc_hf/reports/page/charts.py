"""The charts of the page, as inline SVG. Colours are CSS classes, so that the page decides on light
and dark; the figures are also given as text for screen readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from markupsafe import Markup

from cc_hf.reports.figure_text import category_name, with_interval
from cc_hf.reports.figures import Bar, Histogram, QualityPoint, nice_ticks
from cc_hf.reports.marks import N_COLOURS, colour
from cc_hf.reports.numbers import percent
from cc_hf.reports.page.drawing import (
    CHARACTER,
    NAMES,
    VALUES,
    WIDTH,
    Element,
    Link,
    are_long,
    chart_svg,
    legend_row,
    name_row,
    no_link,
    percent_grid,
    shape_element,
    system_mark,
    text_element,
    whisker,
)

__all__ = ["bar_chart", "histogram_chart", "quality_chart"]

_AT_DOT = 24  # longest name that stands at its dot; longer ones are numbered
_Box = tuple[float, float, float, float]


def bar_chart(
    bars: Sequence[Bar], systems: Sequence[str], *, label: str, link: Link = no_link
) -> Markup:
    """Draw horizontal bars with intervals in percent, grouped by category, as an SVG element."""
    left, right, y = 8 if are_long(systems) else NAMES, WIDTH - VALUES, 6.0
    parts: list[Element] = []

    def x(value: float) -> float:
        return left + (right - left) * value

    for category, category_bars in groupby(bars, key=lambda bar: bar.category):
        parts.append(text_element(0, y + 12, category_name(category), "strong"))
        y += 20
        for bar in category_bars:
            y = name_row(parts, systems, bar.system, left, y)
            # A corrected accuracy has two intervals: the one that includes the judge's mistakes,
            # and below its bar that of the judge alone.
            value, interval = bar.corrected or (bar.value, bar.interval)
            parts.append(
                shape_element(
                    "rect",
                    f"fill s{colour(bar.system)}",
                    x=left,
                    y=y + 2,
                    width=max(x(value) - left, 0.5),
                    height=13,
                    rx=2,
                )._replace(
                    title=f"{systems[bar.system]}, {category_name(category)}: {_bar_text(bar)}",
                    href=link({"system": systems[bar.system], "category": category}),
                )
            )
            if interval is not None:
                parts += whisker(x(interval.low), x(interval.high), y + 8.5)
            parts.append(text_element(WIDTH, y + 12, percent(value), "end"))
            y += 18
            if bar.corrected and bar.interval is not None:
                parts += whisker(x(bar.interval.low), x(bar.interval.high), y + 2, classes="alone")
                parts.append(shape_element("circle", "alone", cx=x(bar.value), cy=y + 2, r=2.5))
                y += 8
        y += 6
    grid = percent_grid(x, 4, y)
    if any(bar.corrected for bar in bars):
        for key in ("bars: judge's mistakes included", "thin lines: the judge alone"):
            y += 18
            parts.append(text_element(left, y + 16, key))
    spoken = "; ".join(
        f"{category_name(bar.category)}, {systems[bar.system]}: {_bar_text(bar)}" for bar in bars
    )
    return chart_svg(y + 20, f"{label}. {spoken}", [*grid, *parts])


def _bar_text(bar: Bar) -> str:
    text = with_interval(bar.value, bar.interval)
    return f"{with_interval(*bar.corrected)}, judge alone {text}" if bar.corrected else text


def histogram_chart(
    histogram: Histogram, systems: Sequence[str], *, highest: int, label: str
) -> Markup:
    """Draw the samples of one system by probability as an SVG histogram; bins below 50 %, which
    count as incorrect, are paler.
    """
    left, right, top, bottom = 40, WIDTH - 16, 10, 168
    ticks = [tick for tick in nice_ticks(0, max(highest, 1), n=3) if tick.is_integer()]
    width = (right - left) / len(histogram.counts)
    parts = []
    for tick in ticks:
        y = bottom - (bottom - top) * tick / ticks[-1]
        parts += [
            shape_element("line", "grid", x1=left, x2=right, y1=y, y2=y),
            text_element(left - 6, y + 4, f"{tick:g}", "end muted"),
        ]
    for index, n in enumerate(histogram.counts):
        height = (bottom - top) * n / ticks[-1]
        pale = " pale" if 2 * index < len(histogram.counts) else ""
        parts.append(
            shape_element(
                "rect",
                f"fill s{colour(histogram.system)}{pale}",
                x=left + index * width + 0.75,
                y=bottom - height,
                width=width - 1.5,
                height=height,
            )._replace(
                title=f"{100 * index / len(histogram.counts):g} to"
                f" {100 * (index + 1) / len(histogram.counts):g} %: {n:,} samples"
            )
        )
    middle = (left + right) / 2
    parts.append(shape_element("line", "middle-line", x1=middle, x2=middle, y1=top - 6, y2=bottom))
    for value in (0, 25, 50, 75, 100):
        parts.append(
            text_element(
                left + (right - left) * value / 100, bottom + 16, str(value), "middle muted"
            )
        )
    parts.append(
        text_element(middle, bottom + 32, "probability of the correct reading, %", "middle muted")
    )
    spoken = (
        f"{systems[histogram.system]}: samples in {len(histogram.counts)} bins from 0 to 100 %:"
        f" {', '.join(map(str, histogram.counts))}"
    )
    return chart_svg(bottom + 38, f"{label}. {spoken}", parts)


def quality_chart(points: Sequence[QualityPoint], systems: Sequence[str], *, label: str) -> Markup:
    """Draw minimum accuracy with intervals over BLEU as SVG, a mark and a name for each system.

    If names are long, or systems many, marks are numbered and named below.
    """
    left, right, top, bottom = 48, WIDTH - 12, 10, 250
    xs = nice_ticks(100 * min(p.bleu for p in points), 100 * max(p.bleu for p in points))
    lows = [p.interval.low if p.interval else p.min_accuracy for p in points]
    highs = [p.interval.high if p.interval else p.min_accuracy for p in points]
    ys = nice_ticks(100 * min(lows), 100 * max(highs))

    def x(value: float) -> float:
        return left + (right - left) * (100 * value - xs[0]) / (xs[-1] - xs[0])

    def y(value: float) -> float:
        return bottom - (bottom - top) * (100 * value - ys[0]) / (ys[-1] - ys[0])

    parts: list[Element] = []
    for t in xs:
        parts.append(shape_element("line", "grid", x1=x(t / 100), x2=x(t / 100), y1=top, y2=bottom))
        parts.append(text_element(x(t / 100), bottom + 16, f"{t:g}", "middle muted"))
    for t in ys:
        parts.append(shape_element("line", "grid", x1=left, x2=right, y1=y(t / 100), y2=y(t / 100)))
        parts.append(text_element(left - 6, y(t / 100) + 4, f"{t:g}", "end muted"))
    is_numbered = max(len(systems[p.system]) for p in points) > _AT_DOT or len(points) > N_COLOURS
    occupied: list[_Box] = [
        (x(p.bleu) - 7, y(p.min_accuracy) - 7, x(p.bleu) + 7, y(p.min_accuracy) + 7) for p in points
    ]
    for point in points:
        px, py = x(point.bleu), y(point.min_accuracy)
        if point.interval is not None:
            parts.append(
                shape_element(
                    "line",
                    f"line s{colour(point.system)}",
                    x1=px,
                    x2=px,
                    y1=y(point.interval.low),
                    y2=y(point.interval.high),
                )
            )
        parts.append(system_mark(point.system, px, py)._replace(title=_point_text(point, systems)))
        number = str(1 + point.system)
        name = number if is_numbered else systems[point.system]
        position, anchor, box = _free_place(px, py, len(name) * CHARACTER, occupied, (left, right))
        occupied.append(box)
        parts.append(
            text_element(position[0], position[1], name, anchor, title=systems[point.system])
        )
    parts.append(text_element((left + right) / 2, bottom + 34, "BLEU", "middle muted"))
    parts.append(
        text_element(
            -(top + bottom) / 2,
            12,
            f"{points[0].label}, %",
            "middle muted",
            transform="rotate(-90)",
        )
    )
    spoken = "; ".join(_point_text(point, systems) for point in points)
    height = bottom + 42.0
    if is_numbered:
        for point in points:
            height = legend_row(parts, systems, point.system, height)
    return chart_svg(height, f"{label}. {spoken}", parts)


def _point_text(point: QualityPoint, systems: Sequence[str]) -> str:
    return (
        f"{systems[point.system]}: BLEU {percent(point.bleu)}, {point.label}"
        f" {with_interval(point.min_accuracy, point.interval)}"
    )


def _free_place(
    x: float, y: float, width: float, occupied: Iterable[_Box], limits: tuple[float, float]
) -> tuple[tuple[float, float], str, _Box]:
    """Return a free place for a label beside, above or below a dot; if all are occupied, one beside
    it.
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
