"""The faster pass never decides differently from the exact one, and close decisions are scored
again. Texts that a model cannot distinguish have one score; texts that only truncation makes equal
are refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.comparing.explanation import explain
from cc_hf.errors import TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import Contest, pair_scores
from cc_hf.evaluators.lazy import LazyEvaluator, open_evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.evaluators.scores import SCORES
from cc_hf.metrics import contrastive_conditioning
from cc_hf.schema import ScoringRequest
from tests.helpers.families import BUILDERS
from tests.helpers.letter_evaluator import Ids, LetterEvaluator, Logprobs
from tests.helpers.usual import EN_DE, compute_metric, fails, hash_score


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
    def fast(self) -> Any:
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
    return requests, [
        (range(start, start + 1), range(start + 1, start + n_sources)) for start in starts
    ]


def both(evaluator: Any, requests: list[ScoringRequest]) -> Logprobs:
    """Return the scores of the faster pass, and the exact ones."""
    score = SCORES["geometric"]
    return [score(scorer.score(requests, **EN_DE)) for scorer in [evaluator.fast, evaluator]]


def verdicts(
    scores: npt.NDArray[np.float64], contests: Sequence[Contest], threshold: float = 0.0
) -> list[bool | None]:
    """Return whether the left side wins; None below the threshold."""
    best = [[max(scores[[*side]]) for side in contest] for contest in contests]
    return [
        None if abs(np.log(left / right)) < threshold else bool(left >= right)
        for left, right in best
    ]


@pytest.mark.parametrize("threshold", [0.0, 0.05])
@pytest.mark.parametrize(("noise", "n_sources"), [(0.0, 3), (1e-3, 3), (0.1, 3), (0.1, 8)])
def test_verdicts_equal_those_of_exact_scores(
    noise: float, n_sources: int, threshold: float
) -> None:
    evaluator = NoisyEvaluator(noise)
    requests, contests = problem(1000, n_sources=n_sources)
    tokens = [scorer.score(requests, **EN_DE) for scorer in (evaluator.fast, evaluator)]
    for score, value in SCORES.items():
        rough, exact = map(value, tokens)
        options: Any = {"score": score, "threshold": threshold}
        scores = pair_scores(requests, evaluator, contests, **options, **EN_DE)
        of_exact = verdicts(exact, contests, threshold)
        assert (score, verdicts(scores, contests, threshold)) == (score, of_exact)
        np.testing.assert_allclose(np.log(scores), np.log(exact), atol=noise + 1e-12)
        if noise == 0.1:  # fast scores alone would give other verdicts
            assert verdicts(rough, contests) != verdicts(exact, contests)


def test_only_close_decisions_are_scored_again() -> None:
    evaluator = NoisyEvaluator(1e-4)
    requests, contests = problem(2000)
    pair_scores(requests, evaluator, contests, **EN_DE)
    assert evaluator.fast.n_scored == len(requests)
    assert 3 * 48 <= evaluator.n_scored <= 3 * 120


@pytest.mark.parametrize(("n", "has_contests"), [(40, True), (200, False)])
def test_few_decisions_and_none_are_all_scored_exactly(n: int, has_contests: bool) -> None:
    evaluator = NoisyEvaluator(0.1)
    requests, contests = problem(n)
    scores = pair_scores(requests, evaluator, contests if has_contests else [], **EN_DE)
    np.testing.assert_array_equal(scores, both(evaluator, requests)[1])


def test_requests_far_below_the_best_of_their_side_are_not_scored_again() -> None:
    n, n_sources, noise = 1500, 6, 0.03
    evaluator = NoisyEvaluator(noise)
    requests, contests = problem(n, n_sources=n_sources)
    scores = pair_scores(requests, evaluator, contests, **EN_DE)
    rough, exact = both(evaluator, requests)
    again = scores != rough
    np.testing.assert_array_equal(scores[again], exact[again])
    n_again = int(again.reshape(n, n_sources).any(axis=1).sum())
    assert n_again > 200
    assert again.sum() < 0.75 * n_sources * n_again
    # No request that was left out is better than the best of its side.
    for side in (side for contest in contests for side in contest):
        assert again[max(side, key=lambda i: exact[i])] or not again[list(side)].any()


def test_a_contest_with_a_score_of_0_is_scored_again(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator, (requests, contests) = NoisyEvaluator(1e-4), problem(1500)
    vanishing, rough = [*map(ord, requests[21].source), 0], evaluator.fast.logprobs_batch

    def vanished(sources: Ids, targets: Ids) -> Logprobs:
        actual = rough(sources, targets)
        return [row - 1000 * (s == vanishing) for row, s in zip(actual, sources, strict=True)]

    monkeypatch.setattr(evaluator.fast, "logprobs_batch", vanished)
    actual = pair_scores(requests, evaluator, contests, **EN_DE)
    assert actual[21] == both(evaluator, requests)[1][21]


def test_fast_and_exact_scores_are_cached_separately(tmp_path: Any) -> None:
    cache = ScoreCache(tmp_path / "scores.sqlite")
    requests, contests = problem(300)
    scores = pair_scores(requests, NoisyEvaluator(0.1, cache=cache), contests, **EN_DE)
    second = NoisyEvaluator(0.1, cache=cache)
    np.testing.assert_array_equal(pair_scores(requests, second, contests, **EN_DE), scores)
    assert (second.n_scored, second.fast.n_scored) == (0, 0)
    assert {row.fields["dtype"] for row in cache.info().identities} == {"float32", "bf16"}
    assert second.signature_fields()["dtype"] == "bf16/float32"


_FAMILIES = [name for name in registry.names("evaluator family") if name != "fairseq"]


class RoundingEvaluator(LetterEvaluator):
    """Its ids ignore runs of blanks, and every pair's score has a new error each time, as if it
    depended on the batch.
    """

    numbers = itertools.count(1)

    def encode_sources(self, texts: Sequence[str], *languages: str) -> list[list[int]]:
        return super().encode_sources([" ".join(text.split()) for text in texts], *languages)

    def logprobs_batch(self, *sides: Any) -> Logprobs:
        return [row - 1e-9 * next(self.numbers) for row in super().logprobs_batch(*sides)]


def reference(correct: str, *incorrect: str) -> dict[str, Any]:
    return {"correct_sources": [correct], "incorrect_sources": [*incorrect], "category": "all"}


def pair(correct: str, *others: str) -> dict[str, Any]:
    return {"source": "a", "correct_translation": correct, "contrastive_translations": [*others]}


def conditioned(translations: Any, references: Any, evaluator: Any, **options: Any) -> Any:
    name = "contrastive_conditioning" if translations else "contrastive_translation_scoring"
    given = {"evaluator": evaluator, "n_resamples": 1, **EN_DE, **options}
    return compute_metric(name, translations, references, **given)


scored = partial(conditioned, None)


def rows(n: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Return translations, and references whose sides differ only in blanks."""
    references = [reference("", f"source  {i} a", f"b  {i} ") for i in range(n)]
    for i, row in enumerate(references):
        row["correct_sources"] = [f"source {i} a", f"b {i}"]
    return [f"translation {i}{'x' * (i % 7)}" for i in range(n)], references


