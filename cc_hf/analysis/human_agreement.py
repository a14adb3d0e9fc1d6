"""How often a result agrees with human annotators (Vamvas & Sennrich 2021, section 3.5 and Table 2), for labels of two classes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cc_hf.data.translations import read_lines
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult, Interval
from cc_hf.schema import Judgement
from cc_hf.statistics.bootstrap import accuracy_intervals

__all__ = ["Annotation", "HumanAgreement", "agreement_with_labels", "read_annotations"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """The binarised labels of one translation, one per annotator.

    `gold`: the label of a right translation; `classes`: both labels, such as male and female, or correct and wrong.
    """

    example_id: str
    translation: str
    gold: str
    labels: tuple[str, ...]
    classes: tuple[str, str]


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """Proportion of labels that the judgements agree with, in [0, 1].

    Weighted: each label with the rank weight that its translation has among all judgements of the result.
    `confusion`: rows human, columns judged, in the order of `labels`. Intervals: translations resampled with all their labels' weight.
    `n_skipped`: annotated translations that were left out, since they are not those that were judged.
    """

    n_labels: int
    n_agree: int
    agreement: float
    weighted_agreement: float
    interval: Interval
    weighted_interval: Interval
    labels: tuple[str, str]
    confusion: tuple[tuple[int, int], tuple[int, int]]
    n_skipped: int = 0


_GENDERS = ("male", "female")
_VERDICTS = ("correct", "wrong")


def read_annotations(path: Path) -> list[Annotation]:
    """Read JSONL in the form of WinoMT's annotations or of MuCoW's.

    Keys: `index`, or `testset_line` (the example's id); `translation`; `binarized_annotator1` and `binarized_annotator2`: male or female, with the
    key `gold_gender`, or correct or wrong without it. Rows that only one of the annotators labelled (a key missing or null) do not count, as in
    the paper. A row without a place in the test set has the id "".

    Raises:
        InputError: for a file that cannot be read, a line that is not such an object, or no row with both labels.
    """
    found = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            row = json.loads(line)
            labels = (row.get("binarized_annotator1"), row.get("binarized_annotator2"))
            place = row["index"] if "index" in row else row["testset_line"]
            gold, classes = (row["gold_gender"], _GENDERS) if "gold_gender" in row else (_VERDICTS[0], _VERDICTS)
            if not {gold, *labels} - {None} <= set(classes):
                raise InputError(f"{path}: line {number}: expected the labels {' and '.join(classes)}, got {gold!r}, {labels[0]!r} and {labels[1]!r}")
            if all(labels):
                found.append(Annotation("" if place is None else str(place), row["translation"], gold, labels, classes))
        except (json.JSONDecodeError, KeyError, AttributeError, TypeError) as error:
            wanted = "index or testset_line, translation, binarized_annotator1 and 2"
            raise InputError(f"{path}: line {number}: expected an object with {wanted}, and gold_gender where they are genders; {error!r}") from None
    if not found:
        raise InputError(f"{path}: expected rows that both annotators labelled, got none")
    return found


def agreement_with_labels(result: EvaluationResult, annotations: Sequence[Annotation], *, skip_others: bool = False) -> HumanAgreement:
    """Compare the judgements of a result with the labels. A judgement «correct» stands for the gold label, «incorrect» for the other one.

    Args:
        result: of an evaluation, with its judgements.
        annotations: of translations that were judged.
        skip_others: leave out, and count, annotated translations that are not among the judged ones.

    Raises:
        InputError: when an annotated example is not in the result, or was judged on another translation, and others are not skipped; when nothing
            is left, or the annotations are of two kinds.
    """
    judgements = {j.example_id: j for j in result.judgements}
    kinds = {annotation.classes for annotation in annotations}
    if len(kinds) != 1:
        raise InputError(f"expected annotations with one pair of labels, got {len(kinds)}")
    names = kinds.pop()
    agree, weights, pairs, n_skipped = [], [], [], 0
    for annotation in annotations:
        judgement = judgements.get(annotation.example_id)
        if judgement is None or judgement.translation.strip() != annotation.translation.strip():
            if not skip_others:
                raise InputError(_mismatch(annotation, judgement, result.n))
            n_skipped += 1
            continue
        judged = annotation.gold if judgement.is_correct else names[1 - names.index(annotation.gold)]
        for label in annotation.labels:
            agree.append(label == judged)
            weights.append(judgement.weight)
            pairs.append((names.index(label), names.index(judged)))
    if not agree:
        raise InputError(f"none of the {len(annotations)} annotated translations was judged; is this the result of the annotated system?")
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
        labels=names,
        confusion=((table[0][0], table[0][1]), (table[1][0], table[1][1])),
        n_skipped=n_skipped,
    )


def _mismatch(annotation: Annotation, judgement: Judgement | None, n: int) -> str:
    skip = "or skip what was not judged (--skip-others)"
    if judgement is None:
        return f"the annotated example {annotation.example_id or '(without a place in the test set)'} is not among the {n} judgements of the result; {skip}"
    return f"example {annotation.example_id}: annotated was {annotation.translation!r}, judged was {judgement.translation!r}; evaluate the same translations, {skip}"
