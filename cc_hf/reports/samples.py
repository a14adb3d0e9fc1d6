"""The systems under test, and every sample with its translations and judgements side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from cc_hf.comparing.people.annotations import Annotation
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.schema import Example, Judgement, Reading

__all__ = ["ReportedSystem", "Sample", "build_samples", "is_same_translation"]


@dataclass(frozen=True)
class ReportedSystem:
    """A system under test, with its results by metric; BLEU is in [0, 1], None if unknown."""

    name: str
    results: Mapping[str, EvaluationResult]
    bleu: float | None = None
    files: tuple[str, ...] = ()

    def by_id(self, metric: str) -> dict[str, Judgement]:
        """Return the judgements of a metric by example id; {} for a metric without result."""
        return self.results[metric].by_id() if metric in self.results else {}

    def readings_by_id(self, metric: str) -> dict[str, Reading]:
        """Return the readings of a metric by example id; {} for a metric without result."""
        read = self.results[metric].readings if metric in self.results else ()
        return {reading.example_id: reading for reading in read}


@dataclass(frozen=True)
class Sample:
    """One example, as all systems translated it.

    Attributes:
        example: the example with its source and cues; None if the dataset is not available.
        translations: one per system; None if a system has no judgement or reading of the example.
        judgements: per system, one per metric that judges; None if there is none.
        readings: per system, one per metric that reads without verdicts; likewise.
        annotations: per system, the human annotation of its translation.
    """

    id: str
    category: str
    example: Example | None
    translations: tuple[str | None, ...]
    judgements: tuple[tuple[Judgement | None, ...], ...] = field(repr=False)
    annotations: tuple[Annotation | None, ...] = ()
    readings: tuple[tuple[Reading | None, ...], ...] = field(default=(), repr=False)


def build_samples(
    systems: Sequence[ReportedSystem],
    judging: Sequence[str],
    examples: Sequence[Example] | None,
    annotations: Sequence[Annotation],
    reading: Sequence[str] = (),
) -> tuple[list[Sample], list[str]]:
    """Collect the translations and judgements of each example.

    Args:
        judging: the metrics that have judgements of single translations.
        reading: the metrics that have readings of single translations.
        examples: the examples of the dataset; None if they are not available.

    Returns:
        The samples, in the order of the examples if these are given and otherwise of the results;
        and notes on samples and annotations that do not match.

    Raises:
        InputError: for results of one system on different translations.
    """
    tables = [[system.by_id(metric) for metric in judging] for system in systems]
    read = [[system.readings_by_id(metric) for metric in reading] for system in systems]
    ids = dict.fromkeys(
        chain(
            (i for rows in tables for table in rows for i in table),
            (i for rows in read for table in rows for i in table),
        )
    )
    examples_by_id = {example.id: example for example in examples or ()}
    if examples is not None:
        ids = dict.fromkeys([*(i for i in examples_by_id if i in ids), *ids])
    labels: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        labels.setdefault(annotation.example_id, []).append(annotation)
    samples = []
    used: set[int] = set()
    for example_id in ids:
        judgements = tuple(tuple(table.get(example_id) for table in rows) for rows in tables)
        readings = tuple(tuple(table.get(example_id) for table in rows) for rows in read)
        rows_of_systems = [(*j, *r) for j, r in zip(judgements, readings, strict=True)]
        translations = tuple(
            _translation(s.name, row) for s, row in zip(systems, rows_of_systems, strict=True)
        )
        sample_labels = tuple(
            _of_translation(labels.get(example_id, []), text) for text in translations
        )
        used |= {id(annotation) for annotation in sample_labels if annotation is not None}
        category = next(j.category for row in rows_of_systems for j in row if j is not None)
        samples.append(
            Sample(
                example_id,
                category,
                examples_by_id.get(example_id),
                translations,
                judgements,
                sample_labels,
                readings,
            )
        )
    notes = [
        f"{system.name}: no judgement of {missing} of the {len(samples)} samples"
        for index, system in enumerate(systems)
        if (missing := sum(sample.translations[index] is None for sample in samples))
        and missing < len(samples)
    ]
    if examples is not None and (n_unknown := sum(sample.example is None for sample in samples)):
        notes.append(
            f"{n_unknown} of the {len(samples)} samples are not in the dataset on this machine:"
            " they are shown without their sources"
        )
    if annotations and (
        n_unmatched := sum(id(annotation) not in used for annotation in annotations)
    ):
        notes.append(
            f"{n_unmatched} of the {len(annotations)} human annotations belong to translations"
            " that no system of this report made; they are not shown"
        )
    return samples, notes


def _translation(system: str, row: Sequence[Judgement | Reading | None]) -> str | None:
    """Return the translation that all metrics of a system judged or read, or None."""
    texts = dict.fromkeys(j.translation for j in row if j is not None)
    if len(texts) > 1:
        first, other, *_ = texts
        example = next(j.example_id for j in row if j is not None)
        raise InputError(
            f"{system}: expected results on the same translations, got {first!r} and {other!r} of"
            f" example {example}; give each system a name of its own"
        )
    return next(iter(texts), None)


def _of_translation(annotations: Iterable[Annotation], text: str | None) -> Annotation | None:
    """Return the annotation of exactly this translation, or None."""
    return next(
        (
            annotation
            for annotation in annotations
            if text is not None and is_same_translation(annotation.translation, text)
        ),
        None,
    )


def is_same_translation(first: str, second: str) -> bool:
    """Return whether two translations have the same letters and digits.

    Examples:
        >>> is_same_translation("Das ist «gut».", 'Das ist "gut".')
        True
    """
    # `agreement_with_labels` compares likewise: annotated translations went through spreadsheets.
    return _letters(first) == _letters(second)


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())
