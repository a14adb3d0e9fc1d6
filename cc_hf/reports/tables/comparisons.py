"""Comparisons as tables for the terminal, with figures in percent and differences in percentage
points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from cc_hf import signature
from cc_hf.comparing.against_baseline import SystemComparison
from cc_hf.comparing.bands import Ranks
from cc_hf.comparing.systems import Comparison, MetricAgreement
from cc_hf.figure_keys import CORRECTED
from cc_hf.metrics.base import registered_metric
from cc_hf.reports.figure_text import (
    category_key,
    data_name,
    difference_p,
    figure_label,
    is_gap,
    metric_name,
    randomization_text,
    signed_percent,
    with_interval,
)
from cc_hf.reports.numbers import count, decimal, limits, p_text, percent
from cc_hf.reports.tables.base import (
    grouped_notes,
    heading,
    names_by_note,
    note_lines,
    plain_table,
    shared_notes,
)
from cc_hf.reports.what_to_cite import UNFIT
from cc_hf.statistics.paired import PairedDifference

__all__ = ["DifferenceMatrix", "comparison_tables"]

#: Largest p -> mark.
_MARKS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
_WIDTH = 13  # columns of a system; longer names are folded
_UNLIMITED = 100_000
_NAMED = 8  # ids of samples in a row of a table


def comparison_tables(comparison: Comparison) -> Group:
    """Return a table of the systems against the baseline for each metric, a confusion matrix for
    each pair of metrics, the pairs that were not compared, and the notes of the results.
    """
    title = data_name(comparison)
    parts = _systems_tables(comparison, title)
    for system_comparison in comparison.systems:
        notes = {
            label: difference.interval.note for label, difference in _in_order(system_comparison)
        }
        parts += [
            Text(f"{system_comparison.system}: difference in {names}: {note}")
            for note, names in names_by_note(notes).items()
        ]
    for agreement in comparison.agreements:
        parts += [
            heading(
                f"{title}: {agreement.left} (rows) and {agreement.right} (columns) on the same"
                f" translations, n = {agreement.n:,}"
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
    if comparison.left_out:
        lost = ", ".join(f"{n:,} of {name}" for name, n in comparison.left_out.items())
        parts.append(Text(f"not compared, since not every result has them: {lost}"))
    if comparison.right_alone:
        parts.append(_right_alone_table(comparison.right_alone))
    parts += note_lines(shared_notes(comparison.notes))
    return Group(*parts)


def _right_alone_table(alone: Mapping[str, Sequence[str]]) -> Table:
    """Return how many samples each result alone has right, with the first of them."""
    table = Table(box=None, padding=(0, 1))
    table.add_column("right by this one only")
    table.add_column("n", justify="right")
    table.add_column("such as")
    for name, ids in alone.items():
        more = ", ..." if len(ids) > _NAMED else ""
        table.add_row(Text(name), count(len(ids)), Text(f"{', '.join(ids[:_NAMED])}{more}"))
    return table


def _standing_table(ranks: Ranks, metric: str) -> list[RenderableType]:
    """Return the systems by band, and a line on what bands are."""
    table = plain_table("", "band", "rank", figure_label(metric, ranks.by))
    for name, standing in sorted(ranks.by_system.items(), key=lambda item: -item[1].accuracy):
        rank = f"{standing.first} – {standing.last}"
        table.add_row(
            Text(name.removesuffix(f":{metric}")),
            count(standing.band),
            rank if standing.first < standing.last else count(standing.first),
            percent(standing.accuracy),
        )
    on = f" on the {count(ranks.n_samples)} samples that every system reads" * ranks.is_shared
    about = (
        f"Bands by {figure_label(metric, ranks.by)}{on}: systems of a band cannot all be told"
        f" apart; p of all pairs is {'' if ranks.by.startswith(CORRECTED) else 'exact, '}corrected"
        " by Holm."
    )
    return [table, Text(about, style="italic")]


def _n_resamples(comparison: Comparison) -> int:
    return int(signature.parse(comparison.signature)[1]["boot"])


def _systems_tables(comparison: Comparison, title: str) -> list[RenderableType]:
    """Return a table of the systems for each metric, and a line on what its figures are."""
    n_resamples = _n_resamples(comparison)
    parts: list[RenderableType] = []
    by_metric: dict[str, list[SystemComparison]] = {}
    for system_comparison in comparison.systems:
        by_metric.setdefault(system_comparison.metric, []).append(system_comparison)
    unfit = {metric: _unfit(comparison, pairs) for metric, pairs in by_metric.items()}
    for metric in sorted(by_metric, key=lambda metric: bool(unfit[metric])):
        compared = [_named_by_system(pair) for pair in by_metric[metric]]
        names = ", ".join(pair.system for pair in compared)
        parts += [
            heading(
                f"{title}: {metric_name(metric)}: {names} against the baseline"
                f" {compared[0].baseline}, n = {compared[0].n:,}"
            ),
            *(Text(f"{UNFIT}: {why}", style="grey50") for why in unfit[metric]),
            (
                _differences_table(compared[0], n_resamples)
                if len(compared) == 1
                else DifferenceMatrix(compared)
            ),
        ]
        ranks = comparison.ranks.get(metric)
        if ranks is not None and len(ranks.by_system) > 2:  # of two, the table above says it
            parts += _standing_table(ranks, metric)
    if comparison.systems:
        marks = (
            f"; {', '.join(f'{mark} p < {limit}' for limit, mark in reversed(_MARKS))}"
            if any(len(compared) > 1 for compared in by_metric.values())
            else ""
        )
        parts.append(
            Text(
                "percent; intervals of differences follow from those of both systems; p comes from"
                f" {randomization_text(n_resamples)}; near 0.05 the two can disagree. McNemar's p"
                " is exact. No p is corrected for multiple comparisons"
                f"{marks}{_mistakes(comparison)}",
                style="italic",
            )
        )
    return parts


def _unfit(comparison: Comparison, pairs: Sequence[SystemComparison]) -> list[str]:
    """Return why results by a metric are not fit to be cited, with their systems unless all are."""
    names = dict.fromkeys(name for pair in pairs for name in (pair.baseline, pair.system))
    reasons = {
        name.removesuffix(f":{pairs[0].metric}"): [comparison.unfit[name]]
        if name in comparison.unfit
        else []
        for name in names
    }
    return shared_notes(reasons)


def _named_by_system(pair: SystemComparison) -> SystemComparison:
    """Return a comparison without the metric in its names, which its heading has."""
    ending = f":{pair.metric}"
    return replace(
        pair,
        baseline=pair.baseline.removesuffix(ending),
        system=pair.system.removesuffix(ending),
    )


def _mistakes(comparison: Comparison) -> str:
    """Say what corrected figures are; "" if there are none."""
    if not any(
        name.startswith(CORRECTED) for pair in comparison.systems for name in pair.differences
    ):
        return ""
    return (
        ". Corrected figures include the judge's mistakes, by trusted verdicts on a part of the"
        " translations, and their p follows from the interval"
    )


class DifferenceMatrix:
    """A matrix of figures (rows) and systems (columns), for the terminal.

    The first column is the baseline. The cell of another system has its figure, the difference from
    the baseline with a mark for its p, and the interval of the difference. Where the line is too
    short for all systems, the matrix goes on below, again with the baseline.

    Args:
        compared: comparisons by one metric with the same baseline, at least one.
    """

    def __init__(self, compared: Sequence[SystemComparison]) -> None:
        self._compared = compared

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield one table, or several where one does not fit the width."""
        n, unlimited = len(self._compared), options.update(width=_UNLIMITED)

        def width() -> int:
            return Measurement.get(console, unlimited, self._table(self._compared[:n])).maximum

        while n > 1 and width() > options.max_width:
            n -= 1
        for start in range(0, len(self._compared), n):
            yield self._table(self._compared[start : start + n])

    def _table(self, compared: Sequence[SystemComparison]) -> Table:
        first = compared[0]
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("", no_wrap=True)
        for name in (first.baseline, *(pair.system for pair in compared)):
            width = _WIDTH if name != first.baseline else None
            table.add_column(
                Text(name, overflow="fold"), justify="right", min_width=width, max_width=_WIDTH
            )
        of_pairs = [dict(_in_order(pair)) for pair in compared]
        for label, difference in max(of_pairs, key=len).items():
            cells = [_cell(pair[label]) if label in pair else "" for pair in of_pairs]
            table.add_row(Text(label), with_interval(difference.first, None), *cells)
        tests = [pair.mcnemar for pair in compared]
        table.add_row(
            "only this one right",
            "",
            *(f"{t.n_only_second:,}{_mark(t.p_value)}" for t in tests),
        )
        table.add_row("only the baseline", "", *(count(test.n_only_first) for test in tests))
        return table


