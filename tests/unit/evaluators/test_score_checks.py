"""Scores that no intact model gives are refused for every family, mode and entry point, and so are
weights that are NaN or infinite.
"""

import contextlib
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from cc_hf import registry
from cc_hf.comparing.explanation import explain
from cc_hf.errors import CacheWarning, EvaluatorError
from cc_hf.evaluators.contests import pair_scores
from cc_hf.evaluators.ensemble import EnsembleEvaluator, SentenceEnsembleEvaluator
from cc_hf.evaluators.lazy import open_evaluator
from cc_hf.evaluators.loading import evaluator_of, load_evaluator
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.evaluators.scores import TokenScores
from cc_hf.models.finite_weights import check_finite_weights
from cc_hf.models.pretrained import load_model
from cc_hf.schema import ScoringRequest
from cc_hf.systems.translate import translate
from tests.helpers.families import BUILDERS
from tests.helpers.letter_evaluator import BrokenEvaluator, LetterEvaluator
from tests.helpers.models import save_tiny_marian, save_tiny_masked_lm
from tests.helpers.pairs import EN_DE, GENDER
from tests.helpers.usual import cases, compute_metric, fails

_SOURCES = ("The [female] doctor left.", "The [male] doctor left.")
_TRANSLATION = "Die Ärztin ging."

_SHORT = {**GENDER, "correct_sources": ["a"], "incorrect_sources": ["b"]}
_NAN = float("nan")
# which has no tokenizer of its own making here
_FAMILIES = [name for name in registry.names("evaluator family") if name != "fairseq"]


