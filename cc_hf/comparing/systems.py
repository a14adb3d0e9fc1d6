"""Compare results: systems judged by one metric, and metrics that judged the same translations.
Nothing is scored again.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cc_hf.comparing.against_baseline import (
    SystemComparison,
    check_pair,
    differences_to_first,
    signed_tests,
    why_corrections_differ,
)
from cc_hf.comparing.alignment import AlignedJudgements
from cc_hf.comparing.bands import Ranks, ranks_by_metric
from cc_hf.comparing.mistakes import level_notes, within_mistakes
from cc_hf.comparing.samples import on_shared_samples, right_alone
from cc_hf.data.files.result_files import read_result_file, system_names
from cc_hf.displayed import Displayed, frame
from cc_hf.errors import InputError
from cc_hf.metrics.headline import headline
from cc_hf.results import EvaluationResult, Interval, NoInterval, OnData
from cc_hf.schema import NEITHER, VERDICTS
from cc_hf.statistics.agreement import (
    agreement_interval,
    cohen_kappa,
    confusion_matrix,
    kappa_interval,
    proportion_of_agreement,
)
from cc_hf.statistics.bootstrap import check_bootstrap

__all__ = [
    "Comparison",
    "MetricAgreement",
    "compare",
    "read_results",
]


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """Two metrics, or two variants of one, on the same translations.

    Attributes:
        agreement, kappa: agreement and Cohen's kappa on whether a translation is correct; an
            inconclusive verdict is not correct.
        verdict_agreement, verdict_kappa: agreement and Cohen's kappa on the verdict itself.
        labels: the verdicts, in the order of `confusion`.
        confusion: counts of verdicts, with rows for `left` and columns for `right`.
    """

    left: str
    right: str
    n: int
    agreement: float
    interval: Interval | NoInterval
    kappa: float
    kappa_interval: Interval | NoInterval
    verdict_agreement: float
    verdict_kappa: float
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Comparison(Displayed, OnData):
    """The comparisons that a set of results allows. `print` and notebooks show the tables of `cc-hf
    compare`.

    Attributes:
        systems: comparisons of systems with their baseline.
        agreements: comparisons of metrics on the same translations.
        not_compared: pair or single result that was not compared -> reason.
        unfit: result -> why its figures are not fit to be cited.
        left_out: result -> number of its samples that are not compared, since another result has no
            verdict on them; empty if all samples are compared.
        right_alone: result -> ids of the samples that no other result has right; empty if they were
            not asked for.
        ranks: metric of two systems or more -> how they stand by the figure that is cited of them.
    """

    displayed_by = "cc_hf.reports.tables.comparisons:comparison_tables"

    dataset: str
    config: str
    tgt_lang: str
    systems: tuple[SystemComparison, ...] = field(repr=False)
    agreements: tuple[MetricAgreement, ...] = field(repr=False)
    signature: str = field(repr=False)
    signatures: Mapping[str, str] = field(repr=False)
    not_compared: Mapping[str, str] = field(default_factory=dict, repr=False)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    unfit: Mapping[str, str] = field(default_factory=dict, repr=False)
    left_out: Mapping[str, int] = field(default_factory=dict, repr=False)
    right_alone: Mapping[str, list[str]] = field(default_factory=dict, repr=False)
    ranks: Mapping[str, Ranks] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        data = f"dataset={self.dataset!r}, config={self.config!r}, tgt_lang={self.tgt_lang!r}"
        return f"Comparison({data}, results={[*self.signatures]})"

    def to_frame(self) -> Any:
        """Return the differences to the baseline as a `pandas.DataFrame`, one row for each system
        and figure: both values, the difference, low and high of its interval (None without one),
        in the unit of the figure, and p.
        """
        return frame(
            {
                **{"metric": pair.metric, "baseline": pair.baseline, "system": pair.system},
                **{"figure": figure, "of_baseline": of.first, "of_system": of.second},
                "difference": of.difference,
                "low": getattr(of.interval, "low", None),
                "high": getattr(of.interval, "high", None),
                "p_value": of.p_value,
            }
            for pair in self.systems
            for figure, of in pair.differences.items()
        )

    def to_json(self) -> str:
        """Return the comparison as strict JSON, with non-ASCII characters unescaped."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def read_results(
    paths: Iterable[Path],
    *,
    metric: str | None = None,
    contents: Mapping[Path, Any] = MappingProxyType({}),
) -> dict[str, EvaluationResult]:
    """Read results and give each a short name: that of its system, with the metric appended if
    several results are of this system.

    Args:
        paths: files that `cc-hf evaluate` wrote, each with one result or those of all metrics.
        metric: read only the results of this metric; None for all.
        contents: path -> the plain values of its JSON, of files that were read already.

    Returns:
        Name -> result, in the order of the files. Systems are named as by
        `cc_hf.data.files.result_files.system_names`.
    """
    paths = [*paths]
    read: list[tuple[Path, EvaluationResult]] = []
    for path in paths:
        results = read_result_file(path, contents.get(path)).results
        chosen = [result for result in results if metric is None or result.metric == metric]
        if not chosen:
            raise InputError(
                f"{path}: expected a result of the metric {metric}, got"
                f" {', '.join(result.metric for result in results)}"
            )
        read += [(path, result) for result in chosen]
    stems = Counter(path.stem for path in paths)
    names = [
        name if name == result.system or stems[path.stem] == 1 else str(path)
        for name, (path, result) in zip(system_names(read), read, strict=True)
    ]
    by_name: dict[str, EvaluationResult] = {}
    for name, (path, result) in zip(names, read, strict=True):
        full_name = name if names.count(name) == 1 else f"{name}:{result.metric}"
        if full_name in by_name:
            raise InputError(f"{path}: {full_name} is named twice; name each file once")
        by_name[full_name] = result
    return by_name


