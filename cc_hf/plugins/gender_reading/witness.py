"""A judge and a reader of word forms side by side: where two witnesses that share no model agree,
and where they differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cc_hf.figure_keys import category_name
from cc_hf.metrics.base import registered_metric
from cc_hf.reports.figure_text import category_key, metric_name, with_interval
from cc_hf.reports.numbers import count
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import ReportTable, Section, SectionPart, Texts
from cc_hf.results import EvaluationResult
from cc_hf.statistics.score_intervals import wilson_interval
from cc_hf.text.morphology import FEMININE, MASCULINE

__all__ = ["Witnessed", "witness_section", "witness_tables", "witnessed"]

_READING = "gender_reading"
_MOST_SHOWN = 50  # translations about which a judge and the reader differ


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A translation that the judge and the reader both decided.

    Attributes:
        judge, reader: what each says: "correct" or "incorrect", of open sources the gender.
        certainty: how far the judge is from a tie, in [0, 1]; 0 where it gives no probability.
    """

    example_id: str
    category: str
    translation: str
    judge: str
    reader: str
    certainty: float

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.judge == self.reader


def witnessed(judge: EvaluationResult, reading: EvaluationResult) -> list[Witnessed]:
    """Return the translations that both decided, in the order of the judge."""
    read = _decided(reading)
    return [
        Witnessed(name, category, text, said, read[name][2], certainty)
        for name, (category, text, said, certainty) in _decided(judge).items()
        if name in read
    ]


def _decided(result: EvaluationResult) -> dict[str, tuple[str, str, str, float]]:
    """Return category, translation, what is said, and how surely, by example."""
    judged = {
        j.example_id: (j.category, j.translation, j.verdict, _certainty(j.probability_correct))
        for j in result.judgements
        if j.is_decided
    }
    return judged | {
        r.example_id: (r.category, r.translation, r.reading, _certainty(r.probability_counted))
        for r in result.readings
        if r.reading in (MASCULINE, FEMININE)
    }


def _certainty(probability: float | None) -> float:
    return 0.0 if probability is None else abs(2 * probability - 1)


def witness_tables(
    systems: Mapping[str, Mapping[str, EvaluationResult]],
) -> Iterator[tuple[ReportTable, dict[str, list[Witnessed]]]]:
    """Yield the table of each judge beside the reader, with what it counts by system.

    Args:
        systems: system -> metric -> result.
    """
    judges = dict.fromkeys(
        metric
        for results in systems.values()
        if _READING in results
        for metric in results
        if registered_metric(metric).takes_evaluator
    )
    for judge in judges:
        rows = {
            name: witnessed(results[judge], results[_READING])
            for name, results in systems.items()
            if judge in results and _READING in results
        }
        if any(rows.values()):
            yield _agreement_table(judge, rows), rows


def _agreement_table(judge: str, rows: Mapping[str, Sequence[Witnessed]]) -> ReportTable:
    is_open = any(row.judge in (MASCULINE, FEMININE) for of in rows.values() for row in of)
    kinds = (FEMININE, MASCULINE) if is_open else ("correct", "incorrect")
    texts: list[Texts] = []
    for name, of_system in rows.items():
        categories = sorted({row.category for row in of_system}, key=category_key)
        parts = {"all": of_system} | {
            category_name(category): [row for row in of_system if row.category == category]
            for category in (categories if len(categories) > 1 else ())
        }
        for label, part in parts.items():
            system = f"{name}: " * (len(rows) > 1)
            texts.append((f"{system}{label}", *_cells(part, kinds)))
    first, _ = kinds
    return ReportTable.of(
        f"Second witness: {metric_name(judge)} and {metric_name(_READING)}",
        ("category", "both decide", "agreement", "only judge", "only reader"),
        texts,
        f"Of the translations that both decide. Only judge, only reader: {first} by this one alone,"
        " so that one of the two is mistaken.",
    )


def _cells(rows: Sequence[Witnessed], kinds: tuple[str, str]) -> tuple[str, ...]:
    n_agreed = sum(row.agrees for row in rows)
    pairs = Counter((row.judge, row.reader) for row in rows)
    share = (
        ""
        if not rows
        else with_interval(n_agreed / len(rows), wilson_interval(n_agreed, len(rows)))
    )
    return count(len(rows)), share, count(pairs[kinds]), count(pairs[kinds[::-1]])


def witness_section(report: Report) -> Section | None:
    """Return the section on a report's second witness; None without one."""
    systems = {system.name: system.results for system in report.systems}
    parts = []
    for table, rows in witness_tables(systems):
        parts.append(SectionPart(table))
        if (differing := _differing_table(report, rows)) is not None:
            parts.append(SectionPart(differing, classes="attractors facts"))
    if not parts:
        return None
    return Section(
        "witness",
        "Second witness",
        "Second witness: the evaluator and a dictionary",
        "The reader knows no translation model: it looks up the gender of the aligned word. The"
        " samples below can be filtered by “both metrics decide and agree” or “… and differ”.",
        tuple(parts),
    )


def _differing_table(report: Report, rows: Mapping[str, Sequence[Witnessed]]) -> ReportTable | None:
    sources = {s.id: "" if s.example is None else s.example.source for s in report.samples}
    differing = sorted(
        ((name, row) for name, of_system in rows.items() for row in of_system if not row.agrees),
        key=lambda item: -item[1].certainty,
    )
    if not differing:
        return None
    n_more = len(differing) - _MOST_SHOWN
    return ReportTable.of(
        "Where they differ, the surest verdicts first",
        ("source", "judge", "reader", "translation", *(("system",) if len(rows) > 1 else ())),
        [
            (
                sources.get(row.example_id) or row.example_id,
                *(row.judge, row.reader, row.translation),
                *((name,) if len(rows) > 1 else ()),
            )
            for name, row in differing[:_MOST_SHOWN]
        ],
        f"{count(n_more)} more are among the samples." if n_more > 0 else "",
        words=("judge", "reader", "translation", "system"),
    )
