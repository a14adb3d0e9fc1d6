"""The content of a report, computed from results alone: systems side by side, their differences to
a baseline, and every sample with its verdicts. Nothing is formatted here.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from cc_hf import registry
from cc_hf.comparing.against_baseline import SystemComparison, compare_with_baseline
from cc_hf.comparing.alignment import AlignedJudgements
from cc_hf.comparing.bands import Ranks
from cc_hf.comparing.bands import ranks as ranks_of
from cc_hf.comparing.people.agreement import HumanAgreement, agreement_with_labels
from cc_hf.comparing.people.annotations import Annotation
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.evaluators.judge_cards import JudgeCard
from cc_hf.reports.figure_text import category_key, metric_name
from cc_hf.reports.report_parts import Section
from cc_hf.reports.samples import ReportedSystem, Sample, build_samples, is_same_translation
from cc_hf.reports.tables.base import grouped_notes, interval_notes, shared_notes
from cc_hf.reports.what_to_cite import WhatToCite, main_reason, what_to_cite, why_unfit
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example, Judgement, Reading
from cc_hf.text.unusable import unusable_texts

__all__ = ["LabelAgreement", "Report", "build_report", "fit_first"]


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """How often a metric agrees with the human labels of a system's translations."""

    system: str
    metric: str
    agreement: HumanAgreement


@dataclass(frozen=True)
class Report:
    """The content of the page, the tables and the plots.

    Attributes:
        baseline: the name of the system that the others are compared with.
        metrics: the metrics of all systems in order of appearance, those first whose figures are
            fit to be cited.
        judging: the metrics that have judgements of single translations.
        reading: the metrics that have readings without verdicts.
        categories: in the order of the papers.
        samples: every example that a system was judged on, in the order of the data.
        comparisons: (metric, system) -> comparison of that system with the baseline.
        ranks: metric of several systems that can be compared -> how they stand by the figure that
            is cited of them.
        notes: what a reader must know, such as why two systems could not be compared.
        cautions: those of the notes that came with the results, such as what an evaluator was not
            made for.
        signature: the signature of the comparisons; "" if there are none.
        section_inputs: what `read_section_files` read for sections of slices, by name.
        is_weighted: whether charts show weighted accuracies where a metric has them.
        judge_cards: cards of evaluators besides those of the package.
    """

    systems: tuple[ReportedSystem, ...]
    baseline: str
    metrics: tuple[str, ...]
    judging: tuple[str, ...]
    categories: tuple[str, ...]
    samples: tuple[Sample, ...] = field(repr=False)
    comparisons: Mapping[tuple[str, str], SystemComparison]
    agreements: tuple[LabelAgreement, ...]
    notes: tuple[str, ...]
    cautions: tuple[str, ...]
    signature: str
    n_resamples: int = 1000
    section_inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    is_weighted: bool = False
    reading: tuple[str, ...] = ()
    judge_cards: tuple[JudgeCard, ...] = ()
    ranks: Mapping[str, Ranks] = field(default_factory=dict)

    @property
    def first(self) -> EvaluationResult:
        """A result, which names the shared dataset, configuration and target language."""
        return next(iter(self.systems[0].results.values()))

    @property
    def unfit(self) -> list[str]:
        """Why figures are not fit to be cited, with the metrics and systems that have them."""
        return _shared(self.systems, lambda result: [why] if (why := why_unfit(result)) else [])

    @property
    def main_reasons(self) -> list[str]:
        """The first reasons of `unfit` in short, each once."""
        return _shared(self.systems, lambda result: list(filter(None, [main_reason(result)])))

    @property
    def cited(self) -> WhatToCite | None:
        """What to cite: of one system with values, of several by the names of the figures."""
        results = [result for s in self.systems for result in s.results.values()]
        cited = what_to_cite(results)
        return cited if cited is None or len(self.systems) == 1 else cited.without_values()

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The sections that slices add, as their `cc_hf.reports.sections.SectionHook` say."""
        keys = {key for sample in self.samples if sample.example for key in sample.example.extra}
        built = (
            hook.build(self)
            for hook in registry.load_all("report section").values()
            if hook.applies_to(keys, self.section_inputs)
        )
        return tuple(section for section in built if section is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return figures, comparisons and notes as plain data for JSON, without the samples."""
        first = self.first
        return {
            "dataset": first.dataset,
            "config": first.config,
            "tgt_lang": first.tgt_lang,
            "baseline": self.baseline,
            "systems": [
                {
                    "system": system.name,
                    "bleu": system.bleu,
                    "results": [
                        {
                            "metric": metric,
                            "scores": dict(result.scores),
                            "signature": result.signature,
                        }
                        for metric, result in system.results.items()
                    ],
                }
                for system in self.systems
            ],
            "comparisons": [asdict(comparison) for comparison in self.comparisons.values()],
            "agreements": [asdict(agreement) for agreement in self.agreements],
            "ranks": {metric: asdict(ranks) for metric, ranks in self.ranks.items()},
            "unfit": self.unfit,
            "notes": list(self.notes),
            "signature": self.signature,
        }

    def of_metric(self, metric: str) -> dict[str, EvaluationResult]:
        """Return the results of one metric by system."""
        return _of_metric(self.systems, metric)


