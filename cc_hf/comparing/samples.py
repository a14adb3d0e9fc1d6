"""Samples that several results have in common: those with a verdict in all, and those that one
result alone has right (Emelin 2023, section 4.6, Tables 4.27 to 4.29).

For translations, the former are not what the thesis compares strategies of prompting on: its
samples are those whose translations are valid with every strategy (section 3.5, note 21), whether
or not a sense is recognised in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cc_hf import signature
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult

__all__ = ["on_shared_samples", "right_alone"]


def on_shared_samples(
    results: Mapping[str, EvaluationResult],
) -> tuple[dict[str, EvaluationResult], dict[str, int]]:
    """Restrict results to the samples on which all of them have a verdict other than inconclusive.

    Figures of the results are not computed anew: compare the judgements.

    Args:
        results: name -> result with judgements.

    Returns:
        The results with the judgements of these samples in the order of the first result, and by
            name how many samples each result loses.

    Raises:
        InputError: for a result without judgements, or results that share no sample.

    Examples:
        >>> from cc_hf.schema import Judgement
        >>> def result(*verdicts):
        ...     judgements = tuple(
        ...         Judgement(str(i), "all", v == "correct", "", v) for i, v in enumerate(verdicts)
        ...     )
        ...     return EvaluationResult(
        ...         "", "", "de", "m", "m|n:3", len(verdicts), {}, {}, (), judgements
        ...     )
        >>> first = result("correct", "inconclusive", "correct")
        >>> second = result("correct", "correct")
        >>> shared, lost = on_shared_samples({"a": first, "b": second})
        >>> shared["a"].n, lost
        (1, {'a': 2, 'b': 1})
    """
    decided = {}
    for name, result in results.items():
        if not result.judgements:
            raise InputError(
                f"{name}: expected a result with judgements of single samples, got one of"
                f" {result.metric}, which has none"
            )
        decided[name] = {j.example_id: j for j in result.judgements if j.verdict != "inconclusive"}
    first, *others = decided.values()
    shared = [name for name in first if all(name in table for table in others)]
    if not shared:
        raise InputError(
            f"expected results with verdicts on the same samples, got {', '.join(results)}, which"
            " share none"
        )
    return (
        {
            name: replace(
                result,
                judgements=tuple(decided[name][i] for i in shared),
                n=len(shared),
                signature=_of_whole_data(result.signature, len(shared)),
            )
            for name, result in results.items()
        },
        {name: len(result.judgements) - len(shared) for name, result in results.items()},
    )


def _of_whole_data(text: str, n: int) -> str:
    """Return a signature whose data are not said to be a part, since parts are compared here."""
    metric, fields = signature.parse(text)
    fields["n"] = str(n)
    if "data" in fields:
        fields["data"] = signature.whole(fields["data"])
    return signature.build(metric, fields)


def right_alone(results: Mapping[str, EvaluationResult]) -> dict[str, list[str]]:
    """Return the samples that one result has right, and no other.

    Args:
        results: name -> result with judgements.

    Returns:
        Name -> ids of the samples, in the order of the result.

    Raises:
        InputError: for fewer than two results.
    """
    if len(results) < 2:
        raise InputError(f"expected at least two results to compare, got {len(results)}")
    right = {
        name: {j.example_id: None for j in result.judgements if j.is_correct}
        for name, result in results.items()
    }
    return {
        name: [
            example
            for example in of_result
            if not any(example in right[other] for other in right if other != name)
        ]
        for name, of_result in right.items()
    }
