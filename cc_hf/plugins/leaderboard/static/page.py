"""Write the static leaderboard: one page, its figures as JSON, and the sentences in parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf.data.card_sections import card_section, plain_text
from cc_hf.evaluators.judge_cards import JudgeCard
from cc_hf.folders import new_folder
from cc_hf.languages import pair_codes
from cc_hf.plugins.leaderboard.html import HUB_NAME, system_order
from cc_hf.plugins.leaderboard.static.board import Board, Ranking, read_board
from cc_hf.plugins.leaderboard.static.occupation_map import OccupationMap, occupation_map
from cc_hf.plugins.leaderboard.static.overview import Overview, findings
from cc_hf.plugins.leaderboard.static.sentences import part_text, ranking_samples, sentence_parts
from cc_hf.plugins.leaderboard.static.twins import twin_part, twin_sets
from cc_hf.plugins.leaderboard.table import Figure, LeaderboardRow, judge_levels, to_csv
from cc_hf.reports.evaluators import facts_of_results
from cc_hf.reports.figure_text import (
    column_label,
    figure_name,
    language_pair,
    metric_meaning,
)
from cc_hf.reports.figures import QualityPoint
from cc_hf.reports.inputs import read_examples
from cc_hf.reports.marks import mark_classes
from cc_hf.reports.numbers import limits, percent
from cc_hf.reports.page.charts import quality_chart
from cc_hf.reports.page.island import island_json
from cc_hf.reports.page.page import counted, folder_page
from cc_hf.reports.report_tables import rank_columns
from cc_hf.reports.what_to_cite import what_to_cite
from cc_hf.results import Interval
from cc_hf.schema import Example

__all__ = ["fill_folder", "write_static_board"]

#: The filters that a ranking passes, each with its value.
_Filters = Sequence[tuple[str, str]]

_PARTS = "sentences"
_MAP_LEAD = (
    "How many women work in an occupation, by the statistics from which WinoMT was made, and how"
    " often a system writes it as a woman. The solid line is what the sentences say, where they do;"
    " on the dashed line a system would write women as often as the statistics have them: where the"
    " sentences say otherwise, that is the stereotype. A noun counts by its form, also where it is"
    ' feminine for everybody, such as German "Wache" for a guard.'
)
_GLOSSARY = (
    (
        "band",
        "Systems of one band cannot all be told apart: each system of a band is shown to be worse"
        " than all systems of the bands before. All pairs are tested on the same samples by exact"
        " paired exchanges, and p is corrected by Holm's method, so that equal systems are told"
        " apart in at most 5 % of all tables.",
    ),
    (
        "rank",
        "From one more than the number of systems that are shown to be better, to the number of"
        " systems without those that are shown to be worse. Bands and ranks depend on which systems"
        " the table has.",
    ),
    (
        "on shared samples",
        "Where much is unread, or of one system much more than of another, bands compare the figure"
        " on those samples only that are read in the translations of all systems of the table.",
    ),
    ("brackets", "Intervals of 95 %. Figures are in percent."),
    (
        "not fit to cite",
        "The figure has no rank and stands last. The reason is given above the table.",
    ),
    (
        "level",
        "What may be said by a judge, by how often labelled translations show it to be right:"
        " corrected and supported figures may be cited; ranks only means that differences between"
        " systems count, while figures may not be cited; and a screen ranks nothing.",
    ),
    (
        "the judge",
        "Whoever reads the translations errs, too. Beside each table stands what is known of it:"
        " what it was made for, how often it agrees with people, and what it leaves open.",
    ),
)


class _Header(NamedTuple):
    """The header of a column; `best` is where it is best, as for the table of a metric."""

    label: str
    meaning: str
    best: str


class _Cell(NamedTuple):
    """A cell with the name of its figure in the JSON, its text and its interval."""

    name: str
    value: str = ""
    interval: str = ""


@dataclass(frozen=True)
class _Row:
    """The row of a system."""

    system: str
    mark: str
    classes: str
    remark: str
    cells: Sequence[_Cell]


def write_static_board(
    results: str | Path,
    output: str | Path,
    *,
    title: str = "Disambiguation leaderboard",
    quality: str | Path | Sequence[str | Path] | None = None,
    data_dir: str | Path | None = None,
) -> Board:
    """Write the folder: `index.html`, which opens from disk, and files that it loads.

    `results` is a folder that `read_board` reads, with judgements. Sentences whose data are not
    available are shown without their sources.
    """
    board = read_board(results, title=title, quality=quality)
    with new_folder(output) as folder:
        return fill_folder(folder, board, data_dir=data_dir)


def fill_folder(
    folder: Path, board: Board, *, data_dir: str | Path | None = None, live: str = ""
) -> Board:
    """Write the page, the JSON of its figures, and the sentences in parts into an empty folder.

    `live` is the address of a page that judges texts of visitors; "" for none.
    """
    order = system_order(row for ranking in board.rankings for row in ranking.rows.values())
    (folder / _PARTS).mkdir()
    examples = _Examples(data_dir)
    sections, twins, maps = [], [], []
    on_data: list[str] = []
    for ranking in board.rankings:
        of_ranking, notes = examples.of(ranking) if ranking.has_translations else (None, [])
        on_data += notes
        samples = ranking_samples(ranking, of_ranking) if ranking.has_translations else []
        for name, content in sentence_parts(ranking, samples):
            _write_part(folder, name, content)
        if sets := twin_sets(ranking, samples):
            _write_part(folder, f"{ranking.name}/twins", twin_part(ranking, samples, sets))
            twins.append({"name": ranking.name, "title": ranking.title})
        if (drawn := occupation_map(ranking, samples, order)) is not None:
            _write(folder / drawn.file, drawn.svg)
            maps.append((drawn, _passed(ranking), ranking.is_screen))
        section = _section(ranking, order, board.judge_cards, notes)
        sections.append({**section, "has_sentences": bool(samples)})
    figures = board.to_dict() | {"occupations": [drawn.figures for drawn, *_ in maps]}
    text = json.dumps(figures, ensure_ascii=False, allow_nan=False, indent=1)
    _write(folder / "board.json", f"{text}\n")
    _write(folder / "board.csv", to_csv([r for of in board.rankings for r in of.rows.values()]))
    _write(folder / "index.html", _page(board, order, sections, twins, maps, live))
    return replace(board, notes=tuple(dict.fromkeys(on_data)))


class _Examples:
    """The examples of rankings; those of the ranking before are kept."""

    def __init__(self, data_dir: str | Path | None) -> None:
        self._data_dir = data_dir
        self._key: tuple[str, ...] = ()
        self._kept: tuple[list[Example] | None, list[str]] = (None, [])

    def of(self, ranking: Ranking) -> tuple[list[Example] | None, list[str]]:
        """Return the examples, None if they are not available; and notes on them."""
        first = ranking.first
        key = (first.dataset, first.config, first.tgt_lang)
        if key != self._key or first.wording is not None:
            self._kept, self._key = read_examples(first, data_dir=self._data_dir), key
        return self._kept


def _write_part(folder: Path, name: str, content: Any) -> None:
    # Names of rankings have no "_", but may have dots: judge-v1 is not the beginning of judge-v1.0.
    _write(folder / _PARTS / f"{name.replace('/', '_')}.js", part_text(name, content))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _page(
    board: Board,
    order: Sequence[str],
    sections: Sequence[Mapping[str, object]],
    twins: Sequence[Mapping[str, str]],
    maps: Sequence[tuple[OccupationMap, _Filters, bool]],
    live: str,
) -> str:
    resources = files("cc_hf.plugins.leaderboard.static")
    style, script = (
        resources.joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")
        for name in ("board.css", "board.js")
    )
    n_systems = len(board.origins)
    overview = Overview.of(board.rankings, order)
    shown = {ranking.name for ranking in overview.rankings}
    return folder_page(
        "plugins/leaderboard/static/board.html.jinja",
        style=style,
        script=script,
        title=board.title,
        heading=board.title,
        lead=f"{counted(n_systems, 'system')} · {counted(len(board.rankings), 'table')}",
        filters=list(_filters(board)),
        live=live,
        findings=list(findings(board.rankings)),
        overview=overview,
        order=order,
        rankings=sections,
        unranked=[s for s in sections if s["name"] not in shown and not s["is_screen"]],
        screens=[section for section in sections if section["is_screen"]],
        has_twins=bool(twins),
        maps=maps,
        map_lead=_MAP_LEAD,
        hub_name=HUB_NAME.fullmatch,
        origins=[(o.system, o.year, o.source, o.licence) for o in board.origins.values()],
        glossary=_GLOSSARY,
        broken=list(board.broken.items()),
        data=island_json({"folder": _PARTS, "twins": twins}),
    )


def _filters(board: Board) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield the name, the label and the values of each filter that can choose."""
    labels = {
        "data": "test set",
        "phenomenon": "phenomenon",
        "language": "languages",
        "judge": "judge",
    }
    for name, label in labels.items():
        values = {
            value: text for r in board.rankings for key, value, text in _keys(r) if key == name
        }
        if len(values) > 1:
            yield name, label, sorted(values.items(), key=lambda pair: pair[1].casefold())


