"""What `cc-hf evaluate` and `cc-hf score` show: tables, warnings and notes of results, BLEU and
chrF of systems, and other metrics beside a judge. Correlations are not scaled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from cc_hf import signature
from cc_hf.comparing.segments import PairFigures, SegmentFigures
from cc_hf.reports.evaluators import level_text
from cc_hf.reports.figure_text import metric_name, with_interval
from cc_hf.reports.numbers import count, decimal, p_text, percent
from cc_hf.reports.report_parts import Piece, ReportTable
from cc_hf.reports.tables.base import result_table, results_table
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Example
from cc_hf.statistics.corpus_quality import CorpusQuality
from cc_hf.text.unusable import unrelated_lengths, unusable_texts

__all__ = [
    "evaluation_notes",
    "evaluation_tables",
    "evaluation_warnings",
    "not_run_notes",
    "pair_table",
    "quality_table",
    "results_of",
    "segment_table",
]

#: How the metric counts ties -> the question that many ties raise.
_TIES = {
    "correct": "does the evaluator see the cues?",
    "incorrect": "are the evaluator's scores fine enough?",
}
#: Count -> what its translations are.
_COUNTED = {
    "n_untranslated": "are refusals or placeholders, and are not right",
    "n_wrapped": "stand in text that is no translation (--clean removes it)",
    "n_without_separator": "do not contain the separator, and were judged as a whole",
    "n_too_long": "are too long for the evaluator and count as incorrect",
}


def results_of(outcome: EvaluationResult | ResultSet) -> tuple[EvaluationResult, ...]:
    """Return the results of one metric or of several."""
    return outcome.results if isinstance(outcome, ResultSet) else (outcome,)


def evaluation_tables(outcomes: Iterable[EvaluationResult | ResultSet]) -> Iterator[Piece]:
    """Yield the tables and signatures of each system; a note that several have is shown once."""
    shown: set[str] = set()
    for outcome in outcomes:
        results = tuple(
            replace(result, notes=tuple(note for note in result.notes if note not in shown))
            for result in results_of(outcome)
        )
        is_set = isinstance(outcome, ResultSet)
        yield from results_table(ResultSet(results)) if is_set else result_table(results[0])
        for result in results:
            shown.update(result.notes)
            yield f"signature: {result.signature}"
            if level := level_text(result):
                yield level


def evaluation_warnings(
    results: Sequence[EvaluationResult], examples: Sequence[Example]
) -> Iterator[str]:
    """Yield what may be wrong with the translations or the evaluator.

    Args:
        examples: those with whose sources the lengths of translations are compared; none for
            translations that were made from them.
    """
    result = results[0]  # the translations are the same for all metrics
    most = {name: max(r.counts.get(name, 0) for r in results) for name in ("n_blank", *_COUNTED)}
    most["n_blank"] -= most["n_untranslated"]
    is_from_file = "sys" not in signature.parse(result.signature)[1]
    for unusable in unusable_texts({**result.counts, "n_blank": most["n_blank"]}, result.n):
        yield f"{unusable}; is this the right file?" if is_from_file else unusable
    for name, what in _COUNTED.items():
        if most[name]:
            yield f"{most[name]:,} of {result.n:,} translations {what}"
    for result in results:
        if ties := result.unfit.get("ties"):
            question = _TIES.get(result.ties or "")
            yield "; ".join(filter(None, (f"{metric_name(result.metric)}: {ties}", question)))
    if examples:
        yield from _unrelated(results, examples)


def _unrelated(results: Sequence[EvaluationResult], examples: Sequence[Example]) -> Iterator[str]:
    """Yield a warning if the translations seem to be those of other sentences."""
    sources = {example.id: example.source for example in examples}
    judgements = next((result.judgements for result in results if result.judgements), ())
    pairs = [(sources.get(j.example_id, ""), j.translation) for j in judgements]
    if (r := unrelated_lengths(pairs)) is not None:
        yield (
            f"the lengths of {len(pairs):,} translations and their sources hardly go together (r ="
            f" {r:.2f}; those of the same sentences have about 0.6 or more): are these the"
            " translations of these sentences, in this order?"
        )


def evaluation_notes(results: Sequence[EvaluationResult]) -> Iterator[str]:
    """Yield what is as it should be, but may surprise."""
    counts = results[0].counts
    if unused := counts.get("n_unused_lines"):
        yield (
            f"{unused:,} of {counts['n_lines']:,} lines do not belong to the examples that were"
            " judged and were not used"
        )


def not_run_notes(not_run: Mapping[str, str]) -> Iterator[str]:
    """Yield what metrics lacked, once for all that lacked the same."""
    lacking: dict[str, list[str]] = {}
    for metric, reason in not_run.items():
        lacking.setdefault(reason.removeprefix(f"{metric}: "), []).append(metric_name(metric))
    for reason, names in lacking.items():
        yield f"not run: {', '.join(names)}: {reason}"


_NAMES = {"bleu": "BLEU", "chrf": "chrF"}


def quality_table(results: Sequence[CorpusQuality], *, title: str) -> list[Piece]:
    """Return one row for each system, with the signatures of sacreBLEU below.

    Args:
        results: at least one system.
    """
    names = list(results[0].scores)
    tested = bool(results[0].test)
    columns = [label for name in names for label in (_NAMES[name], *["p"] * tested)]
    rows = []
    for result in results:
        cells = [result.system, count(result.n)]
        for name in names:
            cells.append(percent(result.scores[name], digits=2))
            if tested:
                cells.append(p_text(result.p_values[name]) if name in result.p_values else "-")
        rows.append(cells)
    lines = [f"{_NAMES[name]}: {text}" for name, text in results[0].signatures.items()]
    if tested:
        lines.append(f"p: difference from {results[0].system}; {results[0].test}")
    lines += [
        f"{result.system}: {result.n_blank:,} blank translations"
        for result in results
        if result.n_blank
    ]
    return [ReportTable.of(title, ("system", "sentences", *columns), rows), *lines]


def segment_table(figures: Sequence[SegmentFigures], *, title: str) -> ReportTable:
    """Return a row for each metric and category.

    Args:
        figures: at least one.
    """
    rows = [
        (
            row.metric,
            row.category or "all",
            count(row.n_correct),
            count(row.n_incorrect),
            "-" if row.spearman is None else decimal(row.spearman, row.spearman_interval),
            "-"
            if row.separation is None
            else with_interval(row.separation, row.separation_interval),
        )
        for row in figures
    ]
    return ReportTable.of(
        title,
        ("metric", "category", "correct", "incorrect", "Spearman (95 %)", "separation (95 %)"),
        rows,
        "Spearman: correlation with the judge's probability of the correct reading, or its verdict;"
        " separation: % of pairs of a correct and an incorrect translation in which the metric"
        " gives the correct one the higher score, 50 is chance",
    )


def pair_table(figures: Sequence[PairFigures], *, title: str) -> ReportTable:
    """Return a row for each metric and category.

    Args:
        figures: at least one.
    """
    columns = ["metric", "category", "pairs", "ranked rightly (95 %)", "tau"]
    if figures[0].judge is not None:
        columns += ["judge right (95 %)", "both agree"]
    rows = []
    for row in figures:
        cells = [row.metric, row.category or "all", count(row.ranked.n)]
        cells += [with_interval(row.ranked.value, row.ranked.interval), decimal(row.tau)]
        if row.judge is not None and row.agreement is not None:
            cells.append(with_interval(row.judge.value, row.judge.interval))
            cells.append(with_interval(row.agreement.value, None))
        rows.append(cells)
    about = (
        "percent; ranked rightly: the correct translation has the higher score, a tie is wrong;"
        " tau: right minus wrong pairs, of all (ACES)"
    )
    return ReportTable.of(title, columns, rows, about)
