"""Frozen dataclasses of an evaluation: examples, requests, judgements.

They validate their fields and have no other behaviour.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from cc_hf.errors import InputError
from cc_hf.normalization import composed
from cc_hf.records import OMITTED
from cc_hf.rules import Count, OneOf, Share

__all__ = [
    "CUSTOM",
    "FORMS",
    "INCONCLUSIVE",
    "NEITHER",
    "UNCOUNTED_CATEGORY",
    "VERDICTS",
    "ContrastiveSourceExample",
    "ContrastiveTranslationExample",
    "Example",
    "Focus",
    "Judgement",
    "ProbingExample",
    "Reading",
    "ScoringRequest",
    "TextSpan",
    "counted_categories",
    "dataset_in_words",
]

#: Name of the dataset that a user's file becomes, in signatures and JSON.
CUSTOM = "custom"

#: Minimum accuracies leave this category out, as the program of Vamvas & Sennrich (2021) does.
UNCOUNTED_CATEGORY = "none"


def dataset_in_words(name: str) -> str:
    """Return the name of a dataset as messages say it.

    Examples:
        >>> dataset_in_words("winomt"), dataset_in_words("custom")
        ('winomt', 'your file')
    """
    return "your file" if name == CUSTOM else name


def counted_categories(names: Iterable[str], uncounted: Collection[str] = ()) -> list[str]:
    """Return the categories that a minimum is over; all of them if none is left.

    Args:
        uncounted: those that the metric ignores, besides `UNCOUNTED_CATEGORY`.

    Examples:
        >>> counted_categories(["female", "male", "neutral"], ["neutral"])
        ['female', 'male']
    """
    every = list(names)
    return [n for n in every if n != UNCOUNTED_CATEGORY and n not in uncounted] or every


@dataclass(frozen=True, slots=True)
class Focus:
    """The words of the source that must be disambiguated, at a 0-based position in characters."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class ContrastiveSourceExample:
    """An example whose translation is judged under several sources (Vamvas & Sennrich 2021, section
    3.2).

    Attributes:
        id: unique within dataset, configuration and split.
        src_lang, tgt_lang: languages of source and translation, ISO 639-1; `tgt_lang` is "" if the
            source serves every target language.
        source: the source that the system under test translates.
        correct_sources: at least one variant of the source with a correct disambiguation cue.
        incorrect_sources: at least one variant with an incorrect cue.
        category: group for category accuracies.
        extra: further columns of the dataset, strings only.

    Raises:
        InputError: when a required field is empty, or the focus is not at its position.
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


@dataclass(frozen=True, slots=True)
class ContrastiveTranslationExample:
    """An example with several translations that are judged under one source (Sennrich 2017, Rios et
    al. 2017). The correct one must beat all others.

    Attributes:
        id: unique within dataset, configuration and split.
        src_lang, tgt_lang: languages of source and translations, ISO 639-1.
        source: the source; "" in LM-Wino-X.
        correct_translation: the translation that must win.
        contrastive_translations: the wrong translations. A few examples of published sets have
            none, and count as correct.
        category: group for category accuracies.
        extra: further columns of the dataset, strings only.

    Raises:
        InputError: when a required field is empty, or the correct translation is also a contrastive
            one.
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