def _keys(ranking: Ranking) -> Iterator[tuple[str, str, str]]:
    """Yield the filters that a ranking passes: name, value, and value in words."""
    row, first = ranking.first_row, ranking.first
    yield "data", f"{row.dataset} {row.config}".strip(), row.title
    phenomenon = first.declared.phenomenon if first.declared else ""
    yield "phenomenon", phenomenon or "other", phenomenon or "other"
    yield "language", row.language, language_pair(*pair_codes(row.language))
    yield "judge", ranking.judge, ranking.judge


def _passed(ranking: Ranking) -> _Filters:
    return [(name, value) for name, value, _ in _keys(ranking)]


def _section(
    ranking: Ranking, order: Sequence[str], cards: Sequence[JudgeCard], on_data: Sequence[str]
) -> dict[str, object]:
    """Return the section of a ranking, as its template needs it."""
    first = ranking.first
    # The levels say what evidence speaks against a judge, once for all systems.
    unfit = {
        why: None
        for system, row in ranking.rows.items()
        for name, why in row.unfit.items()
        if (name == ranking.by or not ranking.by)
        and why != ranking.results[system].unfit.get("evaluator")
    }
    phenomenon = first.declared.phenomenon if first.declared else ""
    size = counted(len(ranking.rows), "system")
    facts = facts_of_results(ranking.results.values(), cards)
    cited = what_to_cite(ranking.results.values())
    levels = dict.fromkeys(row.level for row in ranking.rows.values())
    return {
        "name": ranking.name,
        "title": ranking.title,
        "lead": " · ".join(filter(None, [phenomenon, size, counted(first.n, "sample"), *levels])),
        "size": size,
        "filters": _passed(ranking),
        "unfit": list(unfit),
        "is_screen": ranking.is_screen,
        "levels": [trust.text for _, trust in judge_levels(ranking.rows.values())],
        "judge": ranking.judge,
        "about": metric_meaning(first.metric),
        "leaves_open": _leaves_open(ranking),
        "limits": _limits(ranking),
        "facts": facts,
        "headers": list(_headers(ranking)),
        "table": list(_rows(ranking, order)),
        "caption": _caption(ranking),
        "quality": _quality(ranking, order),
        "cited": None if cited is None else cited.without_values(),
        "is_open": not first.judgements,
        "notes": [
            *on_data,
            *_notes(ranking.rows, lambda note: any(fact.says(note) for fact in facts)),
        ],
        "signatures": [(name, row.signature) for name, row in ranking.rows.items()],
    }


