"""Charts of what stands out, as inline SVG: the gap between groups, and the hardest values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from cc_hf.reports.figure_text import category_key, category_name
from cc_hf.reports.findings import Split
from cc_hf.reports.highlights import Group, HardValue, Spread
from cc_hf.reports.marks import N_SHAPES, colour, name_lines
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
    group_mark,
    name_row,
    percent_grid,
    shape_element,
    system_mark,
    text_element,
)

__all__ = ["hard_value_chart", "split_chart", "spread_chart"]

_VALUE = 22  # characters in a line of a value's name
_END = 30  # width of a percentage beside the end of a line


def spread_chart(
    spreads: Sequence[Spread], systems: Sequence[str], *, attribute: str, label: str, link: Link
) -> Markup:
    """Draw the accuracies of each system in several groups as marks on one line per system, and the
    gap between the lowest and the highest; the system whose lowest is highest comes first.

    Shapes stand for groups here. If there are more groups than shapes, only the lowest and the
    highest are shown.
    """
    left, right = (8 if are_long(systems) else NAMES) + _END, WIDTH - VALUES - _END
    names = list(dict.fromkeys(group.name for spread in spreads for group in spread.groups))
    has_all = len(names) <= N_SHAPES
    shapes = {name: index for index, name in enumerate(names if has_all else ("lowest", "highest"))}
    parts: list[Element] = []
    spoken = []

    def x(value: float) -> float:
        return left + (right - left) * value

    y = _group_legend(parts, shapes, right)
    parts.append(text_element(WIDTH, y, "gap", "end muted"))
    top = y + 8
    y += 10
    for spread in sorted(spreads, key=lambda spread: -spread.lowest.accuracy):
        y = name_row(parts, systems, spread.system, left - _END, y, has_mark=False)
        parts.append(
            shape_element(
                "line",
                f"line s{colour(spread.system)}",
                x1=x(spread.lowest.accuracy),
                x2=x(spread.highest.accuracy),
                y1=y + 8.5,
                y2=y + 8.5,
            )
        )
        shown = (
            [(group.name, group) for group in spread.groups]
            if has_all
            else [("lowest", spread.lowest), ("highest", spread.highest)]
        )
        for end, beside, anchor in (
            (spread.lowest, -10, "end muted"),
            (spread.highest, 10, "muted"),
        ):
            text = percent(end.accuracy)
            parts.append(text_element(x(end.accuracy) + beside, y + 12, text, anchor))
        for name, group in shown:
            title = f"{systems[spread.system]}, {_group_text(group)}"
            position = x(group.accuracy), y + 8.5
            parts.append(
                group_mark(shapes[name], f"fill s{colour(spread.system)}", *position)._replace(
                    title=title,
                    href=link({"system": systems[spread.system], attribute: group.name}),
                )
            )
            spoken.append(title)
        parts.append(text_element(WIDTH, y + 12, percent(spread.gap), "end"))
        y += 22
    return chart_svg(y + 20, f"{label}. {'; '.join(spoken)}", [*percent_grid(x, top, y), *parts])


def hard_value_chart(
    values: Sequence[HardValue],
    systems: Sequence[str],
    *,
    attribute: str,
    label: str,
    link: Link,
) -> Markup:
    """Draw the accuracy of each system for each value of an attribute as SVG, a mark per system."""
    left, right, y = 164, WIDTH - 14, 6.0
    parts: list[Element] = []
    spoken = []

    def x(value: float) -> float:
        return left + (right - left) * value

    step = min(4.0, 14 / len(systems))  # marks at the same accuracy stay visible
    for row in values:
        n = max(group.n for group in row.groups if group is not None)
        name = f"{row.label} ({n})"
        filters = {attribute: row.value} | ({"category": row.gender} if row.gender else {})
        lines = name_lines(name, _VALUE)
        middle = y + 3.5 + 7.5 * len(lines)
        parts.append(shape_element("line", "grid", x1=left, x2=right, y1=middle, y2=middle))
        for index, line in enumerate(lines):
            parts.append(
                text_element(left - 12, y + 15 * (index + 1), line, "end", title=name)._replace(
                    href=link(filters), is_stop=index == 0
                )
            )
        for index, group in enumerate(row.groups):
            if group is None:
                continue
            title = f"{systems[index]}, {_group_text(group)}"
            position = x(group.accuracy), middle + (index - (len(systems) - 1) / 2) * step
            parts.append(
                system_mark(index, *position, size=0.8)._replace(
                    title=title,
                    href=link({"system": systems[index], **filters}),
                    is_stop=False,  # there are too many; the tab key stops at the value
                )
            )
            spoken.append(title)
        y += 9 + 15 * len(lines)
    return chart_svg(y + 20, f"{label}. {'; '.join(spoken)}", [*percent_grid(x, 2, y), *parts])


def split_chart(
    splits: Sequence[Split], systems: Sequence[str], *, attribute: str, label: str, link: Link
) -> Markup:
    """Draw the accuracies of one system for values of an attribute, as a line from its worst to its
    best category with the counts at the ends. Shapes stand for categories.
    """
    left, right = 176, WIDTH - 52
    system = splits[0].spread.system
    names = sorted({g.name for split in splits for g in split.spread.groups}, key=category_key)
    shapes = {name: index % N_SHAPES for index, name in enumerate(names)}
    parts: list[Element] = []
    spoken = []

    def x(value: float) -> float:
        return left + (right - left) * value

    y = _group_legend(parts, shapes, WIDTH) + 4
    top = y
    for split in sorted(splits, key=lambda split: (split.spread.lowest.accuracy, split.value)):
        middle = y + 10
        first, *more = name_lines(split.value, _VALUE)
        name = f"{first}…" if more else first
        low, high = split.spread.lowest, split.spread.highest
        parts.append(text_element(left - 52, middle + 4, name, "end", title=split.value))
        ends = {"x1": x(low.accuracy), "x2": x(high.accuracy), "y1": middle, "y2": middle}
        parts.append(shape_element("line", f"line s{colour(system)}", **ends))
        for group, beside, anchor in ((low, -10, "end muted"), (high, 10, "muted")):
            title = f"{split.value}, {_group_text(group)}"
            wrong = {"wrong": systems[system], attribute: split.value, "category": group.name}
            href = link(wrong) if group.n_correct < group.n else ""
            text = f"{group.n_correct}/{group.n}"
            parts.append(text_element(x(group.accuracy) + beside, middle + 4, text, anchor))
            parts.append(
                group_mark(
                    shapes[group.name], f"fill s{colour(system)}", x(group.accuracy), middle
                )._replace(title=title, href=href)
            )
            spoken.append(title)
        y += 21
    return chart_svg(
        y + 22, f"{label}. {'; '.join(spoken)}", [*percent_grid(x, top, y + 2), *parts]
    )


def _group_legend(parts: list[Element], shapes: Mapping[str, int], right: float) -> float:
    left, y = 0.0, 16.0
    for name, number in zip(map(category_name, shapes), shapes.values(), strict=True):
        width = 34 + CHARACTER * len(name)
        if left and left + width > right:
            left, y = 0.0, y + 18
        parts += [
            group_mark(number, "fill muted-mark", left + 8, y - 4),
            text_element(left + 20, y, name),
        ]
        left += width
    return y


def _group_text(group: Group) -> str:
    counts = f"{group.n_correct:,} of {group.n:,} correct"
    counts += " by the judge alone" if group.corrected else ""
    return f"{group.label}: {percent(group.accuracy)} % ({counts})"
