"""Scores for decisions: a faster pass scores all pairs, and close decisions are scored exactly.

How close is close enough follows from the measured error of the faster pass. No torch here.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.errors import CCError, EvaluatorError, check_choice
from cc_hf.evaluators.base import Evaluator, ScoreFunction
from cc_hf.evaluators.scores import LOG_SCORES, SCORES
from cc_hf.evaluators.token_model import IN_MEMORY
from cc_hf.schema import ScoringRequest

__all__ = [
    "Contest",
    "check_contests",
    "contest_scores",
    "function_name",
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


def contest_scores(
    evaluator: Evaluator,
    requests: Sequence[ScoringRequest],
    contests: Sequence[Contest],
    *,
    src_lang: str,
    tgt_lang: str,
    score: str = "geometric",
    progress: bool = False,
) -> npt.NDArray[np.float64]:
    """Return scores that decide every contest as the exact scores would.

    If the evaluator has a faster pass (`Evaluator.fast`), this pass scores every request. A sample
    of the contests, or all if they are few, is then scored exactly, and the error of the faster
    pass is measured on the difference between the logarithms of the two best scores. Contests whose
    difference is within twice the largest error towards the other side, or within five times the
    root mean square of all errors, are scored exactly as well, and their errors count, too, until
    no such contest is left. Of these contests, only those requests are scored exactly that are as
    near to the best of their side. Requests that were scored again have their exact score, all
    others that of the faster pass.

    Args:
        contests: which requests are compared; a request belongs to at most one contest.
        src_lang, tgt_lang: languages of the texts; "" for those of the evaluator.
        score: a name of `SCORES` or `LOG_SCORES`.

    Returns:
        Scores in the order of the requests, (n,) float64.

    Raises:
        InputError: for an unknown score, no requests, or languages that the model does not support.
        EvaluatorError: when all scores of a contest are 0 in floating point, or as for
            `Evaluator.score`.
        TooLongError: for texts that are too long, or that are equal only after they were cut
            (`check_contests`).
        CacheError: as for `Evaluator.score`.

    Examples:
        >>> from cc_hf.evaluators.loading import load_evaluator
        >>> sources = ["The [female] doctor left.", "The [male] doctor left."]
        >>> requests = [ScoringRequest(source, "Die Ärztin ging.", 0) for source in sources]
        >>> correct, incorrect = contest_scores(
        ...     load_evaluator("cc-tiny-en-de"),
        ...     requests,
        ...     [([0], [1])],
        ...     src_lang="en",
        ...     tgt_lang="de",
        ... )
        >>> bool(correct > incorrect)
        True
    """
    check_choice("score", score, {**SCORES, **LOG_SCORES})
    scores = _decided(
        evaluator,
        requests,
        contests,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        score=score,
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

    Args:
        scores: (n,) float64, in the order of the requests.
        src_lang, tgt_lang: languages of the texts; "" for those of the evaluator.
        score: a name of `SCORES` or `LOG_SCORES`.

    Raises:
        EvaluatorError: when all scores of a contest are 0 in floating point.
        TooLongError: when texts on both sides of a contest are equal only because they were cut
            (`Evaluator.check_not_cut_alike`).
    """
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
    progress: bool,
) -> npt.NDArray[np.float64]:
    """Return the scores of `contest_scores`, not yet checked."""
    define, is_log = {**SCORES, **LOG_SCORES}[score], score in LOG_SCORES
    if evaluator.fast is None or not contests:
        return define(
            evaluator.score(requests, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress)
        )
    scores = define(
        evaluator.fast.score(requests, src_lang=src_lang, tgt_lang=tgt_lang, progress=progress)
    ).copy()
    rough = np.array([_difference(scores, contest, is_log=is_log) for contest in contests])
    # `rough` keeps the differences by the faster pass, while `scores` gets exact ones below.
    # Contests with the same scores may have the same token ids. They are scored again together or
    # not at all, so that equal token ids keep equal scores.
    twins: dict[tuple[tuple[float, ...], ...], list[int]] = defaultdict(list)
    for row, contest in enumerate(contests):
        twins[_scores_of(scores, contest)].append(row)
    twins_of = [twins[_scores_of(scores, contest)] for contest in contests]
    # A difference that is not finite, as for a score of 0, counts as close and is scored again.
    distance = np.where(np.isfinite(rough), np.abs(rough), 0)
    order = np.argsort(distance, kind="stable")
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
        # Larger errors make more contests doubtful, and more requests of these possible winners;
        # each is scored again at most once.
        rows = sorted(doubtful)
        added = [_difference(scores, contests[row], is_log=is_log) - rough[row] for row in rows]
        errors[rows] = np.where(np.isfinite(added), added, 0)
        harmful = float((-np.sign(np.nan_to_num(rough)) * errors).max())
        mean_square = float((errors**2).sum() / len(rows))
        close = max(_LARGEST * harmful, _MEAN_SQUARE * mean_square**0.5)
        doubtful |= set(np.flatnonzero(distance <= close).tolist())


