"""The threshold of the verdict "neither": what evidence says of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

from cc_hf import registry
from cc_hf.errors import InputError
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import scorer_fields
from cc_hf.evidence import known_evidence, known_threshold
from cc_hf.languages import base_code
from cc_hf.metrics.base import Metric, Rows, Scoring
from cc_hf.metrics.figures import Figures
from cc_hf.metrics.neither import BY_EVIDENCE, OFF, TellsNeither
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["MOST_OF_PEOPLE", "measured", "with_known_threshold"]

_Metric = TypeVar("_Metric", bound=Metric)
#: The verdict is used where its share is at most so many times that of people on the labels: a high
#: threshold would buy agreement on the others.
MOST_OF_PEOPLE = 2.0


def with_known_threshold(
    metric: _Metric, material: Material, evaluator: Evaluator | None
) -> tuple[_Metric, float | None]:
    """Return the metric with the threshold of the verdict "neither" that evidence gives, where it
    asks for that, and the largest share of translations for which the verdict may be used; None
    for any.
    """
    if not isinstance(metric, TellsNeither) or evaluator is None or metric.neither == OFF:
        return metric, None
    by_evidence = metric.neither == BY_EVIDENCE
    options = (replace(metric, neither=OFF) if by_evidence else metric).option_fields()
    languages = map(base_code, (material.src_lang, material.tgt_lang))
    src_lang, tgt_lang = (
        code or known
        for code, known in zip(languages, (evaluator.src_lang, evaluator.tgt_lang), strict=True)
    )
    dataset = material.origin.dataset
    known = known_threshold(
        {
            **scorer_fields(evaluator, metric.score),
            **options,
            "cues": "own",  # unless the data have named ones
            **material.origin.fields,
            "langs": f"{src_lang}-{tgt_lang}",
        },
        metric.signature_name,
        dataset=dataset,
        kind=registry.kind_of_sentences(dataset),
        rows=known_evidence(),
    )
    if known is None and by_evidence:
        raise InputError(
            f"neither: no labels say from which difference on {evaluator.name} reads neither here;"
            f" `cc-hf judge check {evaluator.name}` counts it where labelled translations show"
            " neither, or give a number, such as 0.03"
        )
    if known is None:
        return metric, None
    threshold, share = known
    fitted = cast(_Metric, replace(metric, neither=float(threshold)))
    return fitted, MOST_OF_PEOPLE * share


def measured(
    metric: Metric,
    rows: Rows,
    bootstrap: Bootstrap,
    scoring: Scoring | None,
    *,
    most_neither: float | None,
) -> Figures:
    """Return a metric's figures: of two verdicts if more than `most_neither` would be neither."""
    figures = metric.measure(rows, bootstrap, scoring)
    n, n_neither = len(rows.references), figures.counts.get("n_neither", 0)
    if most_neither is None or n_neither <= most_neither * n:
        return figures
    note = (
        f"The verdict neither is not given: {n_neither:,} of {n:,} translations would have it, more"
        " than twice the share of the labelled ones"
    )
    two = replace(cast(Any, metric), neither=OFF)
    plain: Figures = two.measure(rows, bootstrap, scoring)
    return replace(plain, notes=(*plain.notes, note))