@dataclass(frozen=True, slots=True)
class ProbingExample:
    """A source whose translation is judged by its form alone, without a source cue or a contrastive
    translation.

    Attributes:
        id: unique within dataset, configuration and split.
        src_lang, tgt_lang: languages of source and translation, ISO 639-1; `tgt_lang` is "" if the
            source serves every target language.
        source: the source that the system under test translates.
        category: group for category accuracies.
        gold: the correct reading, such as the target words of a sense.
        focus: the words that must be disambiguated; None if they are not located.
        extra: further columns of the dataset, strings only.

    Raises:
        InputError: when a required field is empty, or the focus is not at its position.
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


Example: TypeAlias = ContrastiveSourceExample | ContrastiveTranslationExample | ProbingExample


#: Names of the formats in lists and cards.
FORMS: dict[type[Example], str] = {
    ContrastiveSourceExample: "sources",
    ContrastiveTranslationExample: "translations",
    ProbingExample: "probing",
}


def _check_focus(name: str, source: str, focus: Focus) -> None:
    words = source[focus.start : focus.start + len(focus.text)]
    if words != focus.text:
        raise InputError(
            f"example {name!r}: the focus {focus.text!r} is not at character {focus.start} of the"
            f" source, which has {words!r} there"
        )


@dataclass(frozen=True, slots=True, order=True)
class ScoringRequest:
    """A translation to be scored under a source; `row` is the caller's, for error messages only.

    Both texts are composed (NFC), so that evaluators and their caches know one form of them.
    """

    source: str
    translation: str
    row: int = field(default=-1, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", composed(self.source))
        object.__setattr__(self, "translation", composed(self.translation))


#: The verdict on a translation in which nothing is read, which is counted separately and is never
#: correct; also what tables call such a reading.
INCONCLUSIVE = "inconclusive"
#: The verdict on a translation that shows none of the readings that are asked for, such as a
#: neutral form. It is neither right nor wrong: accuracies leave it out, and its share stands beside
#: them.
NEITHER = "neither"
#: The verdicts of all metrics. `NEITHER` is one of those that can tell it apart.
VERDICTS = ("correct", "incorrect", INCONCLUSIVE)


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A part of a source or a translation that a metric found.

    Attributes:
        side: "source" or "translation".
        start, end: characters [start, end) of that text.
        difference: how sure the metric is; see the metric.
        phenomenon: what is wrong there, such as "negation"; "" for metrics without phenomena.
        replacement: what stands there in the changed text; None for metrics that leave it out.
    """

    side: Annotated[str, OneOf("source", "translation")]
    start: Count
    end: Count
    text: str
    difference: float
    phenomenon: str = field(default="", metadata=OMITTED)
    replacement: str | None = field(default=None, metadata=OMITTED)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one translation, or on the choice among several.

    Attributes:
        example_id: the example's id, or the row number as a string.
        is_correct: whether the verdict is "correct".
        translation: the translation that was judged. If several are compared, the correct one.
        verdict: one of VERDICTS, or NEITHER; by default, "correct" or "incorrect" by `is_correct`.
        predicted: what the metric reads in the translation, such as "female"; "" for metrics that
            read nothing of the kind.
        gold: what it should read; "" likewise.
        probability_correct: score_correct / (score_correct + score_incorrect), in [0, 1]; None for
            metrics without probabilities, as are the scores. In contrastive conditioning, 0.5 and
            more is correct by default (the paper writes > 0.5, its program >=; ties are counted
            separately).
            In contrastive translation scoring, a tie is incorrect, and the value is None if there
            is no contrastive translation.
        score_correct: best score over the correct sources, or the score of the correct translation.
            Higher is better.
        score_incorrect: best score over the incorrect sources, or over the contrastive
            translations.
        weight: rank weight within the category, from 1 to the category's size; 1 for metrics
            without weights, 0 for the verdict "neither".
        scores: the scores of all translations if several are compared, the correct one first and
            then the contrastive ones in their order; otherwise ().
        pair: name that the sample shares with those that belong to it, such as its counterfactual;
            "" for a sample on its own.
        trusted: how right the translation is by people or a larger evaluator, in [0, 1]; None if
            they did not judge it. No other field depends on it.
        trusted_neither: the share of these who say that it shows neither reading, in [0, 1].
        inclusion: the probability with which it was drawn for them, above 0; None if this is not
            known, or the same for all.
        spans: parts of source and translation that led to the verdict; () for metrics without.

    Raises:
        InputError: for an unknown verdict, or one that contradicts `is_correct`.
    """

    example_id: str
    category: str
    is_correct: bool
    translation: str
    verdict: str = ""
    predicted: str = ""
    gold: str = ""
    probability_correct: Share | None = None
    score_correct: float | None = None
    score_incorrect: float | None = None
    weight: Count = 1
    scores: tuple[float, ...] = field(default=(), metadata=OMITTED)
    pair: str = field(default="", metadata=OMITTED)
    trusted: Share | None = field(default=None, metadata=OMITTED)
    inclusion: Share | None = field(default=None, metadata=OMITTED)
    trusted_neither: Share = field(default=0.0, metadata=OMITTED)
    spans: tuple[TextSpan, ...] = field(default=(), metadata=OMITTED)

    def __post_init__(self) -> None:
        if not self.verdict:  # as in files of older versions
            verdict = "correct" if self.is_correct else "incorrect"
            object.__setattr__(self, "verdict", verdict)
        if self.verdict not in (*VERDICTS, NEITHER):
            raise InputError(
                f"example {self.example_id!r}: verdict: expected one of {', '.join(VERDICTS)},"
                f" {NEITHER}, got {self.verdict!r}"
            )
        if self.is_correct != (self.verdict == "correct"):
            raise InputError(
                f"example {self.example_id!r}: is_correct is {self.is_correct}, which contradicts"
                f" the verdict {self.verdict!r}"
            )

    @property
    def is_decided(self) -> bool:
        """Whether the translation was found correct or incorrect."""
        return self.verdict in ("correct", "incorrect")

    @property
    def unit(self) -> tuple[str, str]:
        """What the sample shares with that of its pair only: the name of the pair, else its id."""
        return self.pair, "" if self.pair else self.example_id


@dataclass(frozen=True, slots=True)
class Reading:
    """What a metric reads in one translation, without a verdict.

    Attributes:
        example_id: the example's id, or the row number as a string.
        translation: the translation that was read. If several are compared, the one whose share is
            counted.
        reading: its name, such as "feminine" or "neutral"; "" if the metric reads nothing.
        probability_counted: the probability of the reading whose share is counted, in [0, 1]; None
            for metrics without probabilities.
    """

    example_id: str
    category: str
    translation: str
    reading: str
    probability_counted: Share | None = field(default=None, metadata=OMITTED)
