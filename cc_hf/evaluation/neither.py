"""The threshold of the verdict "neither": what evidence says of it, and how labels give one."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
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
from cc_hf.schema import NEITHER
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["MOST_OF_PEOPLE", "cross_fitted", "measured", "with_known_threshold"]

_Metric = TypeVar("_Metric", bound=Metric)
#: The verdict is used where its share is at most so many times that of people on the labels: a high
#: threshold would buy agreement on the others.
MOST_OF_PEOPLE = 2.0
_FOLDS = 10


def with_known_threshold(
    metric: _Metric, material: Material, evaluator: Evaluator | None
) -> tuple[_Metric, float | None]:
    """Return the metric with the threshold of the verdict "neither" that evidence gives, where it
    asks for that, and the largest share of translations for which the verdict may be used; None
    for any.

    Raises:
        InputError: for a threshold by evidence where there is none.
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
    """Return the figures of a metric: of two verdicts, with a note, where a larger share of the
    translations than `most_neither` would have the verdict "neither".
    """
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


def cross_fitted(
    distances: Sequence[float],
    verdicts: Sequence[str],
    labels: Sequence[str],
    *,
    seed: int = 0,
) -> tuple[float, list[str]] | None:
    """Return the threshold below which a judge finds neither reading, by the labels of all
    translations, and the verdicts by thresholds that the labels of others gave.

    A threshold is half-way between two distances. It is the one with most verdicts that are those
    of the labels, of several the one in the middle, and gives the verdict to at most
    `MOST_OF_PEOPLE` times as many translations as the labels do.

    Args:
        distances: abs(log s_c - log s_i) of n translations.
        verdicts: of two kinds, without a threshold.
        labels: what the translations show, in the same words, or `NEITHER`.
        seed: decides which translations share a fold.

    Returns:
        The threshold and the verdicts; None if no translation shows neither, or no more verdicts
            are those of the labels with thresholds than without.

    Examples:
        >>> labels = ["right"] * 20 + ["neither"] * 20
        >>> distances = [1.0] * 20 + [0.1] * 20
        >>> cross_fitted(distances, ["right"] * 40, labels)[0]
        0.55
    """
    order = list(range(len(labels)))
    random.Random(seed).shuffle(order)
    folds = [order[start::_FOLDS] for start in range(_FOLDS)]
    fitted = list(verdicts)
    for fold in folds:
        others = sorted({*order} - {*fold})
        threshold = _fitted(others, distances, verdicts, labels)
        for row in fold:
            if distances[row] < threshold:
                fitted[row] = NEITHER
    threshold = _fitted(order, distances, verdicts, labels)
    agreed, before = (sum(map(str.__eq__, said, labels)) for said in (fitted, verdicts))
    return (threshold, fitted) if threshold and agreed > before else None


def _fitted(
    rows: Sequence[int],
    distances: Sequence[float],
    verdicts: Sequence[str],
    labels: Sequence[str],
) -> float:
    """Return the threshold by some translations; 0 if none is better than two verdicts."""
    rows = sorted(rows, key=lambda row: distances[row])
    most = MOST_OF_PEOPLE * sum(labels[row] == NEITHER for row in rows)
    # How many more verdicts are those of the labels if the first k are neither.
    gains, gain = [0], 0
    for k, row in enumerate(rows, 1):
        if k > most:
            break
        gain += (labels[row] == NEITHER) - (labels[row] == verdicts[row])
        gains.append(gain)
    best = [
        k
        for k, value in enumerate(gains)
        if value == max(gains) and 0 < k < len(rows) and distances[rows[k]] > distances[rows[k - 1]]
    ]
    if not best or not max(gains):
        return 0.0
    k = best[len(best) // 2]
    middle = (distances[rows[k - 1]] + distances[rows[k]]) / 2
    # So many digits that it stays between both.
    gap = distances[rows[k]] - distances[rows[k - 1]]
    return round(middle, max(3, 1 - math.floor(math.log10(gap))))
