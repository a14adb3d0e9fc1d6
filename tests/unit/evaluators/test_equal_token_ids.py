"""Texts that a model cannot distinguish have one score; texts that only truncation makes equal are
refused.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from cc_hf.evaluators.contests import contest_scores
from cc_hf.evaluators.families import seq2seq
from cc_hf.evaluators.lazy import LazyEvaluator, open_evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.metrics import contrastive_conditioning
from cc_hf.schema import ScoringRequest
from tests.helpers.families import BUILDERS
from tests.helpers.letter_evaluator import LetterEvaluator
from tests.helpers.metrics import compute_metric

_EN_DE: dict[str, Any] = {"src_lang": "en", "tgt_lang": "de"}
_FAMILIES = [name for name in registry.names("evaluator family") if name != "fairseq"]


class RoundingEvaluator(LetterEvaluator):
    """Its ids ignore runs of blanks, and every pair's score has a new error each time, as if it
    depended on the batch.
    """

    n_scored = 0

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        return super().encode_sources(
            [" ".join(text.split()) for text in texts], src_lang, tgt_lang
        )

    def logprobs_batch(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[npt.NDArray[np.float64]]:
        found = []
        for row in super().logprobs_batch(sources, targets):
            RoundingEvaluator.n_scored += 1
            found.append(row - 1e-9 * RoundingEvaluator.n_scored)
        return found


def rows(n: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Return translations, and references whose sides differ only in blanks."""
    references = [
        {
            "correct_sources": [f"source {i} a", f"b {i}"],
            "incorrect_sources": [f"source  {i} a", f"b  {i} "],
            "category": "all",
        }
        for i in range(n)
    ]
    return [f"translation {i}{'x' * (i % 7)}" for i in range(n)], references


@pytest.mark.parametrize("batch_tokens", [1, 100, 100_000])
def test_sources_with_equal_ids_tie(batch_tokens: int) -> None:
    result = compute_metric(
        "contrastive_conditioning",
        *rows(60),
        evaluator=RoundingEvaluator(batch_tokens=batch_tokens),
        n_resamples=1,
        **_EN_DE,
    )
    assert result["n_ties"] == 60
    assert set(result["probability_correct"]) == {0.5}


def test_translations_with_equal_ids_tie() -> None:
    references = [
        {"source": "a", "correct_translation": f"b {i}", "contrastive_translations": [f"b  {i}"]}
        for i in range(30)
    ]
    result = compute_metric(
        "contrastive_translation_scoring",
        None,
        references,
        evaluator=RoundingEvaluator(),
        n_resamples=1,
        **_EN_DE,
    )
    assert result["n_ties"] == 30


def test_equal_ids_tie_and_score_equally_in_the_faster_pass() -> None:
    evaluator = RoundingEvaluator()
    evaluator.own_fast = RoundingEvaluator(dtype="bf16")
    translations, references = rows(400)
    wanted, contests = (
        contrastive_conditioning.requests(translations, references),
        contrastive_conditioning.contests(references),
    )
    scores = contest_scores(evaluator, wanted, contests, **_EN_DE)
    assert all(
        max(scores[i] for i in left) == max(scores[i] for i in right) for left, right in contests
    )
    different = [
        {
            "correct_sources": [f"c {k} {i}"],
            "incorrect_sources": [f"d{' ' * (1 + k % 2)}{k // 2} {i}"],
            "category": "all",
        }
        for k in (0, 1)
        for i in range(400)
    ]
    for k, reference in enumerate(different):
        reference["correct_sources"] = [f"c{' ' * (1 + k // 400)}{k % 400}"]
        reference["incorrect_sources"] = [f"d{' ' * (1 + k // 400)}{k % 400}"]
    wanted, contests = (
        contrastive_conditioning.requests(["x"] * 800, different),
        contrastive_conditioning.contests(different),
    )
    scores = contest_scores(evaluator, wanted, contests, **_EN_DE)
    np.testing.assert_array_equal(scores[:800], scores[800:])


