"""Tables and a picture of speed against gender accuracy (Renduchintala et al. 2021, Table 4 and
Figures 1 and A2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cc_hf.reports.figure_text import language_pair
from cc_hf.reports.formats.plots import empty_figure, literal_text, saved_figure
from cc_hf.reports.numbers import in_points, limits, percent
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.statistics.regression import Regression
from cc_hf_studies.speed.points import (
    DELTAS,
    FIGURES,
    UNDECIDED,
    SpeedPoint,
    SpeedStudy,
    trend_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["speed_plot", "speed_tables"]

_LABELS = {
    "seconds": "time, s",
    "bleu": "BLEU",
    "delta": "Δ",
    "delta_fc": "ΔFC",
    "delta_mc": "ΔMC",
}
#: The columns of the two tables, which together do not fit the width of a terminal.
_MAIN = ("seconds", "bleu", "pro", "anti", "delta")
_GROUPS = ("FoFc", "MoFc", "delta_fc", "MoMc", "FoMc", "delta_mc")
#: Rates in percent, and translations without a form of the occupation.
_UNDECIDED = dict(zip(UNDECIDED, ("pro, %", "anti, %", "no form, n"), strict=True))
#: The series of Figures 1 and A2.
_PANELS = (("bleu", "pro", "anti"), ("MoMc", "FoFc", "FoMc", "MoFc"))
_COLOURS = ("#535c68", "#1f6fc4", "#d0610f", "#0f8272")
_MARKERS = ("s", "o", "^", "D")


def speed_tables(studies: Sequence[SpeedStudy]) -> list[Piece]:
    """Return the figures of every system, relative drops, and slopes of the trend lines."""
    parts: list[Piece] = []
    for study in studies:
        title = ", ".join(filter(None, (_title(study.tgt_lang), study.part)))
        parts.append(Line(f"{title}: decoding time, BLEU, accuracy in %", "heading"))
        parts += [_table(study, _MAIN), _table(study, _GROUPS)]
        parts += [_deviations(study)] * any(point.deviations for point in study.points)
        parts += [_undecided(study)] * any(p.undecided or p.decoding for p in study.points)
        if without := [
            _LABELS.get(name, name) for name in FIGURES if name not in study.drops.to_fastest
        ]:
            parts.append(f"no drop from a baseline of 0: {', '.join(without)}")
    by_language = _by_language(studies)
    lines = {lang: trend_lines(group, FIGURES[1:]) for lang, group in by_language.items()}
    parts += [_slopes(lang, figures) for lang, figures in lines.items() if figures]
    parts.append(
        Line(
            "drop to the fastest: from the baseline to the fastest system, in % of the baseline;"
            " largest drop: from the largest to the smallest value, in % of the largest",
            "about",
        )
    )
    return parts


def _table(study: SpeedStudy, columns: Sequence[str]) -> ReportTable:
    table: list[tuple[str, ...]] = [
        (point.model, *(_cell(point, name) for name in columns)) for point in study.points
    ]
    table.append(())
    drops = study.drops
    for label, values in (
        (f"drop to fastest, {drops.fastest}, %", drops.to_fastest),
        ("largest drop, %", drops.largest),
    ):
        table.append(
            (label, *(percent(values[name]) if name in values else "" for name in columns))
        )
    return ReportTable.of("", ("", *(_LABELS.get(name, name) for name in columns)), table)


def _deviations(study: SpeedStudy) -> ReportTable:
    """Return a table of standard deviations over seeds."""
    columns = (*FIGURES[:4], *DELTAS)
    table: list[tuple[str, ...]] = []
    for point in study.points:
        cells = [
            ""
            if name not in point.deviations
            else f"{point.deviations[name]:.1f}"
            if name in ("seconds", "bleu")
            else percent(point.deviations[name])
            for name in columns
        ]
        table.append((point.model, str(point.n_seeds), *cells))
    return ReportTable.of(
        "standard deviations over seeds",
        ("", "seeds", *(_LABELS.get(name, name) for name in columns)),
        table,
    )


def _undecided(study: SpeedStudy) -> ReportTable:
    """Return a table of how systems were decoded, and of translations that were not decided."""
    table: list[tuple[str, ...]] = []
    for point in study.points:
        cells = [
            ""
            if name not in point.undecided
            else f"{point.undecided[name]:g}"
            if name.startswith("n_")
            else percent(point.undecided[name])
            for name in _UNDECIDED
        ]
        table.append((point.model, *cells, point.decoding))
    return ReportTable.of(
        "translations without a decision", ("", *_UNDECIDED.values(), "decoding"), table
    )


def _cell(point: SpeedPoint, name: str) -> str:
    if name in DELTAS:
        return percent(point.deltas[name])
    value = point.figure(name)
    return f"{value:,.1f}" if name in ("seconds", "bleu") else percent(value)


def _slopes(tgt_lang: str, lines: Mapping[str, Regression]) -> ReportTable:
    table: list[tuple[str, ...]] = []
    for name, line in lines.items():
        slope = line.coefficient("seconds")
        table.append(
            (
                _LABELS.get(name, name),
                f"{slope.value:.2f}".replace("-", "−"),
                limits(slope.interval, digits=2),
                str(line.n),
            )
        )
    title = "relative drop for each percent of time that is saved, by least squares"
    return ReportTable.of(f"{_title(tgt_lang)}: {title}", ("", "slope", "(95 %)", "n"), table)


def speed_plot(studies: Sequence[SpeedStudy], *, file_format: str = "svg") -> bytes:
    """Return a picture of relative drops by that of time, with trend lines, a row per language."""
    by_language = _by_language(studies)
    figure, panels = empty_figure(
        2 * len(by_language), width=8.6, height=0.5 + 3.1 * len(by_language), n_columns=2
    )
    for row, (tgt_lang, group) in enumerate(by_language.items()):
        for column, names in enumerate(_PANELS):
            axes = panels[2 * row + column]
            _draw(axes, group, names)
            axes.set_title(literal_text(_title(tgt_lang)), loc="left", fontsize="medium")
            axes.set_xlabel("relative drop of decoding time, %")
            axes.legend(frameon=False, fontsize="small", loc="upper left")
        panels[2 * row].set_ylabel("relative drop, %")
    return saved_figure(figure, file_format)


def _draw(axes: Axes, studies: Sequence[SpeedStudy], names: Sequence[str]) -> None:
    lines = trend_lines(studies, names)
    axes.axhline(0, color="#535c68", linewidth=0.8, linestyle=":")
    for name, colour, marker in zip(names, _COLOURS, _MARKERS, strict=False):
        if not all(study.baseline.figure(name) for study in studies):
            continue  # there is no drop from 0, as the tables say
        drops = [
            (in_points(study.drop(point, "seconds")), in_points(study.drop(point, name)))
            for study in studies
            for point in study.points
        ]
        times, values = zip(*drops, strict=True)
        axes.scatter(times, values, 18, color=colour, marker=marker, label=_LABELS.get(name, name))
        if line := lines.get(name):
            start, slope = (line.coefficient(key).value for key in ("constant", "seconds"))
            ends = (min(times), max(times))
            axes.plot(ends, [in_points(start) + slope * x for x in ends], color=colour, linewidth=1)


def _by_language(studies: Sequence[SpeedStudy]) -> dict[str, list[SpeedStudy]]:
    groups: dict[str, list[SpeedStudy]] = {}
    for study in studies:
        groups.setdefault(study.tgt_lang, []).append(study)
    return groups


def _title(tgt_lang: str) -> str:
    return language_pair("en", tgt_lang) if tgt_lang else "systems"
