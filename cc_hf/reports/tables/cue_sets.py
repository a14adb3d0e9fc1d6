"""Cues of word senses as JSON, as a table for the terminal, and notes on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cc_hf.cues.cue_set import CueSet
from cc_hf.cues.selection import Overlap
from cc_hf.reports.numbers import percent
from cc_hf.reports.tables.base import heading

__all__ = ["comparison_lines", "cue_set_json", "cue_set_notes", "cue_set_table"]

_N_SHOWN = 6


def cue_set_notes(cue_set: CueSet) -> Iterator[str]:
    """Yield notes on senses and examples that are omitted, and on sources that were cut."""
    counts = cue_set.counts
    if n := counts["n_left_out"]:
        names = ", ".join(f"{s.ambiguous_word} ({s.reason})" for s in cue_set.left_out[:5])
        yield (
            f"{len(cue_set.left_out)} senses with {n} examples have no cues and are omitted:"
            f" {names}{', ...' if len(cue_set.left_out) > 5 else ''}"
        )
    if n := counts["n_unlocated"]:
        yield (
            f"{n} examples in which the ambiguous word does not occur as it is written are omitted"
        )
    if n := counts["n_short"]:
        yield f"{n} senses have fewer cues than requested on one side"
    if n := counts["n_cut"]:
        yield (
            f"{n} sources are too long for the masked language model, which saw a window around the"
            " word"
        )


def cue_set_json(cue_set: CueSet, compared: Mapping[str, Overlap]) -> dict[str, Any]:
    """Return what --json prints: the cues, the senses without cues, and the comparison."""
    return {
        "senses": [
            {
                "word": s.ambiguous_word,
                "sense": s.sense,
                "n_examples": s.n_examples,
                "correct_cues": list(s.correct.cues),
                "incorrect_cues": list(s.incorrect.cues),
            }
            for s in cue_set.senses
        ],
        "left_out": [
            {
                "word": s.ambiguous_word,
                "sense": s.sense,
                "n_examples": s.n_examples,
                "reason": s.reason,
            }
            for s in cue_set.left_out
        ],
        "counts": dict(cue_set.counts),
        "compared": {side: asdict(shared) for side, shared in compared.items()},
        "signature": cue_set.signature,
    }


def cue_set_table(cue_set: CueSet) -> list[RenderableType]:
    """Return the first senses with their cues, in columns that fit into 80 characters."""
    table = Table(box=box.SIMPLE_HEAD)
    for name, width in (("word", 14), ("sense", 16), ("correct cues", 20), ("incorrect cues", 18)):
        table.add_column(name, max_width=width, overflow="fold")
    for s in cue_set.senses[:_N_SHOWN]:
        texts = (s.ambiguous_word, s.sense, " ".join(s.correct.cues), " ".join(s.incorrect.cues))
        table.add_row(*map(Text, texts))
    n = len(cue_set.senses)
    first = f"; the first {_N_SHOWN}" if n > _N_SHOWN else ""
    examples = f"{cue_set.counts['n_examples']:,} examples"
    return [heading(f"{n:,} senses with cues, {examples}{first}"), table]


def comparison_lines(compared: Mapping[str, Overlap], path: Path) -> list[Text]:
    """Return how many of the published cues in `path` were chosen, for each side."""
    lines = []
    for side, shared in compared.items():
        chosen, chance = (
            percent(n / shared.n_expected) for n in (shared.n_chosen, shared.n_by_chance)
        )
        lines.append(
            Text(
                f"{side}: {shared.n_chosen} of {shared.n_expected} cues of {path.name} chosen,"
                f" {chosen} %; by chance {chance} %"
            )
        )
    return lines
