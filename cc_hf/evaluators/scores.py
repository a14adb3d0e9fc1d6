"""What teacher forcing keeps of each pair, and the definitions of a score. No torch here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, shown
from cc_hf.evaluators.score_cache import ScoreRow

__all__ = ["LOG_SCORES", "SCORES", "TokenScores", "check_score_name"]


@dataclass(frozen=True)
class TokenScores:
    """What teacher forcing keeps of each request; every score definition is a function of it.

    Attributes:
        sum_logprob: (n,) float64, sum of natural-log probabilities of the target tokens, EOS
            included.
        n_tokens: (n,) int64, number of target tokens, EOS included.
        mean_probability: (n,) float64, arithmetic mean of the token probabilities, in [0, 1].
    """

    sum_logprob: npt.NDArray[np.float64]
    n_tokens: npt.NDArray[np.int64]
    mean_probability: npt.NDArray[np.float64]

    @property
    def mean_logprob(self) -> npt.NDArray[np.float64]:
        """(n,) mean natural-log probability per target token."""
        return self.sum_logprob / self.n_tokens

    @classmethod
    def of(cls, logprobs: Sequence[npt.NDArray[np.float64]]) -> TokenScores:
        """From the natural-log probabilities of every token, one array per request.

        >>> TokenScores.of([np.log([0.5, 0.25]), np.log([1.0])]).mean_probability.tolist()
        [0.375, 1.0]
        """
        with np.errstate(all="ignore"):  # what is not finite is refused by `Evaluator.check_scores`
            return cls(
                np.array([row.sum() for row in logprobs], dtype=np.float64),
                np.array([len(row) for row in logprobs], dtype=np.int64),
                np.array(
                    [np.exp(row).mean() if len(row) else np.nan for row in logprobs],
                    dtype=np.float64,
                ),
            )

    @classmethod
    def of_rows(cls, rows: Sequence[ScoreRow]) -> TokenScores:
        """From one row per request, as the cache keeps them; at least one.

        >>> TokenScores.of_rows([(-2.0, 4, 0.5), (-1.0, 1, 0.25)]).mean_logprob.tolist()
        [-0.5, -1.0]
        """
        sums, counts, means = zip(*rows, strict=True)
        return cls(
            np.array(sums, dtype=np.float64),
            np.array(counts, dtype=np.int64),
            np.array(means, dtype=np.float64),
        )

    def __getitem__(self, index: npt.NDArray[np.int64]) -> TokenScores:
        return TokenScores(
            self.sum_logprob[index], self.n_tokens[index], self.mean_probability[index]
        )


#: Score of one pair by name (spec of Vamvas & Sennrich 2021 and its program):
#: arithmetic, the mean token probability of the paper's footnote 2; geometric, exp of the mean
#: log-probability, the default; reference, 2 ** mean natural-log probability, which the paper's
#: program computes.
SCORES: dict[str, Callable[[TokenScores], npt.NDArray[np.float64]]] = {
    "arithmetic": lambda found: found.mean_probability,
    "geometric": lambda found: np.exp(found.mean_logprob),
    "reference": lambda found: np.exp2(found.mean_logprob),
}


#: Scores that are logarithms already, and so not in [0, 1]: logprob, of the whole translation, not
#: normalised by its length (Sennrich 2017).
LOG_SCORES: dict[str, Callable[[TokenScores], npt.NDArray[np.float64]]] = {
    "logprob": lambda found: found.sum_logprob
}


def check_score_name(score: object, known: Collection[str]) -> None:
    """Refuse a definition of scores that is not known, or no name at all.

    Raises:
        InputError: with those that are known.
    """
    if not isinstance(score, str) or score not in known:
        raise InputError(f"score: expected one of {', '.join(known)}, got {shown(score)}")