def _scores_of(scores: npt.NDArray[np.float64], contest: Contest) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(scores[list(side)].tolist()) for side in contest)


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
    with np.errstate(invalid="ignore"):
        return float(left - right)


def pair_scores(
    requests: Sequence[ScoringRequest],
    evaluator: Evaluator | ScoreFunction,
    contests: Sequence[Contest] = (),
    *,
    src_lang: str,
    tgt_lang: str,
    score: str = "geometric",
    progress: bool = False,
) -> npt.NDArray[np.float64]:
    """Score pairs with an evaluator model or with a function.

    Args:
        evaluator: an evaluator model, or a function (sources, translations) -> scores.
        contests: which requests are compared (see `contest_scores`); without any, all scores are
            exact. A function ignores them.
        src_lang, tgt_lang: languages of the texts; "" for those of the evaluator.
        score: a name of `SCORES` or `LOG_SCORES`; a function has its own definition.

    Returns:
        Scores in the order of the pairs, (n,) float64. They are at least 0, except for those of
        `LOG_SCORES`.

    Raises:
        InputError: for a score that is not defined, or as for `Evaluator.score`.
        EvaluatorError: when a function fails, returns too few or too many scores, or one that is
            NaN, infinite or negative; for an evaluator as for `contest_scores`.
        TooLongError, CacheError: as for `contest_scores`.

    Examples:
        >>> requests = [ScoringRequest("Yes.", "Ja.", 0), ScoringRequest("Yes, sir.", "Ja.", 1)]
        >>> def by_length(sources, translations):
        ...     return [len(t) / len(s) for s, t in zip(sources, translations)]
        >>> pair_scores(requests, by_length, [([0], [1])], src_lang="en", tgt_lang="de").round(2)
        array([0.75, 0.33])
    """
    if isinstance(evaluator, Evaluator):
        return contest_scores(
            evaluator,
            requests,
            contests,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            score=score,
            progress=progress,
        )
    return _function_scores(requests, evaluator)


def _function_scores(
    requests: Sequence[ScoringRequest], function: ScoreFunction
) -> npt.NDArray[np.float64]:
    """Return what a user's function returns, checked.

    Raises:
        CCError: an error of this package that the function raised, unchanged.
    """
    what, name = "the evaluator function", f"(function {function_name(function)!r})"
    rows = f"rows {requests[0].row} to {requests[-1].row}" if requests else "no rows"
    try:
        returned = function([r.source for r in requests], [r.translation for r in requests])
    except CCError:
        raise
    except Exception as error:
        # The user's code may raise anything; its error stays the cause, with its own traceback.
        raise EvaluatorError(
            f"{what} failed on {rows} ({len(requests)} pairs): {type(error).__name__}: {error}"
            f" {name}"
        ) from error
    try:
        scores = _as_numbers(returned)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        # numpy raises RuntimeError for a tensor that requires gradients.
        raise EvaluatorError(
            f"{what} failed: expected one number per pair, as a list or an array (of a tensor:"
            f" scores.detach().cpu().tolist()); {error} {name}"
        ) from error
    if scores.shape != (len(requests),):
        raise EvaluatorError(
            f"{what} returned scores of shape {scores.shape} for {len(requests)} pairs; expected"
            f" one number per pair {name}"
        )
    bad = np.flatnonzero(~(np.isfinite(scores) & (scores >= 0)))
    if len(bad):
        request = requests[int(bad[0])]
        raise EvaluatorError(
            f"row {request.row}: {what} returned {scores[bad[0]]} ({len(bad)} such scores);"
            f" expected finite numbers of 0 or more. Source: {request.source!r}, translation:"
            f" {request.translation!r} {name}"
        )
    return scores


