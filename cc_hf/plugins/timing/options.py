"""How systems are timed: options that need no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cc_hf.rules import AtLeast, check_fields

__all__ = ["N_ROUNDS", "TimingOptions"]

#: Number of rounds, of which the median counts.
N_ROUNDS = 3


@dataclass(frozen=True)
class TimingOptions:
    """How systems are timed.

    Attributes:
        rounds: number of rounds, of which the median counts, at least 1.
        threads: threads of the CPU; None for one for each core.
        batch_tokens: limit of a batch: twice its padded source tokens, for each of the beams.
        allow_busy: time also while other processes share the cores; such times are marked.
    """

    rounds: Annotated[int, AtLeast(1)] = N_ROUNDS
    threads: Annotated[int | None, AtLeast(1)] = None
    batch_tokens: Annotated[int, AtLeast(1)] = 2048
    allow_busy: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
