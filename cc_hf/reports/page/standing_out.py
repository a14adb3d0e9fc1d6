"""What stands out by each metric, as charts and tables whose figures open the samples that they
count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from cc_hf.figure_keys import is_corrected
from cc_hf.reports.figure_text import metric_name
from cc_hf.reports.highlights import (
    Attribute,
    Confusion,
    Group,
    category_spreads,
    confusions,
    divided_samples,
    hard_values,
    spreads,
)
from cc_hf.reports.numbers import count
from cc_hf.reports.page.drawing import Link, no_link
from cc_hf.reports.page.highlight_charts import hard_value_chart, spread_chart
from cc_hf.reports.report import Report

__all__ = [
    "LinkTable",
    "LinkedText",
    "StandingOut",
    "attribute_words",
    "filter_name",
    "judge_alone",
    "sample_link",
    "standing_out",
]

_N_WORDS = 12  # in a chart
_N_WORST = 3  # in a cell of the table
_N_SHADES = 6
_FEW, _LONG = 4, 20  # columns of more systems, or of longer names, are numbered


class LinkedText(NamedTuple):
    """A text that opens the samples that it speaks of; `href` is "" where there are none.

    Attributes:
        shade: from 0 to 5 for a cell whose colour says how large its share of the row is, negative
            for others.
        is_good: whether the colour is that of right readings.
    """

    text: str
    href: str = ""
    shade: int = -1
    is_good: bool = False


class LinkTable(NamedTuple):
    """A table with texts that open samples; `rows` are a name and its cells."""

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[LinkedText, ...], ...]], ...]


@dataclass(frozen=True, slots=True)
class StandingOut:
    """What stands out by one metric.

    Attributes:
        spreads: name of an attribute -> the chart of the accuracies in its groups.
        systems: per system where it fails most.
        hard_values: name of an attribute -> the chart of the values on which systems fail most.
        confusions: what was read and what should have been read, one table per system.
        divided: how many samples one system has right and another wrong; None for one system.
    """

    metric: str
    spreads: Mapping[str, Markup]
    systems: LinkTable
    hard_values: Mapping[str, Markup]
    confusions: tuple[LinkTable, ...]
    divided: LinkTable | None


def sample_link(report: Report, metric: str) -> Link:
    """Return a function that returns the address of the samples that some filters select.

    The address is the part of the page's own address after "#", where the page's script reads and
    writes the state of the filters.
    """

    def link(filters: Mapping[str, str]) -> str:
        if metric not in report.judging:
            return ""
        of_metric = {} if metric == report.judging[0] else {"metric": metric}
        try:
            return f"#samples?{urlencode({**filters, **of_metric})}"
        except UnicodeEncodeError:  # the name of a file that is not UTF-8
            return ""

    return link


def _wrong_first(report: Report, metric: str, link: Link) -> Link:
    """Return a function that opens wrong samples first, the surest first."""
    results = report.of_metric(metric).values()
    known = (j.probability_correct is not None for r in results for j in r.judgements[:1])
    order = {"order": "wrong"} if any(known) else {}
    return lambda filters: link({**filters, **order})


def standing_out(
    report: Report, attributes: Sequence[Attribute], *, has_links: bool = True
) -> Iterable[StandingOut]:
    """Yield what stands out by each metric that judges single translations; with links, the samples
    must be on the page.
    """
    names = [system.name for system in report.systems]
    for metric in report.judging:
        link: Link = no_link
        if has_links:
            link = _wrong_first(report, metric, sample_link(report, metric))
        by_category = category_spreads(report, metric)
        by_group = {
            attribute.name: spreads(report, metric, attribute)
            for attribute in attributes
            if attribute.has_groups
        }
        words = [attribute for attribute in attributes if attribute.has_words]
        alone = judge_alone(report, metric)
        all_spreads = {"category": by_category, **by_group}
        result = StandingOut(
            metric_name(metric),
            {
                attribute_words(name) + alone * (name != "category"): spread_chart(
                    system_spreads,
                    names,
                    attribute=filter_name(name),
                    label=f"Accuracy by {attribute_words(name)}: {metric_name(metric)}",
                    link=link,
                )
                for name, system_spreads in all_spreads.items()
                if system_spreads
            },
            _system_table(report, metric, words, link),
            {
                attribute_words(attribute.name) + alone: hard_value_chart(
                    values,
                    names,
                    attribute=filter_name(attribute.name),
                    label=(
                        f"Lowest accuracy by {attribute_words(attribute.name)}:"
                        f" {metric_name(metric)}"
                    ),
                    link=link,
                )
                for attribute in words
                if len(values := hard_values(report, metric, attribute, n=_N_WORDS)) > 1
            },
            tuple(_confusion_table(report, table, link) for table in confusions(report, metric)),
            _divided_table(report, metric, link) if len(names) > 1 else None,
        )
        if result.systems.columns or result.confusions or result.divided or result.spreads:
            yield result


def judge_alone(report: Report, metric: str) -> str:
    """Return the mark of charts that leave out the judge's mistakes where other figures include
    them; "" where none does.
    """
    results = report.of_metric(metric).values()
    return ", judge alone" * any(is_corrected(name) for r in results for name in r.scores)


def filter_name(attribute: str) -> str:
    """Return the name of the filter by an attribute, or by the category, in addresses."""
    return attribute if attribute == "category" else f"data.{attribute}"


def _system_table(
    report: Report,
    metric: str,
    words: Sequence[Attribute],
    link: Link,
) -> LinkTable:

    def group(system: int, attribute: str, shown: Group) -> LinkedText:
        filters = {"system": names[system], filter_name(attribute): shown.name}
        filters |= {"category": shown.gender} if shown.gender else {}
        n_wrong = f"{shown.n - shown.n_correct:,} of {shown.n:,} wrong"
        return LinkedText(f"{shown.label} {n_wrong}", link(filters))

    names = [system.name for system in report.systems]
    rows = []
    for index, system in enumerate(report.systems):
        if metric not in system.results:
            continue
        cells: list[tuple[LinkedText, ...]] = []
        for attribute in words:
            worst = hard_values(report, metric, attribute, n=_N_WORST, system=index)
            groups = [shown for value in worst for shown in value.groups if shown is not None]
            cells.append(tuple(group(index, attribute.name, shown) for shown in groups))
        rows.append((system.name, tuple(cells)))
    columns = [f"fails most by {attribute_words(attribute.name)}" for attribute in words]
    # values with too few samples leave a column empty, such as pairs, which have two each
    filled = [i for i in range(len(columns)) if any(cells[i] for _, cells in rows)]
    return LinkTable(
        f"What stands out: {metric_name(metric)}",
        "system",
        tuple(columns[i] for i in filled),
        tuple((name, tuple(cells[i] for i in filled)) for name, cells in rows),
    )


def _confusion_table(report: Report, confusion: Confusion, link: Link) -> LinkTable:
    system = report.systems[confusion.system].name
    rows = []
    for gold, counts in zip(confusion.golds, confusion.counts, strict=True):
        n = max(sum(counts), 1)
        cells = []
        for reading, n_judged in zip(confusion.readings, counts, strict=True):
            href = link({"system": system, "gold": gold, "found": reading}) if n_judged else ""
            shade = min(_N_SHADES * n_judged // n, _N_SHADES - 1)
            cells.append((LinkedText(count(n_judged), href, shade, reading == gold),))
        rows.append((gold, tuple(cells)))
    return LinkTable(
        system,
        "should be",
        tuple(reading or "nothing" for reading in confusion.readings),
        tuple(rows),
    )


def _divided_table(report: Report, metric: str, link: Link) -> LinkTable:
    names = [system.name for system in report.systems]
    are_numbered = len(names) > _FEW or max(map(len, names)) > _LONG
    shown = [f"{i}. {name}" if are_numbered else name for i, name in enumerate(names, 1)]
    return LinkTable(
        "Samples that one system has right and another wrong",
        "right",
        tuple(f"wrong: {i if are_numbered else name}" for i, name in enumerate(names, 1)),
        tuple(
            (
                row,
                tuple(
                    (LinkedText(count(n_samples), link({"right": right, "wrong": wrong})),)
                    if right != wrong and n_samples
                    else (LinkedText("" if right == wrong else "0"),)
                    for wrong, n_samples in zip(names, counts, strict=True)
                ),
            )
            for row, right, counts in zip(
                shown, names, divided_samples(report, metric), strict=True
            )
        ),
    )


def attribute_words(name: str) -> str:
    """Return the name of an attribute as a reader sees it."""
    return name.replace("_", " ")
