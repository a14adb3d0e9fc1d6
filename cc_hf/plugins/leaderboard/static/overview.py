"""What a board shows first: what was found, and all systems in all rankings.

Only figures that rank are in the table, and findings speak of those only that may be cited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cc_hf.languages import pair_codes
from cc_hf.metrics.figure_names import ACCURACY_GAP
from cc_hf.plugins.leaderboard.static.board import Ranking
from cc_hf.reports.figure_text import data_name, figure_name, language_pair
from cc_hf.reports.marks import mark_classes
from cc_hf.reports.numbers import percent
from cc_hf.reports.page.page import counted

__all__ = ["Overview", "findings"]

_MOST_NAMES = 3


@dataclass(frozen=True)
class Overview:
    """The table of systems, in the order of their colours, and of rankings that are no screens."""

    rankings: Sequence[Ranking]
    systems: Sequence[str]

    @classmethod
    def of(cls, rankings: Sequence[Ranking], systems: Sequence[str]) -> Overview:
        """Return the table of the rankings that rank something."""
        ranked = [ranking for ranking in rankings if ranking.by and not ranking.is_screen]
        kinds = dict.fromkeys(_kind(ranking) for ranking in ranked)
        shown = [r for kind in kinds for r in ranked if _kind(r) == kind]
        names = {row.system for ranking in shown for row in ranking.rows.values()}
        return cls(shown, [system for system in systems if system in names])

    def headers(self) -> Iterator[tuple[Ranking, str, str]]:
        """Yield each ranking, its languages, and what is judged by whom."""
        for ranking in self.rankings:
            row, first = ranking.first_row, ranking.first
            languages = language_pair(*pair_codes(row.language))
            data = data_name(first).partition(",")[0]
            label = figure_name(first.metric, ranking.by).label
            yield ranking, languages, f"{data}, {ranking.judge}: {label}"

    def table(self, order: Sequence[str]) -> Iterator[tuple[str, str, list[tuple[str, ...]]]]:
        """Yield each system, the classes of its mark, and its cells.

        A cell has the name of a ranking, its figure there, why it may not be cited, and its band.
        """
        for system in self.systems:
            cells = [_cell(ranking, system) for ranking in self.rankings]
            yield system, mark_classes(order.index(system)), cells


def _kind(ranking: Ranking) -> tuple[str, ...]:
    row = ranking.first_row
    return row.dataset, row.config, row.metric, row.evaluator


def _cell(ranking: Ranking, system: str) -> tuple[str, ...]:
    """Return a cell of the table. Several results of one system stand in the ranking alone."""
    rows = [(name, row) for name, row in ranking.rows.items() if row.system == system]
    if len(rows) != 1:
        return ranking.name, "", f"{len(rows)} results" if rows else "", ""
    ((name, row),) = rows
    figure, standing = row.figures.get(ranking.by), ranking.ranks.by_system.get(name)
    if figure is None or ranking.by in row.unfit:
        return ranking.name, "", row.remark(ranking.by), ""
    band = "" if standing is None else f"band {standing.band}"
    value = percent(figure.value).replace("-", "−")
    return ranking.name, value, row.remark(ranking.by), band


def findings(rankings: Sequence[Ranking]) -> Iterator[str]:
    """Yield sentences on the rankings whose figures may be cited."""
    cited = [
        ranking
        for ranking in rankings
        if ranking.ranks.by_system
        and not any(row.remark(ranking.by) for row in ranking.rows.values())
    ]
    yield from _first_bands(cited)
    yield from _gaps(cited)


def _first_bands(rankings: Sequence[Ranking]) -> Iterator[str]:
    """Yield which systems stand in the first band most often."""
    firsts = Counter(
        ranking.rows[name].system
        for ranking in rankings
        for name, standing in ranking.ranks.by_system.items()
        if standing.band == 1
    )
    most = max(firsts.values(), default=0)
    names = [system for system, n in firsts.items() if n == most]
    if not names or len(names) > _MOST_NAMES:
        return
    first = f"{' and '.join(names)} {'stand' if len(names) > 1 else 'stands'} in the first band of"
    if len(rankings) == 1:
        yield f"{first} the table whose figures may be cited."
        return
    yield (
        f"Of {counted(len(rankings), 'table')} whose figures may be cited, {first} {most}, more"
        " often than any other system."
    )


def _gaps(rankings: Sequence[Ranking]) -> Iterator[str]:
    """Yield how often women are translated right less often than men, beyond chance."""
    gaps = [
        (figure, f"{row.system}, {language_pair(*pair_codes(row.language))}")
        for ranking in rankings
        for row in ranking.rows.values()
        if (figure := row.figures.get(ACCURACY_GAP)) is not None
        if figure.low is not None and not row.remark(ACCURACY_GAP)
    ]
    worse = [(figure, about) for figure, about in gaps if (figure.low or 0) > 0]
    if not worse:
        return
    (least, where_least), (most, where_most) = min(worse), max(worse)
    size = f"by {percent(least.value)} points ({where_least})"
    if len(worse) > 1:
        size += f" to {percent(most.value)} points ({where_most})"
    yield (
        f"Women are translated right less often than men in {len(worse)} of {len(gaps)} rows of"
        f" these tables, {size}; the interval of each difference is above 0."
    )
