"""Labels that people gave translations: read from JSONL, binarised as Vamvas & Sennrich 2021,
appendix E; and how well two annotators agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.data.text_files import read_lines
from cc_hf.errors import InputError
from cc_hf.files import parse_json
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.agreement import cohen_kappa, kappa_interval

__all__ = [
    "Annotation",
    "AnnotatorAgreement",
    "annotator_agreement",
    "binarised",
    "read_annotations",
]

_ANNOTATORS = ("annotator1", "annotator2")
_PLACES = ("id", "index", "testset_line")
_GENDERS = ("male", "female")
_VERDICTS = ("correct", "wrong")

#: raw label -> binary one; GOLD and OTHER stand for the gold gender and the other one, DROP for a
#: sample that does not count
_GOLD, _OTHER, _DROP = "gold", "other", "drop"
_RULES: dict[tuple[str, str], dict[str, str]] = {
    _GENDERS: {
        "Male": "male",
        "Female": "female",
        "Both / Neutral / Ambiguous": _GOLD,
        "Translation too bad to tell": _OTHER,
    },
    _VERDICTS: {
        "Correct Sense": _GOLD,
        "Wrong Sense": _OTHER,
        "Both / Neutral / Ambiguous": _GOLD,
        "Translation too bad to tell / Third sense": _OTHER,
        "Bad sample / Ill-defined senses": _DROP,
    },
}


@dataclass(frozen=True, slots=True)
class Annotation:
    """What two annotators said of one translation.

    Attributes:
        example_id: "" where the translation has no place in the test set.
        translation: what they saw.
        gold: the label of a right translation.
        labels: both binary labels; empty where the sample does not count, since an annotator called
            it ill-defined.
        classes: the two binary labels, such as male and female, or correct and wrong.
        raw: both labels as they were given; empty where the file does not have them.
    """

    example_id: str
    translation: str
    gold: str
    labels: tuple[str, ...]
    classes: tuple[str, str]
    raw: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """Cohen's kappa of the two annotators, on raw labels (None where the file has none) and on
    binary ones, with the numbers of translations.
    """

    n_raw: int
    kappa_raw: float | None
    raw_interval: Interval | NoInterval | None
    n_binarised: int
    kappa_binarised: float
    binarised_interval: Interval | NoInterval


def read_annotations(path: Path) -> list[Annotation]:
    """Read the translations that both annotators labelled; those that one alone labelled do not
    count, as in the paper.

    Each line is a JSON object with

    - `id`, `index` or `testset_line`: the example's id; null where the translation is not in the
      test set;
    - `translation`: what was labelled;
    - `gold_gender`: male or female, where the labels are genders; without it they are verdicts,
      correct or wrong;
    - `binarized_annotator1`, `binarized_annotator2`: one of these; null where the annotator did not
      label it, or called it ill-defined;
    - `label_annotator1`, `label_annotator2`: raw labels, by which binary ones that are missing are
      found (see `binarised`), and kappa is computed.

    Other keys are ignored.

    Raises:
        InputError: for a file that cannot be read, a line that is not such an object, or no row
            that counts.
    """
    found = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            row = parse_json(line)
        except InputError as error:
            raise InputError(
                f"{path}: line {number}: expected a JSON object, got {line[:60]!r} ({error})"
            ) from None
        try:
            annotation = _annotation(row, f"{path}: line {number}")
        except (KeyError, AttributeError, TypeError) as error:
            wanted = (
                "id, index or testset_line, translation, and binarized_annotator1 and 2 or"
                " label_annotator1 and 2"
            )
            raise InputError(
                f"{path}: line {number}: expected an object with {wanted}, and gold_gender where"
                f" they are genders; {error!r}"
            ) from None
        if annotation is not None:
            found.append(annotation)
    if not any(annotation.labels for annotation in found):
        raise InputError(f"{path}: expected rows that both annotators labelled, got none")
    return found


def binarised(label: str, gold: str, classes: tuple[str, str]) -> str | None:
    """The binary label of a raw one (appendix E): a translation that keeps the ambiguity is right,
    one that is too bad to tell, or has a third sense, wrong.

    None where the sample does not count.

    Raises:
        InputError: for a label that the annotators did not have.

    >>> binarised("Both / Neutral / Ambiguous", "female", ("male", "female"))
    'female'
    """
    rules = _RULES.get(classes, {})
    if label not in rules:
        raise InputError(f"expected one of the labels {'; '.join(rules)}, got {label!r}")
    found = rules[label]
    if found in (_GOLD, _OTHER):
        return gold if found == _GOLD else classes[1 - classes.index(gold)]
    return None if found == _DROP else found


def annotator_agreement(
    annotations: Sequence[Annotation], *, seed: int = 0, n_resamples: int = 1000
) -> AnnotatorAgreement:
    """Cohen's kappa of the two annotators (Table A3), with bootstrap intervals over translations.

    Raises:
        InputError: when no annotation counts.
    """
    raw = [a.raw for a in annotations if a.raw]
    counted = [a.labels for a in annotations if a.labels]
    left, right = [pair[0] for pair in counted], [pair[1] for pair in counted]
    first, second = [pair[0] for pair in raw], [pair[1] for pair in raw]
    return AnnotatorAgreement(
        n_raw=len(raw),
        kappa_raw=cohen_kappa(first, second) if raw else None,
        raw_interval=(
            kappa_interval(first, second, seed=seed, n_resamples=n_resamples) if raw else None
        ),
        n_binarised=len(counted),
        kappa_binarised=cohen_kappa(left, right),
        binarised_interval=kappa_interval(left, right, seed=seed, n_resamples=n_resamples),
    )


def _annotation(row: Mapping[str, Any], where: str) -> Annotation | None:
    """None where an annotator did not label the translation."""
    place = row[next((key for key in _PLACES if key in row), _PLACES[0])]
    gold, classes = (
        (row["gold_gender"], _GENDERS) if "gold_gender" in row else (_VERDICTS[0], _VERDICTS)
    )
    raw = [row.get(f"label_{name}") for name in _ANNOTATORS]
    given = [row.get(f"binarized_{name}") for name in _ANNOTATORS]
    if not {gold, *given} - {None} <= set(classes):
        raise InputError(
            f"{where}: expected the labels {' and '.join(classes)}, got {gold!r}, {given[0]!r} and"
            f" {given[1]!r}"
        )
    if not any(raw):
        raw = []
    elif not all(raw):
        return None
    elif not any(f"binarized_{name}" in row for name in _ANNOTATORS):
        try:
            given = [binarised(label, gold, classes) for label in raw if label is not None]
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    labels = tuple(label for label in given if label is not None)
    if len(labels) < len(_ANNOTATORS):
        if not raw:
            return None
        labels = ()
    return Annotation(
        "" if place is None else str(place),
        _text(row["translation"], where),
        gold,
        labels,
        classes,
        tuple(label for label in raw if label is not None),
    )


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where}: translation: expected text, got {value!r}")
    return value
