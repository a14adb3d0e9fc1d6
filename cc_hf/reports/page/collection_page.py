"""Reports on several datasets as one self-contained HTML page: an overview, then a section for
each.

It has the style, the script and the content policy of the page of one report, but no samples.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from cc_hf.reports.collection import (
    OVERVIEW_CAPTION,
    Collection,
    build_collection,
    overview,
    pair_table,
)
from cc_hf.reports.evaluators import (
    evaluator_facts,
    evaluators_text,
    other_cautions,
)
from cc_hf.reports.figure_text import data_name
from cc_hf.reports.findings import findings, most_split
from cc_hf.reports.highlights import attributes
from cc_hf.reports.marks import mark_classes
from cc_hf.reports.page.island import island_json
from cc_hf.reports.page.page import (
    category_parts,
    counted,
    frame,
    html_page,
    html_table,
    lead,
    signatures,
)
from cc_hf.reports.page.standing_out import standing_out
from cc_hf.reports.report import Report
from cc_hf.reports.report_tables import figures_table, glossary, summary_table
from cc_hf.reports.templates import render_page

__all__ = ["collection_page", "reports_page"]


def reports_page(reports: Sequence[Report]) -> str:
    """Return the page of one report, or that of a collection of several."""
    if len(reports) == 1:
        return html_page(reports[0])
    return collection_page(build_collection(reports))


def collection_page(collection: Collection) -> str:
    """Return the page as text, to be saved as UTF-8."""
    systems = collection.systems
    n_datasets = counted(len(collection.reports), "dataset")
    rows = overview(collection)
    evaluators = dict.fromkeys(row.evaluator for row in rows if row.evaluator)
    return render_page(
        "reports/page/collection.html.jinja",
        **frame(),
        title=f"{collection.title}: {n_datasets}",
        heading=collection.title,
        lead=n_datasets,
        evaluators="; ".join(evaluators) or "none",
        systems=[(name, mark_classes(number)) for number, name in enumerate(systems)],
        overview=rows,
        pairs=pair_table(collection),
        caption=OVERVIEW_CAPTION,
        parts=[_part(report, number) for number, report in enumerate(collection.reports, 1)],
        glossary=list(dict.fromkeys(pair for r in collection.reports for pair in glossary(r))),
        signatures=[
            (f"{data_name(report.first)}: {name}", signature)
            for report in collection.reports
            for name, signature in signatures(report)
        ],
        data=island_json({}),
    )


def _part(report: Report, number: int) -> dict[str, object]:
    """Return the section of one report, as its template needs it."""
    first, table = report.first, summary_table(report)
    words = re.findall(r"[a-z0-9]+", f"{first.dataset} {first.config} {first.tgt_lang}".lower())
    figures = [figures_table(report, metric) for metric in report.metrics]
    return {
        "id": "-".join(["data", str(number), *words]),
        "name": data_name(first),
        "lead": lead(report),
        "evaluators": evaluators_text(report),
        "findings": findings(report, most_split(report, attributes(report))),
        "report": report,
        "facts": evaluator_facts(report),
        "summary": html_table(replace(table, caption=""), classes="summary"),
        "caption": table.caption,
        "cautions": other_cautions(report),
        "notes": [note for note in report.notes if note not in report.cautions],
        "standing_out": list(standing_out(report, attributes(report), has_links=False)),
        "legend": [(system.name, mark_classes(i)) for i, system in enumerate(report.systems)],
        "categories": list(category_parts(report, has_links=False)),
        "figures": [(figure_table.title, html_table(figure_table)) for figure_table in figures],
    }
