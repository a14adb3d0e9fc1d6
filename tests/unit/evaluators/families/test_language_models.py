"""Masked and causal language models as evaluators, beyond the contract of tests/contracts."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

import cc_hf
from cc_hf.errors import InputError, TooLongError
from tests.helpers import families, plain_forward
from tests.helpers.models import save_tiny_masked_lm

_PAIRS = [
    ("The doctor asked the nurse.", "Der Arzt bat die Krankenschwester."),
    ("", "Ja."),
    ("مرحبا 🎉", "Hallo, «Welt»."),
    ("The nurse.", "Die Pflegerin."),
]
_SOURCES, _TRANSLATIONS = [s for s, _ in _PAIRS], [t for _, t in _PAIRS]


@pytest.mark.parametrize("family", ["roberta", "xlm-roberta"])
def test_pseudo_logprobs_of_roberta_families_equal_a_plain_loop(
    tmp_path: Path, family: str
) -> None:
    save_tiny_masked_lm(tmp_path, family=family)
    for batch_tokens in (1, 70, 4000):
        found = cc_hf.load_evaluator(tmp_path, batch_tokens=batch_tokens).token_logprobs(
            _SOURCES, _TRANSLATIONS
        )
        for one, pair in zip(found, _PAIRS, strict=True):
            np.testing.assert_allclose(
                one, plain_forward.masked_lm(tmp_path, *pair).numpy(), atol=1e-5, rtol=0
            )


def test_an_empty_prompt_scores_the_translation_alone(tmp_path: Path) -> None:
    save_tiny_masked_lm(tmp_path)
    alone = cc_hf.load_evaluator(tmp_path, prompt="")
    np.testing.assert_array_equal(
        alone.mean_logprobs(_SOURCES, ["Ja."] * 4),
        cc_hf.load_evaluator(tmp_path).mean_logprobs([""] * 4, ["Ja."] * 4),
    )
    assert alone.signature_fields()["prompt"] == "none"
    assert cc_hf.load_evaluator(tmp_path).signature_fields()["logprob"] == "pll"


def test_masked_lms_refuse_empty_and_too_long_texts(tmp_path: Path) -> None:
    save_tiny_masked_lm(tmp_path, max_tokens=20)
    evaluator = cc_hf.load_evaluator(tmp_path)
    with pytest.raises(InputError, match="row 1: the translation '' has no tokens"):
        evaluator.mean_logprobs(["a", "a"], ["b", ""])
    with pytest.raises(TooLongError, match=r"row 0: the source and the translation have \d+"):
        evaluator.mean_logprobs(["nurse " * 8], ["nurse " * 8])
    cut = cc_hf.load_evaluator(tmp_path, on_too_long="truncate")
    assert 0 < len(cut.token_logprobs(["nurse"], ["nurse " * 30])[0]) < 20
    with pytest.raises(TooLongError):
        cut.mean_logprobs(["nurse " * 30], ["nurse"])


@pytest.mark.parametrize("llama", [False, True], ids=["gpt2", "llama"])
def test_logprobs_of_causal_lms_equal_a_plain_forward_pass(tmp_path: Path, llama: bool) -> None:
    families.save_tiny_causal_lm(tmp_path, llama=llama)
    plain = partial(plain_forward.causal_lm, tmp_path, prompt="en {} de:")
    for batch_tokens in (1, 4000):
        evaluator = cc_hf.load_evaluator(
            tmp_path, prompt="{src_lang} {source} {tgt_lang}:", batch_tokens=batch_tokens
        )
        for one, pair in zip(
            evaluator.token_logprobs(_SOURCES, _TRANSLATIONS, src_lang="en", tgt_lang="de"),
            _PAIRS,
            strict=True,
        ):
            np.testing.assert_allclose(one, plain(*pair).numpy(), atol=1e-5, rtol=0)


def test_prompt_and_translation_are_tokenized_separately(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(
        families.save_tiny_causal_lm(tmp_path), prompt="{source}", tgt_lang="de"
    )
    together = evaluator.encode_sources(["The nurse"], "", "")[0]
    apart = (
        evaluator.encode_sources(["The nu"], "", "")[0]
        + evaluator.encode_targets(["rse"], "", "")[0][:-1]
    )
    assert apart != together
    assert len(evaluator.token_logprobs(["The nu"], ["rse"])[0]) == len(
        evaluator.encode_targets(["rse"], "", "")[0]
    )
    assert len(evaluator.token_logprobs([""], ["rse"])) == 1  # a prompt without tokens follows <s>


def test_languages_named_in_the_prompt_must_be_given(tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(families.save_tiny_causal_lm(tmp_path))
    with pytest.raises(InputError, match="names the source language; give it with src_lang"):
        evaluator.mean_logprobs(["a"], ["b"])
    assert "prompt" in evaluator.signature_fields()


def test_language_models_do_not_translate(tmp_path: Path) -> None:
    families.save_tiny_causal_lm(tmp_path)
    with pytest.raises(InputError, match="does not translate: expected a sequence-to-sequence"):
        cc_hf.translate(["a"], tmp_path, src_lang="en", tgt_lang="de")
