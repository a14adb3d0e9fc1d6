from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.families.marian import MarianEvaluator
from cc_hf.evaluators.scores import SCORES
from cc_hf.schema import ScoringRequest
from tests.helpers import plain_forward
from tests.helpers.models import save_target_vocabulary, save_tiny_marian
from tests.helpers.pairs import EN_DE, PAIRS


def test_every_score_is_a_function_of_the_token_logprobs(tiny_marian: Path) -> None:
    requests = [ScoringRequest(*pair) for pair in PAIRS]
    found = cc_hf.load_evaluator(tiny_marian).score(requests, **EN_DE)
    logprobs = [plain_forward.marian(tiny_marian, *pair) for pair in PAIRS]
    means = np.array([float(row.mean()) for row in logprobs])
    arithmetic = [float(row.exp().mean()) for row in logprobs]
    expected = {"geometric": np.exp(means), "reference": 2.0**means, "arithmetic": arithmetic}
    for name, values in expected.items():
        np.testing.assert_allclose(SCORES[name](found), values, atol=1e-5)


def test_truncation_is_stated_in_the_signature(tiny_marian: Path) -> None:
    evaluator = cc_hf.load_evaluator(tiny_marian, on_too_long="truncate")
    assert evaluator.signature_fields()["toolong"] == "truncate"
    assert "toolong" not in cc_hf.load_evaluator(tiny_marian).signature_fields()
    found = evaluator.score([ScoringRequest("a", "doctor nurse " * 120)], **EN_DE)
    assert found.n_tokens.tolist() == [128]


_WORDS = ["doctor", " ", "  ", "Ärztin", "</s>", "<unk>", "<pad>", ">>de<<", ">>", "x", "🎉"]
_TEXTS = st.lists(st.sampled_from(_WORDS) | st.text(max_size=5)).map("".join)


@given(st.lists(_TEXTS, max_size=6))
def test_token_ids_are_those_of_the_tokenizer(tiny_marian: Path, texts: list[str]) -> None:
    evaluator = cc_hf.load_evaluator(tiny_marian)
    assert isinstance(evaluator, MarianEvaluator)
    tokenizer = evaluator.tokenizer
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    assert evaluator.encode_sources(texts, "en", "de") == [tokenizer(t).input_ids for t in texts]
    assert evaluator.encode_targets(texts, "en", "de") == [
        tokenizer(text_target=t).input_ids for t in texts
    ]


def test_targets_have_the_ids_of_their_own_vocabulary(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(save_tiny_marian(tmp_path))
    assert isinstance(evaluator, MarianEvaluator)
    evaluator.tokenizer = save_target_vocabulary(tmp_path, size=40)
    texts = ["Die Ärztin bat die Krankenschwester.", "</s> Die Ärztin", ">>de<< Ja"]
    found = evaluator.encode_targets(texts, "en", "de")
    assert found == evaluator.tokenizer(text_target=texts).input_ids
    assert found != evaluator.tokenizer(texts).input_ids
    assert evaluator.encode_sources(texts, "en", "de") == evaluator.tokenizer(texts).input_ids


def test_bad_input_is_refused(tiny_marian: Path) -> None:
    evaluator = cc_hf.load_evaluator(tiny_marian)
    with pytest.raises(InputError, match="2 sources and 1 translations"):
        evaluator.mean_logprobs(["a", "b"], ["c"])
    with pytest.raises(InputError, match="at least one request"):
        evaluator.mean_logprobs([], [])


def test_the_base_class_cannot_be_instantiated() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Evaluator(
            name="x", identity="x", dtype="x", batch_tokens=1, max_tokens=1, on_too_long="error"
        )  # type: ignore[abstract]
