"""Comparisons as tables for the terminal, with figures in percent and differences in percentage
points.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cc_hf.reports.figure_text import category_key, limits, p_text, percent, with_interval
from cc_hf.reports.tables import grouped_notes, heading, note_lines, plain_table, shared_notes
from cc_hf.statistics.paired import PairedDifference
from cc_hf.studies.comparison import Comparison, MetricAgreement, SystemComparison

__all__ = ["comparison_tables"]


def comparison_tables(found: Comparison) -> Group:
    """Return a table for each system against the baseline, a confusion matrix for each pair of
    metrics, the pairs that were not compared, and the notes of the results.

    Args:
        found: the comparison.
    """
    title = " ".join(part for part in (found.dataset, found.config, found.tgt_lang) if part)
    parts: list[RenderableType] = []
    for one in found.systems:
        metric = one.metric.replace("_", " ")
        parts += [
            heading(
                f"{title}: {metric}: {one.system} (system) against {one.baseline} (baseline), n ="
                f" {one.n}"
            ),
            _differences_table(one),
        ]
    if found.systems:
        parts.append(
            Text(
                "percent; intervals and p by paired bootstrap within categories, McNemar's p exact;"
                " not corrected for several comparisons",
                style="italic",
            )
        )
    for one in found.systems:
        notes = {
            label: difference.interval.note for label, difference in _in_order(one.differences)
        }
        parts += [Text(f"{one.system}: difference: {note}") for note in grouped_notes(notes)]
    for agreement in found.agreements:
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
        Text(f"not compared: {names}: {reason}") for names, reason in found.not_compared.items()
    ]
    parts += note_lines(shared_notes(found.notes))
    return Group(*parts)


def _differences_table(found: SystemComparison) -> Table:
    table = plain_table("", "baseline", "system", "difference (95 %)", "p")
    for label, one in _in_order(found.differences):
        table.add_row(
            Text(label),
            percent(one.first),
            percent(one.second),
            with_interval(one.difference, one.interval),
            p_text(one.p_value),
        )
    test = found.mcnemar
    table.add_row(
        "only this one right",
        str(test.n_only_first),
        str(test.n_only_second),
        "McNemar",
        p_text(test.p_value),
    )
    return table


def _agreement_table(found: MetricAgreement) -> Table:
    table = plain_table("", "agreement % (95 %)", "kappa (95 %)")
    interval = limits(found.kappa_interval, digits=3)
    kappa = f"{found.kappa:.3f} ({interval})" if interval else f"{found.kappa:.3f}"
    table.add_row("correct or not", with_interval(found.agreement, found.interval), kappa)
    if len(found.labels) > 2:
        table.add_row("verdicts", percent(found.verdict_agreement), f"{found.verdict_kappa:.3f}")
    return table


def _confusion_table(found: MetricAgreement) -> Table:
    table = plain_table("", *found.labels)
    for label, row in zip(found.labels, found.confusion, strict=True):
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
