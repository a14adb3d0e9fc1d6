"""Minimum accuracy of systems by their BLEU, with lines between systems of one group (Vamvas &
Sennrich 2021, Figure 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cc_hf.errors import InputError
from cc_hf.plugins.seeds.system_rows import SystemMean, ordered_sizes
from cc_hf.plugins.seeds.table import figure_title, is_ratio, title_of_language
from cc_hf.reports.formats.plots import empty_figure, literal_text, mark_of, saved_figure
from cc_hf.results import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["systems_plot"]

_MARKERS = ("o", "s", "^", "D", "v", "P")  # by size
_GREY = "#535c68"
_PER_ROW = 3  # entries of the legend


@dataclass(frozen=True)
class _Point:
    x: float
    y: float
    x_error: float
    y_errors: tuple[float, float]
    mean: SystemMean


def systems_plot(
    means: Sequence[SystemMean],
    *,
    figures: Sequence[str],
    sizes: Sequence[str] = (),
    file_format: str = "svg",
) -> bytes:
    """Draw figures of systems by their BLEU, one panel for each figure and target language.

    Systems of one group, seed and target language are joined by a line in the order of their
    sizes. A bar is the standard deviation over seeds, or the 95 % interval of a single seed.

    `means` are over seeds, or of one seed each. Systems without BLEU are left out.
    """
    sizes = sizes or ordered_sizes([mean.first for mean in means])
    languages = list(dict.fromkeys(mean.first.tgt_lang for mean in means))
    panels: dict[tuple[str, str], list[_Point]] = {}
    for name in figures:
        for tgt_lang in languages:
            points = [_point(m, name) for m in means if m.first.tgt_lang == tgt_lang]
            if known := [point for point in points if point is not None]:
                panels[name, tgt_lang] = known
    if not panels:
        raise InputError("plot: expected systems with BLEU and the figure to draw, got none")
    labels = list(dict.fromkeys(_label(p.mean) for points in panels.values() for p in points))
    n_columns = len(languages) if len(panels) == len(languages) * len(figures) else 1
    n_rows = -(-len(panels) // n_columns)
    n_lines = -(-(len(labels) + len(sizes) + 2) // _PER_ROW)
    figure, all_axes = empty_figure(
        len(panels),
        width=max(5.6, 4.3 * n_columns),
        height=0.3 + 3.1 * n_rows + 0.22 * n_lines,
        n_columns=n_columns,
    )
    for axes, ((name, _), drawn) in zip(all_axes, panels.items(), strict=True):
        _draw(axes, drawn, labels, sizes)
        axes.set_title(
            literal_text(title_of_language(drawn[0].mean.first)), loc="left", fontsize="medium"
        )
        axes.set_xlabel("BLEU")
        label = f"{figure_title(drawn[0].mean, name)}{'' if is_ratio(name) else ', %'}"
        axes.set_ylabel(literal_text(label), fontsize="small")
    _add_legend(figure, [p for points in panels.values() for p in points], labels, sizes)
    return saved_figure(figure, file_format)


def _label(mean: SystemMean) -> str:
    return mean.first.group or mean.first.system


def _point(mean: SystemMean, name: str) -> _Point | None:
    figure = mean.figures.get(name)
    if figure is None or mean.bleu is None:
        return None
    errors = (figure.sd or 0.0,) * 2
    if figure.sd is None and isinstance(interval := mean.intervals.get(name), Interval):
        errors = (max(figure.mean - interval.low, 0.0), max(interval.high - figure.mean, 0.0))
    scale = 1 if is_ratio(name) else 100
    return _Point(
        100 * mean.bleu.mean,
        scale * figure.mean,
        100 * (mean.bleu.sd or 0.0),
        (scale * errors[0], scale * errors[1]),
        mean,
    )


def _draw(
    axes: Axes, points: Sequence[_Point], labels: Sequence[str], sizes: Sequence[str]
) -> None:
    lines: dict[tuple[str, tuple[str, ...]], list[_Point]] = {}
    for point in points:
        if point.mean.first.group and point.mean.first.size:
            seeds = point.mean.seeds if len(point.mean.seeds) == 1 else ()
            lines.setdefault((point.mean.first.group, seeds), []).append(point)
    for (group, _), joined in lines.items():
        joined.sort(key=lambda point: sizes.index(point.mean.first.size))
        axes.plot(
            [point.x for point in joined],
            [point.y for point in joined],
            color=mark_of(labels.index(group))[0],
            linewidth=1,
            linestyle=_line_style(joined),
            zorder=1,
        )
    for point in points:
        colour = mark_of(labels.index(_label(point.mean)))[0]
        low, high = point.y_errors
        axes.errorbar(
            [point.x],
            [point.y],
            xerr=[[point.x_error], [point.x_error]] if point.x_error else None,
            yerr=[[low], [high]] if low or high else None,
            fmt=_marker(point.mean.first.size, sizes),
            color=colour,
            markerfacecolor=colour if point.mean.first.is_seqkd else "white",
            markersize=5,
            elinewidth=0.8,
            capsize=2,
        )
    axes.margins(x=0.08, y=0.08)


def _line_style(points: Sequence[_Point]) -> Literal["-", "--"]:
    return "-" if any(point.mean.first.is_seqkd for point in points) else "--"


def _marker(size: str, sizes: Sequence[str]) -> str:
    return _MARKERS[sizes.index(size) % len(_MARKERS)] if size in sizes else _MARKERS[0]


def _add_legend(
    figure: Figure, points: Sequence[_Point], labels: Sequence[str], sizes: Sequence[str]
) -> None:
    """Explain colours (groups, or systems without one), shapes (sizes) and filling (SeqKD)."""
    from matplotlib.lines import Line2D

    entries = []
    for index, label in enumerate(labels):
        of_label = [point for point in points if _label(point.mean) == label]
        first = of_label[0].mean.first
        is_line = len({point.mean.first.size for point in of_label}) > 1
        entries.append(
            Line2D(
                [],
                [],
                color=mark_of(index)[0],
                marker="" if is_line else _marker(first.size, sizes),
                markerfacecolor=mark_of(index)[0] if first.is_seqkd else "white",
                linestyle=_line_style(of_label) if is_line else "",
                label=literal_text(label),
            )
        )
    shapes = [(size, _marker(size, sizes), _GREY) for size in sizes]
    if len({point.mean.first.is_seqkd for point in points}) > 1:
        shapes += [("SeqKD", "o", _GREY), ("without SeqKD", "o", "white")]
    entries += [
        Line2D(
            [],
            [],
            color=_GREY,
            marker=marker,
            markerfacecolor=filling,
            linestyle="",
            label=literal_text(text),
        )
        for text, marker, filling in shapes
    ]
    figure.legend(
        handles=entries, loc="outside lower left", ncols=_PER_ROW, frameon=False, fontsize="small"
    )
