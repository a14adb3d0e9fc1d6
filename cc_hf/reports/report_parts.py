"""Tables and sections of a report as text, which the page, Markdown and LaTeX show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from cc_hf.metrics.figure_names import Best

__all__ = ["Cell", "ReportTable", "Section", "SectionPart", "TableRow"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as text.

    Attributes:
        interval: its interval; "" if there is none.
        difference: its difference to the baseline, with a sign; "" if there is none.
        p: the p-value of the difference; "" if there is none.
        is_significant: whether p < 0.05.
        difference_interval: a note on the interval of the difference; "" if there is no difference.
        is_best: whether no system has a better value, in a table that says so.
        is_better: whether the figure is better than that of the baseline; None if it is as good, if
            the figure is neither good nor bad, or if the system judged itself.
    """

    value: str
    interval: str = ""
    difference: str = ""
    p: str = ""
    is_significant: bool = False
    difference_interval: str = ""
    is_best: bool = False
    is_better: bool | None = None


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    Attributes:
        cells: one per column.
        note: a remark that follows the name in brackets.
        meaning: what the name means; "" if it says so itself.
        system: the index of the system that the row is about; None for another row.
    """

    label: str
    cells: tuple[Cell, ...]
    note: str = ""
    meaning: str = ""
    system: int | None = None


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table.

    Attributes:
        corner: the name of the first column, which holds the labels of the rows.
        columns: the names of all other columns.
        groups: names above the columns, each with the number of columns that it spans; () for none.
        caption: the text below it.
        meanings: name of a column or group -> what it means; names that say so themselves are left
            out.
        bests: where the figure of each column is best, by which the page sorts it; () for a table
            whose columns do not hold one figure each.
    """

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    groups: tuple[tuple[str, int], ...] = ()
    caption: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    bests: tuple[Best, ...] = ()


@dataclass(frozen=True, slots=True)
class SectionPart:
    """A table of a section, and what the page shows with it.

    Attributes:
        table: the table, which every format shows.
        heading: what is above the table on the page; "" for the title of the table.
        chart: what is beside the table on the page; None for nothing.
        classes: CSS classes of the table on the page.
    """

    table: ReportTable
    heading: str = ""
    chart: Markup | None = None
    classes: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report.

    Attributes:
        name: the id of the section on the page, which no other section has.
        link: its name in the contents of the page.
        title: its title on the page.
        lead: the text below the title; "" for none.
        parts: its tables, in order.
        is_on_page: whether the page has the section; if not, only Markdown and LaTeX have its
            tables.
    """

    name: str
    link: str
    title: str
    lead: str
    parts: tuple[SectionPart, ...]
    is_on_page: bool = True