def _as_numbers(values: object) -> npt.NDArray[np.float64]:
    """Return values as an array of float64.

    Raises:
        TypeError: for values that numpy would convert although they are no numbers, such as texts.
    """
    if (kind := np.asarray(values).dtype.kind) not in "biufO":
        raise TypeError(f"got values of numpy's kind {kind!r}")
    return np.asarray(values, dtype=np.float64)


def function_name(function: ScoreFunction) -> str:
    """Return the name of a function for signatures and messages.

    Args:
        function: any callable. It is called by its attribute `signature_name`, which the caller can
            set, else by its own name, else by its type. The names of functions that have none
            stand in angle brackets, as `<lambda>` does.

    Examples:
        >>> import functools
        >>> function_name(len), function_name(functools.partial(len))
        ('len', '<partial>')
    """
    if isinstance(given := getattr(function, "signature_name", None), str) and given.strip():
        return " ".join(given.split())
    if isinstance(function, functools.partial):
        return "<partial>"
    return str(getattr(function, "__name__", type(function).__name__))


def scorer_fields(
    scorer: Evaluator | ScoreFunction,
    score: str,
    requests: Sequence[ScoringRequest] = (),
    scores: Sequence[float] | npt.NDArray[np.float64] = (),
) -> dict[str, str]:
    """Return the signature fields of what scored.

    A function has no revision, nor has a model in memory; a digest of the scores tells two of the
    same name apart.

    Args:
        score: definition of a score, which is that of the caller where a function scores.
        requests: the pairs that were scored; () for fields without a digest.

    Examples:
        >>> scorer_fields(len, "geometric")  # type: ignore[arg-type]
        {'eval': 'function len', 'score': 'own'}
        >>> scorer_fields(len, "", [ScoringRequest("a", "b", 0)], [1.0])  # type: ignore[arg-type]
        {'eval': 'function len@scores.df354714', 'score': 'own'}
    """
    if isinstance(scorer, Evaluator):
        fields = {**scorer.signature_fields(), "score": score}
    else:
        fields = {"eval": f"function {function_name(scorer)}", "score": "own"}
    if has_revision(scorer) or not requests:
        return fields
    return {**fields, "eval": signature.with_scores(fields["eval"], _digest(requests, scores))}


def has_revision(scorer: Evaluator | ScoreFunction) -> bool:
    """Return whether a name and a revision say what scores: not of a function, nor of a model in
    memory.

    Examples:
        >>> has_revision(len)  # type: ignore[arg-type]
        False
    """
    return isinstance(scorer, Evaluator) and not {"", IN_MEMORY}.intersection(
        scorer.identity.split("+")
    )


def _digest(
    requests: Sequence[ScoringRequest], scores: Sequence[float] | npt.NDArray[np.float64]
) -> str:
    """Return a digest of scored pairs that depends neither on their order nor on rounding."""
    lines = {
        json.dumps([request.source, request.translation, f"{score:.4g}"])
        for request, score in zip(requests, scores, strict=True)
    }
    return hashlib.sha256("\n".join(sorted(lines)).encode("ascii")).hexdigest()[:8]