def _leaves_open(ranking: Ranking) -> str:
    """Return how many translations the judge reads nothing in; "" if it is not known."""
    rates = [
        sum(not j.is_decided for j in result.judgements) / len(result.judgements)
        for result in ranking.results.values()
        if result.judgements
    ] or [
        sum(not reading.reading for reading in result.readings) / len(result.readings)
        for result in ranking.results.values()
        if result.readings
    ]
    if not any(rates):
        return ""
    lowest, highest = percent(min(rates)), percent(max(rates))
    return f"It leaves {lowest} to {highest} % of the translations of a system open."


def _limits(ranking: Ranking) -> list[str]:
    """Return the limits on the card of a metric without a model."""
    section = card_section(ranking.first.metric, "metrics", "Limits and bias")
    if ranking.first_row.evaluator or not section.startswith("- "):
        return []
    return [plain_text(limit) for limit in section.removeprefix("- ").split("\n- ")]


def _headers(ranking: Ranking) -> Iterator[_Header]:
    metric = ranking.first.metric
    if ranking.ranks.by_system:
        for head in rank_columns(metric, ranking.ranks):
            yield _Header(head.label, head.meaning, head.best)
    for name in ranking.columns:
        figure = figure_name(metric, name)
        label = column_label(metric, name, ranking.columns)
        yield _Header(label, figure.meaning, figure.best)


