"""How much evaluators agree on the order of systems, as tables for the terminal. Correlations are
not scaled.
"""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from cc_hf.comparing.metrics import EvaluatorAgreement
from cc_hf.reports.numbers import decimal, percent
from cc_hf.reports.tables.base import grouped_notes, heading, numbered_columns, plain_table
from cc_hf.results import NoInterval

__all__ = ["evaluator_agreement_tables"]


def evaluator_agreement_tables(agreement: EvaluatorAgreement) -> Group:
    """Return the figure of each system by each evaluator, and the rank correlations of pairs."""
    column_names = numbered_columns(agreement.evaluators)
    figures = plain_table("system", *column_names.values())
    for index, system in enumerate(agreement.systems):
        figures.add_row(
            Text(system), *(percent(agreement.scores[name][index]) for name in agreement.evaluators)
        )
    table = plain_table("", "Spearman (95 %)", "Kendall (95 %)")
    for pair in agreement.pairs:
        correlation = pair.correlation
        table.add_row(
            Text(f"{column_names[pair.left]} and {column_names[pair.right]}"),
            decimal(correlation.spearman, correlation.spearman_interval, digits=3),
            decimal(correlation.kendall, correlation.kendall_interval, digits=3),
        )
    table.add_section()
    table.add_row(
        Text("mean over pairs"),
        *(decimal(mean, digits=3) for mean in (agreement.mean_spearman, agreement.mean_kendall)),
    )
    notes = [Text(f"{short}: {name}") for name, short in column_names.items() if short != name]
    notes.append(Text("intervals by bootstrap over systems", style="italic"))
    if n := max(pair.correlation.n_undefined for pair in agreement.pairs):
        notes.append(
            Text(
                f"up to {n} resamples had no order and were ignored in an interval, because there"
                " are few systems"
            )
        )
    without = {
        f"{column_names[pair.left]} and {column_names[pair.right]} ({name})": interval.note
        for pair in agreement.pairs
        for name, interval in (
            ("Spearman", pair.correlation.spearman_interval),
            ("Kendall", pair.correlation.kendall_interval),
        )
        if isinstance(interval, NoInterval)
    }
    notes += map(Text, grouped_notes(without))
    return Group(
        heading(
            f"{agreement.figure.replace('_', ' ')} of {len(agreement.systems)} systems by"
            f" {len(agreement.evaluators)} evaluators"
        ),
        figures,
        table,
        *notes,
    )
