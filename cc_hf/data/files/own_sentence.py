"""A sentence of one's own with what is to be disambiguated in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.errors import InputError, check_choice

__all__ = ["OwnSentence"]


@dataclass(frozen=True)
class OwnSentence:
    """A sentence of one's own with what is to be disambiguated in it.

    Attributes:
        source: source sentence of your own.
        focus: words of the source to be disambiguated; they must occur in it once.
        gold: right reading, male or female. The cues are then gender brackets.
        correct_cues: cue for the right reading: words, or a template with {focus}.
        incorrect_cues: the same for the wrong reading.
    """

    source: str
    focus: str | None = None
    gold: str | None = None
    correct_cues: Sequence[str] = ()
    incorrect_cues: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.focus:
            raise InputError("focus: expected words of the source to be disambiguated, got none")
        if self.gold is not None:
            check_choice("gold", self.gold, ("male", "female"))
        if self.gold is not None and (self.correct_cues or self.incorrect_cues):
            raise InputError(
                "gold, correct_cues, incorrect_cues: expected the right gender, for gender"
                " brackets, or cues of both readings, got both"
            )
        if self.gold is None and not (self.correct_cues and self.incorrect_cues):
            raise InputError(
                "gold, correct_cues, incorrect_cues: expected the right gender, male or female, or"
                " at least one cue of each reading"
            )

    def row(self) -> dict[str, Any]:
        """Return what `cc_hf.data.files.custom.custom_example` reads."""
        given = {name: value for name, value in vars(self).items() if value not in (None, ())}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}
