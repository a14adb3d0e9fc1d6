"""Systems against a baseline by one metric: differences in all figures that both have, with their
intervals and p, on the same samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cc_hf import signature
from cc_hf.comparing.alignment import AlignedJudgements, SharedVerdicts
from cc_hf.errors import InputError
from cc_hf.evaluation.correction import corrected_estimates, judge_of
from cc_hf.figure_keys import CORRECTED
from cc_hf.metrics.base import Metric, registered_metric
from cc_hf.metrics.headline import uncounted_of
from cc_hf.results import EvaluationResult, different_options
from cc_hf.schema import INCONCLUSIVE, counted_categories
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
    "SystemComparison",
    "check_pair",
    "compare_with_baseline",
    "differences_to_first",
    "signed_tests",
    "why_corrections_differ",
]


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """A system compared with the baseline by one metric, over their judgements.

    Accuracy is the share of correct judgements; an inconclusive one is not correct, and one on a
    translation that shows neither reading is not counted.

    Attributes:
        differences: figure -> paired difference of system and baseline, with its interval.
    """

    metric: str
    baseline: str
    system: str
    n: int
    differences: Mapping[str, PairedDifference]
    mcnemar: McNemar


def compare_with_baseline(
    results: Mapping[str, EvaluationResult],
    baseline: str,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[dict[str, SystemComparison], dict[str, str], str]:
    """Compare results of one metric with the baseline, as far as they can be compared.

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
            check_pair(baseline, name, aligned)
        except InputError as error:
            obstacles[f"{name} was not compared to {baseline}"] = str(error)
            continue
        names.append(name)
        if reason := why_corrections_differ(baseline, name, results):
            obstacles[f"not compared: corrected figures of {baseline} and {name}"] = reason
    if len(names) < 2:
        return {}, obstacles, ""
    signed = signed_tests(results[baseline], 2, bootstrap)
    return differences_to_first(names, aligned, bootstrap), obstacles, signed


def signed_tests(
    first: EvaluationResult, n_results: int, bootstrap: Mapping[str, Any], shared: str | None = None
) -> str:
    """Return the signature of comparisons of so many results, of which one is given."""
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


def check_pair(baseline: str, name: str, aligned: AlignedJudgements) -> None:
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
        # Scores from a file or a function carry a name that two functions can share.
        if "@scores." in signature.parse(aligned.results[name].signature)[1].get("eval", ""):
            _check_same_scores(baseline, name, aligned)


def differences_to_first(
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
    counted = shared.is_counted
    differences = paired_differences(
        shared.is_correct,
        shared.categories,
        weights=weights,
        inconclusive=shared.flags(lambda j: j.verdict == INCONCLUSIVE) if has_rates else None,
        counted=counted,
        of_categories=OfCategories(
            declared.category_groups, declared.differences(), declared.uncounted
        ),
        units=shared.units,
        **bootstrap,
    )
    corrected = _corrected_differences(names, shared, results)
    f1 = _f1_differences(declared, shared, bootstrap)
    shares = _share_differences(declared, shared, [results[name] for name in names], bootstrap)
    return {
        name: SystemComparison(
            metric,
            baseline,
            name,
            len(shared.categories),
            {**corrected[number], **differences[number], **f1[number], **shares[number]},
            # Rows that one of the two leaves uncounted say nothing of the pair.
            mcnemar(*(shared.is_correct[[0, number + 1]] & counted[0] & counted[number + 1])),
        )
        for number, name in enumerate(others)
    }


def _f1_differences(
    declared: type[Metric], shared: SharedVerdicts, bootstrap: Mapping[str, Any]
) -> Sequence[Mapping[str, PairedDifference]]:
    """Return the differences in F1, and in differences of F1, of a metric that declares such; else
    {}.
    """
    gold = [judgement.gold for judgement in shared.table[0]]
    deltas = declared.differences()
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
    declared: type[Metric],
    shared: SharedVerdicts,
    results: Sequence[EvaluationResult],
    bootstrap: Mapping[str, Any],
) -> list[dict[str, PairedDifference]]:
    """Return the differences in the shares of judgements that a metric declares and both have."""
    differences: list[dict[str, PairedDifference]] = [{} for _ in shared.table[1:]]
    baseline, *others = results
    for name, figure in declared.figure_names.items():
        if figure.counts is None or name not in baseline.scores:
            continue
        of_systems = paired_differences(
            shared.flags(figure.counts), shared.categories, units=shared.units, **bootstrap
        )
        for system, figures, result in zip(differences, of_systems, others, strict=True):
            if name in result.scores:
                system[name] = figures["accuracy"]
    return differences


def _corrected_differences(
    names: Sequence[str], shared: SharedVerdicts, results: Mapping[str, EvaluationResult]
) -> list[dict[str, PairedDifference]]:
    """Return the differences in figures that include the judge's mistakes; {} for one whose figures
    cannot be compared.
    """
    baseline, *others = names
    metric = results[baseline].metric
    first, *estimates = (corrected_estimates(metric, row) for row in shared.table)
    counted = counted_categories({*shared.categories}, uncounted_of(metric))
    return [
        {
            f"{CORRECTED}{figure}": difference
            for figure, difference in estimated_differences(first, second, counted).items()
            if not why_corrections_differ(baseline, name, results)
        }
        for name, second in zip(others, estimates, strict=True)
    ]


def why_corrections_differ(
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
    """Check that two systems were judged alike."""
    # A difference could otherwise be due to the evaluator or its options.
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
