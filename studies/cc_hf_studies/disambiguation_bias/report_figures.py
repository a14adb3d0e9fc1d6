"""Disambiguation bias in a report: error rates of sentences with similar bias, what predicts
errors, and the attractors of the homographs that are mistranslated most.

There is something to show if the examples hold their bias, as those of challenge sets do, or if
they name homograph and cluster and the report has a table of attractors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cc_hf.data.files.sense_rows import parse_senses
from cc_hf.reports.report import Report
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable
from cc_hf_studies.disambiguation_bias.prediction import (
    BiasGroup,
    ErrorPrediction,
    error_rate_by_bias,
    predict_errors,
)
from cc_hf_studies.disambiguation_bias.results import bias_of_examples, judged_sentences

__all__ = ["Attractors", "ErrorsByBias", "attractors_of_homographs", "errors_by_bias"]

_FEATURE = "freq_diff"
_MOST_HOMOGRAPHS = 5
_MOST_WORDS = 5
_MOST_SENSES = 2
_FEWEST_PAIRS = 2  # a word that goes with a sense once has a high PPMI by chance


@dataclass(frozen=True)
class ErrorsByBias:
    """Errors that one metric finds in the translations of each system.

    Attributes:
        groups: system -> groups of sentences, from the smallest difference of bias to the largest.
            They are the same for all systems with verdicts on the same sentences.
        predictions: system -> correlations of bias with errors; a system in which all or none of
            the sentences have errors is missing.
    """

    metric: str
    groups: Mapping[str, tuple[BiasGroup, ...]]
    predictions: Mapping[str, ErrorPrediction]


@dataclass(frozen=True)
class Attractors:
    """The strongest attractors of the senses of a homograph.

    Attributes:
        n_errors: number of errors in its translations, by any metric and system.
        senses: cluster -> its shortest words; empty if they are not known.
        n_pairs: cluster -> number of sentence pairs in which it was counted.
        words: association ("freq" or "ppmi") -> cluster -> words with their association.
    """

    homograph: str
    n_errors: int
    senses: Mapping[str, tuple[str, ...]]
    n_pairs: Mapping[str, int]
    words: Mapping[str, Mapping[str, tuple[tuple[str, float], ...]]]


def errors_by_bias(report: Report) -> tuple[ErrorsByBias, ...]:
    """Return the errors by bias for each metric with verdicts; () for examples without bias."""
    bias = _bias(report)
    if not bias:
        return ()
    by_metric = []
    for metric in report.judging:
        groups, predictions = {}, {}
        for name, result in report.of_metric(metric).items():
            if not result.judgements:
                continue
            # Inconclusive verdicts are no errors, as in the thesis.
            sentences = judged_sentences(result, bias)
            groups[name] = error_rate_by_bias(sentences.features[_FEATURE], sentences.is_error)
            if any(sentences.is_error) and not all(sentences.is_error):
                predictions[name] = predict_errors(sentences.features, sentences.is_error)
        if groups:
            by_metric.append(ErrorsByBias(metric, groups, predictions))
    return tuple(by_metric)


def attractors_of_homographs(report: Report) -> tuple[Attractors, ...]:
    """Return the attractors of the homographs with most errors; () without an attractor table."""
    table = _table(report)
    if table is None:
        return ()
    errors: Counter[str] = Counter()
    senses: dict[str, dict[str, tuple[str, ...]]] = {}
    for sample in report.samples:
        homograph = sample.example.extra.get("homograph", "") if sample.example else ""
        if sample.example is None or homograph not in table.counts:
            continue
        verdicts = [j.verdict for row in sample.judgements for j in row if j is not None]
        errors[homograph] += verdicts.count("incorrect")
        if homograph not in senses and "senses" in sample.example.extra:
            clusters = parse_senses(sample.example.extra["senses"], f"example {sample.id}: senses")
            senses[homograph] = {
                c: tuple(sorted(words.senses, key=len)[:_MOST_SENSES])
                for c, words in clusters.items()
            }
    return tuple(
        Attractors(
            homograph,
            n,
            senses.get(homograph, {}),
            table.n_pairs[homograph],
            {
                association: table.strongest(
                    homograph, n=_MOST_WORDS, association=association, min_count=_FEWEST_PAIRS
                )
                for association in ("freq", "ppmi")
            },
        )
        for homograph, n in sorted(errors.items(), key=lambda item: (-item[1], item[0]))[
            :_MOST_HOMOGRAPHS
        ]
    )


def _bias(report: Report) -> dict[str, dict[str, Any]]:
    """Return the bias of the examples by id: what they hold, or else by the table of attractors."""
    examples = [sample.example for sample in report.samples if sample.example is not None]
    if with_bias := [e for e in examples if _FEATURE in e.extra]:
        return bias_of_examples(with_bias)
    table = _table(report)
    counts = table.counts if table else {}
    tagged = [
        e
        for e in examples
        if e.extra.get("cluster") in counts.get(e.extra.get("homograph", ""), {})
    ]
    return bias_of_examples(tagged, table) if tagged else {}


def _table(report: Report) -> AttractorTable | None:
    table: AttractorTable | None = report.section_inputs.get("attractors")
    return table
