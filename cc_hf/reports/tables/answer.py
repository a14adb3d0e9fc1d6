"""The answer to several systems on one screen: what was found, the systems side by side with what
differs, and what to cite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from textwrap import shorten

from cc_hf import signature
from cc_hf.comparing.systems import Comparison
from cc_hf.figure_keys import is_corrected
from cc_hf.metrics.base import registered_metric
from cc_hf.metrics.headline import Headline, headline
from cc_hf.reports.figure_text import (
    column_label,
    data_name,
    difference_p,
    figure_label,
    metric_name,
    signed_percent,
)
from cc_hf.reports.findings import findings, most_split
from cc_hf.reports.highlights import attributes
from cc_hf.reports.numbers import limits, percent
from cc_hf.reports.report import Report, build_report, fit_first
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.reports.report_tables import figure_cell
from cc_hf.reports.samples import ReportedSystem
from cc_hf.reports.tables.base import result_table, shared_notes, unmarked_lines
from cc_hf.reports.tables.scores import results_of
from cc_hf.reports.what_to_cite import UNFIT, why_unfit
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Example
from cc_hf.statistics.paired import PairedDifference

__all__ = ["answer", "compared_report", "displayed", "figure_lines", "report_of"]

_WOMEN_AND_MEN = {"female": "women", "male": "men"}
_MOST_FINDINGS, _MOST_NOTES = 2, 3
_WIDTH = 73  # of a note on a line of 80


def report_of(
    outcomes: Iterable[EvaluationResult | ResultSet],
    examples: Sequence[Example] | None,
    *,
    notes: Sequence[str] = (),
) -> Report:
    """Return the report of evaluated systems, the first of which is the baseline; `examples` is
    None for rows of the user's own.
    """
    systems = []
    for outcome in outcomes:
        results = results_of(outcome)
        name = results[0].system or "system"
        systems.append(ReportedSystem(name, {r.metric: r for r in results}))
    return build_report(systems, examples=examples, notes=notes)


def compared_report(comparison: Comparison, results: Mapping[str, EvaluationResult]) -> Report:
    """Return the report of systems that were compared already, without their samples."""
    of_systems: dict[str, dict[str, EvaluationResult]] = {}
    for name, result in results.items():
        system = name.removesuffix(f":{result.metric}")
        of_systems.setdefault(system, {})[result.metric] = result
    systems = [ReportedSystem(name, of_system) for name, of_system in of_systems.items()]
    metrics = fit_first(systems)
    return Report(
        systems=tuple(systems),
        baseline=systems[0].name,
        metrics=metrics,
        judging=metrics,
        categories=tuple({c.category: 0 for r in results.values() for c in r.categories}),
        samples=(),
        comparisons={
            (c.metric, c.system.removesuffix(f":{c.metric}")): c for c in comparison.systems
        },
        agreements=(),
        notes=(),
        cautions=tuple(shared_notes(comparison.notes)),
        signature=comparison.signature,
        n_resamples=int(signature.parse(comparison.signature)[1]["boot"]),
        ranks={
            metric: replace(
                ranks,
                by_system={
                    name.removesuffix(f":{metric}"): standing
                    for name, standing in ranks.by_system.items()
                },
            )
            for metric, ranks in comparison.ranks.items()
        },
    )


def figure_lines(report: Report) -> Iterator[str]:
    """Yield the figure that ranks each system by the first metric, in percent; "-" for none."""
    for result in report.of_metric(report.metrics[0]).values():
        by = headline(result).by
        yield percent(result.scores[by]) if by in result.scores else "-"


def displayed(outcome: EvaluationResult | ResultSet) -> Iterator[Piece]:
    """Yield what Python and notebooks show of one system."""
    results = results_of(outcome)
    if any(result.scores for result in results):
        # Without the data, which may have to be downloaded.
        yield from answer(report_of([outcome], None), in_terminal=False)
        return
    for result in results:
        yield from result_table(result)


def answer(report: Report, *, in_terminal: bool = True) -> Iterator[Piece]:
    """Yield what a reader of several systems asks first: of many metrics the first, whose figures
    may be cited if any may, and the first that judges by an evaluator.
    """
    first = report.first
    yield from unmarked_lines(r for system in report.systems for r in system.results.values())
    of_each = " of each system" * (len(report.systems) > 1)
    # Without translations, it is the evaluator that was judged.
    is_scored = signature.parse(first.signature)[1].get("sys") == "scored"
    judged = "examples" if is_scored else "translations"
    yield Line(f"{data_name(first)}: {first.n:,} {judged}{of_each}", "title")
    sentences = findings(report, most_split(report, attributes(report)))
    for sentence in sentences[:_MOST_FINDINGS]:
        yield Line(sentence, "item")
    by_evaluator = (m for m in report.metrics if registered_metric(m).takes_evaluator)
    # Where words alone may be cited, what the judge says is shown beside them.
    metrics = [*dict.fromkeys((report.metrics[0], *islice(by_evaluator, 1)))]
    for metric in metrics:
        yield _systems(report, metric)
    n_unfit = sum(any(why_unfit(r) for r in s.results.values()) for s in report.systems)
    if 0 < n_unfit < len(report.systems):
        yield from (Line(f"{UNFIT}: {why}", "unfit") for why in report.unfit)
    if report.cited is not None:
        style = "unfit" if report.cited.why_not else "green"
        yield Line.named("What to cite: ", " ".join(report.cited.sentences[:2]), style)
    for metric in metrics:
        yield f"signature: {_shared([r.signature for r in report.of_metric(metric).values()])}"
    for note in report.cautions[:_MOST_NOTES]:
        yield Line.named("note: ", shorten(note, _WIDTH, placeholder=" ..."), "alert")
    if others := [metric_name(metric) for metric in report.metrics if metric not in metrics]:
        yield f"{'-v also shows' if in_terminal else 'also judged by'} {', '.join(others)}"
    elif report.cautions and in_terminal:
        yield "-v shows all notes, categories and counts"


def _systems(report: Report, metric: str) -> ReportTable:
    """Return the figures to cite of each system, with their intervals, and p of the difference to
    the baseline in the figure that ranks.
    """
    results = report.of_metric(metric)
    said = _said(results)
    words = {figure.name: _WOMEN_AND_MEN.get(figure.category, "") for figure in said.cited}
    words |= {said.gap: "gap"} if said.gap else {said.by: ""} if said.by else {}
    if not is_corrected(said.by) and any("neither_share" in r.scores for r in results.values()):
        words["neither_share"] = "neither"
    rows = [
        [system, *(_figure(report, metric, system, name) for name in words)] for system in results
    ]
    labels = [word or column_label(metric, name, words) for name, word in words.items()]
    compared = {system: report.comparisons.get((metric, system)) for system in results}
    differences = {
        system: of_system.differences[said.by]
        for system, of_system in compared.items()
        if of_system is not None and said.by in of_system.differences
    }
    captions = [f"{metric_name(metric)}{_levels(results)}, percent"]
    if differences:
        for row in rows:
            difference = differences.get(str(row[0]))
            row.append(difference_p(difference, report.n_resamples) if difference else "")
        labels.append("p")
        captions += _difference_texts(report, metric, differences)
    return ReportTable.of("", ("", *labels), rows, "; ".join(captions))


def _said(results: Mapping[str, EvaluationResult]) -> Headline:
    """Return what is said of the figures that all systems have."""
    of_systems = [headline(result) for result in results.values()]
    return next(
        (
            said
            for said in of_systems
            if all({f.name for f in said.cited} <= r.scores.keys() for r in results.values())
        ),
        of_systems[0],
    )


def _levels(results: Mapping[str, EvaluationResult]) -> str:
    """Return the level of the judge in brackets; of each system where they differ."""
    levels = {system: result.level for system, result in results.items()}
    if len({*levels.values()}) == 1:
        level = next(iter(levels.values()))
        return f" ({level})" if level else ""
    return f" ({', '.join(f'{system}: {level}' for system, level in levels.items())})"


def _difference_texts(
    report: Report, metric: str, differences: Mapping[str, PairedDifference]
) -> Iterator[str]:
    """Yield what p is of, and of two systems how much they differ."""
    label = figure_label(metric, _said(report.of_metric(metric)).by)
    about = f"p: {label} against {report.baseline}"
    if len(differences) == 1:
        (difference,) = differences.values()
        interval = limits(difference.interval)
        about += f", {signed_percent(difference.difference)}{f' ({interval})' * bool(interval)}"
    yield about


def _figure(report: Report, metric: str, system: str, name: str) -> str:
    cell = figure_cell(report, metric, system, name)
    # Without the spaces, three figures and p are as wide as a terminal.
    has_interval = cell.interval and name != "neither_share"
    return f"{cell.value} ({cell.interval.replace(' – ', '–')})" if has_interval else cell.value


def _shared(texts: Sequence[str]) -> str:
    (metric, first), *others = (signature.parse(text) for text in texts)
    # Fields that differ between systems are dots; which they are, JSON and -v say.
    kept = {
        key: value if all(fields.get(key) == value for _, fields in others) else "..."
        for key, value in first.items()
    }
    kept |= {key: "..." for _, fields in others for key in fields if key not in first}
    return signature.unparse(metric, kept)
