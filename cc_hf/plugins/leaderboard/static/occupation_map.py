"""The map of stereotypes: a dot for each occupation and a line for each system, as part of the page
and as a file for a paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from cc_hf.plugins.leaderboard.static.board import Ranking
from cc_hf.plugins.leaderboard.static.occupations import (
    FEWEST_TRANSLATIONS,
    Occupation,
    OccupationShares,
    SystemOccupations,
    Trend,
    occupation_shares,
)
from cc_hf.plugins.leaderboard.static.paper import paper_svg
from cc_hf.reports.marks import colour
from cc_hf.reports.numbers import decimal, limits, percent
from cc_hf.reports.page.drawing import (
    WIDTH,
    Element,
    chart_svg,
    named_above,
    shape_element,
    system_mark,
    text_element,
)
from cc_hf.reports.page.page import html_table
from cc_hf.reports.report_parts import Cell, ReportTable, TableRow
from cc_hf.reports.samples import Sample
from cc_hf.results import NoInterval

__all__ = ["OccupationMap", "occupation_map"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 48, WIDTH - 12, 10, 330
_NAMED = 0.66  # where the dashed line has its name, above which few dots are
_FEW = 5  # systems, of more of which dots are smaller and paler
_SOURCE = (
    "Statistics: US Bureau of Labor Statistics, 2017, as in Table 1 of Zhao et al. 2018. Shares are"
    f" of the translations in which the judge reads a woman or a man, at least"
    f" {FEWEST_TRANSLATIONS} for each occupation. A slope of 0 means as many women whatever the"
    " statistics say, a slope of 1 as the statistics say; its interval is of 95 %, by least squares"
    " over occupations."
)
_WRITTEN = "written as women, %"
_MEANINGS = {
    "slope": "How much the share of women in translations rises with that in the statistics.",
    "where few work": "In occupations with fewer women than men in the statistics.",
    "where many work": "In occupations with more women than men in the statistics.",
}


@dataclass(frozen=True)
class OccupationMap:
    """The map of a ranking: for the page, as an SVG file, and as plain data for JSON."""

    name: str
    title: str
    chart: Markup
    table: Markup
    caption: str
    svg: str
    figures: dict[str, Any]

    @property
    def file(self) -> str:
        """The name of the SVG file."""
        return f"occupations.{self.name}.svg"


def occupation_map(
    ranking: Ranking, samples: Sequence[Sample], order: Sequence[str]
) -> OccupationMap | None:
    """Draw the map of a ranking; None where too little is known (`occupation_shares`)."""
    shares = occupation_shares(ranking, samples)
    if shares is None:
        return None
    marks = {name: order.index(row.system) for name, row in ranking.rows.items()}
    height, elements = _drawn(shares, marks)
    title = f"Occupations, {ranking.title}"
    spoken = "; ".join(f"{s.system}: {_slope_text(s.trend)}" for s in shares.systems)
    label = (
        f"{title}. The share of women in the statistics against the share written as women, a dot"
        f" for each occupation and a line for each system. {spoken}"
    )
    caption = " ".join(_caption(ranking, shares))
    return OccupationMap(
        ranking.name,
        ranking.title,
        chart_svg(height, label, elements),
        html_table(_table(ranking, shares, marks)),
        caption,
        paper_svg(height, title, f"{label}. {caption}", elements),
        shares.to_dict(),
    )


def _x(share: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * share


def _y(share: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * share


def _drawn(shares: OccupationShares, marks: Mapping[str, int]) -> tuple[float, list[Element]]:
    """Return the height of the chart and its elements."""
    parts = _axes(shares)
    size, opacity = (0.5, 0.45) if len(shares.systems) <= _FEW else (0.4, 0.3)
    for of_system in shares.systems:
        for occupation in of_system.occupations:
            x, y = _x(occupation.statistics), _y(occupation.share)
            dot = system_mark(marks[of_system.system], x, y, size=size)
            attributes = {**dot.attributes, "opacity": f"{opacity:g}"}
            title = _dot_text(occupation, of_system.system)
            parts.append(dot._replace(attributes=attributes, title=title))
    ends = []
    for of_system in shares.systems:
        (x1, y1), (x2, y2) = _line(of_system)
        mark = marks[of_system.system]
        ends.append(system_mark(mark, _x(x2), _y(y2))._replace(title=of_system.system))
        classes = f"line s{colour(mark)}"
        parts.append(shape_element("line", classes, x1=_x(x1), x2=_x(x2), y1=_y(y1), y2=_y(y2)))
    parts += ends
    y = _BOTTOM + 44.0
    for of_system in shares.systems:
        text = f"{of_system.system}: {_slope_text(of_system.trend)}"
        y = named_above(parts, text, marks[of_system.system], y)
    return y + 4, parts


def _axes(shares: OccupationShares) -> list[Element]:
    """Return the axes, and what a system should do."""
    parts: list[Element] = []
    for t in (0, 0.25, 0.5, 0.75, 1):
        parts += [
            shape_element("line", "grid", x1=_x(t), x2=_x(t), y1=_TOP, y2=_BOTTOM),
            shape_element("line", "grid", x1=_LEFT, x2=_RIGHT, y1=_y(t), y2=_y(t)),
            text_element(_x(t), _BOTTOM + 16, percent(t, digits=0), "middle muted"),
            text_element(_LEFT - 6, _y(t) + 4, percent(t, digits=0), "end muted"),
        ]
    middle = (_LEFT + _RIGHT) / 2
    angle = math.degrees(math.atan2(_BOTTOM - _TOP, _RIGHT - _LEFT))
    along = f"translate({_x(_NAMED):g} {_y(_NAMED):g}) rotate({-angle:.4g})"
    # Strong what the sentences say, thin the stereotype; of open sentences, of which none says
    # anything, the statistics alone.
    parts += [
        text_element(middle, _BOTTOM + 34, "women in the statistics, %", "middle muted"),
        text_element(
            -(_TOP + _BOTTOM) / 2,
            12,
            _WRITTEN,
            "middle muted",
            transform="rotate(-90)",
        ),
        shape_element("line", "middle-line", x1=_x(0), x2=_x(1), y1=_y(0), y2=_y(1)),
    ]
    name = "as in the statistics" if shares.meant is None else "stereotype: as in the statistics"
    parts.append(text_element(0, -6, name, "middle muted", transform=along))
    if shares.meant is not None:
        (x1, y1), (x2, y2) = _line(shares.meant)
        ends = {"x1": _x(x1), "x2": _x(x2), "y1": _y(y1), "y2": _y(y2)}
        parts += [
            shape_element("line", "meant-line", **ends),
            text_element(_x(x1) + 4, _y(y1) - 6, "what the sentences say"),
        ]
    return parts


def _dot_text(occupation: Occupation, system: str) -> str:
    return (
        f"{occupation.name}: {percent(occupation.statistics, digits=0)} % in the statistics,"
        f" {percent(occupation.share)} % written as women, {system}, {occupation.n} translations"
    )


def _line(of_system: SystemOccupations) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ends of a system's line, from its first to its last occupation."""
    trend, occupations = of_system.trend, of_system.occupations
    ends = []
    for x in (occupations[0].statistics, occupations[-1].statistics):
        y = min(max(trend.expected(x), 0.0), 1.0)
        ends.append(((y - trend.constant) / trend.slope if y != trend.expected(x) else x, y))
    return ends[0], ends[1]


