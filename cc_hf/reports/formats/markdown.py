"""The tables of a report as Markdown, in the dialect of GitHub and the Hub."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from cc_hf.reports.collection import (
    OVERVIEW_CAPTION,
    Collection,
    OverviewCell,
    build_collection,
    overview,
    pair_table,
)
from cc_hf.reports.evaluators import evaluator_facts, evaluators_text, level_text
from cc_hf.reports.figure_text import data_name
from cc_hf.reports.findings import findings, most_split
from cc_hf.reports.highlights import attributes
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Line, Piece, ReportTable, is_item
from cc_hf.reports.report_tables import glossary, report_tables
from cc_hf.reports.what_to_cite import UNFIT

__all__ = [
    "markdown_code",
    "markdown_pieces",
    "markdown_report",
    "markdown_reports",
    "markdown_table",
    "markdown_text",
    "reports_pieces",
]


_SIGNATURE = re.compile(r"((?:.*: )?)(\w+\|.*\|v:\S+)")


def markdown_report(report: Report, level: str = "#") -> str:
    """Return all tables, with the notes after the first, and the signatures at the end."""
    return markdown_pieces(_report_pieces(report), level)


def markdown_pieces(pieces: Iterable[Piece], level: str = "#") -> str:
    """Return tables and lines."""
    parts: list[str] = []
    for are_items, group in groupby(pieces, is_item):
        texts = [_piece(piece, level) for piece in group]
        parts += ["\n".join(texts)] if are_items else texts
    return "\n\n".join(parts) + "\n"


def _piece(piece: Piece, level: str) -> str:
    if isinstance(piece, ReportTable):
        title = f"{level}# {markdown_text(piece.title)}\n\n" if piece.title else ""
        return title + markdown_table(piece)
    if isinstance(piece, str):
        signed = _SIGNATURE.fullmatch(piece)
        if signed is None:
            return markdown_text(piece)
        return f"{_inline(signed[1])}{markdown_code(signed[2])}"  # so that it can be copied
    if piece.frame:
        return f"**{markdown_text(piece.frame)}.** {markdown_text(piece.text)}"
    starts = {"title": f"{level} ", "heading": f"{level}# ", "item": "- "}
    text, end = "", 0
    for start, stop, style in piece.marks:
        if style == "code":
            text += _inline(piece.text[end:start]) + markdown_code(piece.text[start:stop])
            end = stop
    return starts.get(piece.style, "") + (text + _inline(piece.text[end:])).strip()


def _inline(text: str) -> str:
    return markdown_text(f"|{text}|")[2:-2]


def markdown_reports(reports: Sequence[Report]) -> str:
    """Return the `markdown_report` of each report, below an overview if there are several."""
    if len(reports) == 1:
        return markdown_report(reports[0])
    overview_text = markdown_pieces(_overview_pieces(build_collection(reports)))
    return "\n".join([overview_text, *(markdown_report(report, "##") for report in reports)])


def reports_pieces(reports: Sequence[Report]) -> Iterator[Piece]:
    """Yield one report, or the overview of several, and each of them."""
    if len(reports) > 1:
        yield from _overview_pieces(build_collection(reports))
    for report in reports:
        yield from _report_pieces(report)


def _overview_pieces(collection: Collection) -> Iterator[Piece]:
    names = ("dataset", "language", "metric", "figure", "evaluator")
    rows = []
    for row in overview(collection):
        figure = f"{row.figure} ({UNFIT})" if row.is_unfit else row.figure
        texts = [row.data, row.languages, row.metric, figure, row.evaluator or "none, by words"]
        rows.append([*texts, *map(_figure, row.cells)])
    yield Line(f"{collection.title}: {len(collection.reports):,} datasets", "title")
    columns = (*names, *collection.systems)
    yield ReportTable.of("Overview", columns, rows, OVERVIEW_CAPTION, words=names[1:])
    if table := pair_table(collection):
        heads = [f"{column.data}: {column.figure}, {column.metric}" for column in table.columns]
        pairs = [
            (row.languages, row.system, *(_figure(c, says_unfit=True) for c in row.cells))
            for row in table.rows
        ]
        columns = ("languages", "system", *heads)
        yield ReportTable.of("Language pairs", columns, pairs, words=columns[1:2])


def _figure(cell: OverviewCell | None, *, says_unfit: bool = False) -> str:
    if cell is None:
        return ""
    interval = f" ({cell.interval})" if cell.interval else ""
    return f"{cell.value}{interval}" + f" ({UNFIT})" * (says_unfit and cell.is_unfit)


def _report_pieces(report: Report) -> Iterator[Piece]:
    """Yield all of a report: what its figures say, its tables, notes, meanings and signatures."""
    yield Line(data_name(report.first), "title")
    for text in findings(report, most_split(report, attributes(report))):
        yield Line(text, "item")
    if report.cited:
        yield Line(" ".join(report.cited.sentences), frame="What to cite")
    for why in report.unfit:
        yield Line(f"{UNFIT}: {why}", "item")
    facts = evaluator_facts(report)
    yield f"Evaluator: {evaluators_text(report)}"
    for fact in facts:
        if caution := " ".join(filter(None, [*fact.levels, fact.about])):
            yield Line(f"{fact.name}: {caution}", "item")
    for fact in facts:
        yield from (Line(card.text, "item") for card in fact.cards)
    summary, *others = report_tables(report)
    yield summary
    yield from _list("Notes", report.notes)
    yield from others
    yield from _list("What the figures mean", map(": ".join, glossary(report)))
    signatures = [
        (system.name, result.signature, level_text(result))
        for system in report.systems
        for result in system.results.values()
    ]
    if report.signature:
        signatures.append(("differences", report.signature, ""))
    yield Line("Signatures", "heading")
    for name, signature, level in signatures:
        start = len(name) + 2
        mark = (start, start + len(signature), "code")
        yield Line(f"{name}: {signature} {level}".rstrip(), "item", (mark,))


def _list(heading: str, items: Iterable[str]) -> list[Line]:
    lines = [Line(text, "item") for text in items]
    return [Line(heading, "heading"), *lines] if lines else []


def markdown_table(table: ReportTable) -> str:
    """Return one table; the names of groups become part of the names of the columns."""
    rules = ["---" if name in table.words else "---:" for name in table.columns]
    lines = [[*map(markdown_text, (table.corner, *table.heads))], ["---", *rules]]
    for row in table.rows:
        name = markdown_text(row.name)
        if name and not any(cell.value for cell in row.cells):  # it stands above others
            name = f"**{name}**"
        lines.append([name, *(markdown_text(cell.text) for cell in row.cells)])
    table_text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    lead = map(markdown_text, table.lead.split("\n"))
    texts = (*lead, table_text, markdown_text(table.caption))
    return "\n\n".join(filter(None, texts))


def markdown_text(text: str) -> str:
    """Return the text in one line, escaped to be shown literally, also in a table cell.

    Examples:
        >>> markdown_text("a|b <i>*c*</i>")
        'a\\\\|b &lt;i>\\\\*c\\\\*&lt;/i>'
    """
    return (
        re.sub(r"([\\`*_\[\]|#~$])", r"\\\1", " ".join(text.split()))
        .replace("&", "&amp;")
        .replace("<", "&lt;")
    )


def markdown_code(text: str) -> str:
    """Return inline code in one line, with a fence longer than any run of backticks in the text.

    Examples:
        >>> markdown_code("a`b")
        '`` a`b ``'
    """
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{' '.join(text.split())}{pad}{fence}"
