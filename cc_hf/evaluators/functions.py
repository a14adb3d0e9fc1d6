"""A function of the user as an evaluator: it scores texts and has no tokens. No torch here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from cc_hf.errors import CCError, EvaluatorError, InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.schema import ScoringRequest

__all__ = ["FunctionEvaluator", "ScoreFunction", "function_name"]

#: A function that scores translations: (sources, translations) -> one score per pair, at least 0,
#: higher is better.
ScoreFunction: TypeAlias = Callable[[Sequence[str], Sequence[str]], Sequence[float]]


class FunctionEvaluator(Evaluator):
    """A function (sources, translations) -> scores, which has its own definition of a score.

    It accepts any languages, and has neither a revision nor tokens.
    """

    def __init__(self, function: ScoreFunction) -> None:
        super().__init__(
            name=function_name(function),
            identity="",
            dtype="",
            batch_tokens=1,
            max_tokens=1,
            on_too_long="error",
        )
        self.function = function

    def signature_fields(self) -> dict[str, str]:
        """Return the name of the function, and that the score is its own."""
        return {"eval": f"function {self.name}", "score": "own"}

    def encode_sources(self, *texts: Any, **languages: Any) -> NoReturn:
        """Refuse the request, as `encode_targets` and `logprobs_batch` do."""
        raise InputError(
            f"evaluator: expected one with tokens, got the function {self.name!r}; name a model, or"
            " give one that `cc_hf.load_evaluator` returned"
        )

    encode_targets = logprobs_batch = encode_sources

    def text_scores(self, requests: Sequence[ScoringRequest]) -> npt.NDArray[np.float64]:
        """Return what the function returns, checked: (n,) float64 in the order of the requests.

        Raises:
            EvaluatorError: when the function fails, returns too few or too many scores, or one that
                is NaN, infinite or negative.
            CCError: an error of this package that the function raised, unchanged.
        """
        what, name = "the evaluator function", f"(function {self.name!r})"
        rows = f"rows {requests[0].row} to {requests[-1].row}" if requests else "no rows"
        try:
            returned = self.function(
                [r.source for r in requests], [r.translation for r in requests]
            )
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
                f"{what} returned scores of shape {scores.shape} for {len(requests)} pairs;"
                f" expected one number per pair {name}"
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
    """Return values as an array of float64."""
    if (kind := np.asarray(values).dtype.kind) not in "biufO":
        raise TypeError(f"got values of numpy's kind {kind!r}")
    return np.asarray(values, dtype=np.float64)


def function_name(function: ScoreFunction) -> str:
    """Return the name of a function for signatures and messages.

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
