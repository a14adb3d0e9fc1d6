"""What a judge lets pass: texts that are no translations, beside the right one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.schema import ScoringRequest

__all__ = ["WRONG_TEXTS", "Passed", "guard_requests", "passed"]

#: Kind of a wrong text -> what it is, for a reader.
WRONG_TEXTS = {
    "copy": "the source itself",
    "next": "the translation of the next sentence",
    "language": "a text of another language",
    "stop": "a full stop alone",
    "twice": "the translation twice",
    "half": "the first half of the translation",
    "shuffled": "the words of the translation in another order",
}
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Passed:
    """How many of n wrong texts of a kind are not worse than the translation; their mean score."""

    n: int
    n_passed: int
    mean: float


def guard_requests(
    sources: Sequence[str], references: Sequence[str], others: Sequence[str], *, seed: int = 0
) -> dict[str, list[ScoringRequest]]:
    """Return what is to be scored: "reference", and a text of each kind of `WRONG_TEXTS`.

    Examples:
        >>> made = guard_requests(["A cat.", "Yes."], ["Um gato.", "Sim."], [])
        >>> {kind: requests[0].translation for kind, requests in made.items()}["half"]
        'Um'
    """
    draw = np.random.default_rng(seed)
    words = [reference.split() for reference in references]
    texts = {
        "reference": list(references),
        "copy": list(sources),
        "next": [*references[1:], references[0]],
        "language": list(others),
        "stop": ["."] * len(sources),
        "twice": [f"{reference} {reference}" for reference in references],
        "half": [" ".join(w[: max(1, len(w) // 2)]) for w in words],
        "shuffled": [" ".join(w[i] for i in draw.permutation(len(w))) for w in words],
    }
    return {
        kind: [
            ScoringRequest(s, t, i) for i, (s, t) in enumerate(zip(sources, of_kind, strict=True))
        ]
        for kind, of_kind in texts.items()
        if of_kind
    }


def passed(scores: dict[str, _Floats]) -> dict[str, Passed]:
    """Return how many wrong texts of each kind are not worse than "reference"; higher is better."""
    reference = scores["reference"]
    return {
        kind: Passed(len(values), int((values >= reference).sum()), float(values.mean()))
        for kind, values in scores.items()
        if kind != "reference"
    }
