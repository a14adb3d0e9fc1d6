"""Compare results: systems judged by one metric, and metrics that judged the same translations.
Nothing is scored again.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cc_hf import signature
from cc_hf.comparing.alignment import AlignedJudgements, SharedVerdicts
from cc_hf.comparing.bands import Ranks, ranks_by_metric
from cc_hf.comparing.mistakes import level_notes, within_mistakes
from cc_hf.comparing.samples import on_shared_samples, right_alone
from cc_hf.data.files.result_files import read_result_file, system_names
from cc_hf.errors import InputError
from cc_hf.evaluation.correction import corrected_estimates, judge_of
from cc_hf.metrics.base import Metric, registered_metric
from cc_hf.metrics.headline import headline, uncounted_of
from cc_hf.results import (
    CORRECTED,
    EvaluationResult,
    Interval,
    NoInterval,
    OnData,
    different_options,
)
from cc_hf.schema import VERDICTS, counted_categories
from cc_hf.statistics.agreement import (
    agreement_interval,
    cohen_kappa,
    confusion_matrix,
    kappa_interval,
    proportion_of_agreement,
)
from cc_hf.statistics.bootstrap import check_bootstrap
from cc_hf.statistics.paired import (
    McNemar,
    OfCategories,
    PairedDifference,
    estimated_differences,
    f1_differences,
    mcnemar,
    paired_differences,
)

__all__ = [
    "Comparison",
    "MetricAgreement",
    "SystemComparison",
    "compare",
    "compare_with_baseline",
    "read_results",
]


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """A system compared with the baseline by one metric, over their judgements.

    Accuracy is the share of correct judgements; an inconclusive one is not correct.

    Attributes:
        baseline, system: names of the results.
        differences: figure -> paired difference of system and baseline, with its
            interval.
        mcnemar: McNemar's test over the same judgements.
    """

    metric: str
    baseline: str
    system: str
    n: int
    differences: Mapping[str, PairedDifference]
    mcnemar: McNemar


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """Two metrics, or two variants of one, on the same translations.

    Attributes:
        left, right: names of the results.
        agreement, kappa: agreement and Cohen's kappa on whether a translation is correct; an
            inconclusive verdict is not correct.
        interval, kappa_interval: intervals of these two, or why there is none.
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
class Comparison(OnData):
    """The comparisons that a set of results allows.

    Attributes:
        dataset, config, tgt_lang: the data that all results share.
        systems: comparisons of systems with their baseline.
        agreements: comparisons of metrics on the same translations.
        signatures: result -> its signature.
        not_compared: pair or single result that was not compared -> reason.
        notes: result -> its notes.
        unfit: result -> why its figures are not fit to be cited; those that are fit are left out.
        left_out: result -> number of its samples that are not compared, since another result has no
            verdict on them; empty if all samples are compared.
        right_alone: result -> ids of the samples that no other result has right; empty if they were
            not asked for.
        ranks: metric of two systems or more -> how they stand by the figure that is cited of them.
    """

    dataset: str
    config: str
    tgt_lang: str
    systems: tuple[SystemComparison, ...]
    agreements: tuple[MetricAgreement, ...]
    signature: str
    signatures: Mapping[str, str]
    not_compared: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unfit: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    right_alone: Mapping[str, list[str]] = field(default_factory=dict)
    ranks: Mapping[str, Ranks] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the comparison as strict JSON, with non-ASCII characters unescaped."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def read_results(
    paths: Sequence[Path], *, metric: str | None = None
) -> dict[str, EvaluationResult]:
    """Read results and give each a short name: that of its system, with the metric appended if
    several results are of this system.

    Args:
        paths: files that `cc-hf evaluate` wrote, each with one result or those of all metrics.
        metric: read only the results of this metric; None for all.

    Returns:
        Name -> result, in the order of the files. Systems are named as by
        `cc_hf.data.files.result_files.system_names`.

    Raises:
        InputError: for a file that does not exist or holds no result, for a file without a result
            of the metric, or for a file named twice.
    """
    read: list[tuple[Path, EvaluationResult]] = []
    for path in paths:
        results = read_result_file(path).results
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
    same translations are compared pair by pair. Judgements are joined by the ids of their examples.

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
    judged = [name for name, row in aligned.judgements.items() if row]
    not_compared = {
        name: "its metric judges the whole, not each translation"
        for name in results
        if name not in judged
    }
    bootstrap: dict[str, Any] = {"n_resamples": n_resamples, "level": level, "seed": seed}
    systems: list[SystemComparison] = []
    for metric in dict.fromkeys(results[name].metric for name in judged):
        names = [name for name in judged if results[name].metric == metric]
        for name in names[1:]:
            _check_pair(names[0], name, aligned)
            if reason := _why_corrections_differ(names[0], name, results):
                not_compared[f"corrected figures of {names[0]} and {name}"] = reason
        if len(names) > 1:
            systems += _systems(names, aligned, bootstrap).values()
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
        _signed(first, len(results), bootstrap, shared),
        signatures,
        not_compared,
        _notes(results, systems),
        {name: why for name, result in results.items() if (why := headline(result).why_unranked)},
        left_out,
        right_alone(results) if lists_right_alone else {},
        ranks_by_metric({name: results[name] for name in judged}, level=level),
    )