def _of_metric(systems: Iterable[ReportedSystem], metric: str) -> dict[str, EvaluationResult]:
    return {s.name: s.results[metric] for s in systems if metric in s.results}


def build_report(
    systems: Sequence[ReportedSystem],
    *,
    baseline: str | None = None,
    examples: Sequence[Example] | None = None,
    annotations: Sequence[Annotation] = (),
    notes: Iterable[str] = (),
    n_resamples: int = 1000,
    seed: int = 0,
    section_inputs: Mapping[str, Any] = MappingProxyType({}),
) -> Report:
    """Combine the results of systems into a report.

    Args:
        systems: at least one system, each with at least one result, all on the same data.
        baseline: the name of one of the systems; None for the first.
        examples: the examples of the dataset; None if they are not available.
        annotations: human labels of translations. Those of translations that no system made are
            counted in the notes.
        notes: further notes; they come after those of the results and before those of the report.
        section_inputs: what `cc_hf.reports.sections.read_section_files` read for sections of
            slices.

    Raises:
        InputError: for no systems, a name that occurs twice, results on different data, results of
            one system on different translations, several judgements of one example, a number of
            judgements that differs from the `n` of the result, or a BLEU outside [0, 1].
        UnknownNameError: for a baseline that is not among the systems.
    """
    _check(systems)
    names = [system.name for system in systems]
    if baseline is not None and baseline not in names:
        raise UnknownNameError("baseline", baseline, names)
    chosen = baseline or names[0]
    metrics = fit_first(systems)
    judging = tuple(
        metric
        for metric in metrics
        if any(metric in system.results and system.results[metric].judgements for system in systems)
    )
    reading = tuple(
        metric
        for metric in metrics
        if any(metric in system.results and system.results[metric].readings for system in systems)
    )
    samples, sample_notes = build_samples(systems, judging, examples, annotations, reading)
    comparisons, obstacles, compared_with = _comparisons(
        systems, judging, chosen, n_resamples=n_resamples, seed=seed
    )
    agreements = (
        tuple(
            _agreements(
                systems, (*judging, *reading), annotations, seed=seed, n_resamples=n_resamples
            )
        )
        if annotations
        else ()
    )
    categories = {
        c.category
        for system in systems
        for result in system.results.values()
        for c in result.categories
    } | {sample.category for sample in samples}
    cautions = tuple(_shared(systems, lambda result: result.notes))
    return Report(
        systems=tuple(systems),
        baseline=chosen,
        metrics=metrics,
        judging=judging,
        categories=tuple(sorted(categories, key=category_key)),
        samples=tuple(samples),
        comparisons=comparisons,
        agreements=agreements,
        notes=(
            *cautions,
            *notes,
            *sample_notes,
            *obstacles,
            *_oddities(systems),
            *_agreement_notes(agreements),
        ),
        cautions=cautions,
        signature=compared_with,
        n_resamples=n_resamples,
        section_inputs=section_inputs,
        reading=reading,
        ranks=_ranks(systems, judging, chosen, comparisons),
    )


def _check(systems: Sequence[ReportedSystem]) -> None:
    if not systems:
        raise InputError("expected at least one system to report on, got none")
    if twice := [name for name, n in Counter(system.name for system in systems).items() if n > 1]:
        raise InputError(
            f"expected one name for each system, got {twice[0]!r} twice; give each a name of"
            " its own"
        )
    for system in systems:
        if not system.results:
            raise InputError(f"{system.name}: expected at least one result, got none")
        if system.bleu is not None and not 0 <= system.bleu <= 1:
            raise InputError(f"{system.name}: bleu: expected a number in [0, 1], got {system.bleu}")
    AlignedJudgements.of(
        {f"{s.name} ({metric})": result for s in systems for metric, result in s.results.items()}
    )
    for first, second in itertools.combinations(systems, 2):
        if (
            not first.results.keys() & second.results.keys()
            and not next(iter(first.results.values())).dataset
        ):
            raise InputError(
                f"{first.name} and {second.name}: expected a metric that judged both, got"
                f" {', '.join(first.results)} and {', '.join(second.results)}: on data of your own"
                " different metrics do not show that the rows are the same"
            )


