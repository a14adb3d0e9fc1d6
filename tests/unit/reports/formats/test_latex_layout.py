from __future__ import annotations

import pytest

from cc_hf.reports.formats.latex_layout import layout, parts_of
from cc_hf.reports.report_parts import Cell, ReportTable, TableRow


def table(
    n: int, *, name: str = "a", groups: int = 0, interval: str = "10.0 – 20.0"
) -> ReportTable:
    """Return a table of one row with n columns, in groups of a size."""
    columns = tuple(f"accuracy {i}" for i in range(n))
    row = TableRow(name, (Cell("15.0", interval),) * n)
    sizes = tuple((f"g{i}", groups) for i in range(n // groups)) if groups else ()
    return ReportTable("t", "system", columns, (row,), sizes, "caption")


@pytest.mark.parametrize("n", [1, 3, 6, 9])
@pytest.mark.parametrize("name", ["a", "x" * 60, "a b " * 30])
def test_no_table_is_wider_than_the_text(n: int, name: str) -> None:
    shape = layout(table(n, name=name))
    assert sum(shape.widths) + 2 * shape.separation * (n + 1) <= 1
    assert len(shape.widths) == n + 1
    assert min(shape.widths) > 0.05


def test_intervals_stand_below_figures_where_there_is_no_room() -> None:
    assert not layout(table(3)).is_stacked
    assert layout(table(6)).is_stacked
    assert layout(table(4, name="x" * 60)).is_stacked


def test_parts_hold_every_column_once_and_keep_groups_together() -> None:
    whole = table(24, groups=4)
    parts = list(parts_of(whole))
    assert len(parts) > 1
    assert sum((part.columns for part in parts), ()) == whole.columns
    assert sum((part.groups for part in parts), ()) == whole.groups
    assert all(len(part.rows[0].cells) == len(part.columns) for part in parts)
    assert [part.caption for part in parts] == ["caption", *[""] * (len(parts) - 1)]
    assert list(parts_of(table(2))) == [table(2)]
    # A group that is too wide by itself is a part of its own.
    assert [len(part.columns) for part in parts_of(table(24, groups=12))] == [12, 12]
