"""Samples that several results have in common: those that all of them answered (Emelin 2023,
section 3.5, note 21), those with a verdict in all, and those that one result alone has right
(section 4.6, Tables 4.27 to 4.29).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from cc_hf import signature
from cc_hf.comparing.alignment import AlignedJudgements
from cc_hf.errors import InputError, check_choice
from cc_hf.metrics.base import registered_metric
from cc_hf.normalization import is_blank
from cc_hf.results import EvaluationResult
from cc_hf.schema import Judgement

__all__ = ["SHARED", "NoSharedSamplesError", "on_shared_samples", "right_alone"]

#: On which samples results are compared: those that all answered, or decided.
SHARED = ("answered", "decided")


class NoSharedSamplesError(InputError):
    """Results share no sample that all of them answered or decided."""


def on_shared_samples(
    results: Mapping[str, EvaluationResult], shared: str = "decided"
) -> tuple[AlignedJudgements, dict[str, int]]:
    """Restrict results to the samples that all of them answered or decided.

    Figures of the results are not computed anew: compare the judgements.

    Returns:
        The results with the judgements of these samples, aligned in the order of the first result,
        and by name how many samples each result loses.
    """
    check_choice("shared", shared, SHARED)
    aligned = AlignedJudgements.of(
        {name: _of_whole_data(result, result.judgements) for name, result in results.items()}
    )
    metrics = [result.metric for result in results.values()]
    kept = [
        of_example
        for of_example in zip(*aligned.shared(results).table, strict=True)
        if all(
            judgement.is_decided if shared == "decided" else _is_answered(judgement, metric)
            for judgement, metric in zip(of_example, metrics, strict=True)
        )
    ]
    if not kept:
        raise NoSharedSamplesError(
            f"expected results with the same samples {shared}, got {', '.join(results)}, which"
            " share none"
        )
    rows = dict(zip(results, zip(*kept, strict=True), strict=True))
    return (
        AlignedJudgements(
            {name: _of_whole_data(results[name], row) for name, row in rows.items()},
            {name: {j.example_id: j for j in row} for name, row in rows.items()},
        ),
        {name: len(result.judgements) - len(kept) for name, result in results.items()},
    )


def _is_answered(judgement: Judgement, metric: str) -> bool:
    """Return whether there is a translation or, where replies are judged, a valid choice."""
    if registered_metric(metric).reads_replies:
        return judgement.predicted not in ("invalid", "failed")
    return not is_blank(judgement.translation)


def _of_whole_data(result: EvaluationResult, judgements: tuple[Judgement, ...]) -> EvaluationResult:
    """Return a result of some judgements whose signature does not call its data a part."""
    n = len(judgements)
    metric, fields = signature.parse(result.signature)
    fields["n"] = str(n)
    if "data" in fields:
        fields["data"] = signature.whole(fields["data"])
    text = signature.unparse(metric, fields)
    part = replace(result, judgements=judgements, n=n, signature=text)
    # Counts and categories are those of all samples.
    return part if n == result.n else replace(part, counts={}, categories=())


def right_alone(results: Mapping[str, EvaluationResult]) -> dict[str, list[str]]:
    """Return the ids of the samples that one result has right and no other, by name."""
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
