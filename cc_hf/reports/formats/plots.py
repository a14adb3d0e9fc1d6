"""The plots of a report as PNG, SVG or PDF files, drawn with matplotlib without a display and
without changing its global settings.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.files import file_slug
from cc_hf.reports.figure_text import category_name, data_name, metric_name
from cc_hf.reports.figures import N_BINS, Bar, category_bars, histograms, quality_points
from cc_hf.reports.marks import COLOURS, N_COLOURS, colour, name_lines, shape
from cc_hf.reports.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "draw_bars",
    "empty_figure",
    "literal_text",
    "mark_of",
    "plots",
    "saved_figure",
]

FORMATS = ("png", "svg", "pdf")
#: Entries of each format that would differ between runs or versions.
_UNDATED: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}
_MARKERS = ("o", "D", "s", "^", "v", "P")  # the shapes of `cc_hf.reports.marks`
_HATCHES = ("", "///", "...", "xxx", "\\\\\\\\\\\\")
_AT_DOT = 24  # longest name that stands at its dot; longer ones are numbered
# characters of a line in a legend, above a panel and below bars
_LEGEND, _PANEL, _TICK = 70, 40, 20
_PANELS = 3  # panels side by side


def plots(report: Report, *, file_format: str = "png") -> dict[str, bytes]:
    """Draw accuracy by category, the distribution of probability_correct, and quality against
    minimum accuracy, for each metric that has them.
    """
    _check_format(file_format)
    return {
        f"{name}.{file_format}": saved_figure(figure, file_format)
        for name, figure in _figures(report)
    }


def mark_of(system: int) -> tuple[str, str]:
    """Return colour and marker of a system, as matplotlib names them.

    Examples:
        >>> mark_of(1)[1]
        'D'
    """
    return _colour(system), _MARKERS[shape(system)]


def _figures(report: Report) -> Iterator[tuple[str, Figure]]:
    for metric in report.metrics:
        if category_bars(report, metric):
            yield f"categories.{file_slug(metric)}", _categories(report, metric)
        if histograms(report, metric):
            yield f"probabilities.{file_slug(metric)}", _probabilities(report, metric)
        if quality_points(report, metric):
            yield f"quality.{file_slug(metric)}", _quality(report, metric)


def _categories(report: Report, metric: str) -> Figure:
    bars = category_bars(report, metric)
    longest = max(len(system.name) for system in report.systems)
    width = max(
        4.5, min(0.09 * longest + 1, 7.5), (0.6 if len(bars) < 20 else 0.25) * len(bars) + 2
    )
    n_lines = sum(len(name_lines(system.name, _LEGEND)) for system in report.systems)
    figure, (axes,) = empty_figure(1, width=width, height=3.2 + 0.17 * n_lines)
    draw_bars(axes, bars, [system.name for system in report.systems])
    axes.set_ylim(0, 100)
    axes.set_ylabel("accuracy, %")
    axes.set_title(_title(report, metric, width), loc="left")
    if len(report.systems) > 1:
        _legend(figure, [system.name for system in report.systems], width)
    return figure


def draw_bars(
    axes: Axes, bars: Sequence[Bar], systems: Sequence[str], *, scale: float = 100
) -> None:
    """Draw a group of bars for each category, a bar with its interval for each system."""
    names = list(dict.fromkeys(bar.category for bar in bars))
    indices = sorted({bar.system for bar in bars})
    width = 0.8 / len(indices)
    for position, index in enumerate(indices):
        drawn = [bar for bar in bars if bar.system == index]
        # nothing is drawn at NaN
        below = [bar.value - bar.interval.low if bar.interval else math.nan for bar in drawn]
        above = [bar.interval.high - bar.value if bar.interval else math.nan for bar in drawn]
        offset = (position - (len(indices) - 1) / 2) * width
        axes.bar(
            [names.index(bar.category) + offset for bar in drawn],
            [scale * bar.value for bar in drawn],
            width * 0.92,
            yerr=[[scale * max(length, 0.0) for length in side] for side in (below, above)],
            color=_colour(index),
            hatch=_HATCHES[index // N_COLOURS % len(_HATCHES)],
            edgecolor="white",
            linewidth=0,
            label=_wrapped(systems[index], _LEGEND),
            error_kw={"linewidth": 1, "capsize": 2},
        )
    axes.set_xticks(range(len(names)), [_wrapped(category_name(name), _TICK) for name in names])
    axes.set_xlim(-0.6, len(names) - 0.4)


def _probabilities(report: Report, metric: str) -> Figure:
    system_histograms = histograms(report, metric)
    names = [report.systems[histogram.system].name for histogram in system_histograms]
    n_lines = max(len(name_lines(name, _PANEL)) for name in names)
    n = len(names)
    columns = min(n, _PANELS)
    height = -(-n // columns) * (2.9 + 0.17 * n_lines)
    figure, panels = empty_figure(n, width=4.2 * columns, height=height, n_columns=columns)
    edges = [100 * k / N_BINS for k in range(N_BINS)]
    for histogram, axes in zip(system_histograms, panels, strict=True):
        shades = [0.45 if edge < 50 else 1.0 for edge in edges]
        patches = axes.bar(
            edges,
            histogram.counts,
            100 / N_BINS,
            align="edge",
            color=_colour(histogram.system),
            edgecolor="white",
            linewidth=0.6,
        )
        for patch, shade in zip(patches, shades, strict=True):
            patch.set_alpha(shade)
        axes.axvline(50, color="#535c68", linewidth=1, linestyle=":")
        axes.set_ylim(0, 1.08 * max(max(other.counts) for other in system_histograms))
        axes.locator_params(axis="y", integer=True)
        axes.set_xlim(0, 100)
        axes.set_xlabel("probability of the correct reading, %")
        name = _wrapped(report.systems[histogram.system].name, _PANEL)
        axes.set_title(name, loc="left", fontsize="medium")
    for panel in panels[::_PANELS]:
        panel.set_ylabel("samples")
    return figure


def _quality(report: Report, metric: str) -> Figure:
    points = quality_points(report, metric)
    names = {point.system: report.systems[point.system].name for point in points}
    is_numbered = max(map(len, names.values())) > _AT_DOT or len(names) > N_COLOURS
    n_lines = sum(len(name_lines(name, _LEGEND)) for name in names.values()) * is_numbered
    width = 7.0 if is_numbered else 4.8
    figure, (axes,) = empty_figure(1, width=width, height=3.8 + 0.17 * n_lines)
    for point in points:
        x, y = 100 * point.bleu, 100 * point.min_accuracy
        low, high = (
            (100 * point.interval.low, 100 * point.interval.high) if point.interval else (y, y)
        )
        number = str(1 + point.system)
        name = names[point.system]
        axes.errorbar(
            [x],
            [y],
            yerr=[[max(y - low, 0.0)], [max(high - y, 0.0)]],
            fmt=_MARKERS[shape(point.system)],
            color=_colour(point.system),
            capsize=2,
            label=_wrapped(f"{number}. {name}", _LEGEND),
        )
        axes.annotate(
            number if is_numbered else literal_text(name),
            (x, y),
            xytext=(6, 4),
            textcoords="offset points",
        )
    axes.margins(x=0.18, y=0.12)
    axes.set_xlabel("BLEU")
    axes.set_ylabel(f"{points[0].label}, %")
    axes.set_title(_title(report, metric, width), loc="left")
    if is_numbered:
        _legend(figure, list(names.values()), width)
    return figure


def _legend(figure: Figure, names: Sequence[str], width: float) -> None:
    """Add a legend with as many columns as the names leave room for."""
    longest = min(max(map(len, names)), _LEGEND)
    n_columns = max(1, min(4, int(width / (0.085 * longest + 0.6))))
    figure.legend(loc="outside lower left", ncols=n_columns, frameon=False, fontsize="small")


def empty_figure(
    n: int, *, width: float, height: float, n_columns: int | None = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure with empty panels, `n_columns` in a row (None: all), of a size in inches.

    Raises:
        MissingDependencyError: without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("matplotlib", "analysis") from None
    figure = Figure(figsize=(width, height), layout="constrained", dpi=160)
    columns = n_columns or n
    panels = [figure.add_subplot(-(-n // columns), columns, 1 + i) for i in range(n)]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e4e7ec")
        axes.set_axisbelow(True)
    return figure, panels


def saved_figure(figure: Figure, file_format: str) -> bytes:
    """Return the file of a figure in one of `FORMATS`, which depends only on its content."""
    import matplotlib

    _check_format(file_format)

    written = io.BytesIO()
    # Without a fixed salt, the ids in an SVG file differ between runs. TrueType fonts (42) in a PDF
    # keep its text searchable, and publishers refuse the default.
    with matplotlib.rc_context(
        {"svg.hashsalt": "cc_hf", "svg.fonttype": "none", "pdf.fonttype": 42}
    ):
        figure.savefig(written, format=file_format, metadata=_UNDATED[file_format])
    return written.getvalue()


def _check_format(file_format: str) -> None:
    if file_format not in FORMATS:
        raise InputError(
            f"format of plots: expected one of {', '.join(FORMATS)}, got {file_format!r}"
        )


def _title(report: Report, metric: str, width: float) -> str:
    """Return the title of a figure, on as many lines as its width in inches needs."""
    return _wrapped(f"{data_name(report.first)}: {metric_name(metric)}", int(10 * width))


def _wrapped(text: str, width: int) -> str:
    return "\n".join(literal_text(line) for line in name_lines(text, width))


def _colour(system: int) -> str:
    return COLOURS[colour(system)]


def literal_text(text: str) -> str:
    """Return text that matplotlib does not read as a formula, without unprintable characters."""
    # Fonts and SVG lack unprintable characters.
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split())).replace(
        "$", r"\$"
    )
