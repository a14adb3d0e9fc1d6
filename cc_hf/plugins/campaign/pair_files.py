"""What a campaign shows and writes of one language pair: the page of its report, the figures for
the matrix, findings, the table for a paper, segment scores and error spans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cc_hf.evaluation.material import Material
from cc_hf.metrics.figure_names import distance_to_best
from cc_hf.metrics.headline import headline
from cc_hf.plugins.campaign.other_spans import Beside, OtherSpans, Spans, beside
from cc_hf.plugins.campaign.spans import error_lines, rating_lines, score_lines
from cc_hf.reports.derived_figures import known_figure
from cc_hf.reports.figure_text import figure_name, language_pair
from cc_hf.reports.findings import findings, most_split
from cc_hf.reports.formats.latex import latex_paper_table
from cc_hf.reports.highlights import attributes
from cc_hf.reports.numbers import limits, percent
from cc_hf.reports.page.page import html_page
from cc_hf.reports.report import Report
from cc_hf.reports.tables.answer import report_of
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.schema import Example

__all__ = ["Figure", "PairFiles", "pair_files"]

#: With more translations, the page of a pair has no samples: a browser could not hold them.
_MOST_SAMPLES = 100_000


class Figure(NamedTuple):
    """The figure of a system in the matrix.

    Attributes:
        value, interval: as they are shown, in percent; "" for no interval.
        band: the number of its band; 0 if it has none.
        is_best: whether no other system of the pair has a better value.
        why_unfit: why it is not fit to be cited; "" if it is.
    """

    name: str
    value: str
    interval: str
    band: int
    is_best: bool
    why_unfit: str


@dataclass(frozen=True)
class PairFiles:
    """The files of one pair, and what the page of the campaign says of it.

    Attributes:
        figures: metric -> system -> its figure.
        languages: the pair in words.
        ratings: metric -> lines of its file of error spans.
        has_samples: whether the page shows translations.
        beside: our error spans beside those of other metrics.
    """

    pair: str
    languages: str
    n: int
    systems: tuple[str, ...]
    figures: Mapping[str, Mapping[str, Figure]]
    findings: tuple[str, ...]
    unfit: tuple[str, ...]
    page: str = field(repr=False)
    latex: str = field(repr=False)
    scores: tuple[str, ...] = field(repr=False)
    errors: tuple[str, ...] = field(repr=False)
    ratings: Mapping[str, tuple[str, ...]] = field(repr=False)
    has_samples: bool = True
    beside: tuple[Beside, ...] = ()


def pair_files(
    pair: str,
    material: Material,
    results: Mapping[str, ResultSet],
    spans_of: Callable[[EvaluationResult], Sequence[Spans | None]],
    others: OtherSpans,
) -> PairFiles:
    """Make the files of a pair.

    Args:
        results: system -> its results, at least one.
        spans_of: returns the error spans of a result.
        others: the error spans of other metrics.
    """
    examples = material.examples
    report = report_of(results.values(), examples)
    has_samples = len(examples) * len(results) <= _MOST_SAMPLES
    said = findings(report, most_split(report, attributes(report)))
    shown = report if has_samples else replace(report, samples=())
    scores: list[str] = []
    written = _Spans(examples, material.src_lang)
    for of_system in results.values():
        judged = [result for result in of_system.results if result.judgements]
        theirs = others.of(judged[0], examples) if judged else {}
        for result in judged:
            scores += score_lines(result, pair)
            written.add(result, spans_of(result), theirs)
        for other, spans in theirs.items():
            written.write(judged[0], spans, other)
    return PairFiles(
        pair,
        language_pair(*pair.split("-")),
        len(examples),
        tuple(system.name for system in report.systems),
        {metric: _figures(report, metric) for metric in report.metrics},
        tuple(said),
        tuple(report.unfit),
        html_page(shown),
        latex_paper_table(report),
        tuple(scores),
        tuple(written.errors),
        {metric: tuple(lines) for metric, lines in written.ratings.items()},
        has_samples,
        tuple(written.beside),
    )


class _Spans:
    """The lines of all error spans of a pair, ours and those of other metrics."""

    def __init__(self, examples: Sequence[Example], src_lang: str) -> None:
        self._examples, self._src_lang = examples, src_lang
        self.errors: list[str] = []
        self.ratings: dict[str, list[str]] = {}
        self.beside: list[Beside] = []

    def add(
        self,
        result: EvaluationResult,
        ours: Sequence[Spans | None],
        theirs: Mapping[str, Sequence[Spans | None]],
    ) -> None:
        """Add the spans of a result."""
        if any(ours):
            self.write(result, ours, result.metric)
            self.beside += [beside(result, ours, other, of) for other, of in theirs.items()]

    def write(self, result: EvaluationResult, spans: Sequence[Spans | None], rater: str) -> None:
        """Add lines of the spans of any metric in the translations of a result."""
        self.errors += error_lines(result, self._examples, spans, self._src_lang, rater)
        self.ratings.setdefault(rater, []).extend(rating_lines(result, spans, rater))


def _figures(report: Report, metric: str) -> dict[str, Figure]:
    """Return the figure that ranks each system, or the first to cite."""
    ranks = report.ranks.get(metric)
    standings = ranks.by_system if ranks is not None else {}
    known: dict[str, tuple[str, float, str, str]] = {}
    for system, result in report.of_metric(metric).items():
        name = next(iter(headline(result).overview), "")
        if name and (figure := known_figure(result, name)) is not None:
            known[system] = (name, figure[0], limits(figure[1]), result.why_unfit(name))
    distances = {
        system: distance
        for system, (name, value, _, _) in known.items()
        if (distance := _distance(metric, name, value)) is not None
    }
    least = min(distances.values(), default=None)
    return {
        system: Figure(
            name,
            percent(value).replace("-", "−"),
            interval,
            standings[system].band if system in standings else 0,
            len(distances) > 1 and distances.get(system) == least,
            why,
        )
        for system, (name, value, interval, why) in known.items()
    }


def _distance(metric: str, name: str, value: float) -> float | None:
    return distance_to_best(figure_name(metric, name).best, float(percent(value)))