def _slope_text(trend: Trend) -> str:
    interval = limits(trend.interval, digits=2)
    return f"slope {_number(trend.slope)}" + f" ({interval})" * bool(interval)


def _number(value: float) -> str:
    return decimal(round(value, 2) + 0.0).replace("-", "−")  # adding 0.0 avoids a negative zero


def _table(ranking: Ranking, shares: OccupationShares, marks: Mapping[str, int]) -> ReportTable:
    most = max(len(of_system.occupations) for of_system in shares.systems)
    rows = []
    for of_system in shares.systems:
        few, many = (of_system.share(has_many_women=is_many) for is_many in (False, True))
        notes = []
        if len(of_system.occupations) < most:
            notes.append(f"{len(of_system.occupations)} occupations")
        if remark := ranking.rows[of_system.system].remark(ranking.by):
            notes.append(remark)
        cells = (
            Cell(_number(of_system.trend.slope), limits(of_system.trend.interval, digits=2)),
            *(Cell("" if share is None else percent(share)) for share in (few, many)),
        )
        rows.append(
            TableRow(of_system.system, cells, note=", ".join(notes), system=marks[of_system.system])
        )
    return ReportTable(
        f"Occupations, {ranking.title}",
        "system",
        tuple(_MEANINGS),
        tuple(rows),
        groups=(("line", 1), (_WRITTEN, 2)),
        meanings=_MEANINGS,
        bests=("zero", "none", "none"),
    )


def _caption(ranking: Ranking, shares: OccupationShares) -> Iterator[str]:
    yield _SOURCE
    if shares.meant is None:
        yield "Nothing in these sentences tells whether a woman or a man is meant."
    else:
        means = [occupation.share for occupation in shares.meant.occupations]
        yield (
            f"Of the sentences about an occupation, {percent(min(means))} to {percent(max(means))}"
            " % mean a woman: a system that is always right lies on the solid line, with a slope of"
            f" {_number(shares.meant.trend.slope)}. On the dashed line, a system follows the"
            " stereotype."
        )
    for of_system in shares.systems:
        if isinstance(of_system.trend.interval, NoInterval):
            yield f"{of_system.system}: {of_system.trend.interval.note}."
    unfit = (row.unfit.get(ranking.by, "") for row in ranking.rows.values())
    for why in dict.fromkeys(filter(None, unfit)):
        yield f"Not fit to cite: {why}."
