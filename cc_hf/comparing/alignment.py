"""Results on the same data with their judgements aligned by example, which comparisons of systems,
models, metrics and shared samples are views of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from cc_hf import signature
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult, difference_of_data
from cc_hf.schema import Judgement

__all__ = ["AlignedJudgements", "by_metric", "check_same_data", "check_whole"]


def check_same_data(
    results: Mapping[str, EvaluationResult], expected: str = "expected results on the same data"
) -> None:
    """Check that the judgements of results can be joined by the ids of their examples.

    Args:
        results: name -> result. The names are used in the message.
        expected: the beginning of the message.

    Raises:
        InputError: for results of different data.
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
    """Refuse a result on the first examples of a dataset, which must not pass for the whole.

    Raises:
        InputError: for a result with a limit.
    """
    if not result.signature:
        return
    _, limit = signature.split_and_limit(result.signature, result.dataset, result.config)
    if limit is not None:
        raise InputError(
            f"expected results on all examples, got a first look at {limit}; evaluate without a"
            " limit"
        )


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
        """Align results.

        Args:
            results: name -> result, each with judgements of any examples of the data, or of none.

        Raises:
            InputError: for results of different data, several judgements of one example, or another
                number of judgements than the `n` of a result.

        Examples:
            >>> def result(**verdicts):
            ...     judgements = tuple(
            ...         Judgement(name, "all", verdict == "correct", "", verdict)
            ...         for name, verdict in verdicts.items()
            ...     )
            ...     n = len(judgements)
            ...     return EvaluationResult(
            ...         "d", "c", "de", "m", f"m|data:d/c|n:{n}", n, {}, {}, (), judgements
            ...     )
            >>> aligned = AlignedJudgements.of(
            ...     {"a": result(x="correct", y="incorrect"), "b": result(z="correct", y="correct")}
            ... )
            >>> [[judgement.verdict for judgement in row] for row in aligned.rows("ab")]
            [['incorrect'], ['correct']]
            >>> aligned.why_examples_differ("a", "b")
            'a has no judgement of 1 of the 2 examples of b, such as example z'
        """
        check_same_data(results)
        return cls(results, {name: _by_id(name, result) for name, result in results.items()})

    def rows(self, names: Collection[str]) -> list[list[Judgement]]:
        """Return each result's judgements of the examples that all have, in the order of the first.

        Args:
            names: names of results, at least one.

        Raises:
            InputError: for a result without judgements.
        """
        tables = [self.judgements[name] for name in names]
        if without := [name for name in names if not self.judgements[name]]:
            raise InputError(
                f"{without[0]}: expected a result with judgements of single translations, got one"
                f" of {self.results[without[0]].metric}, which has none"
            )
        ids = [i for i in tables[0] if all(i in table for table in tables)]
        return [[table[i] for i in ids] for table in tables]

    def pairs(self, left: str, right: str) -> Iterator[tuple[Judgement, Judgement]]:
        """Return both judgements of each shared example, in the order of the first result."""
        others = self.judgements[right]
        return ((j, others[i]) for i, j in self.judgements[left].items() if i in others)

    def why_examples_differ(self, left: str, right: str) -> str:
        """Return which of two results lacks examples of the other; "" if both have the same."""
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
