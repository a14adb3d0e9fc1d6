"""Results of one system with several random seeds, as one: means, standard deviations, and derived
figures from the means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cc_hf import signature
from cc_hf.comparing.alignment import check_same_data
from cc_hf.errors import InputError
from cc_hf.metrics.base import registered_metric
from cc_hf.metrics.headline import uncounted_of
from cc_hf.results import EvaluationResult, different_options
from cc_hf.schema import counted_categories
from cc_hf.statistics.gender_ratios import MALE_FEMALE, RATIO
from cc_hf.statistics.seeds import SeedFigure, average_over_seeds

__all__ = [
    "SeedAverage",
    "average_results",
    "check_seeds",
    "differences_of",
    "minima_of",
    "name_without_seed",
    "seed_of_name",
]

_SEED = re.compile(r"(?<![-_. ])[-_. ]*seed[-_=. ]*(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class SeedAverage:
    """The figures of one system by one metric, averaged over seeds."""

    system: str
    first: EvaluationResult  # of the first seed, which names dataset, metric and n
    figures: Mapping[str, SeedFigure]  # in the order of the seeds
    undefined: Mapping[str, int]  # not averaged: how many seeds have it
    signatures: tuple[str, ...]  # one per seed

    @property
    def n_seeds(self) -> int:
        """The number of seeds."""
        return len(self.signatures)


def average_results(results: Sequence[EvaluationResult], *, system: str = "") -> SeedAverage:
    """Average the results of one system over its seeds.

    Differences (`delta`, `delta_g` and others), minima and the ratio M:F are computed from averaged
    accuracies, not averaged themselves.

    Raises:
        InputError: for no results, different data, metrics or options, or the same result twice.

    Examples:
        >>> results = [
        ...     EvaluationResult(
        ...         "", "", "de", "own", f"own|data:own@1|sys:{a}", 2, {"accuracy": a}, {}, (), ()
        ...     )
        ...     for a in (0.5, 0.75)
        ... ]
        >>> average_results(results).figures["accuracy"].mean
        0.625
    """
    check_seeds(results, system=system)
    first = results[0]
    figures = average_over_seeds(
        [result.scores for result in results],
        differences=differences_of(first),
        minima=minima_of(first),
        ratios={RATIO: MALE_FEMALE},
    )
    names = dict.fromkeys(name for result in results for name in result.scores)
    undefined = {
        name: sum(name in result.scores for result in results)
        for name in names
        if name not in figures
    }
    return SeedAverage(system, first, figures, undefined, tuple(r.signature for r in results))


def name_without_seed(name: str) -> str:
    """Return the name of a system without the part that names its seed.

    Examples:
        >>> name_without_seed("base-seed1"), name_without_seed("aan.seed=2.beam1")
        ('base', 'aan.beam1')
    """
    return _SEED.sub("", name) or name


def seed_of_name(name: str) -> str:
    """Return the seed in the name of a system, as it is written; "" if it names none.

    Examples:
        >>> seed_of_name("base-seed1"), seed_of_name("aan.beam1")
        ('1', '')
    """
    match = _SEED.search(name)
    return match[1] if match and name_without_seed(name) != name else ""


def differences_of(result: EvaluationResult) -> Mapping[str, tuple[str, str]]:
    """Return the figures of a result that are differences of two others, as its metric declares."""
    return registered_metric(result.metric).differences()


def minima_of(result: EvaluationResult) -> dict[str, list[str]]:
    """Return the figures of a result that are the lowest of its categories.

    Examples:
        >>> from cc_hf.results import CategoryAccuracy
        >>> categories = tuple(CategoryAccuracy(name, 1, 1, 1.0) for name in ("female", "male"))
        >>> result = EvaluationResult("", "", "de", "m", "m|n:2", 2, {}, {}, categories, ())
        >>> minima_of(result)["min_accuracy"]
        ['accuracy_female', 'accuracy_male']
    """
    categories = [c.category for c in result.categories]
    counted = counted_categories(categories, uncounted_of(result.metric))
    return {
        f"{weighted}min_accuracy": [f"{weighted}accuracy_{name}" for name in counted]
        for weighted in ("", "weighted_")
    }


def check_seeds(results: Sequence[EvaluationResult], *, system: str = "") -> None:
    """Refuse results that do not differ in the seed of one system only.

    Examples:
        >>> check_seeds([], system="base")
        Traceback (most recent call last):
        cc_hf.errors.InputError: base: expected the result of at least one seed, got none
    """
    prefix = f"{system}: " if system else ""
    if not results:
        raise InputError(f"{prefix}expected the result of at least one seed, got none")
    metrics = dict.fromkeys(result.metric for result in results)
    if len(metrics) > 1:
        raise InputError(f"{prefix}expected results of one metric, got {', '.join(metrics)}")
    numbered = {f"seed {number}": result for number, result in enumerate(results, 1)}
    check_same_data(numbered, f"{prefix}expected results of all seeds on the same data")
    first_name, first = next(iter(numbered.items()))
    for name, result in numbered.items():
        if result is first:
            continue
        if key := different_options(first, result, ignored=_of_the_system(first)):
            fields = [signature.parse(r.signature)[1].get(key, "none") for r in (first, result)]
            raise InputError(
                f"{prefix}expected results that differ in the seed of the system only, got"
                f" {key} {fields[0]!r} of {first_name} and {fields[1]!r} of {name}; give different"
                " systems different names"
            )
    for number, result in enumerate(results):
        if result in results[:number]:
            raise InputError(
                f"{prefix}the results {results.index(result) + 1} and {number + 1} are the same;"
                " name the file of each seed once"
            )


def _of_the_system(result: EvaluationResult) -> set[str]:
    """Return the field that names the system in the signature, if it is the evaluator itself."""
    is_scored = signature.parse(result.signature)[1].get("sys") == "scored"
    return {"eval"} if is_scored else set()
