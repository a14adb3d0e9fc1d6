"""What `cc-hf compare` shows, as tables: figures in percent, differences in percentage points;
correlations are not scaled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cc_hf import signature
from cc_hf.comparing.against_baseline import SystemComparison
from cc_hf.comparing.bands import Ranks
from cc_hf.comparing.gate import Gate, GateFigure
from cc_hf.comparing.metrics import EvaluatorAgreement
from cc_hf.comparing.systems import Comparison, MetricAgreement
from cc_hf.comparing.uncertain import UncertainSamples
from cc_hf.figure_keys import CORRECTED, category_name, figure_key, is_corrected
from cc_hf.metrics.base import registered_metric
from cc_hf.metrics.open_choice import counted_share
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
from cc_hf.reports.report_parts import Cell, Line, Piece, ReportTable
from cc_hf.reports.tables.base import (
    grouped_notes,
    names_by_note,
    note_lines,
    shared_notes,
    unfit_reasons,
)
from cc_hf.reports.what_to_cite import UNFIT
from cc_hf.results import EvaluationResult, NoInterval
from cc_hf.statistics.paired import PairedDifference
from cc_hf.statistics.shares import wilson_share

__all__ = [
    "comparison_tables",
    "evaluator_agreement_tables",
    "gate_tables",
    "uncertain_tables",
]

_SIGNIFICANT = 0.05
_NAMED = 8  # ids of samples in a row of a table


def comparison_tables(comparison: Comparison) -> Iterator[Piece]:
    """Yield a table of the systems against the baseline for each metric, a confusion matrix for
    each pair of metrics, the pairs that were not compared, and the notes of the results.
    """
    title = data_name(comparison)
    yield from _systems_tables(comparison, title)
    for system_comparison in comparison.systems:
        notes = {
            label: difference.interval.note for label, difference in _in_order(system_comparison)
        }
        for note, names in names_by_note(notes).items():
            yield f"{system_comparison.system}: difference in {names}: {note}"
    for agreement in comparison.agreements:
        yield from _agreement_tables(agreement, title)
    for names, reason in comparison.not_compared.items():
        yield f"not compared: {names}: {reason}"
    if comparison.left_out:
        lost = ", ".join(f"{n:,} of {name}" for name, n in comparison.left_out.items())
        yield f"not compared, since not every result has them: {lost}"
    if comparison.right_alone:
        yield _right_alone_table(comparison.right_alone)
    yield from note_lines(shared_notes(comparison.notes))


def _right_alone_table(alone: Mapping[str, Sequence[str]]) -> ReportTable:
    """Return how many samples each result alone has right, with the first of them."""
    columns = ("right by this one only", "n", "such as")
    rows = [
        (name, count(len(ids)), ", ".join([*ids[:_NAMED], *["..."] * (len(ids) > _NAMED)]))
        for name, ids in alone.items()
    ]
    return ReportTable.of("", columns, rows, words=columns[2:])


def _standing_table(ranks: Ranks, metric: str) -> ReportTable:
    """Return the systems by band, and what bands are."""
    figure = figure_label(metric, ranks.by)
    rows = [
        (
            name.removesuffix(f":{metric}"),
            count(standing.band),
            " – ".join(map(count, dict.fromkeys((standing.first, standing.last)))),
            percent(standing.accuracy),
        )
        for name, standing in sorted(ranks.by_system.items(), key=lambda item: -item[1].accuracy)
    ]
    on = f" on the {count(ranks.n_samples)} samples that every system reads" * ranks.is_shared
    about = (
        f"Bands by {figure}{on}: systems of a band cannot all be told"
        f" apart; p of all pairs is {'' if is_corrected(ranks.by) else 'exact, '}corrected"
        " by Holm."
    )
    return ReportTable.of("", ("", "band", "rank", figure), rows, about)


def _systems_tables(comparison: Comparison, title: str) -> Iterator[Piece]:
    """Yield a table of the systems for each metric, and a line on what its figures are."""
    n_resamples = int(signature.parse(comparison.signature)[1]["boot"])
    by_metric: dict[str, list[SystemComparison]] = {}
    for system_comparison in comparison.systems:
        by_metric.setdefault(system_comparison.metric, []).append(system_comparison)
    unfit = {metric: _unfit(comparison, pairs) for metric, pairs in by_metric.items()}
    # What may be cited comes first; the sort is stable, so that the rest keeps its order.
    for metric in sorted(by_metric, key=lambda metric: bool(unfit[metric])):
        pairs = by_metric[metric]
        of_pairs = (pairs[0].baseline, *(pair.system for pair in pairs))
        baseline, *systems = (name.removesuffix(f":{metric}") for name in of_pairs)
        own_columns = ("difference (95 %)", "p") if len(pairs) == 1 else ()
        yield ReportTable.of(
            f"{title}: {metric_name(metric)}: {', '.join(systems)} against the baseline"
            f" {baseline}, n = {pairs[0].n:,}",
            ("", baseline, *systems, *own_columns),
            _differences(pairs, n_resamples),
            lead="\n".join(f"{UNFIT}: {why}" for why in unfit[metric]),
            n_repeated=1,
        )
        ranks = comparison.ranks.get(metric)
        if ranks is not None and len(ranks.by_system) > 2:  # of two, the table above says it
            yield _standing_table(ranks, metric)
    if comparison.systems:
        figures = {name for pair in comparison.systems for name in pair.differences}
        mistakes = (
            ". Corrected figures include the judge's mistakes, by trusted verdicts on a part of the"
            " translations, and their p follows from the interval"
        ) * any(map(is_corrected, figures))
        marks = "; * p < 0.05" * any(len(pairs) > 1 for pairs in by_metric.values())
        yield Line(
            "percent; intervals of differences follow from those of both systems; p comes from"
            f" {randomization_text(n_resamples)}; near 0.05 the two can disagree. McNemar's p"
            f" is exact. No p is corrected for multiple comparisons{marks}{mistakes}",
            "about",
        )


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


def _differences(
    compared: Sequence[SystemComparison], n_resamples: int
) -> Iterator[list[str | Cell]]:
    """Yield the figures of the baseline and of the systems, with their differences."""
    # Old files lack some figures: their cells stay empty, and no row is lost.
    of_pairs = [dict(_in_order(pair)) for pair in compared]
    for label, difference in max(of_pairs, key=len).items():
        cells = [
            _cell(of_pair[label], n_resamples) if label in of_pair else Cell("")
            for of_pair in of_pairs
        ]
        shown = _apart(cells[0]) if len(cells) == 1 else cells
        yield [label, with_interval(difference.first, None), *shown]
    tests = [pair.mcnemar for pair in compared]
    rights = [
        Cell(
            count(test.n_only_second),
            difference="McNemar",
            p=p_text(test.p_value),
            is_significant=test.p_value < _SIGNIFICANT,
        )
        for test in tests
    ]
    is_single = len(compared) == 1
    shown = _apart(rights[0]) if is_single else rights
    yield ["only this one right", count(tests[0].n_only_first) if is_single else "", *shown]
    if not is_single:
        yield ["only the baseline", "", *(count(test.n_only_first) for test in tests)]


def _apart(cell: Cell) -> list[Cell]:
    """Return the figure of a single system, its difference and p, for columns of their own."""
    return [Cell(cell.value), Cell(cell.difference), Cell(cell.p)]


def _cell(difference: PairedDifference, n_resamples: int) -> Cell:
    interval = limits(difference.interval)
    return Cell(
        with_interval(difference.second, None),
        difference=signed_percent(difference.difference) + (f" ({interval})" if interval else ""),
        p=difference_p(difference, n_resamples),
        is_significant=difference.p_value < _SIGNIFICANT,
    )


def _agreement_tables(agreement: MetricAgreement, title: str) -> Iterator[Piece]:
    cells = zip(agreement.labels, agreement.confusion, strict=True)
    yield ReportTable.of(
        f"{title}: {agreement.left} (rows) and {agreement.right} (columns) on the same"
        f" translations, n = {agreement.n:,}",
        ("", *agreement.labels),
        [(label, *map(count, row)) for label, row in cells],
    )
    kappa = decimal(agreement.kappa, agreement.kappa_interval, digits=3)
    rows = [("correct or not", with_interval(agreement.agreement, agreement.interval), kappa)]
    if len(agreement.labels) > 2:
        verdict_kappa = decimal(agreement.verdict_kappa, digits=3)
        rows.append(("verdicts", percent(agreement.verdict_agreement), verdict_kappa))
    yield ReportTable.of("", ("", "agreement % (95 %)", "kappa (95 %)"), rows)
    yield from grouped_notes(
        {"agreement": agreement.interval.note, "kappa": agreement.kappa_interval.note}
    )


def _in_order(comparison: SystemComparison) -> list[tuple[str, PairedDifference]]:
    """Return totals and minima, the categories in the order of the papers, then differences."""
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
    keys = sorted(
        (key for key in map(figure_key, differences) if key.category),
        key=lambda key: (category_key(key.category)[0], key.category != "pro", key.category),
    )
    for start, name, reference in (
        ("corrected ", "accuracy", CORRECTED),
        ("", "accuracy", ""),
        ("weighted ", "weighted_accuracy", ""),
    ):
        for key in keys:
            if (key.name, key.reference) != (name, reference):
                continue
            label = figure_label(comparison.metric, f"accuracy_{key.category}").removeprefix(
                "accuracy on "
            )
            rows.append((f"{start}{label}", differences[str(key)]))
            rate = differences.get(str(key._replace(name="inconclusive_rate")))
            if rate is not None and not start:
                rows.append((f"inconclusive {label}", rate))
    shares = registered_metric(comparison.metric).figure_names
    rows += [
        (figure_label(comparison.metric, name).partition(",")[0], differences[name])
        for name in differences
        if is_gap(comparison.metric, name) or (name in shares and shares[name].counts)
    ]
    return rows


def gate_tables(decided: Gate) -> list[Piece]:
    """Return the decision, a row for each figure, those that decide first, and what the columns
    are.
    """
    order = ("fail", "cannot tell", "pass")
    rows = [
        (
            f"{metric_name(figure.metric)}: {figure_label(figure.metric, figure.figure)}",
            count(figure.n),
            percent(figure.baseline),
            percent(figure.system),
            signed_percent(figure.system - figure.baseline),
            signed_percent(figure.low),
            p_text(figure.p_value),
            _verdict(figure),
        )
        for figure in sorted(decided.figures, key=lambda f: (not f.decides, order.index(f.verdict)))
    ]
    margins = " and ".join(f"{100 * m:g}" for m in dict.fromkeys(f.margin for f in decided.figures))
    shared = "; only samples that both systems read" * decided.is_shared
    table = ReportTable.of(
        f"gate: {decided.verdict}",
        ("", "n", decided.baseline, decided.system, "change", "not below", "p", ""),
        rows,
        f"percent; tolerated: a drop of {margins} points; not below: one-sided limit of the"
        " change; p: of a drop beyond what is tolerated, corrected by Holm; figures in brackets"
        f" close nothing unless they fail{shared}",
        words=("",),
    )
    return [table, f"signature: {decided.signature}"]


def _verdict(figure: GateFigure) -> str:
    text: str = figure.verdict
    if figure.verdict == "cannot tell":
        text += f": about {figure.n_needed:,} samples are needed"
    return text if figure.decides or figure.verdict == "fail" else f"({text})"


def evaluator_agreement_tables(agreement: EvaluatorAgreement) -> Iterator[Piece]:
    """Yield the figure of each system by each evaluator, and the rank correlations of pairs."""
    yield ReportTable.of(
        f"{agreement.figure.replace('_', ' ')} of {len(agreement.systems)} systems by"
        f" {len(agreement.evaluators)} evaluators",
        ("system", *agreement.evaluators),
        [
            (system, *(percent(agreement.scores[name][index]) for name in agreement.evaluators))
            for index, system in enumerate(agreement.systems)
        ],
    )
    rows: list[tuple[str, ...]] = []
    notes = {}
    for pair in agreement.pairs:
        names, correlation = f"{pair.left} and {pair.right}", pair.correlation
        intervals = correlation.spearman_interval, correlation.kendall_interval
        spearman = decimal(correlation.spearman, intervals[0], digits=3)
        rows.append((names, spearman, decimal(correlation.kendall, intervals[1], digits=3)))
        for name, interval in zip(("Spearman", "Kendall"), intervals, strict=True):
            if isinstance(interval, NoInterval):
                notes[f"{names} ({name})"] = interval.note
    means = (decimal(m, digits=3) for m in (agreement.mean_spearman, agreement.mean_kendall))
    rows += [(), ("mean over pairs", *means)]
    columns = ("", "Spearman (95 %)", "Kendall (95 %)")
    yield ReportTable.of("", columns, rows, "intervals by bootstrap over systems")
    if n := max(pair.correlation.n_undefined for pair in agreement.pairs):
        yield (
            f"up to {n} resamples had no order and were ignored in an interval, because there"
            " are few systems"
        )
    yield from grouped_notes(notes)


def uncertain_tables(
    uncertain: UncertainSamples, result: EvaluationResult, *, n_shown: int
) -> Iterator[Piece]:
    """Yield numbers of uncertain samples by category, and the samples, the least sure first."""
    low, high = (percent(0.5 + sign * uncertain.within) for sign in (-1, 1))
    shares = sorted(uncertain.categories.items(), key=lambda row: category_key(row[0]))
    shares.append(("total", wilson_share(len(uncertain.samples), uncertain.n)))
    rows = [
        (
            category_name(name),
            count(share.n),
            count(share.k),
            with_interval(share.value, share.interval),
        )
        for name, share in shares
    ]
    counted = counted_share(result).rpartition("_")[0] or "correct"
    yield ReportTable.of(
        f"{data_name(result)}: {metric_name(result.metric)}",
        ("category", "samples", "uncertain", "% (95 %)"),
        rows,
        f"uncertain: a probability of the {counted} reading from {low} to {high} %. Such a"
        " translation may be neutral, may lack the word, or the evaluator may not know it",
        lead="\n".join(unfit_reasons([("", result)])),
    )
    for sample in uncertain.samples[:n_shown]:
        facts = [f"{percent(sample.probability_correct)} %", category_name(sample.category)]
        facts += [f"{metric_name(m)}: {r}" for m, r in sample.readings.items() if r]
        yield Line(f"\n{sample.example_id}: {', '.join(facts)}", "bold")
        yield from filter(None, (sample.source, sample.translation))
    if len(uncertain.samples) > n_shown:
        yield f"\nand {len(uncertain.samples) - n_shown:,} more"