def test_texts_with_equal_ids_share_a_score_cached_by_another_run(tmp_path: Path) -> None:
    cache = ScoreCache(tmp_path / "scores.sqlite")
    texts = ["a b", "a  b", " a b"]
    evaluator = RoundingEvaluator(cache=cache)
    alone = [
        evaluator.score([ScoringRequest(text, "x", 0)], **_EN_DE).sum_logprob[0] for text in texts
    ]
    together = evaluator.score(
        [ScoringRequest(text, "x", 0) for text in [*texts, "a b  "]], **_EN_DE
    ).sum_logprob
    assert {*alone, *together} == {alone[0]}
    assert cache.info().n_scores == 4


def test_concurrent_processes_agree_on_the_score_of_equal_ids(tmp_path: Path) -> None:
    cache = ScoreCache(tmp_path / "scores.sqlite")
    ids = ((1, 2), (3, 2))
    with cache.session({"eval": "x"}) as first, cache.session({"eval": "x"}) as second:
        first.add([("a b", "c")], [(-1.0, 2, 0.5)], [ids])
        second.add(
            [("a  b", "c"), ("d", "c")], [(-1.1, 2, 0.4), (-2.0, 2, 0.1)], [ids, ((4,), (3, 2))]
        )
        assert first.find([("a b", "c"), ("a  b", "c"), ("d", "c")]) == {
            0: (-1.0, 2, 0.5),
            1: (-1.0, 2, 0.5),
            2: (-2.0, 2, 0.1),
        }
        assert second.find_equal([((9,), (9,)), ids]) == {1: (-1.0, 2, 0.5)}
    with cache.session({"eval": "y"}) as other:
        assert other.find_equal([ids]) == {}


def test_token_logprobs_of_equal_ids_are_equal() -> None:
    left, right = RoundingEvaluator().token_logprobs(["a b", "a  b"], ["x", "x"])
    np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("family", _FAMILIES)
