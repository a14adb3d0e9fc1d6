"""The words that translations leave out or add most often, by the parts that a metric marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cc_hf.languages import base_code
from cc_hf.plugins.omissions.coverage.spans import content_words
from cc_hf.reports.figure_text import metric_name, source_language
from cc_hf.reports.numbers import count
from cc_hf.reports.report import Report
from cc_hf.reports.report_parts import Cell, ReportTable, Section, SectionPart, TableRow
from cc_hf.reports.spans import apart
from cc_hf.results import EvaluationResult

__all__ = ["WordCounts", "word_counts", "word_section"]

_MOST = 10  # words in a table
_TITLES = {"source": "Most often left out", "translation": "Most often added"}
_COLUMNS = ("times", "translations")
_CAPTION = (
    "Content words of the marked parts: how often they are in them, in how many translations."
)


class WordCounts(NamedTuple):
    """By case-folded word: times in marked parts, translations that have it, and spellings."""

    times: Counter[str]
    translations: Counter[str]
    spellings: dict[str, Counter[str]]


def word_counts(results: Iterable[EvaluationResult], side: str) -> WordCounts:
    """Count the content words of the parts that are left out or added.

    `side` is "source" for what is left out, "translation" for what is added.
    """
    counts = WordCounts(Counter(), Counter(), {})
    for result in results:
        lang = source_language(result) if side == "source" else base_code(result.tgt_lang)
        for judgement in result.judgements:
            if not judgement.spans:  # as with most metrics
                continue
            # Of parts that overlap, the one with the largest difference counts, as samples show it.
            # A part that a metric rewrites is neither left out nor added.
            words = [
                word
                for span in apart(judgement.spans)
                if span.side == side and span.replacement is None
                for word in content_words(span.text, lang)
            ]
            for word in words:
                counts.spellings.setdefault(word.casefold(), Counter())[word] += 1
            counts.times.update(map(str.casefold, words))
            counts.translations.update(set(map(str.casefold, words)))
    return counts


def word_section(report: Report) -> Section | None:
    """Return a section with the words that are most often left out or added; None without any."""
    tables = [table for metric in report.judging for table in _tables(report, metric)]
    if not tables:
        return None
    parts = tuple(map(SectionPart, tables))
    return Section("words", "Words", "Words left out and added", "", parts)


def _tables(report: Report, metric: str) -> Iterator[ReportTable]:
    results = report.of_metric(metric)
    for side, title in _TITLES.items():
        total = word_counts(results.values(), side)
        by_system = [word_counts([result], side) for result in results.values()]
        words = sorted(total.times, key=lambda w: (-total.translations[w], -total.times[w], w))
        if not words:
            continue
        rows = tuple(
            TableRow(
                total.spellings[word].most_common(1)[0][0],
                tuple(
                    Cell(count(n[word]))
                    for counts in by_system
                    for n in (counts.times, counts.translations)
                ),
            )
            for word in words[:_MOST]
        )
        n_more = len(words) - _MOST
        not_shown = f" Words not shown: {count(n_more)}." if n_more > 0 else ""
        yield ReportTable(
            f"{title}: {metric_name(metric)}",
            "word",
            _COLUMNS * len(results),
            rows,
            tuple((name, len(_COLUMNS)) for name in results) if len(results) > 1 else (),
            f"{_CAPTION}{not_shown}",
        )
