"""Rank correlations over systems, for each pair of evaluators: do evaluators rank the same systems
alike (Vamvas & Sennrich 2021, section 3.5)?
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from cc_hf import signature
from cc_hf.comparing.alignment import AlignedJudgements
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import check_bootstrap
from cc_hf.statistics.checks import is_constant
from cc_hf.statistics.rank_correlation import RankCorrelation, rank_correlation

__all__ = ["EvaluatorAgreement", "EvaluatorPair", "evaluator_agreement"]

#: Fields of a signature that describe the run or the system. All other fields identify the
#: evaluator and its options.
_NOT_THE_JUDGE = {"data", "sys", "n", "seed", "boot", "v"}

_System = tuple[str, ...]  # translations, in the order of the examples


@dataclass(frozen=True, slots=True)
class EvaluatorPair:
    """Two evaluators, and how similarly they rank the systems."""

    left: str
    right: str
    correlation: RankCorrelation


@dataclass(frozen=True)
class EvaluatorAgreement:
    """The rank correlations of all pairs of evaluators.

    Attributes:
        figure: the score by which systems are ranked.
        systems: names of the systems, taken from the results of the first evaluator.
        evaluators: short name -> the part of the signature that describes the evaluator.
        scores: short name -> the figure of each system, in the order of `systems`, in [0, 1].
        mean_spearman, mean_kendall: means over the pairs, in [-1, 1].
    """

    figure: str
    systems: tuple[str, ...]
    evaluators: Mapping[str, str]
    scores: Mapping[str, tuple[float, ...]]
    pairs: tuple[EvaluatorPair, ...]
    mean_spearman: float
    mean_kendall: float


def evaluator_agreement(
    results: Mapping[str, EvaluationResult],
    *,
    figure: str = "accuracy",
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> EvaluatorAgreement:
    """Compare the rankings that evaluators, at least two, give to three systems or more.

    Args:
        results: name -> result of one system by one evaluator, all on the same data. Every
            evaluator must have judged every system.
    """
    check_bootstrap(seed=seed, n_resamples=n_resamples, level=level)
    systems = _systems(results)
    # This maps the description of an evaluator to {system: name of the result}.
    table: dict[str, dict[_System, str]] = {}
    for name, result in results.items():
        if figure not in result.scores:
            raise InputError(
                f"figure: expected one of {', '.join(result.scores)}, which {name} has, got"
                f" {figure!r}"
            )
        # Results with the same translations belong to one system. Results whose signatures differ
        # only in the system belong to one evaluator.
        judged, system = table.setdefault(_judge(result), {}), systems[name]
        if system in judged:
            raise InputError(
                f"{name} and {judged[system]} are the same translations by the same evaluator; give"
                " each once"
            )
        judged[system] = name
    _check_complete(table)
    order = list(next(iter(table.values())))
    short = _short_names(table)
    scores = {
        short[judge]: tuple(results[judged[system]].scores[figure] for system in order)
        for judge, judged in table.items()
    }
    for name, values in scores.items():
        if is_constant(values):
            raise InputError(
                f"figure: {name} gives all {len(order)} systems the same {figure}, {values[0]}: no"
                " order can be compared; choose another figure"
            )
    pairs = tuple(
        EvaluatorPair(
            left,
            right,
            rank_correlation(
                scores[left], scores[right], n_resamples=n_resamples, level=level, seed=seed
            ),
        )
        for left, right in itertools.combinations(scores, 2)
    )
    return EvaluatorAgreement(
        figure,
        tuple(next(iter(table.values())).values()),
        {short[judge]: judge for judge in table},
        scores,
        pairs,
        sum(pair.correlation.spearman for pair in pairs) / len(pairs),
        sum(pair.correlation.kendall for pair in pairs) / len(pairs),
    )


def _judge(result: EvaluationResult) -> str:
    metric, fields = signature.parse(result.signature)
    if key := signature.evaluator_key(fields.get("eval", "")):
        fields["eval"] = key
    return signature.unparse(
        metric, {key: value for key, value in fields.items() if key not in _NOT_THE_JUDGE}
    )


def _systems(results: Mapping[str, EvaluationResult]) -> dict[str, _System]:
    """Return the translations of each result, which identify its system."""
    aligned = AlignedJudgements.of(results)
    rows = dict(zip(results, aligned.shared(results).table, strict=True))
    for left, right in itertools.pairwise(results):
        if reason := aligned.why_examples_differ(left, right):
            raise InputError(f"expected results of the same examples: {reason}")
    return {name: tuple(j.translation for j in row) for name, row in rows.items()}


def _check_complete(table: Mapping[str, Mapping[_System, str]]) -> None:
    names = {system: name for judged in table.values() for system, name in judged.items()}
    if len(table) < 2 or len(names) < 3:
        raise InputError(
            "expected results of at least three systems by at least two evaluators, got"
            f" {len(names)} systems and {len(table)} evaluators; systems are told apart by their"
            " translations, evaluators by the signatures of the results"
        )
    for judge, judged in table.items():
        if missing := names.keys() - judged.keys():
            raise InputError(
                f"expected all {len(names)} systems by every evaluator: the translations of"
                f" {names[min(missing)]} were not judged by {judge}"
            )


def _short_names(table: Mapping[str, Mapping[_System, str]]) -> dict[str, str]:
    """Return the shortest kind of name that tells the evaluators apart: the model, the metric,
    both, or the fields of their signatures that differ.
    """
    parsed = {judge: signature.parse(judge) for judge in table}
    models = {judge: fields.get("eval", "") for judge, (_, fields) in parsed.items()}
    if all(models.values()) and len(set(models.values())) == len(models):
        return models
    metrics = {judge: metric for judge, (metric, _) in parsed.items()}
    for short in (
        metrics,
        {judge: f"{metric} {models[judge]}".strip() for judge, metric in metrics.items()},
    ):
        if len(set(short.values())) == len(short):
            return short
    keys = [
        key
        for key in dict.fromkeys(key for _, fields in parsed.values() for key in fields)
        if len({fields.get(key) for _, fields in parsed.values()}) > 1
    ]
    names = {
        judge: " ".join((metric, *(f"{key}:{fields[key]}" for key in keys if key in fields)))
        for judge, (metric, fields) in parsed.items()
    }
    return names if len(set(names.values())) == len(names) else {judge: judge for judge in table}
