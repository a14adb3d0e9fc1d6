"""Scores for decisions: all pairs by the evaluator's faster pass, then those of every decision within its measured error again, exactly. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cc_hf.evaluators.base import LOG_SCORES, SCORES, Evaluator
from cc_hf.schema import ScoringRequest

__all__ = ["Contest", "decision_scores"]

#: the requests of both sides, by index, at least one on each; the side with the best score wins
Contest: TypeAlias = tuple[Sequence[int], Sequence[int]]

_N_MEASURED = 64  # decisions that are always scored again: so many of the closest, and as many of all others, evenly
_SAFETY = 2.0  # times the largest error seen


def decision_scores(
    evaluator: Evaluator, requests: Sequence[ScoringRequest], contests: Sequence[Contest], *, src_lang: str, tgt_lang: str, score: str = "geometric", progress: bool = False
) -> npt.NDArray[np.float64]:
    """(n,) scores of the requests, by which every contest is decided as by `evaluator.score`.

    With an evaluator that has a faster pass (`Evaluator.fast`) each request is scored by it. Then the difference of the logarithms of the two best
    scores is taken exactly for a sample of the contests; all contests whose difference is within twice the largest error seen are scored again, and
    the error of these counts, too, until none is left. What was scored again has its exact score, all others that of the faster pass.

    Args:
        evaluator: scores.
        requests: what to score.
        contests: who is compared with whom; a request belongs to at most one.
        src_lang, tgt_lang, progress: as in `Evaluator.score`.
        score: a name of `SCORES` or `LOG_SCORES`.

    Raises:
        As `Evaluator.score`.
    """
    define, is_log = {**SCORES, **LOG_SCORES}[score], score in LOG_SCORES
    if evaluator.fast is None or not contests:
        return define(evaluator.score(requests, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress))
    scores = define(evaluator.fast.score(requests, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress)).copy()
    rough = np.array([_difference(scores, contest, is_log=is_log) for contest in contests])
    distance = np.where(np.isfinite(rough), np.abs(rough), 0)
    order = np.argsort(distance, kind="stable")
    others = order[_N_MEASURED:]
    doubtful = {*order[:_N_MEASURED].tolist(), *others[:: max(1, len(others) // _N_MEASURED)].tolist()}
    known: set[int] = set()
    error = 0.0
    while doubtful:
        chosen = sorted(doubtful)
        again = [i for row in chosen for side in contests[row] for i in side]
        scores[again] = define(evaluator.score([requests[i] for i in again], src_lang=src_lang, tgt_lang=tgt_lang, progress=progress))
        found = np.array([abs(_difference(scores, contests[row], is_log=is_log) - rough[row]) for row in chosen])
        error = max(error, float(np.max(found, initial=0, where=np.isfinite(found))))
        known |= doubtful
        doubtful = set(np.flatnonzero(distance <= _SAFETY * error).tolist()) - known
    return scores


def _difference(scores: npt.NDArray[np.float64], contest: Contest, *, is_log: bool) -> float:
    """Of the logarithms of both sides' best scores."""
    left, right = (max(scores[i] for i in side) for side in contest)
    if is_log:
        return float(left - right)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.log(left) - np.log(right))