def compare_with_baseline(
    results: Mapping[str, EvaluationResult],
    baseline: str,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[dict[str, SystemComparison], dict[str, str], str]:
    """Compare results of one metric with the baseline, as far as they can be compared.

    Args:
        results: system -> its result on the same data.
        baseline: one of the systems.

    Returns:
        System -> its comparison; what was not compared -> the reason; and the signature of the
            tests, "" without comparisons.
    """
    bootstrap: dict[str, Any] = {"n_resamples": n_resamples, "level": level, "seed": seed}
    check_bootstrap(**bootstrap)
    aligned = AlignedJudgements.of(results)
    names, obstacles = [baseline], {}
    for name in results:
        if name == baseline:
            continue
        try:
            _check_pair(baseline, name, aligned)
        except InputError as error:
            obstacles[f"{name} was not compared to {baseline}"] = str(error)
            continue
        names.append(name)
        if reason := _why_corrections_differ(baseline, name, results):
            obstacles[f"not compared: corrected figures of {baseline} and {name}"] = reason
    if len(names) < 2:
        return {}, obstacles, ""
    signed = _signed(results[baseline], 2, bootstrap)
    return _systems(names, aligned, bootstrap), obstacles, signed


def _signed(
    first: EvaluationResult, n_results: int, bootstrap: Mapping[str, Any], shared: str | None = None
) -> str:
    fields: dict[str, str | int] = {
        "data": signature.parse(first.signature)[1].get("data", "own"),
        "n": first.n,
        "results": n_results,
        "test": "paired-exchange+ar+mcnemar-exact",
    }
    fields |= {} if shared is None else {"samples": f"shared.{shared}"}
    fields |= {
        "boot": bootstrap["n_resamples"],
        "level": str(bootstrap["level"]),
        "seed": bootstrap["seed"],
    }
    return signature.build("compare", fields)


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
    """Check that every result is compared with another."""
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


def _check_pair(baseline: str, name: str, aligned: AlignedJudgements) -> None:
    """Refuse two results of one metric whose difference would not be one of the systems."""
    aligned.check_judged([baseline, name])
    if reason := aligned.why_examples_differ(baseline, name):
        raise InputError(
            f"{reason}; evaluate both on the same examples, or compare them on those that both"
            " judged (`cc-hf compare --shared answered`)"
        )
    for j, other in aligned.pairs(baseline, name):
        if j.category != other.category:
            raise InputError(
                f"example {j.example_id}: {baseline} has the category {j.category!r},"
                f" {name} has {other.category!r}; evaluate the same data"
            )
    if aligned.why_translations_differ(baseline, name):  # else two variants of the metric
        _check_same_options(baseline, name, aligned.results)
        if "@scores." in signature.parse(aligned.results[name].signature)[1].get("eval", ""):
            _check_same_scores(baseline, name, aligned)


def _systems(
    names: Sequence[str], aligned: AlignedJudgements, bootstrap: Mapping[str, Any]
) -> dict[str, SystemComparison]:
    """Compare the results of one metric with the first of them; all are checked already."""
    baseline, *others = names
    # Some metrics have weights, or count what is inconclusive among their figures; old files lack
    # them, and two results are compared in what both have.
    by_kind: dict[tuple[bool, bool], list[str]] = {}
    for name in others:
        has_weights, has_rates = (
            all(figure in aligned.results[owner].scores for owner in (baseline, name))
            for figure in ("weighted_accuracy", "inconclusive_rate")
        )
        by_kind.setdefault((has_weights, has_rates), []).append(name)
    compared: dict[str, SystemComparison] = {}
    for (has_weights, has_rates), of_kind in by_kind.items():
        compared |= _alike([baseline, *of_kind], aligned, bootstrap, has_weights, has_rates)
    return {name: compared[name] for name in others}


def _alike(
    names: Sequence[str],
    aligned: AlignedJudgements,
    bootstrap: Mapping[str, Any],
    has_weights: bool,
    has_rates: bool,
) -> dict[str, SystemComparison]:
    baseline, *others = names
    results = aligned.results
    metric = results[baseline].metric
    declared = registered_metric(metric)
    shared = aligned.shared(names)
    weights = np.array([[j.weight for j in row] for row in shared.table]) if has_weights else None
    differences = paired_differences(
        shared.is_correct,
        shared.categories,
        weights=weights,
        inconclusive=shared.flags(lambda j: not j.is_decided) if has_rates else None,
        of_categories=OfCategories(
            declared.category_groups, declared.differences, declared.uncounted
        )
        if declared
        else None,
        units=shared.units,
        **bootstrap,
    )
    corrected = _corrected_differences(names, shared, results)
    f1 = _f1_differences(declared, shared, bootstrap)
    shares = _share_differences(declared, shared, bootstrap)
    return {
        name: SystemComparison(
            metric,
            baseline,
            name,
            len(shared.categories),
            {**corrected[number], **differences[number], **f1[number], **shares[number]},
            mcnemar(shared.is_correct[0], shared.is_correct[number + 1]),
        )
        for number, name in enumerate(others)
    }


def _f1_differences(
    declared: type[Metric] | None, shared: SharedVerdicts, bootstrap: Mapping[str, Any]
) -> Sequence[Mapping[str, PairedDifference]]:
    """Return the differences of each system to the baseline in F1, and in differences of F1, of a
    metric that declares such differences; {} for others.
    """
    gold = [judgement.gold for judgement in shared.table[0]]
    deltas = declared.differences if declared else {}
    figures = dict.fromkeys(figure for pair in deltas.values() for figure in pair)
    by_figure = {f"f1_{label}": label for label in {*gold}}
    labels = [by_figure[figure] for figure in figures if figure in by_figure]
    if not labels:
        return [{} for _ in shared.table[1:]]
    return f1_differences(
        gold,
        [[judgement.predicted for judgement in row] for row in shared.table],
        labels=labels,
        deltas=deltas,
        units=shared.units,
        **bootstrap,
    )


def _share_differences(
    declared: type[Metric] | None, shared: SharedVerdicts, bootstrap: Mapping[str, Any]
) -> list[dict[str, PairedDifference]]:
    """Return the differences of each system to the baseline in the shares of judgements that a
    metric declares.
    """
    differences: list[dict[str, PairedDifference]] = [{} for _ in shared.table[1:]]
    for name, counts in (declared.compared_shares if declared else {}).items():
        of_systems = paired_differences(
            shared.flags(counts), shared.categories, units=shared.units, **bootstrap
        )
        for system, figures in zip(differences, of_systems, strict=True):
            system[name] = figures["accuracy"]
    return differences


def _corrected_differences(
    names: Sequence[str], shared: SharedVerdicts, results: Mapping[str, EvaluationResult]
) -> list[dict[str, PairedDifference]]:
    """Return the differences of each system to the baseline in figures that include the judge's
    mistakes; {} for one whose figures cannot be compared.
    """
    baseline, *others = names
    metric = results[baseline].metric
    first, *estimates = (corrected_estimates(metric, row) for row in shared.table)
    counted = counted_categories({*shared.categories}, uncounted_of(metric))
    return [
        {
            f"{CORRECTED}{figure}": difference
            for figure, difference in estimated_differences(first, second, counted).items()
            if not _why_corrections_differ(baseline, name, results)
        }
        for name, second in zip(others, estimates, strict=True)
    ]


def _why_corrections_differ(
    baseline: str, name: str, results: Mapping[str, EvaluationResult]
) -> str:
    """Return why the corrected figures of two results are not compared; "" if they are, or if there
    are none.
    """
    corrections = {
        owner: signature.parse(results[owner].signature)[1] for owner in (baseline, name)
    }
    trusted = {n: fields["trusted"] for n, fields in corrections.items() if "trusted" in fields}
    transferred = [n for n, fields in corrections.items() if "transferred" in fields]
    if len(trusted) == 1:
        return f"only {next(iter(trusted))} has figures that include the judge's mistakes"
    judges = {judge_of(text) for text in trusted.values()}
    if len(judges) > 1:
        return f"the trusted verdicts are those of {' and '.join(sorted(judges))}"
    if transferred:
        return "transferred figures rest on labels of other translations"
    return ""


def _check_same_options(baseline: str, name: str, results: Mapping[str, EvaluationResult]) -> None:
    """Check that two systems were judged alike.

    A difference could otherwise be due to the evaluator or its options.
    """
    if key := different_options(results[baseline], results[name]):
        left, right = (
            {"metric": kind, **fields}.get(key, "not given")
            for kind, fields in (
                signature.parse(results[result_name].signature) for result_name in (baseline, name)
            )
        )
        remedy = "evaluate both with the same options"
        if key == "eval" and None in map(signature.evaluator_key, (left, right)):
            remedy += ", and give the function a name (its attribute `signature_name`)"
        raise InputError(
            f"{baseline} and {name} are different systems, judged with different options: {key} is"
            f" {left!r} and {right!r}; {remedy}"
        )


def _check_same_scores(baseline: str, name: str, aligned: AlignedJudgements) -> None:
    """Check that two evaluators of one name are the same as far as their scores show it."""
    for judgement, other in aligned.pairs(baseline, name):
        scores = [(j.score_correct, j.score_incorrect) for j in (judgement, other)]
        if judgement.translation == other.translation and not all(
            left == right or (left and right and math.isclose(left, right, rel_tol=1e-3))
            for left, right in zip(*scores, strict=True)
        ):
            raise InputError(
                f"example {judgement.example_id}: {baseline} and {name} have the same translation,"
                f" with the scores {scores[0]} and {scores[1]}, so that they were judged by"
                " different functions of one name; evaluate both with the same function"
            )


def _agreement(
    left: str, right: str, aligned: AlignedJudgements, bootstrap: Mapping[str, Any]
) -> MetricAgreement:
    pairs = list(aligned.pairs(left, right))
    correct = [a.is_correct for a, _ in pairs], [b.is_correct for _, b in pairs]
    verdicts = [a.verdict for a, _ in pairs], [b.verdict for _, b in pairs]
    labels = tuple(
        verdict
        for verdict in VERDICTS
        if verdict != "inconclusive" or any(verdict in side for side in verdicts)
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
