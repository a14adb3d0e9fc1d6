"""The tables of a report as LaTeX: one table for a paper, and all tables.

Both need the packages booktabs and array, all tables also longtable. Widths are shares of
`\\linewidth`, computed for A4 with margins of 2.5 cm, and every cell can break its lines, so that
no table is wider than the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from cc_hf.errors import InputError
from cc_hf.reports.formats.latex_layout import Layout, layout, parts_of
from cc_hf.reports.paper_table import MOST_FIGURES, paper_table
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Cell, Line, Piece, ReportTable, TableRow, is_item
from cc_hf.reports.report_tables import report_tables
from cc_hf.reports.what_to_cite import UNFIT

__all__ = ["latex_paper_table", "latex_pieces", "latex_report", "latex_text"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "–": "--",
    "−": "$-$",
    "Δ": r"$\Delta$",
    "→": r"$\rightarrow$",
    "\u00a0": "~",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
_LONG_TABLES = ("booktabs", "array", "longtable")  # packages
_LIGATURES = ("--", "''", "``", ",,", "?`", "!`")
_SEPARATORS = r"\-_/.:,+|@="  # in a set of a regular expression
_LONG, _PIECE = 16, 8  # a longer word can break, at last within its parts after every eighth letter
_LAST_OF_PDFLATEX = 0x17F  # the last letter of Latin Extended-A
_TYPESET = "–−Δ→‘’“”…—"  # characters beyond it that the table above or pdflatex knows


def latex_paper_table(report: Report, figures: Sequence[str] = (), *, details: str = "") -> str:
    """Return the table for a paper: one table environment of at most the width of the text.

    The best value of each column is bold, and significant differences to the baseline are marked.
    The signatures, the notes that came with the results, and why figures are not fit to be cited,
    are comments.

    Args:
        figures: names of at most six figures; () for the default ones.
        details: name of the file with all other figures, for a comment; "" for none.
    """
    table = paper_table(report, figures)
    if len(table.columns) > MOST_FIGURES:
        raise InputError(
            f"figures: expected at most {MOST_FIGURES}, which fit on the width of a page, got"
            f" {len(table.columns)}: {', '.join(table.columns)}; name fewer figures, or the metric"
            " of each (METRIC:NAME)"
        )
    head = _head(report, ["booktabs", "array"])
    if details:
        head.append(f"% all figures: {_line(details)}")
    head += [f"% note: {_line(note)}" for note in report.cautions]
    shape = layout(table)
    lines = [
        *head,
        "",
        r"\begin{table}",
        r"\centering",
        r"\small",
        rf"\setlength{{\tabcolsep}}{{{shape.separation}\linewidth}}",
        rf"\begin{{tabular}}{{{shape.columns}}}",
        r"\toprule",
        *_header(table, shape),
        r"\midrule",
        *_rows(table, shape),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{latex_text(f'{table.title}. {table.caption}')}}}",
        rf"\label{{{_label(report)}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex_report(report: Report) -> str:
    """Return all tables, which break across pages, after the notes; the signatures are comments.

    A table of more systems than fit side by side is continued below.
    """
    notes = [Line(note, "item") for note in report.notes]
    head = "\n".join(_head(report, _LONG_TABLES))
    return _text(head, [*notes, *report_tables(report)], _label(report))


def latex_pieces(pieces: Iterable[Piece]) -> str:
    """Return tables, which break across pages, and lines as paragraphs.

    Examples:
        >>> print(latex_pieces([ReportTable.of("A_b", ("", "n"), []), "100 %"]).splitlines()[-1])
        100 \\%
    """
    pieces = [*pieces]
    return _text(_packages(_LONG_TABLES, "".join(map(repr, pieces))), pieces, "tab:cc-hf")


def _text(head: str, pieces: Iterable[Piece], label: str) -> str:
    parts = [head]
    for are_items, group in groupby(pieces, is_item):
        texts = [
            text
            for piece in group
            for text in (
                _long_tables(piece, label)
                if isinstance(piece, ReportTable)
                else [latex_text(str(piece))]
            )
        ]
        if are_items:
            items = [rf"\item {text}" for text in texts]
            texts = ["\n".join([r"\begin{itemize}", r"\raggedright", *items, r"\end{itemize}"])]
        parts += texts
    return "\n\n".join(parts) + "\n"


def _long_tables(table: ReportTable, label: str) -> Iterator[str]:
    """Yield the parts of a table that fit on the width of the text."""
    for number, part in enumerate(parts_of(table)):
        title = f"{table.title} (continued)" if number else table.title
        marked = "" if number else f"{label}-{_slug(table.title)}"
        yield _long_table(replace(part, title=title), marked)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].removesuffix(".") + "."


def _long_table(table: ReportTable, label: str) -> str:
    shape = layout(table)
    header = [r"\toprule", *_header(table, shape), r"\midrule"]
    about = [_sentence(text) for text in (table.lead.replace("\n", "; "), table.caption) if text]
    caption = " ".join([*([f"{table.title}."] if table.title else []), *about])
    marked = rf"\label{{{label}}}" if label and table.title else ""
    lines = [
        r"{\small",
        r"\setlength{\LTcapwidth}{\linewidth}",
        rf"\setlength{{\tabcolsep}}{{{shape.separation}\linewidth}}",
        rf"\begin{{longtable}}{{{shape.columns}}}",
        *([rf"\caption{{{latex_text(caption)}}}{marked}\\"] if caption else []),
        *header,
        r"\endfirsthead",
        *header,
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *_rows(table, shape),
        r"\end{longtable}}",
    ]
    return "\n".join(lines)


def latex_text(text: str) -> str:
    r"""Return the text in one line, with characters that are special in LaTeX escaped, and places
    where a line can end in long words.

    Examples:
        >>> latex_text("50 % of a_b")
        '50 \\% of a\\_b'
        >>> latex_text("a--b")
        'a-{}-b'
    """
    clean = text.encode("utf-8", "backslashreplace").decode("utf-8")
    words = [_word(word) for word in " ".join(clean.split()).split(" ")]
    return " ".join(words)


def _word(word: str) -> str:
    """Return an escaped word. A long one can break after separators, and within long parts."""
    parts = re.findall(rf"[^{_SEPARATORS}]*[{_SEPARATORS}]|[^{_SEPARATORS}]+", word)
    pieces = []
    for part in parts:
        step = _PIECE if len(part) > _LONG else len(part)
        pieces += [part[start : start + step] for start in range(0, len(part), step)]
    if len(word) <= _LONG:
        pieces = [word]
    ends = [""] + [piece[-1:] for piece in pieces[:-1]]
    escaped = [_escaped(piece, end) for piece, end in zip(pieces, ends, strict=True)]
    return r"\allowbreak{}".join(escaped)


def _escaped(piece: str, before: str) -> str:
    """Return a piece of a word, escaped; `before` is the character before it."""
    escaped = []
    for character in piece:
        if before + character in _LIGATURES:
            escaped.append("{}")
        is_shown = character.isprintable() or character == "\u00a0"
        literal = character if is_shown else character.encode("unicode_escape").decode()
        escaped += [_SPECIAL.get(c, c) for c in literal]
        before = character
    return "".join(escaped)


def _head(report: Report, packages: Sequence[str]) -> list[str]:
    """Return the comments at the beginning: what the preamble needs, and the signatures."""
    signatures = [
        f"% {_line(system.name)}: {_line(result.signature)}"
        for system in report.systems
        for result in system.results.values()
    ]
    if report.signature:
        signatures.append(f"% differences: {_line(report.signature)}")
    first = _packages(packages, "".join(system.name for system in report.systems))
    unfit = [f"% {UNFIT}: {_line(why)}" for why in report.unfit]
    return [first, *unfit, *signatures]


def _packages(packages: Sequence[str], names: str) -> str:
    """Return the comment on what the preamble needs for texts with the characters of `names`."""
    odd = sorted({c for c in names if ord(c) > _LAST_OF_PDFLATEX and c not in _TYPESET})
    engine = f"; lualatex for the characters {' '.join(odd)}" if odd else ""
    return rf"% \usepackage[T1]{{fontenc}} \usepackage{{{','.join(packages)}}}{engine}"


def _header(table: ReportTable, shape: Layout) -> list[str]:
    lines, column = [], 1
    if table.groups:
        cells, rules = [""], []
        for name, n in table.groups:
            width = shape.span(column, n)
            text = latex_text(name)
            cells.append(
                rf"\multicolumn{{{n}}}{{>{{\centering\arraybackslash}}p{{{width}\linewidth}}}}"
                rf"{{\hspace{{0pt}}{text}}}"
            )
            rules.append(rf"\cmidrule(lr){{{column + 1}-{column + n}}}")
            column += n
        lines += [" & ".join(cells) + r" \\", " ".join(rules)]
    names = [rf"\hspace{{0pt}}{latex_text(name)}" for name in (table.corner, *table.columns)]
    return [*lines, " & ".join(names) + r" \\"]


def _rows(table: ReportTable, shape: Layout) -> list[str]:
    lines = []
    for row in table.rows:
        cells = [
            rf"\hspace{{0pt}}{_bold_head(row)}",
            *(_cell(cell, shape) for cell in row.cells),
        ]
        lines.append(" & ".join(cells) + r" \\")
    # Rows of several lines need space between them.
    return "\n\\addlinespace\n".join(lines).split("\n") if shape.is_stacked else lines


def _bold_head(row: TableRow) -> str:
    """Return the name of a row, in bold where it stands above others and has no figures."""
    name, is_head = latex_text(row.name), not any(cell.value for cell in row.cells)
    return rf"\textbf{{{name}}}" if name and is_head else name


def _cell(cell: Cell, shape: Layout) -> str:
    value = latex_text(cell.value.replace("( ", "("))
    star = "*" if cell.is_significant else ""
    texts = [rf"\textbf{{{value}}}" if cell.is_best else value]
    if star and not cell.difference:
        # A star that takes no room keeps the figures of a column below each other.
        texts[0] += r"\rlap{$^{*}$}"
    if cell.interval:
        limits = cell.interval.replace(" – ", ", ")
        texts.append(rf"{{\scriptsize {latex_text('[' + limits + ']')}}}")
    if cell.difference:
        texts.append(rf"{{\scriptsize {latex_text(cell.difference)}{star}}}")
    return (r"\newline " if shape.is_stacked else r"\hspace{.8em}\allowbreak ").join(texts)


def _label(report: Report) -> str:
    first = report.first
    return "tab:" + _slug(f"{first.dataset or 'own'} {first.config} {first.tgt_lang}")


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))


def _line(text: str) -> str:
    """Return the text in one line, because a second line would not be part of the comment."""
    return " ".join(text.split())
