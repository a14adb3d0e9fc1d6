"""Figures of several systems on several data as bars (Emelin 2023, Figures 3.1 to 3.3)."""

from __future__ import annotations

from cc_hf.errors import InputError
from cc_hf.reports.figures import Bar
from cc_hf.reports.formats.plots import draw_bars, empty_figure, literal_text, saved_figure
from cc_hf.reports.side_by_side import SideBySide
from cc_hf.results import Interval

__all__ = ["side_by_side_chart"]

_HEIGHT = 2.6  # inches of a panel


def side_by_side_chart(shown: SideBySide, *, file_format: str = "svg") -> bytes:
    """Draw the figures of files: a panel for each figure, a group of bars for each data set, and a
    bar with its interval for each system.

    Args:
        file_format: "svg", "png" or "pdf".

    Raises:
        InputError: for files without any figure.
        MissingDependencyError: without matplotlib.
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
