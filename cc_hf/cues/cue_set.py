"""The cues of a dataset's senses as frozen data, as rows for a file, and compared with those of
another file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cc_hf.cues.mlm_insertions import Candidates, SenseCandidates
from cc_hf.cues.selection import ChosenCues, Overlap, overlap
from cc_hf.errors import DataError, InputError
from cc_hf.files import parse_json
from cc_hf.schema import Focus

__all__ = ["CueSet", "LeftOut", "Sense", "SenseCues", "SenseExample", "compare_cues"]

#: Ambiguous word, sense.
Sense = tuple[str, str]

_SIDES = ("correct", "incorrect")


@dataclass(frozen=True, slots=True)
class SenseExample:
    """A sentence in which an ambiguous word has a known sense, with a right translation.

    `focus`: the word as it stands there.
    """

    id: str
    src_lang: str
    tgt_lang: str
    source: str
    focus: Focus
    category: str
    gold: str
    ambiguous_word: str
    reference: str

    @property
    def sense(self) -> Sense:
        """The ambiguous word and its sense here."""
        return self.ambiguous_word, self.gold


@dataclass(frozen=True, slots=True)
class SenseCues:
    """The cues of one sense of an ambiguous word, the candidates from which they were chosen, and
    the number of its examples.
    """

    ambiguous_word: str
    sense: str
    n_examples: int
    candidates: SenseCandidates
    correct: ChosenCues
    incorrect: ChosenCues


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A sense that has no cues.

    `reason`: «only sense» (nothing to tell it from) or «no candidates» (no word marks it, or none
    marks the others).
    """

    ambiguous_word: str
    sense: str
    n_examples: int
    reason: str


@dataclass(frozen=True)
class CueSet:
    """What `cc_hf.cue_building.build.build_cues` found.

    Attributes:
        senses: in the order of ambiguous words and senses.
        left_out: senses without cues.
        examples: those of `senses`, in the order of the dataset.
        candidates: ambiguous word -> sense -> words, most probable first.
        tgt_lang: ISO 639-1.
        signature: see `cc_hf.signature`.
        counts: n_examples, n_left_out (examples), n_unlocated (examples whose word was not found in
            the source, left out), n_short (senses with fewer than n_cues on a side), n_requests,
            n_cut (sources too long for the masked language model, of which it saw a window around
            the word; 0 where candidates were given).
    """

    senses: tuple[SenseCues, ...]
    left_out: tuple[LeftOut, ...]
    examples: tuple[SenseExample, ...] = field(repr=False)
    candidates: Candidates = field(repr=False)
    tgt_lang: str
    signature: str
    counts: Mapping[str, int]

    def rows(self) -> list[dict[str, Any]]:
        """One row per example: the source, the place of the ambiguous word (0-based character) and
        its cues, as JSON takes them.
        """
        by_sense = {(found.ambiguous_word, found.sense): found for found in self.senses}
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


def compare_cues(found: CueSet, lines: Iterable[str], *, name: str = "cues") -> dict[str, Overlap]:
    """How many cues of a file were chosen, per side («correct», «incorrect»), over the senses that
    both have.

    Args:
        found: what was chosen.
        lines: JSONL, a row per example with correct_cues and incorrect_cues, or correct_insertions
            and incorrect_insertions as in the published files. Rows belong to the examples by `id`,
            or where they have none by 0-based line number. A sense has the cues of all its rows.
        name: of the file, for messages.

    Raises:
        DataError: when a line is not as expected, or no row belongs to an example.
    """
    by_id = dict(_row(line, number, name) for number, line in enumerate(lines))
    expected: dict[str, dict[Sense, set[str]]] = {side: {} for side in _SIDES}
    for example in found.examples:
        for side, cues in by_id.get(example.id, {}).items():
            expected[side].setdefault(example.sense, set()).update(cues)
    if not expected["correct"]:
        raise DataError(
            f"{name}: expected rows of the same examples, got none; rows are matched by id, or by"
            " line number where they have none"
        )
    return {
        side: overlap(
            {(s.ambiguous_word, s.sense): getattr(s, side).cues for s in found.senses},
            expected[side],
            {(s.ambiguous_word, s.sense): getattr(s.candidates, side) for s in found.senses},
        )
        for side in _SIDES
    }


def _row(line: str, number: int, name: str) -> tuple[str, dict[str, list[str]]]:
    try:
        row = parse_json(line)
        return str(row.get("id", number)), {
            side: list(row[f"{side}_cues"] if f"{side}_cues" in row else row[f"{side}_insertions"])
            for side in _SIDES
        }
    except (InputError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{name}: line {number + 1}: expected JSON with correct_cues and incorrect_cues (or"
            f" ..._insertions), got {line[:80]!r} ({error})"
        ) from error
