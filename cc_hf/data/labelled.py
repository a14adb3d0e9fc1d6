"""Translations of which people, or their origin, say which reading they show: what a judge is
checked by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cc_hf.data.declaration import SourceFile
from cc_hf.schema import NEITHER

__all__ = ["NEITHER", "RIGHT", "WRONG", "LabelSet", "LabelledTranslation", "agreed"]

#: What a translation shows besides the name of a reading: the right or the wrong one, or none.
RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True, slots=True)
class LabelledTranslation:
    """A translation of an example, and the reading that it shows.

    Attributes:
        system: what translated; "people" for versions by translators.
        shows: the name of a reading, such as "female", or `RIGHT`, `WRONG` or `NEITHER`; "" where
            the people disagree, so that it counts for their agreement only.
        labels: what each of several people says, in the same words; () where nobody, or only one,
            labelled it, or only the majority is published.
    """

    example_id: str
    translation: str
    system: str
    shows: str
    labels: tuple[str, ...] = ()


#: A function of the files by their paths, the language pair, and the examples of the dataset.
LabelReader = Callable[[Mapping[str, Path], str, Sequence[Any]], Iterator[LabelledTranslation]]


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Labelled translations of a test set. The registry's kind "label set" has them.

    Attributes:
        about: the labels in words, such as "labels of two people".
        configs: language pair, such as "en-de" -> the configuration of the test set.
        files: language pair -> the files of the labels.
        by: who says what a translation shows: "people" who labelled it, the "pairs" of versions
            that it was written for, or an "analyser" of word forms.
        n_people: the number of people who labelled each translation; 0 if nobody did.
        read: yields the translations.
    """

    name: str
    about: str
    dataset: str
    configs: Mapping[str, str]
    files: Mapping[str, tuple[SourceFile, ...]]
    by: Literal["people", "pairs", "analyser"]
    n_people: int
    read: LabelReader


def agreed(labels: Sequence[str], gold: str) -> str:
    """Return what a translation shows by the labels of several people; "" where they disagree.

    As in Vamvas & Sennrich 2021, appendix E, "neither" counts as right, and people agree who both
    call a translation right or both wrong.

    Args:
        labels: readings, `RIGHT`, `WRONG` or `NEITHER`, one of each person.
        gold: the right reading; "" where none is.

    Examples:
        >>> agreed(["male", "wrong"], "female"), agreed(["male", "neither"], "female")
        ('male', '')
    """
    if len({*labels}) == 1:
        return labels[0]
    if not gold or len({label in (gold, RIGHT, NEITHER) for label in labels}) > 1:
        return ""
    readings = [label for label in labels if label not in (WRONG, NEITHER)]
    return readings[0] if readings and len({*readings}) == 1 else ""
