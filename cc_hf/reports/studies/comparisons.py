"""Comparisons as tables for the terminal, with figures in percent and differences in percentage
points.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cc_hf import signature
from cc_hf.reports.figure_text import (
    category_key,
    data_name,
    limits,
    metric_name,
    p_text,
    percent,
    with_interval,
)
from cc_hf.reports.tables import (
    grouped_notes,
    heading,
    names_by_note,
    note_lines,
    plain_table,
    shared_notes,
)
from cc_hf.statistics.paired import PairedDifference
from cc_hf.studies.comparison import Comparison, MetricAgreement, SystemComparison

__all__ = ["comparison_tables"]


def comparison_tables(comparison: Comparison) -> Group:
    """Return a table for each system against the baseline, a confusion matrix for each pair of
    metrics, the pairs that were not compared, and the notes of the results.

    Args:
        comparison: the comparison.
    """
    title = data_name(comparison)
    parts: list[RenderableType] = []
    for system_comparison in comparison.systems:
        metric = metric_name(system_comparison.metric)
        parts += [
            heading(
                f"{title}: {metric}: {system_comparison.system} against the baseline"
                f" {system_comparison.baseline}, n = {system_comparison.n}"
            ),
            _differences_table(system_comparison, _n_resamples(comparison)),
        ]
    if comparison.systems:
        parts.append(
            Text(
                "percent; interval and p of a difference come from the same"
                f" {_n_resamples(comparison):,} paired resamples within categories: the middle 95 %"
                " of the resampled differences, and the share of them, moved to mean 0, that is as"
                " far from 0 as the observed one; near 0.05 the two can disagree. McNemar's p is"
                " exact. Nothing is corrected for multiple comparisons",
                style="italic",
            )
        )
    for system_comparison in comparison.systems:
        notes = {
            label: difference.interval.note
            for label, difference in _in_order(system_comparison.differences)
        }
        parts += [
            Text(f"{system_comparison.system}: difference in {names}: {note}")
            for note, names in names_by_note(notes).items()
        ]
    for agreement in comparison.agreements:
        parts += [
            heading(
                f"{title}: {agreement.left} (rows) and {agreement.right} (columns) on the same"
                f" translations, n = {agreement.n}"
            )
        ]
        parts += [_confusion_table(agreement), _agreement_table(agreement)]
        parts += map(
            Text,
            grouped_notes(
                {"agreement": agreement.interval.note, "kappa": agreement.kappa_interval.note}
            ),
        )
    parts += [
        Text(f"not compared: {names}: {reason}")
        for names, reason in comparison.not_compared.items()
    ]
    parts += note_lines(shared_notes(comparison.notes))
    return Group(*parts)


def _n_resamples(comparison: Comparison) -> int:
    return int(signature.parse(comparison.signature)[1]["boot"])


def _differences_table(comparison: SystemComparison, n_resamples: int) -> Table:
    table = plain_table("", comparison.baseline, comparison.system, "difference (95 %)", "p")
    for label, difference in _in_order(comparison.differences):
        table.add_row(
            Text(label),
            percent(difference.first),
            percent(difference.second),
            with_interval(difference.difference, difference.interval),
            p_text(difference.p_value, n_resamples=n_resamples),
        )
    test = comparison.mcnemar
    table.add_row(
        "only this one right",
        str(test.n_only_first),
        str(test.n_only_second),
        "McNemar",
        p_text(test.p_value),
    )
    return table


def _agreement_table(agreement: MetricAgreement) -> Table:
    table = plain_table("", "agreement % (95 %)", "kappa (95 %)")
    interval = limits(agreement.kappa_interval, digits=3)
    kappa = f"{agreement.kappa:.3f} ({interval})" if interval else f"{agreement.kappa:.3f}"
    table.add_row("correct or not", with_interval(agreement.agreement, agreement.interval), kappa)
    if len(agreement.labels) > 2:
        table.add_row(
            "verdicts", percent(agreement.verdict_agreement), f"{agreement.verdict_kappa:.3f}"
        )
    return table


def _confusion_table(agreement: MetricAgreement) -> Table:
    table = plain_table("", *agreement.labels)
    for label, row in zip(agreement.labels, agreement.confusion, strict=True):
        table.add_row(label, *map(str, row))
    return table


def _in_order(differences: Mapping[str, PairedDifference]) -> list[tuple[str, PairedDifference]]:
    """Return totals and minima, then the categories in the order of the papers, unweighted before
    weighted.
    """
    totals = {
        "accuracy": "accuracy",
        "weighted_accuracy": "weighted",
        "min_accuracy": "minimum",
        "weighted_min_accuracy": "weighted minimum",
    }
    rows = [(label, differences[name]) for name, label in totals.items() if name in differences]
    for prefix, start in (("accuracy_", ""), ("weighted_accuracy_", "weighted ")):
        names = sorted(
            (name.removeprefix(prefix) for name in differences if name.startswith(prefix)),
            key=category_key,
        )
        rows += [(f"{start}{name}", differences[f"{prefix}{name}"]) for name in names]
    return rows