def test_every_family_scores_equal_ids_once(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = cc_hf.load_evaluator(BUILDERS[family](tmp_path), batch_tokens=90)
    encode = evaluator.encode_sources
    monkeypatch.setattr(
        evaluator,
        "encode_sources",
        lambda texts, src_lang, tgt_lang: encode(
            [" ".join(text.split()) for text in texts], src_lang, tgt_lang
        ),
    )
    sources = [f"The{' ' * n} doctor asked{'.' * i}" for i in range(6) for n in (0, 1)]
    found = evaluator.score(
        [ScoringRequest(source, "Der Arzt bat.", 0) for source in sources], **_EN_DE
    ).sum_logprob
    np.testing.assert_array_equal(found[0::2], found[1::2])
    assert len(set(found.tolist())) == 6


@pytest.mark.parametrize("mode", ["exact", "auto", "bf16", "int8"])
def test_a_doubled_blank_ties_in_every_mode_at_any_batch_size(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seq2seq, "is_bf16_fast", lambda device: True)
    monkeypatch.setattr(seq2seq, "is_int8_faster", lambda: True)
    sources = ["The doctor asked the nurse to help.", "The doctor  asked the nurse to help."]
    translations = [
        "Die Ärztin bat.",
        "Der Arzt bat die Pflegerin, ihm zu helfen.",
        "Der Arzt fragte.",
    ]
    reference = {
        "correct_sources": sources[:1],
        "incorrect_sources": sources[1:],
        "category": "all",
    }
    for members in ("cc-tiny-en-de", ["cc-tiny-en-de", "cc-tiny-en-de"]):
        for batch_tokens in (1, 70):
            result = compute_metric(
                "contrastive_conditioning",
                translations,
                [reference] * 3,
                evaluator=members,
                mode=mode,
                batch_tokens=batch_tokens,
                n_resamples=1,
                **_EN_DE,
            )
            assert result["n_ties"] == 3


def test_a_cue_lost_by_truncation_is_refused() -> None:
    cut: dict[str, Any] = {"on_too_long": "truncate", "max_tokens": 12}
    whole = {
        "correct_sources": ["he is short", "she is x"],
        "incorrect_sources": ["they are"],
        "category": "all",
    }
    lost = {
        "correct_sources": ["a very long source he"],
        "incorrect_sources": ["b", "a very long source she"],
        "category": "all",
    }
    for evaluator in (LetterEvaluator(**cut), SlowAndFast(**cut)):
        compute_metric("contrastive_conditioning", ["x"], [whole], evaluator=evaluator, **_EN_DE)
        with pytest.raises(TooLongError, match="row 1: two texts that are compared are the same"):
            compute_metric(
                "contrastive_conditioning", ["x", "y"], [whole, lost], evaluator=evaluator, **_EN_DE
            )
        pair = {
            "source": "a",
            "correct_translation": "a long translation a",
            "contrastive_translations": ["c", "a long translation b"],
        }
        for score in ("perplexity", "logprob"):
            with pytest.raises(TooLongError, match="row 0: two texts that are compared are"):
                compute_metric(
                    "contrastive_translation_scoring",
                    None,
                    [pair],
                    evaluator=evaluator,
                    score=score,
                    **_EN_DE,
                )


def test_ids_that_are_equal_without_truncation_remain_a_tie() -> None:
    evaluator = RoundingEvaluator(on_too_long="truncate", max_tokens=12)
    references = [
        {
            "correct_sources": [f"a{' ' * n}long source that is cut"],
            "incorrect_sources": [f"a{' ' * n} long source that is cut"],
            "category": "all",
        }
        for n in (1, 2)
    ]
    assert (
        compute_metric(
            "contrastive_conditioning", ["x", "y"], references, evaluator=evaluator, **_EN_DE
        )["n_ties"]
        == 2
    )


class SlowAndFast(LetterEvaluator):
    """A letter evaluator with a faster pass."""

    @property
    def fast(self) -> Evaluator | None:
        return LetterEvaluator(
            dtype="bf16", on_too_long=self.on_too_long, max_tokens=self.max_tokens
        )


@pytest.mark.parametrize("family", ["marian", "masked_lm"])
def test_cues_and_endings_truncated_by_real_models_are_refused(family: str, tmp_path: Path) -> None:
    folder = BUILDERS[family](tmp_path)
    long = "doctor nurse " * 501
    cached = [
        open_evaluator(
            [folder, "cc-tiny-en-de"],
            LoadingOptions(on_too_long="truncate", cache=tmp_path / "scores.sqlite"),
            languages=("en", "de"),
        )
        for _ in range(2)
    ][1]
    for evaluator in (cc_hf.load_evaluator(folder, on_too_long="truncate"), cached):
        if family == "marian":
            reference = {
                "correct_sources": [f"{long} he"],
                "incorrect_sources": [f"{long} she"],
                "category": "all",
            }
            with pytest.raises(TooLongError, match="row 0: two texts that are compared are"):
                compute_metric(
                    "contrastive_conditioning", ["Ja."], [reference], evaluator=evaluator, **_EN_DE
                )
        row = {
            "source": "a",
            "correct_translation": f"{long} er",
            "contrastive_translations": [f"{long} sie"],
        }
        with pytest.raises(TooLongError, match="row 0: two texts that are compared are the same"):
            compute_metric(
                "contrastive_translation_scoring", None, [row], evaluator=evaluator, **_EN_DE
            )


def test_truncated_cues_are_refused_from_the_cache_and_in_explanations(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    folder = BUILDERS["marian"](tmp_path / "model")
    long = "doctor nurse " * 501
    reference = {
        "correct_sources": [f"{long} he"],
        "incorrect_sources": [f"{long} she"],
        "category": "all",
    }
    for n in range(2):
        evaluator = open_evaluator(
            folder,
            LoadingOptions(on_too_long="truncate", cache=tmp_path / "scores.sqlite"),
            languages=("en", "de"),
        )
        assert isinstance(evaluator, LazyEvaluator) == bool(n)
        with pytest.raises(TooLongError, match="row 0"):
            compute_metric(
                "contrastive_conditioning", ["Ja."], [reference], evaluator=evaluator, **_EN_DE
            )
    with pytest.raises(TooLongError, match="row 0: two texts that are compared are the same"):
        explain(
            evaluator, "Ja.", reference["correct_sources"], reference["incorrect_sources"], **_EN_DE
        )
