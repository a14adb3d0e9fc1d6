from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import MarianMTModel, MarianTokenizer

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.families.marian import MarianEvaluator
from cc_hf.evaluators.scores import SCORES
from cc_hf.schema import ScoringRequest
from tests.helpers.models import save_target_vocabulary, save_tiny_marian

PAIRS = [
    ("The doctor asked the nurse.", "Der Arzt bat die Krankenschwester."),
    ("", "Ja."),
    ("Yes", "J"),
    (
        "The [female] mechanic greeted the receptionist because she was in a good mood.",
        "Die Mechanikerin begrüßte den Rezeptionisten, weil sie gute Laune hatte.",
    ),
    ("مرحبا بالعالم", "Hallo 🎉 Welt"),
    ("你好 \u2028 x", "unbekannt ∑∆"),
    ("The doctor asked the nurse.", "Die Ärztin bat den Pfleger."),
]
SOURCES, TRANSLATIONS = [s for s, _ in PAIRS], [t for _, t in PAIRS]


def plain_logprobs(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Return positional log-probabilities by a plain forward pass of transformers in a batch of
    one.
    """
    model, tokenizer = (
        MarianMTModel.from_pretrained(folder).eval(),
        MarianTokenizer.from_pretrained(folder),
    )
    labels = tokenizer(text_target=[translation], return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = model(**tokenizer([source], return_tensors="pt"), labels=labels).logits
    found: torch.Tensor = logits.double().log_softmax(-1).gather(-1, labels.unsqueeze(-1))[0, :, 0]
    return found


@pytest.fixture(scope="module")
def expected(tiny_marian: Path) -> list[torch.Tensor]:
    return [plain_logprobs(tiny_marian, source, translation) for source, translation in PAIRS]


def test_every_score_is_a_function_of_the_token_logprobs(
    tiny_marian: Path, expected: list[torch.Tensor]
) -> None:
    found = cc_hf.load_evaluator(tiny_marian).score(
        [ScoringRequest(s, t) for s, t in PAIRS], src_lang="en", tgt_lang="de"
    )
    means = np.array([float(e.mean()) for e in expected])
    np.testing.assert_allclose(SCORES["geometric"](found), np.exp(means), atol=1e-5)
    np.testing.assert_allclose(SCORES["reference"](found), 2.0**means, atol=1e-5)
    np.testing.assert_allclose(
        SCORES["arithmetic"](found), [float(e.exp().mean()) for e in expected], atol=1e-5
    )


def test_truncation_is_stated_in_the_signature(tiny_marian: Path) -> None:
    evaluator = cc_hf.load_evaluator(tiny_marian, on_too_long="truncate")
    assert evaluator.signature_fields()["toolong"] == "truncate"
    assert "toolong" not in cc_hf.load_evaluator(tiny_marian).signature_fields()
    found = evaluator.score(
        [ScoringRequest("a", "doctor nurse " * 120)], src_lang="en", tgt_lang="de"
    )
    assert found.n_tokens.tolist() == [128]


@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["doctor", " ", "  ", "Ärztin", "</s>", "<unk>", "<pad>", ">>de<<", ">>", "x", "🎉"]
            )
            | st.text(max_size=5)
        ).map("".join),
        max_size=6,
    )
)
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
    with pytest.raises(InputError, match="batch_tokens: expected an integer of at least 1"):
        cc_hf.load_evaluator(tiny_marian, batch_tokens=0)
    with pytest.raises(InputError, match="on_too_long"):
        cc_hf.load_evaluator(tiny_marian, on_too_long="drop")


def test_the_base_class_cannot_be_instantiated() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Evaluator(
            name="x", identity="x", dtype="x", batch_tokens=1, max_tokens=1, on_too_long="error"
        )  # type: ignore[abstract]
