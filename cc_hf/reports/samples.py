"""The systems under test, and every sample with its translations and judgements side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example, Judgement
from cc_hf.studies.human_agreement.annotations import Annotation

__all__ = ["Sample", "System", "build_samples", "is_same_translation", "judgements_by_id"]


@dataclass(frozen=True)
class System:
    """A system under test.

    Attributes:
        name: its name in the report.
        results: metric -> result.
        bleu: its BLEU in [0, 1]; None if unknown.
    """

    name: str
    results: Mapping[str, EvaluationResult]
    bleu: float | None = None


@dataclass(frozen=True)
class Sample:
    """One example, as all systems translated it.

    Attributes:
        id, category: id and category of the example.
        example: the example with its source and cues; None if the dataset is not available.
        translations: one per system; None if a system has no judgement of the example.
        judgements: per system, one per metric; None if there is none.
        annotations: per system, the human annotation of its translation.
    """

    id: str
    category: str
    example: Example | None
    translations: tuple[str | None, ...]
    judgements: tuple[tuple[Judgement | None, ...], ...] = field(repr=False)
    annotations: tuple[Annotation | None, ...] = ()


def build_samples(
    systems: Sequence[System],
    judging: Sequence[str],
    examples: Sequence[Example] | None,
    annotations: Sequence[Annotation],
) -> tuple[list[Sample], list[str]]:
    """Collect the translations and judgements of each example.

    Args:
        systems: systems with results on the same data.
        judging: the metrics that have judgements of single translations.
        examples: the examples of the dataset; None if they are not available.
        annotations: human labels of translations.

    Returns:
        The samples, in the order of the examples if these are given and otherwise of the results;
        and notes on samples and annotations that do not match.

    Raises:
        InputError: for results of one system on different translations.
    """
    tables = [
        [judgements_by_id(system.results.get(metric)) for metric in judging] for system in systems
    ]
    ids = dict.fromkeys(i for rows in tables for table in rows for i in table)
    known = {example.id: example for example in examples or ()}
    if examples is not None:
        ids = dict.fromkeys([*(i for i in known if i in ids), *ids])
    labels: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        labels.setdefault(annotation.example_id, []).append(annotation)
    found = []
    used: set[int] = set()
    for example_id in ids:
        judgements = tuple(tuple(table.get(example_id) for table in rows) for rows in tables)
        translations = tuple(
            _translation(system.name, row) for system, row in zip(systems, judgements, strict=True)
        )
        said = tuple(_of_translation(labels.get(example_id, []), text) for text in translations)
        used |= {id(one) for one in said if one is not None}
        category = next(j.category for row in judgements for j in row if j is not None)
        found.append(
            Sample(example_id, category, known.get(example_id), translations, judgements, said)
        )
    notes = [
        f"{system.name}: no judgement of {missing} of the {len(found)} samples"
        for at, system in enumerate(systems)
        if (missing := sum(sample.translations[at] is None for sample in found))
        and missing < len(found)
    ]
    if examples is not None and (strange := sum(sample.example is None for sample in found)):
        notes.append(
            f"{strange} of the {len(found)} samples are not in the dataset as it is here: they are"
            " shown without their sources"
        )
    if annotations and (others := sum(id(one) not in used for one in annotations)):
        notes.append(
            f"{others} of the {len(annotations)} human annotations are of translations that no"
            " system of this report made, and are not shown"
        )
    return found, notes


def judgements_by_id(result: EvaluationResult | None) -> dict[str, Judgement]:
    """Return the judgements of a result by the ids of their examples.

    Args:
        result: a result; None gives an empty dict.
    """
    return (
        {}
        if result is None
        else {judgement.example_id: judgement for judgement in result.judgements}
    )


def _translation(system: str, row: Sequence[Judgement | None]) -> str | None:
    """Return the translation that all metrics of a system judged, or None if none did."""
    texts = dict.fromkeys(j.translation for j in row if j is not None)
    if len(texts) > 1:
        one, other, *_ = texts
        example = next(j.example_id for j in row if j is not None)
        raise InputError(
            f"{system}: expected results on the same translations, got {one!r} and {other!r} of"
            f" example {example}; give each system a name of its own"
        )
    return next(iter(texts), None)


def _of_translation(annotations: Iterable[Annotation], text: str | None) -> Annotation | None:
    """Return the annotation of exactly this translation, or None."""
    return next(
        (
            one
            for one in annotations
            if text is not None and is_same_translation(one.translation, text)
        ),
        None,
    )


def is_same_translation(one: str, other: str) -> bool:
    """Return whether two translations have the same letters and digits.

    `agreement_with_labels` compares them likewise, because annotated translations went through
    spreadsheets.

    Args:
        one: the translations.
        other: as for `one`.

    >>> is_same_translation("Das ist «gut».", 'Das ist "gut".')
    True
    """
    return _letters(one) == _letters(other)


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())
