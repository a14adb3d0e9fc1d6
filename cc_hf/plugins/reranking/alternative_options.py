"""How masculine and feminine translations are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cc_hf.errors import InputError, shown
from cc_hf.rules import AtLeast, check_fields

__all__ = ["METHODS", "AlternativeOptions"]

#: How candidates are made, in the order in which they are tried.
METHODS = ("nbest", "cue", "contrast")


@dataclass(frozen=True, slots=True)
class AlternativeOptions:
    """How alternatives are made.

    Attributes:
        cues: wording of the gender that the evaluator understands, such as gender_nouns
            (`cc_hf.cues.wordings`); the system, too, for the methods "cue" and "contrast". None for
            the one that was calibrated for the evaluator, else gender_brackets.
        n_best: number of hypotheses of the n-best list.
        methods: ways to make candidates, of "nbest", "cue" (sources with cues) and "contrast"
            (cue-contrastive decoding), which are tried in this order; None for all.
        reader: what also says which gender the words show that differ: apertium, german-nouns,
            pymorphy3 or spacy; None for the evaluator alone.

    Raises:
        InputError: for another method, or a number below 1.
    """

    cues: str | None = None
    n_best: Annotated[int, AtLeast(1)] = 16
    methods: tuple[str, ...] | None = None
    reader: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.methods is not None and set(self.methods) - set(METHODS):
            raise InputError(
                f"methods: expected some of {', '.join(METHODS)}, got {shown(self.methods)}"
            )

    @property
    def chosen(self) -> tuple[str, ...]:
        """The methods that are tried, in their order."""
        return tuple(name for name in METHODS if name in (self.methods or METHODS))
