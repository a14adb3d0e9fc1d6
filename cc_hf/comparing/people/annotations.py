"""Read the labels that people gave to translations from JSONL, as readings of any number or
reduced to two classes as in Vamvas & Sennrich 2021, appendix E.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from cc_hf.errors import FileError, InputError, in_file
from cc_hf.reading import JSONL, Place
from cc_hf.records import PROBABILITY, read_value
from cc_hf.tables.rows import read_rows

__all__ = [
    "Annotation",
    "annotations_of_rows",
    "annotators_of",
    "binary_label",
    "read_annotations",
    "rows_of_both",
]

_Row: TypeAlias = tuple[Place, dict[str, Any]]
_ANNOTATOR_KEY = re.compile(r"(?:label|binarized)_annotator([1-9]\d{0,8})", re.ASCII)
_GOLD_READING = "gold_reading"
_ID_KEYS = ("id", "index", "testset_line")
_GENDERS = ("male", "female")
_VERDICTS = ("correct", "wrong")

#: Raw label -> binary label. `_GOLD` and `_OTHER` stand for the gold class and the other one,
#: `_DROP` for a sample that is ignored.
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


#: The labels of Stanovsky et al. 2019 in the published files -> the same labels in our words.
_EARLIER = {"M": "Male", "F": "Female", "N": "Both / Neutral / Ambiguous"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """The labels of all annotators for one translation.

    Attributes:
        example_id: the id of the example; "" if the translation is not in the test set.
        gold: the label of a correct translation; "" where every reading is allowed.
        labels: the labels in the order of the annotators, reduced to two classes unless they are
            readings; empty if an annotator called the sample ill-defined, so that it is ignored.
        classes: the labels that there are: "male" and "female", or "correct" and "wrong", or the
            readings that occur in the file.
        raw: the labels as they were given; empty if the file does not have them.
        is_located: whether the file says which example it is; otherwise the translation tells.
        inclusion: the probability with which the translation was drawn, above 0; None if the file
            does not say it.
        has_readings: whether labels are readings of any number, not one of two classes.
    """

    example_id: str
    translation: str
    gold: str
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    raw: tuple[str, ...] = ()
    is_located: bool = True
    inclusion: float | None = None
    has_readings: bool = False


def read_annotations(path: Path) -> list[Annotation]:
    """Read the translations that all annotators labelled, two or more.

    Translations that only some of them labelled are ignored, as in the paper. Each line is a JSON
    object with these keys; other keys are ignored:

    - `id`, `index` or `testset_line`: the id of the example; null if the translation is not in the
      test set.
    - `translation`: the text that was labelled.
    - `gold_gender`: "male" or "female" if the labels are genders. Without it the labels are
      verdicts, "correct" or "wrong".
    - `gold_reading`: the right reading if the labels are readings with any names, such as
      "neutral"; "" or null where every reading is allowed. The readings are in `label_annotator1`
      and so on, and are not binarised.
    - `binarized_annotator1`, `binarized_annotator2` and so on: one of these classes; null if the
      annotator did not label the translation or called it ill-defined.
    - `label_annotator1`, `label_annotator2` and so on: raw labels. They replace missing binary
      labels (see `binary_label`), and kappa is computed from them.
    - `label_earlier`: a raw label from earlier annotations, for agreement with earlier labels only.
    - `inclusion`: the probability with which the translation was drawn, above 0 and up to 1, for
      `cc_hf.comparing.people.labels` only.

    The files of ZurichNLP/contrastive-conditioning are read, too:
    `human_validation/*/data/*.annotator1.jsonl`, with the file of the other annotator beside it.

    Returns:
        The translations in the order of the file, including those with empty `labels`.

    Raises:
        InputError: for a file that cannot be read, a line that is not such an object, or a file
            without any row that both annotators labelled.
    """
    annotations = annotations_of_rows(rows_of_both(path))
    if not any(annotation.labels for annotation in annotations):
        raise FileError(path, "expected rows that both annotators labelled, got none")
    return annotations


def annotations_of_rows(rows: Iterable[tuple[object, Any]]) -> list[Annotation]:
    """Return the annotations of rows with the keys of `read_annotations`, each with its place.

    Only translations that all annotators labelled are among them.
    """
    rows = list(rows)
    names = annotators_of(row for _, row in rows)
    classes = _readings((row for _, row in rows), names)
    annotations = []
    for where, row in rows:
        with in_file(where):
            try:
                annotation = (
                    _read_annotation(row, names, classes)
                    if _GOLD_READING in row
                    else _annotation(row, names)
                )
            except (KeyError, AttributeError, TypeError) as error:
                raise InputError(
                    "expected an object with id, index or testset_line, translation, and"
                    " binarized_annotator1 and 2 or label_annotator1 and 2, and gold_gender where"
                    f" they are genders; {error!r}"
                ) from None
        if annotation is not None:
            annotations.append(annotation)
    return annotations


def _readings(rows: Iterable[Any], annotators: Sequence[str]) -> tuple[str, ...]:
    """Return the readings that occur in a file, as gold or as label."""
    keys = [_GOLD_READING, *(f"label_{name}" for name in annotators)]
    read = [row for row in rows if isinstance(row, dict) and _GOLD_READING in row]
    labels = {row.get(key) or "" for row in read for key in keys if isinstance(row.get(key), str)}
    return tuple(sorted(labels - {""}))


def _read_annotation(
    row: Mapping[str, Any], annotators: Sequence[str], classes: tuple[str, ...]
) -> Annotation | None:
    """Return the annotation of a row with readings; None if an annotator gave none."""
    labels = [row.get(f"label_{name}") for name in annotators]
    gold = row[_GOLD_READING]
    for key, label in ((_GOLD_READING, gold), *(("label_annotator", label) for label in labels)):
        if not isinstance(label, str | None):
            raise InputError(f"{key}: expected the name of a reading, or null, got {label!r}")
    if not all(labels):
        return None
    return Annotation(
        *_place(row),
        gold or "",
        tuple(label for label in labels if label),
        classes,
        is_located=row.get("is_located", True) is not False,
        inclusion=_inclusion(row),
        has_readings=True,
    )


def annotators_of(rows: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of all annotators of rows, as the keys have them: two or more.

    Examples:
        >>> annotators_of([{"label_annotator1": "Male", "label_annotator3": "Male"}])
        ('annotator1', 'annotator2', 'annotator3')
    """
    numbers = {
        int(match[1])
        for row in rows
        if isinstance(row, dict)
        for key in row
        if (match := _ANNOTATOR_KEY.fullmatch(key))
    }
    return tuple(f"annotator{number}" for number in sorted(numbers | {1, 2}))


