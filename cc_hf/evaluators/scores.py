"""Sums over the tokens of each pair, and the definitions of a score. No torch here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.evaluators.cache_session import ScoreRow

__all__ = ["LOG_SCORES", "SCORES", "TokenScores"]


@dataclass(frozen=True)
class TokenScores:
    """Sums over the target tokens of each request; every score definition is a function of them.

    Attributes:
        sum_logprob: (n,) float64, sum of the natural-log probabilities of the target tokens, EOS
            included.
        n_tokens: (n,) int64, number of target tokens, EOS included.
        mean_probability: (n,) float64, arithmetic mean of the token probabilities, in [0, 1].
    """

    sum_logprob: npt.NDArray[np.float64]
    n_tokens: npt.NDArray[np.int64]
    mean_probability: npt.NDArray[np.float64]

    @property
    def mean_logprob(self) -> npt.NDArray[np.float64]:
        """The mean natural-log probability per target token, (n,) float64."""
        return self.sum_logprob / self.n_tokens

    @classmethod
    def of(cls, logprobs: Sequence[npt.NDArray[np.float64]]) -> TokenScores:
        """Sum up the natural log-probabilities of single tokens; NaN for a request without tokens.

        Examples:
            >>> TokenScores.of([np.log([0.5, 0.25]), np.log([1.0])]).mean_probability.tolist()
            [0.375, 1.0]
        """
        with np.errstate(all="ignore"):  # `Evaluator.check_scores` refuses what is not finite
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
        """Collect rows as the cache stores them: (sum_logprob, n_tokens, mean_probability)."""
        sums, counts, means = zip(*rows, strict=True)
        return cls(
            np.array(sums, dtype=np.float64),
            np.array(counts, dtype=np.int64),
            np.array(means, dtype=np.float64),
        )

    def rows(self) -> list[ScoreRow]:
        """Return (sum_logprob, n_tokens, mean_probability) of each request."""
        columns = self.sum_logprob, self.n_tokens, self.mean_probability
        return list(zip(*(values.tolist() for values in columns), strict=True))

    def __getitem__(self, index: npt.NDArray[np.int64]) -> TokenScores:
        return TokenScores(
            self.sum_logprob[index], self.n_tokens[index], self.mean_probability[index]
        )


#: Definitions of the score of a pair by name, after Vamvas & Sennrich 2021: "arithmetic" is the
#: mean token probability of the paper's footnote 2; "geometric", the default, is exp of the mean
#: log-probability; "reference" is 2 ** mean natural-log probability, which the paper's program
#: computes.
SCORES: dict[str, Callable[[TokenScores], npt.NDArray[np.float64]]] = {
    "arithmetic": lambda sums: sums.mean_probability,
    "geometric": lambda sums: np.exp(sums.mean_logprob),
    "reference": lambda sums: np.exp2(sums.mean_logprob),
}


#: Definitions of scores that are logarithms, and so not in [0, 1]: "logprob" is the log-probability
#: of the whole translation, not normalised by its length (Sennrich 2017).
LOG_SCORES: dict[str, Callable[[TokenScores], npt.NDArray[np.float64]]] = {
    "logprob": lambda sums: sums.sum_logprob
}
