"""Figures of several systems on several data, as tables for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from cc_hf.reports.figure_text import with_interval
from cc_hf.reports.numbers import decimal, percent
from cc_hf.reports.side_by_side import Cell, SideBySide
from cc_hf.reports.tables.base import heading, numbered_columns, plain_table, unfit_lines

__all__ = ["side_by_side_tables"]


def side_by_side_tables(shown: SideBySide) -> Group:
    """Return one table for each figure: a row for each data set, a column for each system."""
    parts: list[RenderableType] = []
    for figure, table in shown.tables.items():
        data, systems = ([*dict.fromkeys(key[part] for key in table)] for part in (0, 1))
        columns = numbered_columns(systems)
        rows = plain_table("", *columns.values())
        for name in data:
            cells = (table.get((name, system)) for system in systems)
            rows.add_row(Text(name), *("" if cell is None else _text(cell) for cell in cells))
        means = [shown.means.get((figure, system)) for system in systems]
        if any(mean is not None for mean in means):
            rows.add_section()
            texts = ("" if mean is None else percent(mean, digits=2) for mean in means)
            rows.add_row(Text("mean"), *texts)
        is_share = next(iter(table.values())).is_share
        parts += [heading(f"{figure}{', %' if is_share else ''}"), rows]
        parts += [Text(f"{short}: {name}") for name, short in columns.items() if short != name]
    parts += unfit_lines(shown.results)
    return Group(*parts, Text("different data: no differences are tested"))


def _text(cell: Cell) -> str:
    if not cell.is_share:
        return decimal(cell.value, cell.interval, digits=max(2, cell.digits)) + cell.mark
    if cell.interval is None:
        return percent(cell.value, digits=cell.digits) + cell.mark
    return with_interval(cell.value, cell.interval) + cell.mark
