"""The tables of a report as Markdown, in the dialect of GitHub and the Hub."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
from cc_hf.reports.report_parts import Cell, ReportTable
from cc_hf.reports.report_tables import glossary, report_tables
from cc_hf.reports.what_to_cite import UNFIT

__all__ = [
    "markdown_code",
    "markdown_collection",
    "markdown_report",
    "markdown_reports",
    "markdown_table",
    "markdown_text",
]


def markdown_report(report: Report) -> str:
    """Return all tables, with the notes after the first, and the signatures at the end.

    Examples:
        >>> from cc_hf.reports.samples import ReportedSystem
        >>> from cc_hf.reports.report import build_report
        >>> from cc_hf.results import EvaluationResult
        >>> scores = {"accuracy": 0.5}
        >>> result = EvaluationResult("", "", "de", "own", "own|n:2", 2, scores, {}, (), ())
        >>> report = build_report([ReportedSystem("a", {"own": result})])
        >>> print(markdown_report(report).splitlines()[0])
        # Own data, German
    """
    return "\n\n".join(_parts(report, "#")) + "\n"


def markdown_reports(reports: Sequence[Report]) -> str:
    """Return one report, or a collection of several."""
    if len(reports) == 1:
        return markdown_report(reports[0])
    return markdown_collection(build_collection(reports))


def markdown_collection(collection: Collection) -> str:
    """Return an overview of several datasets, then the `markdown_report` of each."""
    names = ["dataset", "language", "metric", "figure", "evaluator", *collection.systems]
    lines = [list(map(markdown_text, names)), ["---"] * len(names)]
    for row in overview(collection):
        figure = f"{row.figure} ({UNFIT})" if row.is_unfit else row.figure
        texts = [row.data, row.languages, row.metric, figure, row.evaluator or "none, by words"]
        lines.append([*map(markdown_text, texts), *map(_figure, row.cells)])
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    n = f"{len(collection.reports):,} datasets"
    parts = [f"# {markdown_text(collection.title)}: {n}", "## Overview", table, OVERVIEW_CAPTION]
    parts += _by_pair(collection)
    parts += [part for report in collection.reports for part in _parts(report, "##")]
    return "\n\n".join(parts) + "\n"


def _by_pair(collection: Collection) -> list[str]:
    """Return the figures by language pair under a heading, if there are several pairs."""
    table = pair_table(collection)
    if table is None:
        return []
    names = [f"{column.data}: {column.figure}, {column.metric}" for column in table.columns]
    lines = [list(map(markdown_text, ["languages", "system", *names]))]
    lines.append(["---"] * len(lines[0]))
    for row in table.rows:
        cells = [
            "" if cell is None else _figure(cell.cell) + f" ({UNFIT})" * cell.is_unfit
            for cell in row.cells
        ]
        lines.append([markdown_text(row.languages), markdown_text(row.system), *cells])
    return ["## Language pairs", "\n".join("| " + " | ".join(line) + " |" for line in lines)]


def _figure(cell: OverviewCell | None) -> str:
    if cell is None:
        return ""
    return f"{cell.value} ({cell.interval})" if cell.interval else cell.value


def _parts(report: Report, level: str) -> list[str]:
    """Return the parts of a report, whose title has the level of a heading."""
    summary, *others = (
        f"{level}# {markdown_text(table.title)}\n\n{markdown_table(table)}"
        for table in report_tables(report)
    )
    notes = (
        [f"{level}# Notes\n\n" + "\n".join(f"- {markdown_text(n)}" for n in report.notes)]
        if report.notes
        else []
    )
    parts = [
        f"{level} {markdown_text(data_name(report.first))}",
        *_findings(report),
        *_citable(report),
        *_evaluators(report),
        summary,
        *notes,
        *others,
    ]
    if meanings := glossary(report):
        lines = [f"- {markdown_text(name)}: {markdown_text(text)}" for name, text in meanings]
        parts.append(f"{level}# What the figures mean\n\n" + "\n".join(lines))
    signatures = [
        f"- {markdown_text(system.name)}: {markdown_code(result.signature)}"
        f" {markdown_text(level_text(result))}".rstrip()
        for system in report.systems
        for result in system.results.values()
    ]
    if report.signature:
        signatures.append(f"- differences: {markdown_code(report.signature)}")
    return [*parts, f"{level}# Signatures\n\n" + "\n".join(signatures)]


def _findings(report: Report) -> list[str]:
    """Return what the figures say, as a list."""
    lines = [
        f"- {markdown_text(text)}"
        for text in findings(report, most_split(report, attributes(report)))
    ]
    return ["\n".join(lines)] if lines else []


def _citable(report: Report) -> list[str]:
    """Return what to cite, and which figures are not fit for it."""
    cited = (
        f"**What to cite.** {markdown_text(' '.join(report.cited.sentences))}"
        if report.cited
        else ""
    )
    unfit = "\n".join(f"- {UNFIT}: {markdown_text(why)}" for why in report.unfit)
    return [text for text in (cited, unfit) if text]


def _evaluators(report: Report) -> list[str]:
    """Return the line that names the evaluators, what the card of each says of its use, and what
    was measured of it by itself.
    """
    facts = evaluator_facts(report)
    cautions = [
        f"- {markdown_text(fact.name)}: {markdown_text(fact.caution)}"
        for fact in facts
        if fact.caution
    ]
    cautions += [f"- {markdown_text(card.text)}" for fact in facts for card in fact.cards]
    name = f"Evaluator: {markdown_text(evaluators_text(report))}"
    return [name, *["\n".join(cautions)] * bool(cautions)]


def markdown_table(table: ReportTable) -> str:
    """Return one table; the names of groups become part of the names of the columns."""
    names = list(table.columns)
    if table.groups:
        groups = [name for name, n in table.groups for _ in range(n)]
        names = [f"{group}: {name}" for group, name in zip(groups, names, strict=True)]
    lines = [[table.corner, *names], ["---", *["---:"] * len(names)]]
    for row in table.rows:
        lines.append(
            [
                row.label + (f" ({row.note})" if row.note else ""),
                *(_cell(cell) for cell in row.cells),
            ]
        )
    table_text = "\n".join(
        "| " + " | ".join(text if number == 1 else markdown_text(text) for text in line) + " |"
        for number, line in enumerate(lines)
    )
    return table_text + (f"\n\n{markdown_text(table.caption)}" if table.caption else "")


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


def _cell(cell: Cell) -> str:
    parts = [cell.value, f"({cell.interval})" if cell.interval else ""]
    if cell.difference:
        parts.append(f"{cell.difference}{'*' if cell.is_significant else ''}, p {_equals(cell.p)}")
    return " ".join(part for part in parts if part)


def _equals(p: str) -> str:
    return p if p.startswith("<") else f"= {p}"


def markdown_code(text: str) -> str:
    """Return inline code in one line, with a fence longer than any run of backticks in the text.

    Examples:
        >>> markdown_code("a`b")
        '`` a`b ``'
    """
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{' '.join(text.split())}{pad}{fence}"