def spoil(model: Any) -> str:
    """Put NaN into one layer's weights, before a ReLU if there is one, and return their name."""
    weights = [(name, weight) for name, weight in model.named_parameters() if weight.ndim == 2]
    name, weight = next(((n, w) for n, w in weights if "fc1" in n), weights[len(weights) // 2])
    weight.data[:] = _NAN
    return str(name)


def conditioned(evaluator: Any, reference: Any = GENDER, **options: Any) -> Any:
    options = {"evaluator": evaluator, **EN_DE, **options}
    return compute_metric("contrastive_conditioning", [_TRANSLATION], [reference], **options)


refused = partial(fails, EvaluatorError)
_REQUEST = [ScoringRequest("a source", "eine", 0)]


@pytest.mark.parametrize("logprob", [float("nan"), float("-inf"), float("inf"), 0.7])
def test_every_scoring_method_refuses_invalid_scores(logprob: float) -> None:
    evaluator = BrokenEvaluator(logprob)
    both = SentenceEnsembleEvaluator([LetterEvaluator(), evaluator])
    message = "row 0: letters@1 gave .* used .*Source: 'a source', translation: 'eine'"
    refused(message, evaluator.score, _REQUEST, **EN_DE)
    refused(message, pair_scores, _REQUEST, evaluator, [], **EN_DE)
    for score in (evaluator.mean_logprobs, evaluator.token_logprobs, both.mean_logprobs):
        refused(message, score, ["a source"], ["eine"])
    alike = EnsembleEvaluator([evaluator, evaluator]).mean_logprobs
    refused(r"row 0: letters\+letters@1\+1 gave a score", alike, ["a source"], ["eine"])
    refused(
        r"row 0: letters@1 gave .*Source: '\[97, 0\]'", evaluator.id_logprobs, [[97, 0]], [[98, 0]]
    )


def test_both_contrastive_metrics_refuse_invalid_scores() -> None:
    evaluator = BrokenEvaluator(_NAN, max_tokens=100)
    row = {"source": "a", "correct_translation": "x", "contrastive_translations": ["y"]}
    given: Any = ("contrastive_translation_scoring", None, [row])
    refused("row 0: letters@1", conditioned, evaluator, _SHORT)
    refused("row 0: letters@1", compute_metric, *given, evaluator=evaluator, **EN_DE)


def test_logprobs_rounded_above_zero_pass_only_in_low_precision() -> None:
    for evaluator in (BrokenEvaluator(1e-6), BrokenEvaluator(0.1, dtype="bf16")):
        assert evaluator.score(_REQUEST, **EN_DE).mean_logprob[0] > 0
    refused("cannot be used", BrokenEvaluator(0.1).score, _REQUEST, **EN_DE)


def test_a_translation_without_tokens_is_refused() -> None:
    scores = TokenScores(np.array([0.0]), np.array([0]), np.array([1.0]))
    refused("0 tokens", LetterEvaluator().check_scores, scores, _REQUEST)


def test_invalid_scores_are_not_cached(tmp_path: Path) -> None:
    cache = ScoreCache(tmp_path / "scores.sqlite")
    refused("row 0", BrokenEvaluator(float("-inf"), cache=cache).score, _REQUEST, **EN_DE)
    assert cache.info().n_scores == 0


@cases((-np.inf, 3, 0.5), (-1.0, 0, 0.5), (-1.0, 3, 1.5), (-1.0, -2, 0.5), (0.5, 3, 0.5))
def test_invalid_scores_are_recomputed(total: float, n: int, mean: float, tmp_path: Path) -> None:
    path = tmp_path / "scores.sqlite"
    requests = [ScoringRequest(source, _TRANSLATION, i) for i, source in enumerate(_SOURCES)]
    sound = load_evaluator("cc-tiny-en-de", mode="exact").score(requests, **EN_DE)
    for _ in range(2):  # first the evaluator itself, then a remembered one
        options = LoadingOptions(cache=path, mode="exact")
        opened = open_evaluator("cc-tiny-en-de", options, languages=("en", "de"))
        opened.score(requests, **EN_DE)
        update = "UPDATE scores SET sum_logprob = ?, n_tokens = ?, mean_probability = ?"
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(update, (total, n, mean))
        with pytest.warns(CacheWarning, match="computed again"):
            actual = opened.score(requests, **EN_DE)
        assert np.array_equal(actual.sum_logprob, sound.sum_logprob)
    assert type(opened).__name__ == "LazyEvaluator"


@pytest.mark.parametrize("score", ["geometric", "arithmetic", "reference"])
def test_scores_that_underflow_on_both_sides_are_refused(score: str) -> None:
    message = "row 0: .*all scores are 0 in floating point"
    refused(message, conditioned, BrokenEvaluator(-1100.0), _SHORT, score=score)


@cases(*((family, _NAN) for family in _FAMILIES), ("marian", float("inf")), ("marian", 3e38))
def test_invalid_weights_are_refused_at_load(family: str, value: float, tmp_path: Path) -> None:
    path = BUILDERS[family](tmp_path) / "model.safetensors"
    weights = load_file(path)
    name = next(key for key in sorted(weights) if "weight" in key and ".0." in key)
    weights[name].view(-1)[1] = value
    save_file(weights, path, metadata={"format": "pt"})
    refused(f"the weight .*{name}.* is NaN, infinite or larger", load_evaluator, tmp_path)


def test_all_modes_refuse_invalid_weights(tmp_path: Path, with_bf16: None) -> None:
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(save_tiny_marian(tmp_path))
    name = spoil(model)
    model.save_pretrained(tmp_path)
    for way in (
        *(partial(conditioned, tmp_path, mode=m) for m in ("exact", "auto", "bf16", "int8")),
        partial(translate, ["The doctor."], tmp_path),
        partial(load_evaluator, [tmp_path, "cc-tiny-en-de"]),
    ):
        refused(f"the weight {name}", way)


def test_a_masked_lm_with_invalid_weights_is_refused(tmp_path: Path) -> None:
    from cc_hf.plugins.calibration.fill_mask import load_masked_lm

    masked = load_masked_lm(save_tiny_masked_lm(tmp_path))
    spoil(masked.model)
    actual = masked.word_logprobs(masked.mask(["The doctor left."], [4]))
    refused("probabilities that are not numbers", list, actual)
    masked.model.save_pretrained(tmp_path)
    refused("the weight .* is NaN", load_masked_lm, tmp_path)


@pytest.mark.parametrize("mode", ["exact", "bf16", "int8"])
@pytest.mark.parametrize("family", ["m2m_100", "fsmt", "marian", "mbart"])
@pytest.mark.usefixtures("with_bf16")
def test_weights_spoilt_in_memory_are_refused(family: str, mode: str, tmp_path: Path) -> None:
    evaluator: Any = load_evaluator(BUILDERS[family](tmp_path), **EN_DE).with_mode(mode)
    spoil(evaluator.model)
    refused("the weight .*fc1.* is NaN", evaluator.mean_logprobs, [_SOURCES[0]], [_TRANSLATION])


def in_training(folder: Path, family: str = "marian") -> Any:
    loaded = load_model(BUILDERS[family](folder), kind=family)
    return evaluator_of(loaded.model, loaded.tokenizer)


@pytest.mark.parametrize("family", ["marian", "t5"])
def test_a_model_in_training_that_diverged_is_refused(family: str, tmp_path: Path) -> None:
    evaluator = in_training(tmp_path, family)
    scoring = partial(evaluator.mean_logprobs, [_SOURCES[0]], [_TRANSLATION], **EN_DE)
    scoring()
    spoil(evaluator.model)
    weight = "the model: the weight .* is NaN"
    score = "row 0: the model@in memory gave a score that cannot be used"
    message = weight if family == "marian" else score
    refused(message, scoring)
    refused(weight, evaluator_of, evaluator.model, evaluator.tokenizer)
    refused(message, explain, evaluator, _TRANSLATION, [_SOURCES[0]], [_SOURCES[1]], **EN_DE)


@pytest.mark.parametrize("ask", ["mean_logprobs", "token_logprobs"])
def test_a_model_in_training_is_scored_with_its_current_weights(ask: str, tmp_path: Path) -> None:
    def asked(evaluator: Any) -> Any:
        return getattr(evaluator, ask)([_SOURCES[0]], [_TRANSLATION])[0]

    evaluator = in_training(tmp_path)
    before = asked(evaluator)
    with torch.no_grad():
        for weight in evaluator.model.parameters():
            weight.add_(0.01)
    after = asked(evaluator)
    assert np.abs(after - before).max() > 1e-4
    np.testing.assert_array_equal(after, asked(evaluator_of(evaluator.model, evaluator.tokenizer)))


def test_infinite_masks_and_weights_not_in_memory_are_accepted() -> None:
    layer = torch.nn.Linear(2, 2)
    layer.register_buffer("mask", torch.full((3,), -torch.inf))
    layer.register_buffer("counts", torch.zeros(2, dtype=torch.long))
    layer.register_buffer("nothing", torch.empty(0))
    layer.elsewhere = torch.nn.Parameter(torch.empty(2, device="meta"))
    check_finite_weights(layer, "a layer")
    layer.register_buffer("bias_of_logits", torch.tensor([0.0, torch.nan]))
    refused(
        r"the weight bias_of_logits \(1 of its 2 values\)", check_finite_weights, layer, "a layer"
    )


def test_auto_refuses_invalid_fast_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_bf16: None
) -> None:
    evaluator: Any = load_evaluator(save_tiny_marian(tmp_path), mode="auto")
    monkeypatch.setattr(evaluator.fast, "logprobs_batch", BrokenEvaluator(_NAN).logprobs_batch)
    refused("overflows in bf16", conditioned, evaluator)
