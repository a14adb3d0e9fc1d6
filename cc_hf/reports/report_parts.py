"""Tables, lines and sections as plain data, which all formats show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from cc_hf.metrics.figure_names import Best

__all__ = [
    "Cell",
    "Line",
    "Piece",
    "ReportTable",
    "Section",
    "SectionPart",
    "TableRow",
    "Texts",
    "is_item",
]


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as text; "" for what there is none of.

    Attributes:
        difference: its difference to the baseline, with a sign.
        is_significant: whether p < 0.05.
        difference_interval: a note on the interval of the difference.
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

    @property
    def p_equation(self) -> str:
        """The p-value as "p = 0.03" or "p < 0.001"; "" if there is none."""
        return self.p and (f"p {self.p}" if self.p.startswith("<") else f"p = {self.p}")

    @property
    def text(self) -> str:
        """The figure in one line, with its interval, its difference and p.

        Examples:
            >>> Cell("40.0", "30.0 – 50.0", "+5.0", "0.01", True).text
            '40.0 (30.0 – 50.0) +5.0*, p = 0.01'
        """
        parts = [self.value.replace("( ", "("), f"({self.interval})" if self.interval else ""]
        if self.difference:
            star = "*" * self.is_significant
            parts.append(", ".join(filter(None, (f"{self.difference}{star}", self.p_equation))))
        return " ".join(part for part in parts if part)


#: The texts of a row of a table: its label, and its cells.
Texts = Sequence[str | Cell]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table, with a cell per column.

    Attributes:
        note: a remark that follows the name in brackets.
        meaning: what the name means; "" if it says so itself.
        system: the index of the system that the row is about; None for another row.
        begins_section: whether the terminal separates it from the rows above.
    """

    label: str
    cells: tuple[Cell, ...]
    note: str = ""
    meaning: str = ""
    system: int | None = None
    begins_section: bool = False

    @property
    def name(self) -> str:
        """The label with its note."""
        return f"{self.label} ({self.note})" if self.note else self.label


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table.

    Attributes:
        corner: the name of the first column, which holds the labels of the rows.
        columns: the names of all other columns.
        groups: names above the columns, each with the number of columns that it spans; () for none.
        caption: the text below it.
        meanings: name of a column or group -> what it means, for names that do not say so
            themselves.
        bests: where the figure of each column is best, by which the page sorts it; () for a table
            whose columns do not hold one figure each.
        lead: the text between title and table, such as why it is not fit to be cited.
        words: columns that hold words, which the terminal aligns to the left and can fold.
        n_repeated: how many columns the terminal repeats where it continues a wide table below.
    """

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    groups: tuple[tuple[str, int], ...] = ()
    caption: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    bests: tuple[Best, ...] = ()
    lead: str = ""
    words: tuple[str, ...] = ()
    n_repeated: int = 0

    @property
    def heads(self) -> list[str]:
        """The names of the columns, each behind that of its group."""
        groups = [f"{name}: " for name, n in self.groups for _ in range(n)]
        return list(map("".join, zip(groups, self.columns))) if groups else list(self.columns)

    @classmethod
    def of(
        cls,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Texts],
        caption: str = "",
        **texts: Any,
    ) -> ReportTable:
        """Return a table of texts.

        Args:
            columns: the names of all columns, that of the labels first.
            rows: a label and the cells of each row; an empty row separates those above from those
                below.
            texts: other attributes.
        """
        shown: list[TableRow] = []
        begins_section = False
        for row in rows:
            if row:
                label, *cells = (Cell(cell) if isinstance(cell, str) else cell for cell in row)
                made = TableRow(label.value, tuple(cells), begins_section=begins_section)
                shown.append(made)
            begins_section = not row
        return cls(title, columns[0], tuple(columns[1:]), tuple(shown), caption=caption, **texts)


@dataclass(frozen=True, slots=True)
class Line:
    """Text beside tables that is more than a plain line.

    Attributes:
        style: "title", "heading" or "item" (of a list) for the structure; else how a terminal shows
            it, such as "about", "unfit", "alert" or "bold", which other formats leave out; lines of
            a "whole" text, which is to be copied, are not broken.
        marks: parts of the text with a style of their own, as (start, end, style), in order.
        frame: the title of the frame around it; "" for none.
        indent: by how many columns a terminal indents it.
    """

    text: str
    style: str = ""
    marks: tuple[tuple[int, int, str], ...] = ()
    frame: str = ""
    indent: int = 0

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.frame, self.text)))

    @classmethod
    def named(cls, name: str, text: str, style: str = "bold", **options: Any) -> Line:
        """Return a line that begins with a name in a style of its own."""
        return cls(f"{name}{text}", marks=((0, len(name), style),), **options)


#: What a command shows: tables, and lines of text.
Piece = ReportTable | Line | str


def is_item(piece: Piece) -> bool:
    """Return whether a piece is an item of a list."""
    return isinstance(piece, Line) and piece.style == "item"


@dataclass(frozen=True, slots=True)
class SectionPart:
    """A table of a section, and what the page shows with it.

    Attributes:
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
        lead: the text below the title; "" for none.
        is_on_page: whether the page has the section; if not, only Markdown and LaTeX have its
            tables.
    """

    name: str
    link: str
    title: str
    lead: str
    parts: tuple[SectionPart, ...]
    is_on_page: bool = True
