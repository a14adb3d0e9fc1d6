"""How often a result agrees with human annotators (Vamvas & Sennrich 2021, section 3.5 and Table 2), for two-class gold labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cc_hf.data.translations import read_lines
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult, Interval
from cc_hf.statistics.bootstrap import accuracy_intervals

__all__ = ["Annotation", "HumanAgreement", "agreement_with_labels", "read_annotations"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """The binarised labels of one translation, one per annotator."""

    example_id: str
    translation: str
    gold: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """Proportion of labels that the judgements agree with, in [0, 1].

    Weighted: each label with the rank weight that its translation has among all judgements of the result.
    `confusion`: rows human, columns judged, in the order of `labels`. Intervals: translations resampled with all their labels' weight.
    """

    n_labels: int
    n_agree: int
    agreement: float
    weighted_agreement: float
    interval: Interval
    weighted_interval: Interval
    labels: tuple[str, str]
    confusion: tuple[tuple[int, int], tuple[int, int]]


def read_annotations(path: Path) -> list[Annotation]:
    """Read JSONL with the keys index (the example's id), translation, gold_gender, binarized_annotator1 and binarized_annotator2.

    Rows that only one of the annotators labelled (a key missing or null) do not count, as in the paper.

    Raises:
        InputError: for a file that cannot be read, a line that is not such an object, or no row with both labels.
    """
    found = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            row = json.loads(line)
            labels = (row.get("binarized_annotator1"), row.get("binarized_annotator2"))
            if all(labels):
                found.append(Annotation(str(row["index"]), row["translation"], row["gold_gender"], labels))
        except (json.JSONDecodeError, KeyError, AttributeError) as error:
            raise InputError(f"{path}: line {number}: expected an object with index, translation, gold_gender, binarized_annotator1 and 2; {error!r}") from None
    if not found:
        raise InputError(f"{path}: expected rows that both annotators labelled, got none")
    return found


def agreement_with_labels(result: EvaluationResult, annotations: Sequence[Annotation]) -> HumanAgreement:
    """Compare the judgements of a result with the labels. A judgement «correct» stands for the gold label, «incorrect» for the other one.

    Raises:
        InputError: when an annotated example is not in the result, or was judged on another translation, or there are not two labels.
    """
    judgements = {j.example_id: j for j in result.judgements}
    names = sorted({j.category for j in result.judgements}, key=lambda name: (name != "male", name))
    if len(names) != 2:
        raise InputError(f"expected a result with two categories that are the labels, got {', '.join(names)}")
    agree, weights, pairs = [], [], []
    for annotation in annotations:
        judgement = judgements.get(annotation.example_id)
        if judgement is None:
            raise InputError(f"the annotated example {annotation.example_id} is not among the {result.n} judgements of the result")
        if judgement.translation.strip() != annotation.translation.strip():
            raise InputError(f"example {annotation.example_id}: annotated was {annotation.translation!r}, judged was {judgement.translation!r}; evaluate the same translations")
        judged = annotation.gold if judgement.is_correct else names[1 - names.index(annotation.gold)]
        for label in annotation.labels:
            agree.append(label == judged)
            weights.append(judgement.weight)
            pairs.append((names.index(label), names.index(judged)))
    correct, rank = np.array(agree), np.array(weights)
    intervals = accuracy_intervals(correct, rank, ["all"] * len(agree))
    table = [[sum(pair == (human, judged) for pair in pairs) for judged in (0, 1)] for human in (0, 1)]
    return HumanAgreement(
        n_labels=len(agree),
        n_agree=int(correct.sum()),
        agreement=float(correct.mean()),
        weighted_agreement=float(rank[correct].sum() / rank.sum()),
        interval=intervals["accuracy"],
        weighted_interval=intervals["weighted_accuracy"],
        labels=(names[0], names[1]),
        confusion=((table[0][0], table[0][1]), (table[1][0], table[1][1])),
    )
