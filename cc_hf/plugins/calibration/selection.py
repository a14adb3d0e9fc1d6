"""Selection of cues: the candidates that change an evaluator's scores most (Vamvas & Sennrich 2021,
appendix D, step 2).

The functions are pure: they turn words and scores into cues.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError

__all__ = ["N_CUES", "ChosenCues", "Overlap", "best_cues", "overlap"]

#: Number of cues per side in the paper.
N_CUES = 3

_Cues = Mapping[tuple[str, str], Collection[str]]


@dataclass(frozen=True, slots=True)
class ChosenCues:
    """The cues of one side of a sense."""

    cues: tuple[str, ...]  # most discriminative first
    mean_scores: tuple[float, ...]  # of the sense's references under each cue


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many of the expected cues were chosen."""

    n_chosen: int
    n_expected: int
    n_by_chance: float  # expected for a random draw among the candidates


def best_cues(
    candidates: Sequence[str], scores: npt.NDArray[np.float64], *, correct: bool, n: int = N_CUES
) -> ChosenCues:
    """Return the most discriminative candidates of one sense.

    In the paper's words, "correct disambiguation cues are discriminative if the evaluator assigns a
    good score to the reference, and vice versa": correct cues have the highest mean score over the
    references of the sense, incorrect cues the lowest. Candidates with equal means keep their
    order. `scores` has the shape (number of references, number of candidates).

    Examples:
        >>> best_cues(
        ...     ["gear", "clutch", "red"],
        ...     np.array([[0.5, 0.7, 0.1], [0.5, 0.5, 0.1]]),
        ...     correct=True,
        ...     n=2,
        ... )
        ChosenCues(cues=('clutch', 'gear'), mean_scores=(0.6, 0.5))
    """
    if n < 1:
        raise InputError(f"n: expected at least 1 cue, got {n}")
    if scores.ndim != 2 or not scores.size or scores.shape[1] != len(candidates):
        raise InputError(
            f"scores: expected (number of references, {len(candidates)} candidates), at least one"
            f" of each, got an array of shape {scores.shape}"
        )
    # Sums are exact, so the order of the references is irrelevant.
    means = [math.fsum(column) / len(column) for column in scores.T.tolist()]
    order = sorted(range(len(candidates)), key=lambda i: -means[i] if correct else means[i])[:n]
    return ChosenCues(tuple(candidates[i] for i in order), tuple(means[i] for i in order))


def overlap(chosen: _Cues, expected: _Cues, candidates: _Cues) -> Overlap:
    """Count the cues that two selections share, over the senses that both have.

    A random draw of k out of c candidates hits each expected cue among them with probability k / c.

    Examples:
        >>> overlap(
        ...     {("bat", "animal"): ["fruit", "brown"]},
        ...     {("bat", "animal"): ["fruit", "ugly"]},
        ...     {("bat", "animal"): ["fruit", "brown", "big", "red"]},
        ... )
        Overlap(n_chosen=1, n_expected=2, n_by_chance=0.5)
    """
    shared = [sense for sense in chosen if sense in expected]
    return Overlap(
        sum(len(set(chosen[s]) & set(expected[s])) for s in shared),
        sum(len(set(expected[s])) for s in shared),
        math.fsum(
            len(set(chosen[s]))
            / len(set(candidates[s]))
            * len(set(expected[s]) & set(candidates[s]))
            for s in shared
        ),
    )