def _shared(ranking: Ranking) -> str:
    """Return the samples that bands compare, in words."""
    which = "all systems decide" if ranking.ranks.is_shared else "all systems share"
    return f"the {counted(ranking.ranks.n_samples, 'sample')} that {which}"


def _rows(ranking: Ranking, order: Sequence[str]) -> Iterator[_Row]:
    has_bands = bool(ranking.ranks.by_system)
    heads = rank_columns(ranking.first.metric, ranking.ranks) if has_bands else []
    for system, row in ranking.rows.items():
        cells = [_Cell(head.name, head.texts.get(system, "")) for head in heads]
        standing = ranking.ranks.by_system.get(system)
        yield _Row(
            system,
            mark_classes(order.index(row.system)),
            "unranked"
            if ranking.by in row.unfit
            else "even"
            if standing is not None and standing.band % 2 == 0
            else "",
            row.remark(ranking.by),
            [*cells, *(_figure_cell(row, name) for name in ranking.columns)],
        )


def _figure_cell(row: LeaderboardRow, name: str) -> _Cell:
    figure = row.figures.get(name)
    if figure is None:
        return _Cell(name)
    return _Cell(name, percent(figure.value).replace("-", "−"), limits(_interval(figure)))


def _quality(ranking: Ranking, order: Sequence[str]) -> str:
    """Return a chart of minimum accuracy over BLEU, as in Figure 5 of Vamvas & Sennrich (2021).

    "" if no system has both figures. Where a weighted figure ranks, the minimum is weighted.
    """
    is_weighted = ranking.by.startswith("weighted_")
    name = "weighted_min_accuracy" if is_weighted else "min_accuracy"
    remarks = {
        row.system: f" ({why})" for row in ranking.rows.values() if (why := row.remark(name))
    }
    points = [
        QualityPoint(
            order.index(row.system), row.bleu, figure.value, _interval(figure), is_weighted
        )
        for row in ranking.rows.values()
        if row.bleu is not None and (figure := row.figures.get(name)) is not None
    ]
    if not points:
        return ""
    names = [f"{system}{remarks.get(system, '')}" for system in order]
    return quality_chart(points, names, label=f"{points[0].label.capitalize()} against BLEU")


def _interval(figure: Figure) -> Interval | None:
    if figure.low is None or figure.high is None:
        return None
    return Interval(figure.low, figure.high)


def _caption(ranking: Ranking) -> str:
    metric = ranking.first.metric
    if all(ranking.by in row.unfit for row in ranking.rows.values()):
        return (
            "Nothing is ranked: no figure here is fit to be cited. Systems are in the order of"
            " their names."
        )
    if not ranking.by:
        return (
            "Nothing is ranked: no figure here is good or bad by itself. Systems are in the order"
            " of their names."
        )
    if ranking.ranks.by_system:
        return (
            f"Bands compare {figure_name(metric, ranking.by).label} on {_shared(ranking)};"
            " other figures are each system's own, on all samples that it answered."
        )
    return (
        f"Systems are in the order of {figure_name(metric, ranking.by).label}; they have no bands,"
        " for which the verdicts of two systems that are fit to be cited are needed."
    )


def _notes(rows: Mapping[str, LeaderboardRow], is_said: Callable[[str], bool]) -> Iterable[str]:
    """Return notes once, after the systems that have them unless all do, without the judge's."""
    systems: dict[str, list[str]] = {}
    for name, row in rows.items():
        for note in row.notes:
            if not is_said(note):
                systems.setdefault(note, []).append(name)
    return [
        note if len(names) == len(rows) else f"{', '.join(names)}: {note}"
        for note, names in systems.items()
    ]