def rows_of_both(path: Path) -> Sequence[_Row]:
    """Return the rows of a file with the labels of both annotators, each with its place; published
    files are joined.
    """
    rows = list(read_rows(path, JSONL))
    return _joined(path, rows) if rows and _is_published(rows[0][1]) else rows


def _is_published(row: Mapping[str, Any]) -> bool:
    """Return whether a row is in the form of ZurichNLP/contrastive-conditioning: one annotator."""
    return {"Sample ID", "Translation", "label"} <= row.keys()


def _joined(path: Path, rows: list[_Row]) -> list[_Row]:
    """Return the rows of both annotators, joined by samples, with the keys of our own files."""
    number = next((n for n in ("1", "2") if f"annotator{n}" in path.name), None)
    if number is None:
        raise InputError(
            f"{path}: expected annotator1 or annotator2 in the name of the file, which holds the"
            " labels of one annotator; the file of the other is read from beside it"
        )
    other = path.with_name(
        path.name.replace(f"annotator{number}", f"annotator{'2' if number == '1' else '1'}")
    )
    by_annotator: dict[str, Iterable[_Row]] = {
        number: rows,
        "2" if number == "1" else "1": read_rows(other, JSONL),
    }
    joined: dict[str, _Row] = {}
    for annotator in ("1", "2"):
        for where, row in by_annotator[annotator]:
            if not _is_published(row) or not isinstance(row["label"], list) or not row["label"]:
                raise InputError(
                    f"{where}: expected an object with Sample ID, Translation and label, a list"
                    " with one label"
                )
            gold = {"gold_gender": row["Gold Gender"]} if "Gold Gender" in row else {}
            _, columns = joined.setdefault(
                str(row["Sample ID"]),
                (where, {"id": row.get("Index"), "translation": row["Translation"], **gold}),
            )
            columns["is_located"] = "Index" in row
            if row.get("Part of Stanovsky et al. validation") == "TRUE":
                columns["label_earlier"] = _EARLIER.get(row.get("Stanovsky et al.: Gender?", ""))
            columns[f"label_annotator{annotator}"] = row["label"][0]
    return list(joined.values())


def binary_label(label: str, gold: str, classes: tuple[str, str]) -> str | None:
    """Return the binary label of a raw one (appendix E), or None if the sample is to be ignored.

    A translation that keeps the ambiguity is correct. One that is too bad to tell or has a third
    sense is wrong.

    Examples:
        >>> binary_label("Both / Neutral / Ambiguous", "female", ("male", "female"))
        'female'
    """
    rules = _RULES.get(classes, {})
    if label not in rules:
        raise InputError(f"expected one of the labels {'; '.join(rules)}, got {label!r}")
    rule = rules[label]
    if rule in (_GOLD, _OTHER):
        return gold if rule == _GOLD else classes[1 - classes.index(gold)]
    return None if rule == _DROP else rule


def _annotation(row: Mapping[str, Any], annotators: Sequence[str]) -> Annotation | None:
    """Return the annotation of a row, or None if an annotator did not label the translation."""
    gold, classes = (
        (row["gold_gender"], _GENDERS) if "gold_gender" in row else (_VERDICTS[0], _VERDICTS)
    )
    inclusion = _inclusion(row)
    raw = [row.get(f"label_{name}") for name in annotators]
    binary = [row.get(f"binarized_{name}") for name in annotators]
    if not {gold, *binary} - {None} <= set(classes):
        raise InputError(
            f"expected the labels {' and '.join(classes)}, got"
            f" {', '.join(map(repr, [gold, *binary[:-1]]))} and {binary[-1]!r}"
        )
    if not any(raw):
        raw = []
    elif not all(raw):
        return None
    elif not any(f"binarized_{name}" in row for name in annotators):
        binary = [binary_label(label, gold, classes) for label in raw if label is not None]
    labels = tuple(label for label in binary if label is not None)
    if len(labels) < len(annotators):
        if not raw:
            return None
        labels = ()
    return Annotation(
        *_place(row),
        gold,
        labels,
        classes,
        tuple(label for label in raw if label is not None),
        row.get("is_located", True) is not False,
        inclusion,
    )


def _place(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the id of the example, "" for none, and the translation."""
    example_id = row[next((key for key in _ID_KEYS if key in row), _ID_KEYS[0])]
    return "" if example_id is None else str(example_id), _text(row["translation"])


def _inclusion(row: Mapping[str, Any]) -> float | None:
    inclusion: float | None = row.get("inclusion")
    if inclusion is not None:
        read_value(PROBABILITY, inclusion, "inclusion")
    return inclusion


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"translation: expected text, got {value!r}")
    return value
