"""The chart of error rates by bias, as inline SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from cc_hf.reports.figures import nice_ticks
from cc_hf.reports.marks import colour
from cc_hf.reports.numbers import in_points, limits, percent
from cc_hf.reports.page.drawing import (
    WIDTH,
    Element,
    chart_svg,
    legend_row,
    shape_element,
    system_mark,
    text_element,
)
from cc_hf_studies.disambiguation_bias.prediction import BiasGroup
from cc_hf_studies.disambiguation_bias.prediction_tables import bounds_text

__all__ = ["error_rate_chart"]


def error_rate_chart(
    groups: Mapping[str, Sequence[BiasGroup]], systems: Sequence[str], *, label: str
) -> Markup:
    """Draw error rates of systems with intervals, by groups of sentences from low bias to high."""
    left, right, top, bottom = 44, WIDTH - 12, 10, 220
    highest = max(group.errors.limits[1] for members in groups.values() for group in members)
    ticks = nice_ticks(0, max(in_points(highest), 1))
    n_groups = max(map(len, groups.values()))
    width = (right - left) / n_groups
    parts: list[Element] = []
    spoken = []

    def y(share: float) -> float:
        return bottom - (bottom - top) * in_points(share) / ticks[-1]

    for tick in ticks:
        height = y(tick / 100)
        parts.append(shape_element("line", "grid", x1=left, x2=right, y1=height, y2=height))
        parts.append(text_element(left - 6, height + 4, f"{tick:g}", "end muted"))
    for number in range(n_groups):
        middle = left + width * (number + 0.5)
        parts.append(text_element(middle, bottom + 16, str(number + 1), "middle muted"))
    step = min(9.0, width / (len(groups) + 1))
    for position, (name, members) in enumerate(groups.items()):
        system = systems.index(name)
        shift = (position - (len(groups) - 1) / 2) * step
        for number, group in enumerate(members):
            x = left + width * (number + 0.5) + shift
            low, high = map(y, group.errors.limits)
            parts.append(
                shape_element("line", f"line s{colour(system)}", x1=x, x2=x, y1=low, y2=high)
            )
            text = (
                f"{name}, {bounds_text(group)}: {percent(group.errors.value)} %"
                f" ({limits(group.errors.interval)}) of {group.errors.n:,}"
            )
            parts.append(
                system_mark(system, x, y(group.errors.value), size=0.7)._replace(title=text)
            )
            spoken.append(text)
    parts.append(
        text_element(
            (left + right) / 2,
            bottom + 34,
            "tenth of the sentences, by bias towards a wrong sense",
            "middle muted",
        )
    )
    parts.append(
        text_element(-(top + bottom) / 2, 12, "errors, %", "middle muted", transform="rotate(-90)")
    )
    height = bottom + 42.0
    for name in groups:
        height = legend_row(parts, systems, systems.index(name), height)
    return chart_svg(height, f"{label}. {'; '.join(spoken)}", parts)
