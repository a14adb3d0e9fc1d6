"""Scores for decisions: a faster pass scores all pairs, and close decisions are scored exactly.

How close is close enough follows from the measured error of the faster pass. No torch here.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.errors import EvaluatorError, check_choice
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.scores import LOG_SCORES, SCORES
from cc_hf.evaluators.token_model import IN_MEMORY
from cc_hf.schema import ScoringRequest

__all__ = [
    "Contest",
    "check_contests",
    "has_revision",
    "pair_scores",
    "scorer_fields",
]

#: Indices of the requests on both sides, at least one each; the side with the best score wins.
Contest: TypeAlias = tuple[Sequence[int], Sequence[int]]

# So many of the closest decisions, and of the others at even distances, are always scored again.
_N_CLOSEST, _N_OTHERS = 32, 16
# A difference is close within so many times the largest harmful error seen, or the root mean square
# of all errors seen; errors are nearly normal, whose fifth standard deviation few pass.
_LARGEST, _MEAN_SQUARE = 2.0, 5.0
_TINY = float(np.finfo(np.float64).tiny)  # smaller scores have lost some or all digits


def pair_scores(
    requests: Sequence[ScoringRequest],
    evaluator: Evaluator,
    contests: Sequence[Contest] = (),
    *,
    src_lang: str,
    tgt_lang: str,
    score: str = "geometric",
    threshold: float = 0.0,
    progress: bool = False,
) -> npt.NDArray[np.float64]:
    """Return scores of pairs that decide every contest as the exact scores would.

    If the evaluator has a faster pass (`Evaluator.fast`), this pass scores every request. Contests
    that its measured error could decide otherwise are then scored exactly, as far as a request may
    be the best of its side. All other requests have the score of the faster pass.

    Args:
        contests: which requests are compared; a request belongs to at most one contest. Without
            any, all scores are exact.
        score: a name of `SCORES` or `LOG_SCORES`; a function has its own definition.
        threshold: the difference below which a contest has no winner, which is decided as exactly;
            0 for none.

    Returns:
        Scores in the order of the requests, (n,) float64. They are at least 0, except for those of
        `LOG_SCORES`.

    Raises:
        InputError: for an unknown score, no requests, or languages that the model does not support.
        EvaluatorError: when all scores of a contest are 0 in floating point, or as for
            `Evaluator.score`; for a function as for `FunctionEvaluator.text_scores`.
        TooLongError: for texts that are too long, or that are equal only after they were cut
            (`check_contests`).
        CacheError: as for `Evaluator.score`.

    Examples:
        >>> from cc_hf.evaluators.loading import load_evaluator
        >>> sources = ["The [female] doctor left.", "The [male] doctor left."]
        >>> requests = [ScoringRequest(source, "Die Ärztin ging.", 0) for source in sources]
        >>> tiny = load_evaluator("cc-tiny-en-de")
        >>> right, wrong = pair_scores(requests, tiny, [([0], [1])], src_lang="en", tgt_lang="de")
        >>> bool(right > wrong)
        True
    """
    # A function has no faster pass and cuts no text, and 0 is a score that it may return.
    if isinstance(evaluator, FunctionEvaluator):
        return evaluator.text_scores(requests)
    check_choice("score", score, {**SCORES, **LOG_SCORES})
    scores = _decided(
        evaluator,
        requests,
        contests,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        score=score,
        threshold=threshold,
        progress=progress,
    )
    check_contests(
        evaluator, requests, contests, scores, src_lang=src_lang, tgt_lang=tgt_lang, score=score
    )
    return scores


def check_contests(
    evaluator: Evaluator,
    requests: Sequence[ScoringRequest],
    contests: Sequence[Contest],
    scores: npt.NDArray[np.float64],
    *,
    src_lang: str,
    tgt_lang: str,
    score: str,
) -> None:
    """Refuse contests that cannot be decided, which would otherwise count as ties.

    Raises:
        EvaluatorError: when all scores of a contest are 0 in floating point.
        TooLongError: when texts on both sides of a contest are equal only because they were cut.
    """
    # Logarithms can be compared where their probabilities are 0 in floating point.
    for left, right in contests if score not in LOG_SCORES else ():
        if all(scores[i] < _TINY for side in (left, right) for i in side):
            request = requests[left[0]]
            raise EvaluatorError(
                f"row {request.row}: {evaluator.name}@{evaluator.identity} finds both sides so"
                " improbable that all scores are 0 in floating point, which would be a tie;"
                f" expected scores that can be compared. Source: {request.source[:80]!r},"
                f" translation: {request.translation[:80]!r}. The model is probably damaged, or was"
                " not trained for these languages: use another one"
            )
    # Equal token ids give equal scores, so only requests with equal scores need to be encoded.
    if evaluator.on_too_long == "truncate":
        alike = [
            (requests[i], requests[j])
            for left, right in contests
            for i in left
            for j in right
            if scores[i] == scores[j]
        ]
        if alike:
            evaluator.check_not_cut_alike(alike, src_lang=src_lang, tgt_lang=tgt_lang)


def _decided(
    evaluator: Evaluator,
    requests: Sequence[ScoringRequest],
    contests: Sequence[Contest],
    *,
    src_lang: str,
    tgt_lang: str,
    score: str,
    threshold: float,
    progress: bool,
) -> npt.NDArray[np.float64]:
    """Return the scores of `pair_scores`, not yet checked."""
    define, is_log = {**SCORES, **LOG_SCORES}[score], score in LOG_SCORES
    if evaluator.fast is None or not contests:
        return define(
            evaluator.score(requests, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress)
        )
    scores = define(
        evaluator.fast.score(requests, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress)
    ).copy()  # "arithmetic" returns an array of the scores themselves
    rough = np.array([_difference(scores, contest, is_log=is_log) for contest in contests])
    # `rough` keeps the differences by the faster pass, while `scores` gets exact ones below.
    # Contests with the same scores may have the same token ids. They are scored again together or
    # not at all, so that equal token ids keep equal scores.
    twins_of = _twins(scores.tolist(), contests)
    # A difference that is not finite, as for a score of 0, counts as close and is scored again.
    distance = _distances(rough, threshold)
    order = np.argsort(distance, kind="stable")  # every process draws the same sample
    # The closest contests matter most; the sample of the others shows errors that grow with scores.
    others = order[_N_CLOSEST:]
    doubtful = {
        *order[:_N_CLOSEST].tolist(),
        *others[:: max(1, len(others) // _N_OTHERS)].tolist(),
    }
    # What exact scores add to a difference; 0 for contests without. In the sample, every request is
    # a possible winner, so that all scores of a few contests are exact.
    errors, close = np.zeros(len(contests)), np.inf
    is_exact = np.zeros(len(requests), dtype=bool)
    while True:
        doubtful |= {twin for row in doubtful for twin in twins_of[row]}
        # Sorted: a set has no order, and that of requests decides batches, and so the last digits.
        indices = [
            i
            for row in sorted(doubtful)
            for side in contests[row]
            for i in _possible_winners(_logs(scores, side, is_log=is_log), side, close)
            if not is_exact[i]
        ]
        if not indices:
            return scores
        scores[indices] = define(
            evaluator.score(
                [requests[i] for i in indices],
                src_lang=src_lang,
                tgt_lang=tgt_lang,
                progress=progress,
            )
        )
        is_exact[indices] = True
        # The errors of those that were scored again say which others are close. Larger errors make
        # more contests doubtful, and more requests of these possible winners; each is scored again
        # at most once.
        rows = sorted(doubtful)
        added = [_difference(scores, contests[row], is_log=is_log) - rough[row] for row in rows]
        # A difference from a score of 0 is infinite and would make every other contest doubtful.
        errors[rows] = np.where(np.isfinite(added), added, 0)
        harmful = _most_harmful(errors, rough, threshold)
        mean_square = float((errors**2).sum() / len(rows))  # the other errors are unknown, not 0
        close = max(_LARGEST * harmful, _MEAN_SQUARE * mean_square**0.5)
        doubtful |= set(np.flatnonzero(distance <= close).tolist())


def _distances(rough: npt.NDArray[np.float64], threshold: float) -> npt.NDArray[np.float64]:
    """Return how far each contest is from another decision."""
    distance = np.where(np.isfinite(rough), np.abs(rough), 0)
    # Below the threshold a contest has no winner, so that crossing it is another decision, too.
    return np.minimum(distance, np.abs(distance - threshold)) if threshold else distance


def _most_harmful(
    errors: npt.NDArray[np.float64], rough: npt.NDArray[np.float64], threshold: float
) -> float:
    """Return the largest error towards the other side; at a threshold, of either sign."""
    # An error away from 0 makes a decision clearer; only one towards it can change the winner. The
    # threshold can be crossed from both sides.
    harmful = np.abs(errors) if threshold else -np.sign(np.nan_to_num(rough)) * errors
    return float(harmful.max())


def _twins(scores: Sequence[float], contests: Sequence[Contest]) -> list[list[int]]:
    """Return for each contest the numbers of those with the same scores, its own among them."""
    twins: dict[tuple[tuple[float, ...], ...], list[int]] = defaultdict(list)
    keys = [tuple(tuple(scores[i] for i in side) for side in contest) for contest in contests]
    for row, key in enumerate(keys):
        twins[key].append(row)
    return [twins[key] for key in keys]


def _logs(
    scores: npt.NDArray[np.float64], side: Sequence[int], *, is_log: bool
) -> npt.NDArray[np.float64]:
    """Return the logarithms of the scores of a side, -inf for a score of 0."""
    with np.errstate(divide="ignore"):
        return scores[list(side)] if is_log else np.log(scores[list(side)])


def _possible_winners(
    logs: npt.NDArray[np.float64], side: Sequence[int], close: float
) -> list[int]:
    """Return the requests of a side that may be its best, within `close` of the best score."""
    return [i for i, log in zip(side, logs, strict=True) if log >= logs.max() - close]


def _difference(scores: npt.NDArray[np.float64], contest: Contest, *, is_log: bool) -> float:
    """Return the difference between the logarithms of both sides' best scores."""
    left, right = (_logs(scores, side, is_log=is_log).max() for side in contest)
    # Both sides may be -inf; their difference is NaN, which counts as close.
    with np.errstate(invalid="ignore"):
        return float(left - right)