def _cell(difference: PairedDifference) -> str:
    second = with_interval(difference.second, None)
    interval = limits(difference.interval)
    change = f"{signed_percent(difference.difference)}{_mark(difference.p_value)}"
    return f"{second} {change}" + (f"\n{interval}" if interval else "")


def _mark(p_value: float) -> str:
    return next((mark for limit, mark in _MARKS if p_value < limit), "")


def _differences_table(comparison: SystemComparison, n_resamples: int) -> Table:
    table = plain_table("", comparison.baseline, comparison.system, "difference (95 %)", "p")
    for label, difference in _in_order(comparison):
        table.add_row(
            Text(label),
            with_interval(difference.first, None),
            with_interval(difference.second, None),
            with_interval(difference.difference, difference.interval),
            difference_p(difference, n_resamples),
        )
    test = comparison.mcnemar
    table.add_row(
        "only this one right",
        count(test.n_only_first),
        count(test.n_only_second),
        "McNemar",
        p_text(test.p_value),
    )
    return table


def _agreement_table(agreement: MetricAgreement) -> Table:
    table = plain_table("", "agreement % (95 %)", "kappa (95 %)")
    kappa = decimal(agreement.kappa, agreement.kappa_interval, digits=3)
    table.add_row("correct or not", with_interval(agreement.agreement, agreement.interval), kappa)
    if len(agreement.labels) > 2:
        table.add_row(
            "verdicts",
            percent(agreement.verdict_agreement),
            decimal(agreement.verdict_kappa, digits=3),
        )
    return table


