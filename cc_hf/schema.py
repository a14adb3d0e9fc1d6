"""The frozen dataclasses that travel along the road: examples, requests, judgements.

No behaviour but validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from cc_hf.errors import InputError

__all__ = [
    "FORMS",
    "UNCOUNTED_CATEGORY",
    "VERDICTS",
    "ContrastiveSourceExample",
    "ContrastiveTranslationExample",
    "Example",
    "Focus",
    "Judgement",
    "ProbingExample",
    "ScoringRequest",
]

#: minimum accuracies leave this category out, as the program of Vamvas & Sennrich (2021) does
UNCOUNTED_CATEGORY = "none"


@dataclass(frozen=True, slots=True)
class Focus:
    """The words of the source that must be disambiguated.

    `start`: 0-based position in characters of the source.
    """

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class ContrastiveSourceExample:
    """One translation is judged under several sources (Vamvas & Sennrich 2021, section 3.2).

    Attributes:
        id: unique within dataset, configuration and split.
        src_lang: ISO 639-1 code of the source.
        tgt_lang: ISO 639-1 code of the translation, "" where the source serves every target
            language.
        source: the source that the system under test translates.
        focus: the words that must be disambiguated.
        correct_sources: at least one variant of the source with a correct disambiguation cue.
        incorrect_sources: at least one variant with an incorrect cue.
        category: group for category accuracies.
        gold: the correct reading.
        extra: further columns of the dataset, strings only.

    Raises:
        InputError: when a field is empty that must not be, or the focus is not at its place.
    """

    id: str
    src_lang: str
    tgt_lang: str
    source: str
    focus: Focus
    correct_sources: tuple[str, ...]
    incorrect_sources: tuple[str, ...]
    category: str
    gold: str
    extra: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (
            "id",
            "src_lang",
            "source",
            "correct_sources",
            "incorrect_sources",
            "category",
        ):
            if not getattr(self, name):
                raise InputError(
                    f"example {self.id!r}: {name} is empty; every contrastive source example"
                    " needs one"
                )
        _check_focus(self.id, self.source, self.focus)

    def to_row(self) -> dict[str, Any]:
        """The example as a row of a Hugging Face dataset (lists for tuples, a dict for the
        focus).
        """
        return _row(self)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ContrastiveSourceExample:
        """The inverse of `to_row`.

        >>> example = ContrastiveSourceExample(
        ...     "0",
        ...     "en",
        ...     "de",
        ...     "The doctor left.",
        ...     Focus("doctor", 4),
        ...     ("The [male] doctor left.",),
        ...     ("The [female] doctor left.",),
        ...     "male",
        ...     "male",
        ... )
        >>> ContrastiveSourceExample.from_row(example.to_row()) == example
        True
        """
        fields = {
            name: row[name] for name in ("id", "src_lang", "tgt_lang", "source", "category", "gold")
        }
        return cls(
            **fields,
            focus=Focus(**row["focus"]),
            correct_sources=tuple(row["correct_sources"]),
            incorrect_sources=tuple(row["incorrect_sources"]),
            extra=dict(row["extra"]),
        )


@dataclass(frozen=True, slots=True)
class ContrastiveTranslationExample:
    """Several translations are judged under one source (Sennrich 2017, Rios et al. 2017); the
    correct one must beat all others.

    Attributes: as in `ContrastiveSourceExample`; LM-Wino-X has an empty source.
        correct_translation: the one that must win.
        contrastive_translations: the wrong ones; a few samples of published sets have none, and
        count as correct.

    Raises:
        InputError: when a field is empty that must not be, or the correct translation is among the
            contrastive ones.
    """

    id: str
    src_lang: str
    tgt_lang: str
    source: str
    correct_translation: str
    contrastive_translations: tuple[str, ...]
    category: str
    extra: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("id", "tgt_lang", "correct_translation", "category"):
            if not getattr(self, name):
                raise InputError(
                    f"example {self.id!r}: {name} is empty; every contrastive translation example"
                    " needs one"
                )
        if self.correct_translation in self.contrastive_translations:
            raise InputError(
                f"example {self.id!r}: the correct translation is also a contrastive one:"
                f" {self.correct_translation!r}"
            )

    def to_row(self) -> dict[str, Any]:
        """The example as a row of a Hugging Face dataset."""
        return _row(self)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ContrastiveTranslationExample:
        """The inverse of `to_row`.

        >>> example = ContrastiveTranslationExample(
        ...     "0",
        ...     "de",
        ...     "en",
        ...     "Das Schloss ist alt.",
        ...     "The castle is old.",
        ...     ("The lock is old.",),
        ...     "castle",
        ... )
        >>> ContrastiveTranslationExample.from_row(example.to_row()) == example
        True
        """
        fields = {
            name: row[name]
            for name in ("id", "src_lang", "tgt_lang", "source", "correct_translation", "category")
        }
        return cls(
            **fields,
            contrastive_translations=tuple(row["contrastive_translations"]),
            extra=dict(row["extra"]),
        )


@dataclass(frozen=True, slots=True)
class ProbingExample:
    """A source whose translation is judged by its form alone: neither a source cue nor a
    contrastive translation is known.

    Attributes: as in `ContrastiveSourceExample`; `gold` is the correct reading, such as the target
    words of a sense; `focus` is None where the words
        that must be disambiguated are not located.

    Raises:
        InputError: when a field is empty that must not be.
    """

    id: str
    src_lang: str
    tgt_lang: str
    source: str
    category: str
    gold: str
    focus: Focus | None = None
    extra: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("id", "src_lang", "source", "category", "gold"):
            if not getattr(self, name):
                raise InputError(
                    f"example {self.id!r}: {name} is empty; every probing example needs one"
                )
        if self.focus is not None:
            _check_focus(self.id, self.source, self.focus)

    def to_row(self) -> dict[str, Any]:
        """The example as a row of a Hugging Face dataset."""
        return _row(self)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ProbingExample:
        """The inverse of `to_row`.

        >>> example = ProbingExample("0", "de", "en", "Das Schloss ist alt.", "in_domain", "castle")
        >>> ProbingExample.from_row(example.to_row()) == example
        True
        """
        fields = {
            name: row[name] for name in ("id", "src_lang", "tgt_lang", "source", "category", "gold")
        }
        return cls(**fields, focus=_focus(row["focus"]), extra=dict(row["extra"]))


Example: TypeAlias = ContrastiveSourceExample | ContrastiveTranslationExample | ProbingExample


#: what the formats are called in lists and cards
FORMS: dict[type[Example], str] = {
    ContrastiveSourceExample: "sources",
    ContrastiveTranslationExample: "translations",
    ProbingExample: "probing",
}


def _check_focus(name: str, source: str, focus: Focus) -> None:
    found = source[focus.start : focus.start + len(focus.text)]
    if found != focus.text:
        raise InputError(
            f"example {name!r}: the focus {focus.text!r} is not at character {focus.start} of the"
            f" source, which has {found!r} there"
        )


def _focus(row: Mapping[str, Any] | None) -> Focus | None:
    """None may come back from a file as a struct of nothing."""
    return None if row is None or row["text"] is None else Focus(**row)


def _row(example: Example) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(example).items()
    }


@dataclass(frozen=True, slots=True, order=True)
class ScoringRequest:
    """One thing to score: a translation under a source.

    `row`: 0-based index of the caller's row, for error messages only.
    """

    source: str
    translation: str
    row: int = field(default=-1, compare=False)


#: what a metric can find; «inconclusive» is counted apart, and is never correct
VERDICTS = ("correct", "incorrect", "inconclusive")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one translation, or on the choice among several.

    Attributes:
        example_id: the example's id, or the row number as a string.
        category: the example's category.
        is_correct: whether the verdict is «correct».
        translation: the translation that was judged; where several are compared, the correct one.
        verdict: one of VERDICTS.
        predicted: what the metric read in the translation, such as «female»; "" where it reads
            nothing of the kind.
        gold: what it should have read; "" likewise.
        probability_correct: score_correct / (score_correct + score_incorrect), in [0, 1]; None of
            metrics without probabilities, as the scores. Contrastive conditioning finds 0.5 and
            more correct (the paper writes > 0.5, its program >=; ties are counted apart).
            Contrastive translation scoring finds a tie wrong, and has none where there is no
            contrastive translation.
        score_correct: best score over the correct sources, or that of the correct translation.
        score_incorrect: best score over the incorrect sources, or over the contrastive
            translations; higher is better.
        weight: rank weight within the category, 1 .. n of the category; 1 of metrics without
            weights.
        scores: of every translation where several are compared, the correct one's first, then in
            the order of the contrastive ones; else ().

    Raises:
        InputError: for another verdict, or one that contradicts `is_correct`.
    """

    example_id: str
    category: str
    is_correct: bool
    translation: str
    verdict: str
    predicted: str = ""
    gold: str = ""
    probability_correct: float | None = None
    score_correct: float | None = None
    score_incorrect: float | None = None
    weight: int = 1
    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InputError(
                f"example {self.example_id!r}: verdict: expected one of {', '.join(VERDICTS)}, got"
                f" {self.verdict!r}"
            )
        if self.is_correct != (self.verdict == "correct"):
            raise InputError(
                f"example {self.example_id!r}: is_correct is {self.is_correct}, which contradicts"
                f" the verdict {self.verdict!r}"
            )
