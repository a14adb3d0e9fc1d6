"""The tables of a report as LaTeX, for the package booktabs."""

from __future__ import annotations

from dataclasses import replace

from cc_hf.reports.report import Report
from cc_hf.reports.report_tables import Cell, ReportTable, report_tables

__all__ = ["latex_report", "latex_table", "latex_text"]

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
    "–": "--",
    "−": "$-$",
    "Δ": r"$\Delta$",
    "→": r"$\rightarrow$",
    "\u00a0": "~",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}


def latex_report(report: Report) -> str:
    """Return all tables, each in a table environment.

    The notes are in the caption of the first table, and the signatures are comments.

    Args:
        report: the report.

    Examples:
        >>> from cc_hf.reports.samples import System
        >>> from cc_hf.reports.report import build_report
        >>> from cc_hf.results import EvaluationResult
        >>> scores = {"accuracy": 0.5}
        >>> result = EvaluationResult("", "", "de", "own", "own|n:2", 2, scores, {}, (), ())
        >>> print(latex_report(build_report([System("a_b", {"own": result})])).splitlines()[2])
        % a_b: own|n:2
    """
    signatures = [
        f"% {_line(system.name)}: {_line(result.signature)}"
        for system in report.systems
        for result in system.results.values()
    ]
    if report.signature:
        signatures.append(f"% differences: {_line(report.signature)}")
    head = ["% \\usepackage{booktabs}", "% \\usepackage[T1]{fontenc}", *signatures]
    summary, *others = report_tables(report)
    noted = replace(
        summary,
        caption=" ".join(
            [summary.caption, *(f"Note: {note.rstrip('.')}." for note in report.notes)]
        ),
    )
    return (
        "\n".join(head)
        + "\n\n"
        + "\n\n".join(latex_table(table) for table in (noted, *others))
        + "\n"
    )


def latex_table(table: ReportTable) -> str:
    """Return one table environment; the names of groups span their columns.

    Args:
        table: the table.
    """
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
    ]
    if table.groups:
        lines.append(
            " & "
            + " & ".join(
                rf"\multicolumn{{{n}}}{{c}}{{{latex_text(name)}}}" for name, n in table.groups
            )
            + r" \\"
        )
        lines.append(" ".join(_rules(table.groups)))
    lines += [
        " & ".join(latex_text(name) for name in (table.corner, *table.columns)) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        label = row.label + (f" ({row.note})" if row.note else "")
        lines.append(" & ".join([latex_text(label), *(_cell(cell) for cell in row.cells)]) + r" \\")
    caption = f"{table.title}. {table.caption}".strip()
    return "\n".join(
        [
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{latex_text(caption)}}}",
            r"\end{table}",
        ]
    )


def latex_text(text: str) -> str:
    r"""Return the text in one line, with characters that are special in LaTeX escaped.

    Args:
        text: plain text.

    Examples:
        >>> latex_text("50 % of a_b")
        '50 \\% of a\\_b'
    """
    return "".join(_SPECIAL.get(c, c) for c in " ".join(text.split()))


def _cell(cell: Cell) -> str:
    parts = [latex_text(cell.value)]
    if cell.interval:
        parts.append(rf"{{\scriptsize ({latex_text(cell.interval)})}}")
    if cell.difference:
        parts.append(
            rf"{{\scriptsize {latex_text(cell.difference)}{'*' if cell.is_significant else ''}}}"
        )
    return " ".join(parts)


def _rules(groups: tuple[tuple[str, int], ...]) -> list[str]:
    rules, column = [], 2
    for _, n in groups:
        rules.append(rf"\cmidrule(lr){{{column}-{column + n - 1}}}")
        column += n
    return rules


def _line(text: str) -> str:
    """Return the text in one line, because a second line would not be part of the comment."""
    return " ".join(text.split())
