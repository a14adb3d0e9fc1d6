"""Comparisons as tables for the terminal. Figures in percent, differences in percentage points."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cc_hf.analysis.comparison import Comparison, MetricAgreement, SystemComparison
from cc_hf.reports.tables import category_key, percent, with_interval
from cc_hf.statistics.paired import PairedDifference

__all__ = ["comparison_tables"]


def comparison_tables(found: Comparison) -> Group:
    """Per metric a table of systems against the baseline; one table of agreements, and a confusion for each; what was not compared."""
    title = " ".join(part for part in (found.dataset, found.config, found.tgt_lang) if part)
    parts: list[RenderableType] = []
    for metric, systems in itertools.groupby(found.systems, key=lambda s: s.metric):
        parts.append(_systems_table(f"{title}: {metric.replace('_', ' ')}", list(systems)))
        parts.append(Text("percent; intervals and p by paired bootstrap within categories, p of McNemar exact; no correction for several systems", style="italic"))
    if found.agreements:
        parts.append(_agreements_table(f"{title}: agreement on the same translations", found.agreements))
        parts += [_confusion_table(agreement) for agreement in found.agreements]
    parts += [Text(f"not compared: {names}: {reason}") for names, reason in found.not_compared.items()]
    return Group(*parts)


def _systems_table(title: str, systems: list[SystemComparison]) -> Table:
    table = _table(f"{title}, against {systems[0].baseline} (n = {systems[0].n})", ("",), (systems[0].baseline, "system", "difference (95 %)", "p"))
    for found in systems:
        table.add_row(Text(found.system, style="bold"))
        for label, one in _in_order(found.differences):
            table.add_row(Text(f"  {label}"), percent(one.first), percent(one.second), with_interval(one.difference, one.interval), _p(one.p_value))
        test = found.mcnemar
        table.add_row("  only this one right", str(test.n_only_first), str(test.n_only_second), "McNemar", _p(test.p_value))
        table.add_section()
    return table


def _agreements_table(title: str, agreements: tuple[MetricAgreement, ...]) -> Table:
    table = _table(title, ("",), ("n", "agreement (95 %)", "kappa (95 %)"))
    for found in agreements:
        kappa = f"{found.kappa:.3f} ({found.kappa_interval.low:.3f} – {found.kappa_interval.high:.3f})"
        table.add_row(Text(f"{found.left} and {found.right}"), str(found.n), with_interval(found.agreement, found.interval), kappa)
        if len(found.labels) > 2:
            table.add_row("  with inconclusive as a verdict", "", percent(found.verdict_agreement), f"{found.verdict_kappa:.3f}")
    return table


def _confusion_table(found: MetricAgreement) -> Table:
    table = _table(f"rows {found.left}, columns {found.right}", ("",), found.labels)
    for label, row in zip(found.labels, found.confusion, strict=True):
        table.add_row(label, *map(str, row))
    return table


def _in_order(differences: Mapping[str, PairedDifference]) -> list[tuple[str, PairedDifference]]:
    """Totals, minima, then the categories as the papers list them; plain before weighted."""
    totals = {"accuracy": "accuracy", "weighted_accuracy": "weighted", "min_accuracy": "minimum", "weighted_min_accuracy": "weighted minimum"}
    rows = [(label, differences[name]) for name, label in totals.items() if name in differences]
    for prefix, start in (("accuracy_", ""), ("weighted_accuracy_", "weighted ")):
        names = sorted((name.removeprefix(prefix) for name in differences if name.startswith(prefix)), key=category_key)
        rows += [(f"{start}{name}", differences[f"{prefix}{name}"]) for name in names]
    return rows


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _table(title: str, names: tuple[str, ...], numbers: tuple[str, ...]) -> Table:
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD)
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(Text(name, overflow="fold"), justify="right")
    return table
