"""A report as one HTML page that needs nothing else: tables and plots as they stand, the samples as
data for the page's own script.

The template lies beside (page.html, page.css, page.js). Its policy forbids the network, and any
script or style but these two, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template

from cc_hf import __version__
from cc_hf.citations import CITATIONS
from cc_hf.reports.figures import category_bars, histograms, quality_points
from cc_hf.reports.page.charts import N_COLOURS, bar_chart, histogram_chart, quality_chart
from cc_hf.reports.page.island import explorer_data, island_json
from cc_hf.reports.report import Report
from cc_hf.reports.report_tables import (
    Cell,
    ReportTable,
    agreement_table,
    category_table,
    figures_table,
    metric_name,
    summary_table,
)
from cc_hf.reports.tables import data_name

__all__ = ["html_page", "html_table"]


def html_page(report: Report) -> str:
    """The page, as text to be saved as UTF-8.

    Everything that comes from outside (names, sources, translations, notes) is escaped, or put into
    the page as text by its script.

    >>> from cc_hf.reports.report import System, build_report
    >>> from cc_hf.results import EvaluationResult
    >>> result = EvaluationResult("", "", "de", "own", "own|n:2", 2, {"accuracy": 0.5}, {}, (), ())
    >>> page = html_page(build_report([System("<script>", {"own": result})]))
    >>> "&lt;script&gt;" in page, "http-equiv" in page
    (True, True)
    """
    style, script = _resource("page.css"), _resource("page.js")
    sections = dict(_sections(report))
    links = {
        "summary": "Summary",
        "categories": "Categories",
        "probabilities": "Probabilities",
        "quality": "Quality",
        "people": "People",
        "samples": "Samples",
    }
    names = [
        *(name for name in links if name in sections or (name == "samples" and report.samples)),
        "signatures",
    ]
    return Template(_resource("page.html")).substitute(
        policy=(
            f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}';"
            " base-uri 'none'; form-action 'none'"
        ),
        title=escape(f"{data_name(report.first)}: {_counted(len(report.systems), 'system')}"),
        heading=escape(data_name(report.first) or "Own data"),
        lead=escape(_lead(report)),
        style=style,
        script=script,
        links="".join(
            f'<li><a href="#{name}">{links.get(name, "Signatures")}</a></li>' for name in names
        ),
        sections="\n".join(sections.values()),
        explorer=_resource("explorer.html") if report.samples else "",
        signatures=_signatures(report),
        data=island_json(explorer_data(report) if report.samples else {}),
        version=escape(__version__),
        citation=escape(_citation()),
    )


def html_table(table: ReportTable, *, classes: str = "") -> str:
    """One table, whose header cells say what they head."""
    head = ""
    if table.groups:
        spans = "".join(
            f'<th scope="colgroup" colspan="{n}" class="group">{escape(name)}</th>'
            for name, n in table.groups
        )
        head = f'<tr><th scope="col" rowspan="2">{escape(table.corner)}</th>{spans}</tr>'
    own = "" if table.groups else f'<th scope="col">{escape(table.corner)}</th>'
    columns = "".join(
        f'<th scope="col" class="number">{escape(name)}</th>' for name in table.columns
    )
    head += f"<tr>{own}{columns}</tr>"
    body = "".join(
        f'<tr><th scope="row">{escape(row.label)}{_note(row.note)}</th>'
        f"{''.join(map(_cell, row.cells))}</tr>"
        for row in table.rows
    )
    caption = f'<p class="caption">{escape(table.caption)}</p>' if table.caption else ""
    frame = f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(table.title)}">'
    return (
        f"{frame}<table"
        f' class="{classes}"><thead>{head}</thead><tbody>{body}</tbody></table></div>{caption}'
    )


def _sections(report: Report) -> Iterable[tuple[str, str]]:
    """Those that there is something for."""
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
    figures = "".join(
        f"<details><summary>{escape(table.title)}</summary>{html_table(table)}</details>"
        for table in (figures_table(report, m) for m in report.metrics)
    )
    parts = [
        html_table(summary_table(report), classes="summary"),
        f'<ul class="notes" aria-label="Notes">{notes}</ul>' if notes else "",
        figures,
    ]
    yield "summary", _section("summary", "Summary", "".join(parts))
    if found := "".join(_categories(report)):
        yield "categories", _section("categories", "Accuracy by category", found)
    if found := "".join(_probabilities(report)):
        lead = (
            "How sure the evaluator is, and of what: left of the middle it reads the wrong meaning"
            " in the translation, right of it the right one."
        )
        yield (
            "probabilities",
            _section(
                "probabilities",
                "Probability of the correct reading",
                f'<p class="lead">{lead}</p>{found}',
            ),
        )
    if found := "".join(_quality(report)):
        lead = (
            "A system can gain in BLEU and still choose the frequent reading: the lowest accuracy"
            " of a category shows it (Vamvas & Sennrich 2021, Figure 5)."
        )
        yield (
            "quality",
            _section(
                "quality",
                "Quality against minimum accuracy",
                f'<p class="lead">{escape(lead)}</p>{found}',
            ),
        )
    if report.agreements:
        yield (
            "people",
            _section("people", "Agreement with human labels", html_table(agreement_table(report))),
        )


def _categories(report: Report) -> Iterable[str]:
    names = [system.name for system in report.systems]
    for metric in report.metrics:
        if bars := category_bars(report, metric):
            table = category_table(report, metric)
            chart = bar_chart(bars, names, label=table.title)
            yield (
                f"<h3>{escape(metric_name(metric))}</h3><div"
                f' class="beside"><figure>{chart}</figure>{html_table(table)}</div>'
            )


def _probabilities(report: Report) -> Iterable[str]:
    names = [system.name for system in report.systems]
    for metric in report.metrics:
        found = histograms(report, metric)
        highest = max((max(one.counts) for one in found), default=0)
        figures = ""
        for one in found:
            label = f"Probability of the correct reading: {names[one.system]}"
            chart = histogram_chart(one, names, highest=highest, label=label)
            n = sum(one.counts)
            figures += (
                f"<figure><figcaption>{_swatch(one.system)}<b>{escape(names[one.system])}</b>"
                f" {one.n_correct:,} of {n:,} correct</figcaption>{chart}</figure>"
            )
        if figures:
            yield f'<div class="charts">{figures}</div>'


def _quality(report: Report) -> Iterable[str]:
    figures = ""
    for metric in report.metrics:
        if points := quality_points(report, metric):
            label = f"Quality against minimum accuracy: {metric_name(metric)}"
            chart = quality_chart(points, [system.name for system in report.systems], label=label)
            caption = f"<figcaption><b>{escape(metric_name(metric))}</b></figcaption>"
            figures += f"<figure>{caption}{chart}</figure>"
    if figures:
        yield f'<div class="charts">{figures}</div>'


def _signatures(report: Report) -> str:
    rows = [
        (f"{system.name}, {metric_name(metric)}", result.signature)
        for system in report.systems
        for metric, result in system.results.items()
    ]
    if report.signature:
        rows.append((f"differences to {report.baseline}", report.signature))
    return "".join(
        "<li><span"
        f' class="name">{escape(name)}</span><code>{escape(text)}</code>{_copy_button(name)}</li>'
        for name, text in rows
    )


def _copy_button(name: str) -> str:
    label = escape(f"Copy the signature: {name}")
    return f'<button type="button" class="copy" aria-label="{label}">Copy</button>'


def _lead(report: Report) -> str:
    n = len(report.samples)
    words = [
        _counted(len(report.systems), "system"),
        _counted(len(report.metrics), "metric"),
        *[_counted(n, "sample")] * bool(n),
    ]
    return " · ".join(words)


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _section(name: str, title: str, body: str) -> str:
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2'
        f' id="{name}-title">{escape(title)}</h2>{body}</section>'
    )


def _cell(cell: Cell) -> str:
    parts = [f'<span class="value">{escape(cell.value)}</span>']
    if cell.interval:
        parts.append(f'<span class="interval">({escape(cell.interval)})</span>')
    if cell.difference:
        kind = (
            "flat"
            if not cell.is_significant
            else "up"
            if cell.difference.startswith("+")
            else "down"
        )
        star = '<abbr title="p &lt; 0.05">*</abbr>' if cell.is_significant else ""
        p = cell.p if cell.p.startswith("<") else f"= {cell.p}"
        parts.append(
            f'<span class="difference {kind}">{escape(cell.difference)}{star} <span class="p">p'
            f" {escape(p)}</span></span>"
        )
    return f"<td>{''.join(parts)}</td>"


def _note(text: str) -> str:
    return f' <span class="note">{escape(text)}</span>' if text else ""


def _swatch(system: int) -> str:
    return f'<span class="swatch s{system % N_COLOURS}"></span>'


def _citation() -> str:
    return CITATIONS["vamvas-sennrich-2021"].url


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode(
        "ascii"
    )


def _resource(name: str) -> str:
    """A file of the template, with line feeds as browsers hash them."""
    text = files("cc_hf.reports.page").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")
