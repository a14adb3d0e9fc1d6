"""The faster pass never decides differently from the exact one, and close decisions are scored
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import Contest, contest_scores
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.evaluators.scores import SCORES
from cc_hf.schema import ScoringRequest
from tests.helpers.fake_evaluator import hash_score
from tests.helpers.letter_evaluator import Ids, LetterEvaluator, Logprobs
from tests.helpers.pairs import EN_DE


class NoisyEvaluator(LetterEvaluator):
    """An evaluator in mode "auto" whose faster pass errs by up to `noise` in every log-probability;
    it counts the pairs that it scored.
    """

    def __init__(self, noise: float, *, is_fast: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.noise, self.is_fast, self.n_scored = noise, is_fast, 0
        self.options = options
        self.mode = "exact" if is_fast else "auto"

    @cached_property
    def fast(self) -> NoisyEvaluator | None:
        options = {**self.options, "dtype": "bf16"}
        return None if self.is_fast else NoisyEvaluator(self.noise, is_fast=True, **options)

    def logprobs_batch(self, sources: Ids, targets: Ids) -> Logprobs:
        self.n_scored += len(sources)
        noise = self.noise if self.is_fast else 0.0
        rows = zip(super().logprobs_batch(sources, targets), sources, targets, strict=True)
        return [row + noise * (2 * hash_score(f"noise{s}", str(t)) - 1) for row, s, t in rows]


def problem(n: int, *, n_sources: int = 3) -> tuple[list[ScoringRequest], list[Contest]]:
    numbers = [(i, k) for i in range(n) for k in range(n_sources)]
    requests = [ScoringRequest(f"source {i} {k}", f"translation {i}", i) for i, k in numbers]
    starts = range(0, len(requests), n_sources)
    return requests, [(range(at, at + 1), range(at + 1, at + n_sources)) for at in starts]


def both(evaluator: Any, requests: list[ScoringRequest], score: str = "geometric") -> Logprobs:
    """Return the scores of the faster pass, and the exact ones."""
    return [SCORES[score](one.score(requests, **EN_DE)) for one in [evaluator.fast, evaluator]]


def verdicts(scores: npt.NDArray[np.float64], contests: Sequence[Contest]) -> list[bool]:
    return [max(scores[[*left]]) >= max(scores[[*right]]) for left, right in contests]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(("noise", "n_sources"), [(0.0, 3), (1e-3, 3), (0.1, 3), (0.1, 8)])
def test_verdicts_equal_those_of_exact_scores(noise: float, n_sources: int, score: str) -> None:
    evaluator = NoisyEvaluator(noise)
    requests, contests = problem(1500, n_sources=n_sources)
    rough, exact = both(evaluator, requests, score)
    found = contest_scores(evaluator, requests, contests, score=score, **EN_DE)
    assert verdicts(found, contests) == verdicts(exact, contests)
    np.testing.assert_allclose(np.log(found), np.log(exact), atol=noise + 1e-12)
    if noise == 0.1:  # fast scores alone would give other verdicts
        assert verdicts(rough, contests) != verdicts(exact, contests)


def test_only_close_decisions_are_scored_again() -> None:
    evaluator = NoisyEvaluator(1e-4)
    requests, contests = problem(2000)
    contest_scores(evaluator, requests, contests, **EN_DE)
    assert evaluator.fast is not None
    assert evaluator.fast.n_scored == len(requests)
    assert 3 * 48 <= evaluator.n_scored <= 3 * 120


@pytest.mark.parametrize(("n", "has_contests"), [(40, True), (200, False)])
def test_few_decisions_and_none_are_all_scored_exactly(n: int, has_contests: bool) -> None:
    evaluator = NoisyEvaluator(0.1)
    requests, contests = problem(n)
    found = contest_scores(evaluator, requests, contests if has_contests else [], **EN_DE)
    np.testing.assert_array_equal(found, both(evaluator, requests)[1])


def test_requests_far_below_the_best_of_their_side_are_not_scored_again() -> None:
    n, n_sources, noise = 1500, 6, 0.03
    evaluator = NoisyEvaluator(noise)
    requests, contests = problem(n, n_sources=n_sources)
    found = contest_scores(evaluator, requests, contests, **EN_DE)
    rough, exact = both(evaluator, requests)
    again = found != rough
    np.testing.assert_array_equal(found[again], exact[again])
    n_again = int(again.reshape(n, n_sources).any(axis=1).sum())
    assert n_again > 200
    assert again.sum() < 0.75 * n_sources * n_again
    # No request that was left out is better than the best of its side.
    for side in (side for contest in contests for side in contest):
        best = max(side, key=lambda i: exact[i])
        assert again[best] or not again[list(side)].any()


def test_a_contest_with_a_score_of_0_is_scored_again(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator, (requests, contests) = NoisyEvaluator(1e-4), problem(1500)
    assert evaluator.fast is not None
    vanishing, rough = [*map(ord, requests[21].source), 0], evaluator.fast.logprobs_batch

    def vanished(sources: Ids, targets: Ids) -> Logprobs:
        found = rough(sources, targets)
        return [row - 1000 * (s == vanishing) for row, s in zip(found, sources, strict=True)]

    monkeypatch.setattr(evaluator.fast, "logprobs_batch", vanished)
    found = contest_scores(evaluator, requests, contests, **EN_DE)
    assert found[21] == both(evaluator, requests)[1][21]


def test_fast_and_exact_scores_are_cached_separately(tmp_path: Any) -> None:
    cache = ScoreCache(tmp_path / "scores.sqlite")
    requests, contests = problem(300)
    found = contest_scores(NoisyEvaluator(0.1, cache=cache), requests, contests, **EN_DE)
    second = NoisyEvaluator(0.1, cache=cache)
    np.testing.assert_array_equal(contest_scores(second, requests, contests, **EN_DE), found)
    assert second.n_scored == 0
    assert second.fast is not None
    assert second.fast.n_scored == 0
    assert {row.fields["dtype"] for row in cache.info().identities} == {"float32", "bf16"}


def test_the_signature_names_both_precisions() -> None:
    evaluator: Evaluator = NoisyEvaluator(0.1)
    assert evaluator.signature_fields()["dtype"] == "bf16/float32"
    assert evaluator.cache_identity()["dtype"] == "float32"
