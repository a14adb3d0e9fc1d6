"""How results are compared with human labels: one frozen object with all options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import InputError

__all__ = ["AgreementOptions"]


@dataclass(frozen=True)
class AgreementOptions:
    """How results are compared with human labels.

    Attributes:
        inconclusive: how an inconclusive verdict counts: correct or incorrect; None for as in the
            paper.
        skip_others: ignore labelled translations that differ from the judged ones.
        assume: result whose decided verdicts count as labels of the translations that nobody
            labelled. For MuCoW, only those without a decided verdict were labelled.
        without_corpus: with `assume`, corpus from which no labelled sentence was drawn (opensubs
            in the paper).
    """

    inconclusive: str | None = None
    skip_others: bool = False
    assume: Path | None = None
    without_corpus: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.assume is None and self.without_corpus:
            raise InputError(
                "without_corpus: expected `assume` with it, whose verdicts it leaves out, got none"
            )
