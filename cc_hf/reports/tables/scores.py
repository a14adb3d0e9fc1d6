"""What `cc-hf evaluate` shows: tables, warnings and notes of results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from cc_hf import signature
from cc_hf.reports.evaluators import level_text
from cc_hf.reports.figure_text import metric_name
from cc_hf.reports.report_parts import Piece
from cc_hf.reports.tables.base import result_table, results_table
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Example
from cc_hf.text.unusable import unrelated_lengths, unusable_texts

__all__ = [
    "evaluation_notes",
    "evaluation_tables",
    "evaluation_warnings",
    "not_run_notes",
    "results_of",
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
    """Yield what may be wrong with the translations or the evaluator."""
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