def scorer_fields(
    evaluator: Evaluator,
    score: str,
    requests: Sequence[ScoringRequest] = (),
    scores: Sequence[float] | npt.NDArray[np.float64] = (),
) -> dict[str, str]:
    """Return the signature fields of what scored.

    Args:
        score: definition of a score, which is that of the caller where a function scores.
        requests: the pairs that were scored; () for fields without a digest.

    Examples:
        >>> function = FunctionEvaluator(len)  # type: ignore[arg-type]
        >>> scorer_fields(function, "", [ScoringRequest("a", "b", 0)], [1.0])
        {'eval': 'function len@scores.df354714', 'score': 'own'}
    """
    fields = evaluator.signature_fields()
    fields["score"] = fields.get("score", score)
    # A function has no revision, nor has a model in memory: a digest of the scores tells two of the
    # same name apart.
    if has_revision(evaluator) or not requests:
        return fields
    return {**fields, "eval": signature.with_scores(fields["eval"], _digest(requests, scores))}


def has_revision(evaluator: Evaluator) -> bool:
    """Return whether name and revision say what scores; not of a function or a model in memory.

    Examples:
        >>> has_revision(FunctionEvaluator(len))  # type: ignore[arg-type]
        False
    """
    # An ensemble joins the identities of its members by "+"; one that is unknown is enough.
    return not {"", IN_MEMORY}.intersection(evaluator.identity.split("+"))


def _digest(
    requests: Sequence[ScoringRequest], scores: Sequence[float] | npt.NDArray[np.float64]
) -> str:
    """Return a digest of scored pairs that depends neither on their order nor on rounding."""
    # Four digits, since another processor, or another batch, gives other last ones.
    lines = {
        json.dumps([request.source, request.translation, f"{score:.4g}"])
        for request, score in zip(requests, scores, strict=True)
    }
    return hashlib.sha256("\n".join(sorted(lines)).encode("ascii")).hexdigest()[:8]