@pytest.mark.parametrize("batch_tokens", [1, 100, 100_000])
def test_texts_with_equal_ids_tie(batch_tokens: int) -> None:
    evaluator = RoundingEvaluator(batch_tokens=batch_tokens)
    result = conditioned(*rows(60), evaluator)
    assert (result["n_ties"], set(result["probability_correct"])) == (60, {0.5})
    assert scored([pair(f"b {i}", f"b  {i}") for i in range(30)], evaluator)["n_ties"] == 30
    left, right = evaluator.token_logprobs(["a b", "a  b"], ["x", "x"])
    np.testing.assert_array_equal(left, right)


def test_equal_ids_tie_and_score_equally_in_the_faster_pass() -> None:
    evaluator = RoundingEvaluator()
    evaluator.own_fast = RoundingEvaluator(dtype="bf16")
    translations, references = rows(400)
    contests = contrastive_conditioning.contests(references)
    wanted = contrastive_conditioning.requests(translations, references)
    scores = pair_scores(wanted, evaluator, contests, **EN_DE)
    for left, right in contests:
        assert max(scores[i] for i in left) == max(scores[i] for i in right)
    texts = [f"{blanks}{i}" for blanks in (" ", "  ") for i in range(400)]
    different = [reference(f"c{text}", f"d{text}") for text in texts]
    contests = contrastive_conditioning.contests(different)
    wanted = contrastive_conditioning.requests(["x"] * 800, different)
    scores = pair_scores(wanted, evaluator, contests, **EN_DE)
    np.testing.assert_array_equal(scores[:800], scores[800:])


def test_texts_with_equal_ids_share_a_score_cached_by_another_run(tmp_path: Path) -> None:
    cache = ScoreCache(tmp_path / "scores.sqlite")
    requests = [ScoringRequest(text, "x", 0) for text in ("a b", "a  b", " a b", "a b  ")]
    evaluator = RoundingEvaluator(cache=cache)
    alone = [evaluator.score([request], **EN_DE).sum_logprob[0] for request in requests[:3]]
    assert {*alone, *evaluator.score(requests, **EN_DE).sum_logprob} == {alone[0]}
    assert cache.info().n_scores == 4


