"""Calibrations of cues as small JSON files, and whether one fits what is judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from cc_hf import registry, signature
from cc_hf.cues.wordings import Wording
from cc_hf.errors import InputError, in_file, shown
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import scorer_fields
from cc_hf.languages import same_language
from cc_hf.reading import read_text
from cc_hf.records import parse_json, read_record, write_record
from cc_hf.rules import AtLeast, Share
from cc_hf.schema import dataset_in_words

__all__ = [
    "CALIBRATION",
    "NOTE_BEGINNING",
    "N_SKETCHED",
    "Calibration",
    "WordingFigures",
    "WordingResult",
    "read_calibration",
    "row_digests",
    "shipped_calibrations",
]

#: The calibration in the folder of a model. The folder of it is hidden: the identity of the model
#: does not cover it, so that the folder counts as the embedded model, with its signature, its
#: cautions and its calibration.
CALIBRATION = ".cc_hf/calibration.json"
#: What the notes on calibrations begin with.
NOTE_BEGINNING = "With the cues "
#: Reading -> where it is meant, in words.
_WHERE = {"female": "where a woman is meant", "male": "where a man is meant"}
#: Number of digests of development rows that a calibration keeps.
N_SKETCHED = 128
_DIGITS = 12
_LARGEST_SHARE = 0.5  # of common rows, above which two sets count as the same
_FORMAT = "cc_hf calibration of cues"
_FORM = "the JSON of a calibration (the file that `cc-hf cues calibrate` writes)"
_FOLDER = Path(__file__).parent.parent / "assets" / "calibrations"


@dataclass(frozen=True, slots=True)
class WordingFigures:
    """How well one wording tells two readings apart, on one half of a development set.

    Attributes:
        n: number of translations.
        auc: area under the ROC curve: how often a translation of the first reading has a larger
            difference than one of the second, in [0, 1]. 0.5 is chance.
        accuracy: share of right decisions with the threshold 0, in [0, 1]; a tie counts as half.
        accuracies: the same for the translations of each reading.
        shift: mean of the median differences of both readings, natural logarithm per token for the
            score "geometric". Where it is not 0, decisions are biased to one reading: above 0, to
            the first.
    """

    n: Annotated[int, AtLeast(1)]
    auc: Share
    accuracy: Share
    accuracies: tuple[Share, Share]
    shift: float


@dataclass(frozen=True, slots=True)
class WordingResult:
    """The figures of one wording.

    Attributes:
        wording: None for the dataset's own cues.
        choice: figures on the half that chooses.
        report: figures on the other half.
        intervals: lower and upper limit of the 95 % intervals of "auc" and "accuracy" in `report`.
    """

    name: str
    wording: Wording | None
    choice: WordingFigures
    report: WordingFigures
    intervals: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Calibration:
    """The comparison of several wordings under one evaluator, and the wording that was chosen.

    Attributes:
        chosen: name of the first wording whose AUC on the half that chooses is within 0.01 of the
            largest.
        evaluator: the evaluator, as signatures name it.
        wordings: the figures of every wording, in the order of comparison.
        left_out: a mapping from name to why a wording was not compared.
        n_rows: number of different translations in the development set.
        sketch: the smallest digests of these translations, at most `N_SKETCHED`.

    Raises:
        InputError: for a signature that is none, or a chosen wording without figures.
    """

    chosen: str
    readings: tuple[str, str]
    src_lang: str
    tgt_lang: str
    evaluator: str
    signature: str
    wordings: tuple[WordingResult, ...]
    left_out: Mapping[str, str]
    n_rows: Annotated[int, AtLeast(1)]
    sketch: tuple[str, ...] = field(repr=False)

    def __post_init__(self) -> None:
        signature.parse(self.signature)
        self.of(self.chosen)

    @property
    def choice(self) -> WordingResult:
        """The figures of the chosen wording."""
        return self.of(self.chosen)

    @property
    def data(self) -> str:
        """Where the development set comes from, as the signature says it."""
        return signature.parse(self.signature)[1].get("data", "")

    @property
    def dataset(self) -> str:
        """The dataset of the development set, such as "winomt"."""
        return self.data.partition("/")[0]

    def of(self, name: str) -> WordingResult:
        """Return the figures of one wording.

        Raises:
            InputError: for a name that was not compared.
        """
        for result in self.wordings:
            if result.name == name:
                return result
        known = ", ".join(result.name for result in self.wordings)
        raise InputError(f"wording: expected one of {known}, got {name!r}")

    def note(self, name: str) -> str:
        """Return what a reader of figures must know about a wording under this evaluator."""
        result = self.of(name)
        figures = result.report
        limits = result.intervals.get("auc")
        best = self.choice.report.auc
        # A wording within the interval is not clearly worse than the one that was chosen.
        is_worse = name != self.chosen and best > (limits[1] if limits else figures.auc)
        better = f". The cues {self.chosen} do better" if is_worse else ""
        judge = registry.find("metric", self.data.rpartition("/")[2])
        data = registry.find("dataset", self.dataset)
        shares = (
            f"{100 * share:.0f} % {_WHERE.get(reading, f'for {reading}')}"
            for reading, share in zip(self.readings, figures.accuracies, strict=True)
        )
        return (
            f"{NOTE_BEGINNING}{name}, {self.evaluator.partition('@')[0]} agrees with"
            f" {judge.title if judge else 'the labels'} on {100 * figures.accuracy:.0f} % of"
            f" {figures.n:,} translations of {data.title if data else self.dataset}:"
            f" {', '.join(shares)}{better}"
        )

    def default_note(self, dataset: str, *, is_development: bool = False) -> str:
        """Return what a reader must know of the chosen wording where nobody named cues."""
        note = (
            f"{self.note(self.chosen)}. Nobody named cues, so these were taken, which its"
            " calibration chose; name gender_brackets for those that other evaluators get"
        )
        if dataset != self.dataset:
            where = dataset_in_words(dataset)
            note += f". How well it understands them in {where} was not measured"
        if is_development:
            note += (
                ". It did so on these very translations, so that figures on them look better than"
                " they are"
            )
        return note

    def unmeasured_note(self, name: str, dataset: str) -> str:
        """Return what a reader must know of figures on data for which there is no calibration."""
        # Whether an evaluator understands a cue depends on the sentences around it, so the figures
        # of one dataset say nothing about another.
        return (
            f"The cues {name} were calibrated on {self.data}; how well"
            f" {self.evaluator.partition('@')[0]} understands them in {dataset_in_words(dataset)}"
            " was not measured. Calibrate on such sentences before you trust the figures"
            " (`cc-hf cues calibrate`)"
        )

    def is_for(self, evaluator: Evaluator, src_lang: str, tgt_lang: str) -> bool:
        """Return whether the calibration was made for an evaluator and languages (ISO 639-1)."""
        # The name of the evaluator's folder does not matter.
        name = scorer_fields(evaluator, "")["eval"]
        is_same = self.evaluator.rpartition("@")[2] == name.rpartition("@")[2]
        sides = ((self.src_lang, src_lang), (self.tgt_lang, tgt_lang))
        return is_same and all(same_language(*side) for side in sides)

    def check_evaluator(self, evaluator: Evaluator, src_lang: str, tgt_lang: str) -> None:
        """Refuse an evaluator or languages for which the calibration was not made."""
        if not self.is_for(evaluator, src_lang, tgt_lang):
            raise InputError(
                f"cues: the calibration was made for {self.evaluator} and"
                f" {self.src_lang}-{self.tgt_lang}, got {scorer_fields(evaluator, '')['eval']} and"
                f" {src_lang}-{tgt_lang}; calibrate this evaluator too, or name the wording itself"
                f" ({self.chosen})"
            )

    def is_development(self, sources: Sequence[str], translations: Sequence[str]) -> bool:
        """Return whether most of the translations, or of the development set, are in both."""
        # The digests that the calibration keeps are a random sample of its development set, so the
        # number of common rows is estimated.
        n_judged, share = self._common(sources, translations)
        share_judged = min(1.0, share * self.n_rows / max(1, n_judged))
        return max(share, share_judged) > _LARGEST_SHARE

    def _common(self, sources: Sequence[str], translations: Sequence[str]) -> tuple[int, float]:
        """Return the number of different rows, and the share of the development set in them."""
        judged = row_digests(sources, translations)
        return len(judged), len(judged & set(self.sketch)) / max(1, len(self.sketch))

    def check_not_development(self, sources: Sequence[str], translations: Sequence[str]) -> None:
        """Refuse to judge the translations that chose the wording (`is_development`)."""
        if self.is_development(sources, translations):
            share = self._common(sources, translations)[1]
            raise InputError(
                "cues: the wording was chosen on these very translations"
                f" (about {100 * share:.0f} % of the {self.n_rows:,} that were used for the"
                " calibration are among them), so figures on them would look better than they are;"
                " calibrate on other translations"
            )

    def to_json(self) -> str:
        """Return the calibration as strict JSON."""
        row = {"format": _FORMAT, **write_record(self)}
        return json.dumps(row, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def row_digests(sources: Sequence[str], translations: Sequence[str]) -> set[str]:
    """Return a short digest of every pair of a source and a translation.

    Examples:
        >>> row_digests(["a", "a"], ["b", "b"])
        {'59b271ae1bbc'}
    """
    return {
        hashlib.sha256(f"{source}\0{translation}".encode()).hexdigest()[:_DIGITS]
        for source, translation in zip(sources, translations, strict=True)
    }


def read_calibration(path: Path) -> Calibration:
    """Return the calibration in a file."""
    with in_file(path):
        row = parse_json(read_text(path), _FORM)
        if not isinstance(row, dict) or row.pop("format", None) != _FORMAT:
            raise InputError(f"expected {_FORM}, got {shown(row)}")
        return read_record(Calibration, row, _FORM)


@cache
def shipped_calibrations() -> tuple[Calibration, ...]:
    """Return the calibrations that ship with the package, or with an evaluator of another one."""
    files = (model.path / CALIBRATION for model in registry.load_all("evaluator").values())
    return tuple(
        map(read_calibration, (*sorted(_FOLDER.glob("*.json")), *filter(Path.is_file, files)))
    )