def _confusion_table(agreement: MetricAgreement) -> Table:
    table = plain_table("", *agreement.labels)
    for label, row in zip(agreement.labels, agreement.confusion, strict=True):
        table.add_row(label, *(count(n) for n in row))
    return table


def _in_order(comparison: SystemComparison) -> list[tuple[str, PairedDifference]]:
    """Return totals and minima, then the categories in the order of the papers, corrected before
    unweighted before weighted; each accuracy is followed by the rate of what is inconclusive.
    Differences of figures come last.
    """
    differences = comparison.differences
    totals = {
        f"{CORRECTED}accuracy": "corrected",
        f"{CORRECTED}min_accuracy": "corrected minimum",
        "accuracy": "accuracy",
        "weighted_accuracy": "weighted",
        "min_accuracy": "minimum",
        "weighted_min_accuracy": "weighted minimum",
        "inconclusive_rate": "inconclusive",
    }
    rows = [(label, differences[name]) for name, label in totals.items() if name in differences]
    for prefix, start in (
        (f"{CORRECTED}accuracy_", "corrected "),
        ("accuracy_", ""),
        ("weighted_accuracy_", "weighted "),
    ):
        names = sorted(
            (name.removeprefix(prefix) for name in differences if name.startswith(prefix)),
            key=lambda name: (category_key(name)[0], name != "pro", name),
        )
        for name in names:
            rows.append((f"{start}{name}", differences[f"{prefix}{name}"]))
            if not start and (rate := differences.get(f"inconclusive_rate_{name}")):
                rows.append((f"inconclusive {name}", rate))
    declared = registered_metric(comparison.metric)
    shares = declared.compared_shares if declared else {}
    rows += [
        (figure_label(comparison.metric, name).partition(",")[0], differences[name])
        for name in differences
        if is_gap(comparison.metric, name) or name in shares
    ]
    return rows
