"""Results on the same data with their judgements aligned by example, which comparisons of systems,
models, metrics and shared samples are views of.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult, difference_of_data
from cc_hf.schema import NEITHER, Judgement

__all__ = ["AlignedJudgements", "SharedVerdicts", "by_metric", "check_same_data", "check_whole"]


def check_same_data(
    results: Mapping[str, EvaluationResult], expected: str = "expected results on the same data"
) -> None:
    """Check that the judgements of results, by name, can be joined by the ids of their examples.

    Args:
        expected: the beginning of the message.
    """
    if difference := difference_of_data(results):
        raise InputError(
            f"{expected}: {difference}; evaluate the same rows of the same configuration, or give"
            " results of one dataset only"
        )


def by_metric(
    results: Mapping[str, EvaluationResult],
) -> dict[str, dict[str, EvaluationResult]]:
    """Return results of several metrics as metric -> name -> result, in their order."""
    of_metrics: dict[str, dict[str, EvaluationResult]] = {}
    for name, result in results.items():
        of_metrics.setdefault(result.metric, {})[name] = result
    return of_metrics


def check_whole(result: EvaluationResult) -> None:
    """Refuse a result on the first examples of a dataset, which must not pass for the whole."""
    if not result.signature:
        return
    _, limit = signature.split_and_limit(result.signature, result.dataset, result.config)
    if limit is not None:
        raise InputError(
            f"expected results on all examples, got a first look at {limit}; evaluate without a"
            " limit"
        )


@dataclass(frozen=True)
class SharedVerdicts:
    """What s systems have on the same n samples, as columns for the statistics."""

    table: Sequence[Sequence[Judgement]] = field(repr=False)

    @functools.cached_property
    def is_correct(self) -> npt.NDArray[np.bool_]:
        """The verdicts, shape (s, n)."""
        return self.flags(operator.attrgetter("is_correct"))

    @functools.cached_property
    def is_counted(self) -> npt.NDArray[np.bool_]:
        """Whether an accuracy counts each sample: all that show a reading, shape (s, n)."""
        return self.flags(lambda j: j.verdict != NEITHER)

    @functools.cached_property
    def categories(self) -> list[str]:
        """The category of each sample."""
        return [judgement.category for judgement in self.table[0]]

    @functools.cached_property
    def units(self) -> list[int]:
        """The number of each sample's unit, whose samples belong together, as those of a pair."""
        # Files of older versions do not name pairs; the name of a pair is larger than "".
        units = (max(j.unit for j in of_sample) for of_sample in zip(*self.table, strict=True))
        numbers: dict[tuple[str, str], int] = {}
        return [numbers.setdefault(unit, len(numbers)) for unit in units]

    def flags(self, holds: Callable[[Judgement], bool]) -> npt.NDArray[np.bool_]:
        """Return whether something holds of each judgement, shape (s, n)."""
        return np.array([[holds(j) for j in row] for row in self.table], dtype=np.bool_)

    def rows_of(self, category: str) -> npt.NDArray[np.int64]:
        """Return the samples of a category by their numbers."""
        return np.flatnonzero(np.asarray(self.categories) == category)


@dataclass(frozen=True)
class AlignedJudgements:
    """Results on the same data, whose judgements are joined by the ids of their examples.

    Attributes:
        judgements: name -> {example id: judgement}, in the order of the result; {} for a result
            without judgements of single translations.
    """

    results: Mapping[str, EvaluationResult]
    judgements: Mapping[str, Mapping[str, Judgement]] = field(repr=False)

    @classmethod
    def of(cls, results: Mapping[str, EvaluationResult]) -> AlignedJudgements:
        """Align results by name, each with judgements of any examples of the data, or of none.

        Raises:
            InputError: for results of different data, several judgements of one example, or another
                number of judgements than the `n` of a result.
        """
        check_same_data(results)
        return cls(results, {name: _by_id(name, result) for name, result in results.items()})

    def shared(self, names: Collection[str]) -> SharedVerdicts:
        """Return the judgements of the examples that all results have, in the order of the first.

        Raises:
            InputError: for a result without judgements.
        """
        self.check_judged(names)
        tables = [self.judgements[name] for name in names]
        ids = [i for i in tables[0] if all(i in table for table in tables)]
        return SharedVerdicts([[table[i] for i in ids] for table in tables])

    def check_judged(self, names: Iterable[str]) -> None:
        """Refuse a result without judgements."""
        for name in names:
            if not self.judgements[name]:
                raise InputError(
                    f"{name}: expected a result with judgements of single translations, got one"
                    f" of {self.results[name].metric}, which has none"
                )

    def pairs(self, left: str, right: str) -> Iterator[tuple[Judgement, Judgement]]:
        """Return both judgements of each shared example, in the order of the first result."""
        others = self.judgements[right]
        return ((j, others[i]) for i, j in self.judgements[left].items() if i in others)

    def why_examples_differ(self, left: str, right: str) -> str:
        """Return which of two results lacks examples of the other; "" if both have the same."""
        if self.judgements[left].keys() == self.judgements[right].keys():
            return ""
        for name, other in ((left, right), (right, left)):
            wanted = self.judgements[other]
            if missing := [i for i in wanted if i not in self.judgements[name]]:
                return (
                    f"{name} has no judgement of {len(missing)} of the {len(wanted)} examples of"
                    f" {other}, such as example {missing[0]}"
                )
        return ""

    def why_translations_differ(self, left: str, right: str) -> str:
        """Return the first example with different translations, with these; "" if there is none."""
        for j, other in self.pairs(left, right):
            if j.translation != other.translation:
                return (
                    f"example {j.example_id}: {left} judged {j.translation!r}, {right} judged"
                    f" {other.translation!r}"
                )
        return ""


def _by_id(name: str, result: EvaluationResult) -> dict[str, Judgement]:
    judgements = result.by_id()
    if len(judgements) < len(result.judgements):
        numbers = Counter(j.example_id for j in result.judgements)
        raise InputError(
            f"{name}: expected one judgement of each example, got several of example"
            f" {next(i for i, n in numbers.items() if n > 1)}"
        )
    if judgements and len(judgements) != result.n:
        raise InputError(
            f"{name}: expected {result.n} judgements, as the result says, got {len(judgements)};"
            " the file may be incomplete"
        )
    return judgements
