"""The cues of a dataset's senses: as data, as rows for a file, and compared with another file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cc_hf.errors import DataError, in_file
from cc_hf.plugins.calibration.mlm_insertions import Candidates, SenseCandidates
from cc_hf.plugins.calibration.selection import ChosenCues, Overlap, overlap
from cc_hf.reading import Place
from cc_hf.records import parse_objects, read_value
from cc_hf.schema import Focus

__all__ = ["CueSet", "LeftOut", "Sense", "SenseCues", "SenseExample", "compare_cues"]

#: An ambiguous word and one of its senses.
Sense = tuple[str, str]

_SIDES = ("correct", "incorrect")


@dataclass(frozen=True, slots=True)
class SenseExample:
    """A sentence in which an ambiguous word has a known sense, with a correct translation."""

    id: str
    src_lang: str
    tgt_lang: str
    source: str
    focus: Focus  # the ambiguous word as it occurs in the sentence
    category: str
    gold: str
    ambiguous_word: str  # as the dataset lists it
    reference: str

    @property
    def sense(self) -> Sense:
        """The ambiguous word and its sense in this sentence."""
        return self.ambiguous_word, self.gold


@dataclass(frozen=True, slots=True)
class SenseCues:
    """The cues of one sense of an ambiguous word."""

    ambiguous_word: str
    sense: str
    n_examples: int
    candidates: SenseCandidates  # from which the cues were chosen
    correct: ChosenCues
    incorrect: ChosenCues  # cues of the other senses


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A sense that has no cues."""

    ambiguous_word: str
    sense: str
    n_examples: int
    # "only sense" (there is no other to tell it from), or "no candidates" (no word marks this
    # sense, or no word marks the others).
    reason: str


@dataclass(frozen=True)
class CueSet:
    """The cues that `cc_hf.plugins.calibration.build.build_cues` found."""

    senses: tuple[SenseCues, ...]
    left_out: tuple[LeftOut, ...]
    examples: tuple[SenseExample, ...] = field(repr=False)
    candidates: Candidates = field(repr=False)  # by ambiguous word and sense, most probable first
    tgt_lang: str
    signature: str
    # n_examples; n_left_out; n_unlocated (the word is not in the source); n_short (senses with
    # fewer cues than asked for); n_requests; n_cut (the masked model saw only a window around the
    # word).
    counts: Mapping[str, int]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per example, with values that JSON can hold.

        Each has the source, the ambiguous word as `focus`, its 0-based character `position`, its
        cues, and further columns of the example.
        """
        by_sense = {(cues.ambiguous_word, cues.sense): cues for cues in self.senses}
        return [
            {
                "id": example.id,
                "source": example.source,
                "focus": example.focus.text,
                "position": example.focus.start,
                "correct_cues": list(by_sense[example.sense].correct.cues),
                "incorrect_cues": list(by_sense[example.sense].incorrect.cues),
                "category": example.category,
                "gold": example.gold,
                "src_lang": example.src_lang,
                "tgt_lang": self.tgt_lang,
                "reference": example.reference,
                "ambiguous_word": example.ambiguous_word,
            }
            for example in self.examples
        ]


def compare_cues(chosen: CueSet, lines: Iterable[str], *, name: str = "cues") -> dict[str, Overlap]:
    """Compare the chosen cues with those of a file, over the senses that both have.

    `lines` are JSONL rows with correct_cues and incorrect_cues, or correct_insertions and
    incorrect_insertions as in the published files. They are matched by `id`, or by 0-based line
    number; the cues of a sense are those of all its rows.
    """
    by_id = dict(_cues(where, row) for where, row in parse_objects(lines, name))
    expected: dict[str, dict[Sense, set[str]]] = {side: {} for side in _SIDES}
    for example in chosen.examples:
        for side, cues in by_id.get(example.id, {}).items():
            expected[side].setdefault(example.sense, set()).update(cues)
    if not expected["correct"]:
        raise DataError(
            f"{name}: expected rows of the same examples, got none; rows are matched by id, or by"
            " line number where they have none"
        )
    return {
        side: overlap(
            {(s.ambiguous_word, s.sense): getattr(s, side).cues for s in chosen.senses},
            expected[side],
            {(s.ambiguous_word, s.sense): getattr(s.candidates, side) for s in chosen.senses},
        )
        for side in _SIDES
    }


def _cues(where: Place, row: dict[str, Any]) -> tuple[str, dict[str, list[str]]]:
    """Return the id of a row's example, and its cues by side."""
    cues: dict[str, Any] = {
        side: row.get(f"{side}_cues", row.get(f"{side}_insertions")) for side in _SIDES
    }
    with in_file(where, "a row has lists correct_cues and incorrect_cues (or ..._insertions)"):
        read_value({str: [str]}, cues)
    return str(row.get("id", where.line - 1)), cues
