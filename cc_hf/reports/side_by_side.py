"""Figures of several systems on several data, side by side: results of `cc-hf evaluate`, scores of
`cc-hf score`, and figures of studies, as tables and as bars (Emelin 2023, Figures 3.1 to 3.3).
Nothing is tested between different data.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.comparing.systems import read_results
from cc_hf.errors import InputError, in_file
from cc_hf.metrics.headline import shown_figures
from cc_hf.records import read_json, read_value
from cc_hf.reports.derived_figures import known_figure
from cc_hf.reports.figure_text import data_name, figure_label, metric_name, with_interval
from cc_hf.reports.figures import Bar
from cc_hf.reports.formats.plots import draw_bars, empty_figure, literal_text, saved_figure
from cc_hf.reports.numbers import decimal, percent
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.reports.tables.base import unfit_reasons
from cc_hf.results import EvaluationResult, Interval, NoInterval

__all__ = [
    "ShownFiles",
    "SideBySide",
    "StudyFile",
    "SystemFigure",
    "of_several_data",
    "read_contents",
    "side_by_side",
    "side_by_side_chart",
    "side_by_side_tables",
]

_EXPECTED = "a result of `cc-hf evaluate`, `cc-hf score` or `cc-hf study`"
_SCORES = {"bleu": "BLEU", "chrf": "chrF"}


@dataclass(frozen=True)
class SystemFigure:
    """A figure of a system on some data.

    Attributes:
        figure: name of the figure, which is the same for all cells of a table.
        value: a share in [0, 1], or a number.
        is_share: whether the value is shown in percent.
        digits: decimals of the value that is shown.
        mark: what stands behind the value, such as "*".
        has_mean: whether a mean over data says something.
    """

    system: str
    data: str
    figure: str
    value: float
    interval: Interval | NoInterval | None = None
    is_share: bool = True
    digits: int = 1
    mark: str = ""
    has_mean: bool = False


@dataclass(frozen=True)
class StudyFile:
    """What a command of a study wrote as JSON.

    Attributes:
        kind: what it holds; the key "study" of the file is the study's name, "/" and this.
        system: the key "system", or the name of the file.
    """

    path: Path
    kind: str
    system: str
    content: Mapping[str, Any]

    def checked(self, form: Any) -> Mapping[str, Any]:
        """Return the whole content, which must have a form in the sense of `cc_hf.reading`."""
        with in_file(self.path):
            read_value(form, self.content)
        return self.content


@dataclass(frozen=True)
class ShownFiles:
    """All files that are shown side by side, for the hooks of studies.

    Attributes:
        results: pairs of the name of a system and its result.
        files: what commands of studies wrote, by study.
    """

    results: Sequence[tuple[str, EvaluationResult]]
    files: Mapping[str, Sequence[StudyFile]]


#: What a study adds: "module:object" of it is the field `side_by_side` of its
#: `cc_hf.registry.Study`.
Hook = Callable[[ShownFiles], Iterable[SystemFigure]]


@dataclass(frozen=True)
class SideBySide:
    """One table for each figure.

    Attributes:
        tables: figure -> its cells by (data, system), in the order of the files.
        means: (figure, system) -> mean over all data of the figure, where that says something and
            the system has a value for all.
        results: pairs of the name of a system and its result, in which reasons not to cite stand.
    """

    tables: Mapping[str, Mapping[tuple[str, str], SystemFigure]]
    means: Mapping[tuple[str, str], float]
    results: Sequence[tuple[str, EvaluationResult]] = ()

    def to_json(self) -> list[dict[str, Any]]:
        """Return one object for each figure, with its cells and means."""
        return [
            {
                "figure": figure,
                "cells": [asdict(cell) for cell in table.values()],
                "means": {s: mean for (f, s), mean in self.means.items() if f == figure},
            }
            for figure, table in self.tables.items()
        ]


def read_contents(paths: Iterable[Path]) -> dict[Path, Any]:
    """Return the plain values of files of `cc-hf evaluate`, `cc-hf score` and studies."""
    return {path: read_json(path, _EXPECTED) for path in paths}


def of_several_data(contents: Mapping[Path, Any]) -> bool:
    """Return whether files are of studies, scores, or results on different data."""
    data = set()
    for content in contents.values():
        if _is_study(content) or _is_scores(content):
            return True
        rows = content.get("results", [content]) if isinstance(content, dict) else []
        data |= {
            # As text, since a file that is none of ours may hold lists here.
            tuple(repr(row.get(key)) for key in ("dataset", "config", "tgt_lang"))
            for row in rows
            if isinstance(row, dict)
        }
    return len(data) > 1


def side_by_side(contents: Mapping[Path, Any], *, metric: str | None = None) -> SideBySide:
    """Return the figures of files in one table for each figure."""
    named = [
        (result.system or path.stem, result)
        for path, content in contents.items()
        if not _is_study(content) and not _is_scores(content)
        for result in read_results([path], metric=metric, contents=contents).values()
    ]
    files: dict[str, list[StudyFile]] = {}
    cells = [cell for system, result in named for cell in _of_result(system, result)]
    for path, content in contents.items():
        with in_file(path):
            if _is_study(content):
                study, _, kind = content["study"].partition("/")
                system = content.get("system") or path.stem
                files.setdefault(study, []).append(StudyFile(path, kind, system, content))
            elif _is_scores(content):
                cells += _of_scores(path, content)
    figures = ShownFiles(named, files)
    for hook in registry.study_parts("side_by_side"):
        cells += hook(figures)
    return replace(_arranged(cells), results=tuple(named))


def _is_study(content: Any) -> bool:
    return isinstance(content, dict) and isinstance(content.get("study"), str)


def _is_scores(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(r, dict) and "bleu" in r for r in content)


def _of_result(system: str, result: EvaluationResult) -> Iterator[SystemFigure]:
    for name in shown_figures([result]):
        if (figure := known_figure(result, name)) is not None:
            label = f"{figure_label(result.metric, name)} ({metric_name(result.metric)})"
            yield SystemFigure(system, data_name(result), label, *figure)


def _of_scores(path: Path, rows: Any) -> Iterator[SystemFigure]:
    """Yield the scores of systems; the file is named after its test set."""
    read_value([{"system": str, "bleu": float}], rows)
    for row in rows:
        for key in _SCORES.keys() & row.keys():
            value = row[key] / 100
            yield SystemFigure(
                row["system"], path.stem, _SCORES[key], value, digits=2, has_mean=True
            )


def _arranged(cells: Iterable[SystemFigure]) -> SideBySide:
    tables: dict[str, dict[tuple[str, str], SystemFigure]] = {}
    for cell in cells:
        table = tables.setdefault(cell.figure, {})
        if (cell.data, cell.system) in table:
            raise InputError(
                f"{cell.figure}: expected one value of {cell.system} on {cell.data}, got two; give"
                " each file once, or files of other systems names of their own"
            )
        table[cell.data, cell.system] = cell
    means = {}
    for figure, table in tables.items():
        data, systems = (dict.fromkeys(key[part] for key in table) for part in (0, 1))
        for system in systems:
            values = [table[d, system] for d in data if (d, system) in table]
            if 1 < len(data) == len(values) and all(cell.has_mean for cell in values):
                means[figure, system] = statistics.fmean(cell.value for cell in values)
    return SideBySide(tables, means)


def side_by_side_tables(shown: SideBySide) -> Iterator[Piece]:
    """Yield one table for each figure: a row for each data set, a column for each system."""
    for figure, table in shown.tables.items():
        data, systems = ([*dict.fromkeys(key[part] for key in table)] for part in (0, 1))
        rows = [
            (name, *(_cell_text(table.get((name, system))) for system in systems)) for name in data
        ]
        means = [shown.means.get((figure, system)) for system in systems]
        if any(mean is not None for mean in means):
            texts = ("" if mean is None else percent(mean, digits=2) for mean in means)
            rows += [(), ("mean", *texts)]
        is_share = next(iter(table.values())).is_share
        yield ReportTable.of(f"{figure}{', %' if is_share else ''}", ("", *systems), rows)
    yield from (Line(reason, "unfit") for reason in unfit_reasons(shown.results))
    yield "different data: no differences are tested"


def _cell_text(cell: SystemFigure | None) -> str:
    if cell is None:
        return ""
    if not cell.is_share:
        return decimal(cell.value, cell.interval, digits=max(2, cell.digits)) + cell.mark
    if cell.interval is None:
        return percent(cell.value, digits=cell.digits) + cell.mark
    return with_interval(cell.value, cell.interval) + cell.mark


_HEIGHT = 2.6  # inches of a panel


def side_by_side_chart(shown: SideBySide, *, file_format: str = "svg") -> bytes:
    """Draw a panel for each figure, a group of bars for each data set, and a bar with its interval
    for each system.
    """
    if not shown.tables:
        raise InputError("plot: expected results with figures to draw, got none")
    keys = [key for table in shown.tables.values() for key in table]
    systems = [*dict.fromkeys(system for _, system in keys)]
    sizes = [
        [len({key[part] for key in table}) for part in (0, 1)] for table in shown.tables.values()
    ]
    drawing, panels = empty_figure(
        len(shown.tables),
        width=max(6.0, *(1.5 + n_groups * (0.6 + 0.3 * n_bars) for n_groups, n_bars in sizes)),
        height=0.4 + _HEIGHT * len(shown.tables) + 0.2 * len(systems),
        n_columns=1,
    )
    for axes, (figure, table) in zip(panels, shown.tables.items(), strict=True):
        bars = [
            Bar(
                data,
                systems.index(system),
                cell.value,
                cell.interval if isinstance(cell.interval, Interval) else None,
            )
            for (data, system), cell in table.items()
        ]
        is_share = next(iter(table.values())).is_share
        draw_bars(axes, bars, systems, scale=100 if is_share else 1)
        axes.set_title(literal_text(figure), loc="left", fontsize="medium")
        axes.set_ylabel("%" if is_share else "")
    handles = {
        name: handle
        for axes in panels
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    drawing.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower left",
        ncols=min(3, len(handles)),
        frameon=False,
        fontsize="small",
    )
    return saved_figure(drawing, file_format)
