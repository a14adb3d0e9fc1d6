"""A report as one self-contained HTML page: tables and charts are static, and the samples are data
for the page's own script.

The templates are in this folder (layout.html.jinja, page.html.jinja, pieces.html.jinja,
standing_out.html.jinja, explorer.html, page.css, tools.js, page.js). The content security policy
forbids network access, and any script or style except those of the page, which it names by their
hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import files

from markupsafe import Markup

from cc_hf._version import __version__
from cc_hf.citations import CITATIONS
from cc_hf.reports.citing import citing
from cc_hf.reports.evaluators import evaluator_facts, evaluators_text, other_cautions
from cc_hf.reports.figure_text import data_name, metric_name
from cc_hf.reports.figures import category_bars, histograms, quality_points
from cc_hf.reports.findings import SplitTable, findings, most_split
from cc_hf.reports.highlights import attributes
from cc_hf.reports.marks import mark_classes
from cc_hf.reports.numbers import count
from cc_hf.reports.page.charts import bar_chart, histogram_chart, quality_chart
from cc_hf.reports.page.drawing import no_link
from cc_hf.reports.page.highlight_charts import split_chart
from cc_hf.reports.page.island import explorer_data, island_json
from cc_hf.reports.page.neutral import neutral_tables
from cc_hf.reports.page.standing_out import (
    attribute_words,
    filter_name,
    judge_alone,
    sample_link,
    standing_out,
)
from cc_hf.reports.reading_counts import reading_sections
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import ReportTable
from cc_hf.reports.report_tables import (
    category_table,
    figures_table,
    glossary,
    is_unfit,
    label_agreement_table,
    summary_table,
)
from cc_hf.reports.templates import render_page, render_piece

__all__ = [
    "category_parts",
    "counted",
    "folder_page",
    "frame",
    "html_page",
    "html_table",
    "lead",
    "signatures",
    "small_page",
]

_MOST_CHARTS = 4  # systems
_N_SPLITS = 8  # values in a chart


def html_page(report: Report) -> str:
    """Return the page as text, to be saved as UTF-8.

    All external text (names, sources, translations, notes) is escaped, or inserted as text by the
    script of the page.
    """
    filters = attributes(report)
    split_table = most_split(report, filters)
    summary = summary_table(report)
    figures = [figures_table(report, metric) for metric in report.metrics]
    return render_page(
        "reports/page/page.html.jinja",
        **frame(),
        title=f"{data_name(report.first)}: {counted(len(report.systems), 'system')}",
        heading=data_name(report.first),
        lead=lead(report),
        evaluators=evaluators_text(report),
        summary=html_table(replace(summary, caption=""), classes="summary"),
        caption=summary.caption,
        glossary=glossary(report),
        findings=findings(report, split_table),
        split_charts=list(_split_charts(report, split_table)),
        is_fit=bool(report.judging) and not is_unfit(report, report.judging[0]),
        report=report,
        citing=citing(report).text,
        facts=evaluator_facts(report),
        cautions=other_cautions(report),
        notes=[note for note in report.notes if note not in report.cautions],
        standing_out=list(standing_out(report, filters)),
        legend=[(system.name, mark_classes(i)) for i, system in enumerate(report.systems)],
        figures=[(table.title, html_table(table)) for table in figures],
        categories=list(category_parts(report)),
        probabilities=list(_probabilities(report)),
        neutral=list(neutral_tables(report)),
        quality=list(_quality(report)),
        added_sections=[
            (
                section,
                [
                    (
                        part.heading or part.table.title,
                        part.chart,
                        html_table(part.table, classes=part.classes),
                    )
                    for part in section.parts
                ],
            )
            for section in (*reading_sections(report), *report.sections)
            if section.is_on_page
        ],
        people=html_table(label_agreement_table(report)) if report.agreements else "",
        has_samples=bool(report.samples),
        signatures=signatures(report),
        data=island_json(explorer_data(report, filters) if report.samples else {}),
    )


def small_page(
    template: str,
    *,
    title: str,
    about: str,
    signature: str = "",
    command: str = "",
    **values: object,
) -> str:
    """Return a page of one command that is no report, in the frame of reports.

    Args:
        template: a template that extends `small.html.jinja` of this folder.
        about: what the page shows, in one or two sentences.
        signature: that of the figures, if they have one.
        command: the command that made the page, as one would type it.
        values: what else the template needs.
    """
    style, script = _resource("page.css"), _resource("tools.js")
    return render_page(
        template,
        **_common(style, script, style_source="'unsafe-inline'"),  # the depth of colours is inline
        **{"title": title, "heading": title, "about": about},
        **{"signature": signature, "command": command},
        **values,
    )


def frame() -> dict[str, object]:
    """Return what the layout of a report needs: style, script, and the policy that allows no
    others; version and citation.
    """
    style, script = _resource("page.css"), _resource("tools.js") + _resource("page.js")
    return _common(style, script, style_source=f"'{_hash(style)}'")


def folder_page(template: str, *, style: str, script: str, **values: object) -> str:
    """Return a page that loads further scripts from its own folder; `style` and `script` are what
    it has besides those of reports.
    """
    styles, scripts = _resource("page.css") + Markup(style), _resource("tools.js") + Markup(script)
    frame = _common(styles, scripts, style_source=f"'{_hash(styles)}'", others=" 'self' file:")
    return render_page(template, **frame, **values)


def _common(
    style: Markup, script: Markup, *, style_source: str, others: str = ""
) -> dict[str, object]:
    return {
        "style": style,
        "script": script,
        "policy": (
            f"default-src 'none'; style-src {style_source}; script-src '{_hash(script)}'{others};"
            " base-uri 'none'; form-action 'none'"
        ),
        "version": __version__,
        "citation": CITATIONS["vamvas-sennrich-2021"].url,
    }


def html_table(table: ReportTable, *, classes: str = "") -> Markup:
    """Return one table as HTML; its header cells have a scope."""
    marks = [None if row.system is None else mark_classes(row.system) for row in table.rows]
    return render_piece(
        "reports/page/pieces.html.jinja", "table", table=table, marks=marks, classes=classes
    )


def _split_charts(report: Report, table: SplitTable | None) -> Iterable[tuple[str, Markup]]:
    """Yield a caption and a chart of the values whose categories differ most, for each of the
    systems.
    """
    if table is None:
        return
    metric = report.judging[0]
    attribute, by_system = table
    names = [system.name for system in report.systems]
    widest = sorted(
        (of_system[:_N_SPLITS] for of_system in by_system.values()),
        key=lambda of_system: -sum(split.spread.gap for split in of_system),
    )
    shown = attribute_words(attribute.name)
    for of_system in widest[:_MOST_CHARTS]:
        name = names[of_system[0].spread.system]
        caption = (
            f"{name}: where categories differ most, by {shown}"
            f" ({metric_name(metric)}{judge_alone(report, metric)}), % right"
        )
        yield (
            caption,
            split_chart(
                of_system,
                names,
                attribute=filter_name(attribute.name),
                label=caption,
                link=sample_link(report, metric),
            ),
        )


def category_parts(
    report: Report, *, has_links: bool = True
) -> Iterable[tuple[str, Markup, Markup]]:
    """Yield the name, the bars and the table of each metric that has categories; with links, the
    samples must be on the page.
    """
    names = [system.name for system in report.systems]
    for metric in report.metrics:
        if bars := category_bars(report, metric):
            table = category_table(report, metric)
            link = sample_link(report, metric) if has_links else no_link
            chart = bar_chart(bars, names, label=table.title, link=link)
            yield metric_name(metric), chart, html_table(table)


def _probabilities(report: Report) -> Iterable[list[tuple[str, str, str, str, Markup]]]:
    """Yield the histograms of each metric that has some, all with the same scale: name and mark of
    the system, numbers of samples and of correct ones, and the chart.
    """
    names = [system.name for system in report.systems]
    for metric in report.metrics:
        system_histograms = histograms(report, metric)
        highest = max((max(histogram.counts) for histogram in system_histograms), default=0)
        rows = []
        for histogram in system_histograms:
            name = names[histogram.system]
            label = f"Probability of the correct reading: {name}"
            chart = histogram_chart(histogram, names, highest=highest, label=label)
            n, n_correct = count(sum(histogram.counts)), count(histogram.n_correct)
            rows.append((name, mark_classes(histogram.system), n, n_correct, chart))
        if rows:
            yield rows


def _quality(report: Report) -> Iterable[tuple[str, Markup]]:
    """Yield the name and the chart of each metric that can be plotted against BLEU."""
    names = [system.name for system in report.systems]
    for metric in report.metrics:
        if points := quality_points(report, metric):
            label = f"Quality against {points[0].label}: {metric_name(metric)}"
            yield metric_name(metric), quality_chart(points, names, label=label)


def signatures(report: Report) -> list[tuple[str, str]]:
    """Return the signatures of a report, each with the name of what it belongs to."""
    rows = [
        (f"{system.name}, {metric_name(metric)}", result.signature)
        for system in report.systems
        for metric, result in system.results.items()
    ]
    if report.signature:
        rows.append((f"differences to {report.baseline}", report.signature))
    return rows


def lead(report: Report) -> str:
    """Return the numbers of systems, metrics and samples in words."""
    n = len(report.samples)
    words = [
        counted(len(report.systems), "system"),
        counted(len(report.metrics), "metric"),
        *[counted(n, "sample")] * bool(n),
    ]
    return " · ".join(words)


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, whose plural ends in s.

    Examples:
        >>> counted(1, "system"), counted(1200, "sample")
        ('1 system', '1,200 samples')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode(
        "ascii"
    )


def _resource(name: str) -> Markup:
    """Return a file of the page with line feeds only, because browsers hash it in that form."""
    text = files("cc_hf.reports.page").joinpath(name).read_text(encoding="utf-8")
    return Markup(text.replace("\r\n", "\n"))