_Comparisons = dict[tuple[str, str], SystemComparison]


def _comparisons(
    systems: Sequence[ReportedSystem],
    judging: Sequence[str],
    baseline: str,
    *,
    n_resamples: int,
    seed: int,
) -> tuple[_Comparisons, list[str], str]:
    """Return the comparisons of each system with the baseline by each metric, why some could not be
    made, and the signature of the tests.
    """
    comparisons: _Comparisons = {}
    obstacles, signatures = [], []
    for metric in judging:
        results = _of_metric(systems, metric)
        if baseline not in results:
            continue
        compared, reasons, signature = compare_with_baseline(
            results, baseline, n_resamples=n_resamples, seed=seed
        )
        comparisons |= {(metric, name): comparison for name, comparison in compared.items()}
        obstacles += [f"{metric_name(metric)}: {what}: {why}" for what, why in reasons.items()]
        signatures += [signature] * bool(signature)
    return comparisons, obstacles, next(iter(signatures), "")


def _ranks(
    systems: Sequence[ReportedSystem],
    judging: Sequence[str],
    baseline: str,
    comparisons: _Comparisons,
) -> dict[str, Ranks]:
    """Return how the systems stand by each metric by which all of them could be compared."""
    return {
        metric: ranks_of(results)
        for metric in judging
        if len(results := _of_metric(systems, metric)) > 1
        and all(name == baseline or (metric, name) in comparisons for name in results)
    }


def _agreements(
    systems: Sequence[ReportedSystem],
    judging: Sequence[str],
    annotations: Sequence[Annotation],
    *,
    seed: int,
    n_resamples: int,
) -> Iterable[LabelAgreement]:
    for system in systems:
        for metric in judging:
            table: Mapping[str, Judgement | Reading] = system.by_id(
                metric
            ) or system.readings_by_id(metric)
            system_annotations = [
                a
                for a in annotations
                if a.labels
                and a.example_id in table
                and (a.has_readings or isinstance(table[a.example_id], Judgement))
                and is_same_translation(table[a.example_id].translation, a.translation)
            ]
            if system_annotations:
                yield LabelAgreement(
                    system.name,
                    metric,
                    agreement_with_labels(
                        system.results[metric],
                        system_annotations,
                        seed=seed,
                        n_resamples=n_resamples,
                    ),
                )


def fit_first(systems: Sequence[ReportedSystem]) -> tuple[str, ...]:
    """Return the metrics, those first by which any result is fit to be cited."""
    reasons: dict[str, list[str]] = {}
    for system in systems:
        for metric, result in system.results.items():
            reasons.setdefault(metric, []).append(why_unfit(result))
    # False sorts first: a metric that some system may cite comes before one that none may.
    return tuple(sorted(reasons, key=lambda metric: all(reasons[metric])))


def _shared(
    systems: Sequence[ReportedSystem], texts: Callable[[EvaluationResult], Sequence[str]]
) -> list[str]:
    """Return each text once, preceded by the systems and metrics that have it unless all do."""
    metrics = dict.fromkeys(metric for system in systems for metric in system.results)
    by_metric = {
        metric: shared_notes(
            {s.name: texts(s.results[metric]) for s in systems if metric in s.results}
        )
        for metric in metrics
    }
    return shared_notes({metric_name(metric): notes for metric, notes in by_metric.items()})


def _oddities(systems: Sequence[ReportedSystem]) -> Iterable[str]:
    """Yield the remarks that `cc-hf evaluate` makes on a file of translations."""
    for system in systems:
        first = next(iter(system.results.values()))
        for unusable in unusable_texts(first.counts, first.n):
            yield f"{system.name}: {unusable}"
        for metric, result in system.results.items():
            for note in interval_notes(result):
                yield f"{system.name}: {metric_name(metric)}: {note}"


def _agreement_notes(agreements: Sequence[LabelAgreement]) -> Iterable[str]:
    for agreement in agreements:
        for note in grouped_notes(agreement.agreement.interval_notes()):
            metric = metric_name(agreement.metric)
            yield f"{agreement.system}: {metric}: agreement with human labels: {note}"