def test_concurrent_processes_agree_on_the_score_of_equal_ids(tmp_path: Path) -> None:
    cache = ScoreCache(tmp_path / "scores.sqlite")
    ids = ((1, 2), (3, 2))
    with cache.session({"eval": "x"}) as first, cache.session({"eval": "x"}) as second:
        first.add([("a b", "c")], [(-1.0, 2, 0.5)], [ids])
        second.add(
            [("a  b", "c"), ("d", "c")], [(-1.1, 2, 0.4), (-2.0, 2, 0.1)], [ids, ((4,), (3, 2))]
        )
        actual = first.find([("a b", "c"), ("a  b", "c"), ("d", "c")])
        assert actual == {0: (-1.0, 2, 0.5), 1: (-1.0, 2, 0.5), 2: (-2.0, 2, 0.1)}
        assert second.find_equal([((9,), (9,)), ids]) == {1: (-1.0, 2, 0.5)}
    with cache.session({"eval": "y"}) as other:
        assert other.find_equal([ids]) == {}


@pytest.mark.parametrize("family", _FAMILIES)
def test_every_family_scores_equal_ids_once(family: str, tmp_path: Path) -> None:
    evaluator: Any = cc_hf.load_evaluator(BUILDERS[family](tmp_path), batch_tokens=90)
    encode = evaluator.encode_sources
    evaluator.encode_sources = lambda texts, *languages: encode(
        [" ".join(text.split()) for text in texts], *languages
    )
    sources = [f"The{' ' * n} doctor asked{'.' * i}" for i in range(6) for n in (0, 1)]
    requests = [ScoringRequest(source, "Der Arzt bat.", 0) for source in sources]
    scores = evaluator.score(requests, **EN_DE).sum_logprob
    np.testing.assert_array_equal(scores[0::2], scores[1::2])
    assert len(set(scores.tolist())) == 6


@pytest.mark.parametrize("mode", ["exact", "auto", "bf16", "int8"])
def test_a_doubled_blank_ties_at_any_batch_size(mode: str, with_bf16: None) -> None:
    row = reference("The doctor asked her to help.", "The doctor  asked her to help.")
    texts = ["Die Ärztin bat.", "Der Arzt bat die Pflegerin, ihm zu helfen.", "Der Arzt fragte."]
    for members in ("cc-tiny-en-de", ["cc-tiny-en-de", "cc-tiny-en-de"]):
        for batch_tokens in (1, 70):
            actual = conditioned(texts, [row] * 3, members, mode=mode, batch_tokens=batch_tokens)
            assert actual["n_ties"] == 3


_SAME = "row {}: two texts that are compared are the same"


def test_a_cue_lost_by_truncation_is_refused() -> None:
    cut: dict[str, Any] = {"on_too_long": "truncate", "max_tokens": 12}
    whole = reference("he is short", "they are", "she is x")
    lost = reference("a very long source he", "b", "a very long source she")
    slow_and_fast = LetterEvaluator(**cut)
    slow_and_fast.own_fast = LetterEvaluator(dtype="bf16", **cut)
    for evaluator in (LetterEvaluator(**cut), slow_and_fast):
        conditioned(["x"], [whole], evaluator)
        fails(TooLongError, _SAME.format(1), conditioned, ["x", "y"], [whole, lost], evaluator)
        for score in ("perplexity", "logprob"):
            row = pair("a long translation a", "c", "a long translation b")
            fails(TooLongError, _SAME.format(0), scored, [row], evaluator, score=score)

    evaluator = RoundingEvaluator(**cut)  # in which ids are equal without truncation
    references = [
        reference(*(f"a{' ' * n} source that is cut" for n in (k, k + 1))) for k in (1, 2)
    ]
    assert conditioned(["x", "y"], references, evaluator)["n_ties"] == 2


def truncating(name: Any, tmp_path: Path) -> Evaluator:
    options = LoadingOptions(on_too_long="truncate", cache=tmp_path / "scores.sqlite")
    return open_evaluator(name, options, languages=("en", "de"))


_LONG = "doctor nurse " * 501


@pytest.mark.parametrize("family", ["marian", "masked_lm"])
def test_cues_and_endings_truncated_by_real_models_are_refused(family: str, tmp_path: Path) -> None:
    folder = BUILDERS[family](tmp_path)
    cached = [truncating([folder, "cc-tiny-en-de"], tmp_path) for _ in range(2)][1]
    cues, endings = reference(f"{_LONG} he", f"{_LONG} she"), pair(f"{_LONG} er", f"{_LONG} sie")
    for evaluator in (cc_hf.load_evaluator(folder, on_too_long="truncate"), cached):
        if family == "marian":
            fails(TooLongError, _SAME.format(0), conditioned, ["Ja."], [cues], evaluator)
        fails(TooLongError, _SAME.format(0), scored, [endings], evaluator)


def test_truncated_cues_are_refused_from_the_cache_and_in_explanations(tmp_path: Path) -> None:
    folder = BUILDERS["marian"](tmp_path / "model")
    sides, message = (f"{_LONG} he", f"{_LONG} she"), _SAME.format(0)
    for n in range(2):
        evaluator = truncating(folder, tmp_path)
        assert isinstance(evaluator, LazyEvaluator) == bool(n)
        fails(TooLongError, "row 0", conditioned, ["Ja."], [reference(*sides)], evaluator)
    fails(TooLongError, message, explain, evaluator, "Ja.", *([side] for side in sides), **EN_DE)
