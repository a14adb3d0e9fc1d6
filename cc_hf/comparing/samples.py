"""Samples that several results have in common: those with a verdict in all, and those that one
result alone has right (Emelin 2023, section 4.6, Tables 4.27 to 4.29).

For translations, the former are not what the thesis compares strategies of prompting on: its
samples are those whose translations are valid with every strategy (section 3.5, note 21), whether
or not a sense is recognised in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from cc_hf import signature
from cc_hf.comparing.alignment import AlignedJudgements
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement

__all__ = ["on_shared_samples", "right_alone"]


def on_shared_samples(
    results: Mapping[str, EvaluationResult],
) -> tuple[AlignedJudgements, dict[str, int]]:
    """Restrict results to the samples on which all of them have a verdict other than inconclusive.

    Figures of the results are not computed anew: compare the judgements.

    Args:
        results: name -> result with judgements.

    Returns:
        The results with the judgements of these samples, aligned in the order of the first result,
            and by name how many samples each result loses.

    Raises:
        InputError: for a result without judgements, results of different data, or results that
            share no sample.

    Examples:
        >>> from cc_hf.schema import Judgement
        >>> def result(*verdicts):
        ...     judgements = tuple(
        ...         Judgement(str(i), "all", v == "correct", "", v) for i, v in enumerate(verdicts)
        ...     )
        ...     return EvaluationResult(
        ...         "", "", "de", "m", "m|data:own@1", len(verdicts), {}, {}, (), judgements
        ...     )
        >>> first = result("correct", "inconclusive", "correct")
        >>> second = result("correct", "correct")
        >>> shared, lost = on_shared_samples({"a": first, "b": second})
        >>> shared.results["a"].n, lost
        (1, {'a': 2, 'b': 1})
    """
    aligned = AlignedJudgements.of(
        {name: _of_whole_data(result, result.judgements) for name, result in results.items()}
    )
    decided = [
        of_example
        for of_example in zip(*aligned.rows(results), strict=True)
        if all(judgement.verdict != "inconclusive" for judgement in of_example)
    ]
    if not decided:
        raise InputError(
            f"expected results with verdicts on the same samples, got {', '.join(results)}, which"
            " share none"
        )
    rows = dict(zip(results, zip(*decided, strict=True), strict=True))
    return (
        AlignedJudgements(
            {name: _of_whole_data(results[name], row) for name, row in rows.items()},
            {name: {j.example_id: j for j in row} for name, row in rows.items()},
        ),
        {name: len(result.judgements) - len(decided) for name, result in results.items()},
    )


def _of_whole_data(result: EvaluationResult, judgements: tuple[Judgement, ...]) -> EvaluationResult:
    """Return a result of some judgements whose signature does not call its data a part."""
    n = len(judgements)
    metric, fields = signature.parse(result.signature)
    fields["n"] = str(n)
    if "data" in fields:
        fields["data"] = signature.whole(fields["data"])
    text = signature.unparse(metric, fields)
    return replace(result, judgements=judgements, n=n, signature=text)


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
        name: [j.example_id for j in result.judgements if j.is_correct]
        for name, result in results.items()
    }
    n_right = Counter(example for examples in right.values() for example in examples)
    return {
        name: [example for example in examples if n_right[example] == 1]
        for name, examples in right.items()
    }