def compare(
    results: Mapping[str, EvaluationResult],
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    shared: str | None = None,
    lists_right_alone: bool = False,
) -> Comparison:
    """Compare results of one dataset, configuration and target language.

    Results of one metric are each compared with the first of them, the baseline. Results on the
    same translations are compared pair by pair.

    Args:
        results: at least two results by name, the baseline first.
        shared: "answered" or "decided" to compare on samples that every result answered or decided
            (`cc_hf.comparing.samples.on_shared_samples`); None for all, which every result must
            have.

    Raises:
        InputError: for fewer than two results, different data, ids that only one result has,
            results of one metric with different options, or a result that cannot be compared with
            any other, such as one of another metric on other translations.
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    if len(results) < 2:
        raise InputError(f"expected at least two results to compare, got {len(results)}")
    signatures = {name: result.signature for name, result in results.items()}
    aligned, left_out = _aligned(results, shared)
    results = aligned.results
    # BLEU and the like have no judgement of single translations that could be paired.
    judged = [name for name, row in aligned.judgements.items() if row]
    not_compared = {
        name: "its metric judges the whole, not each translation"
        for name in results
        if name not in judged
    }
    bootstrap: dict[str, Any] = {"n_resamples": n_resamples, "level": level, "seed": seed}
    systems: list[SystemComparison] = []
    # Differences need one metric; across metrics only agreement on the same outputs is told.
    for metric in dict.fromkeys(results[name].metric for name in judged):
        names = [name for name in judged if results[name].metric == metric]
        for name in names[1:]:
            check_pair(names[0], name, aligned)
            if reason := why_corrections_differ(names[0], name, results):
                not_compared[f"corrected figures of {names[0]} and {name}"] = reason
        if len(names) > 1:
            systems += differences_to_first(names, aligned, bootstrap).values()
    agreements: list[MetricAgreement] = []
    obstacles: dict[tuple[str, str], str] = {}
    for left, right in itertools.combinations(judged, 2):
        if reason := aligned.why_examples_differ(left, right):
            not_compared[f"{left} and {right}"] = obstacles[left, right] = reason
        elif other := aligned.why_translations_differ(left, right):
            obstacles[left, right] = other
        else:
            agreements.append(_agreement(left, right, aligned, bootstrap))
    compared = {name for pair in systems for name in (pair.baseline, pair.system)} | {
        name for pair in agreements for name in (pair.left, pair.right)
    }
    _check_compared(compared, judged, results, obstacles)
    first = next(iter(results.values()))
    return Comparison(
        first.dataset,
        first.config,
        first.tgt_lang,
        tuple(systems),
        tuple(agreements),
        signed_tests(first, len(results), bootstrap, shared),
        signatures,
        not_compared,
        _notes(results, systems),
        {name: why for name, result in results.items() if (why := headline(result).why_unranked)},
        left_out,
        right_alone(results) if lists_right_alone else {},
        ranks_by_metric({name: results[name] for name in judged}, level=level),
    )


def _notes(
    results: Mapping[str, EvaluationResult], systems: Sequence[SystemComparison]
) -> dict[str, tuple[str, ...]]:
    notes = {name: (*result.notes, *level_notes(result)) for name, result in results.items()}
    for pair in systems:
        remarks = within_mistakes(results[pair.system], pair.baseline, pair.differences)
        notes[pair.system] = (*notes[pair.system], *remarks)
    return notes


def _aligned(
    results: Mapping[str, EvaluationResult], shared: str | None
) -> tuple[AlignedJudgements, dict[str, int]]:
    if shared is None:
        return AlignedJudgements.of(results), {}
    return on_shared_samples(results, shared)


def _check_compared(
    compared: set[str],
    judged: Sequence[str],
    results: Mapping[str, EvaluationResult],
    obstacles: Mapping[tuple[str, str], str],
) -> None:
    uncompared = [name for name in judged if name not in compared]
    if not compared and not uncompared:
        uncompared = list(results)
    if not uncompared:
        return
    name = uncompared[0]
    reason = next(
        (text for pair, text in obstacles.items() if name in pair),
        "no other result has judgements of single translations",
    )
    raise InputError(
        f"{name} ({results[name].metric}) can be compared to none of the others; expected results"
        f" of the same metric, or of the same translations: {reason}"
    )


def _agreement(
    left: str, right: str, aligned: AlignedJudgements, bootstrap: Mapping[str, Any]
) -> MetricAgreement:
    pairs = list(aligned.pairs(left, right))
    correct = [a.is_correct for a, _ in pairs], [b.is_correct for _, b in pairs]
    verdicts = [a.verdict for a, _ in pairs], [b.verdict for _, b in pairs]
    labels = tuple(
        verdict
        for verdict in (*VERDICTS, NEITHER)
        if verdict in VERDICTS[:2] or any(verdict in side for side in verdicts)
    )
    return MetricAgreement(
        left=left,
        right=right,
        n=len(pairs),
        agreement=proportion_of_agreement(*correct),
        interval=agreement_interval(*correct),
        kappa=cohen_kappa(*correct),
        kappa_interval=kappa_interval(*correct, **bootstrap),
        verdict_agreement=proportion_of_agreement(*verdicts),
        verdict_kappa=cohen_kappa(*verdicts),
        labels=labels,
        confusion=tuple(
            tuple(int(n) for n in row) for row in confusion_matrix(*verdicts, labels=labels)
        ),
    )
