"""Masked and causal language models as evaluators, beyond the contract of tests/contracts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cc_hf
from cc_hf.errors import InputError, TooLongError
from tests.helpers import families, plain_forward
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.pairs import EN_DE, PAIRS, SOURCES, TRANSLATIONS


@pytest.mark.parametrize("family", ["roberta", "xlm-roberta"])
def test_pseudo_logprobs_of_roberta_families_equal_a_plain_loop(
    tmp_path: Path, family: str
) -> None:
    save_tiny_masked_lm(tmp_path, family=family)
    for batch_tokens in (1, 70, 4000):
        evaluator = cc_hf.load_evaluator(tmp_path, batch_tokens=batch_tokens)
        found = evaluator.token_logprobs(SOURCES, TRANSLATIONS)
        for one, pair in zip(found, PAIRS, strict=True):
            plain = plain_forward.masked_lm(tmp_path, *pair).numpy()
            np.testing.assert_allclose(one, plain, atol=1e-5, rtol=0)


def test_an_empty_prompt_scores_the_translation_alone(tmp_path: Path) -> None:
    save_tiny_masked_lm(tmp_path)
    alone = cc_hf.load_evaluator(tmp_path, prompt="")
    plain = cc_hf.load_evaluator(tmp_path).mean_logprobs([""], ["Ja."])
    np.testing.assert_array_equal(alone.mean_logprobs(["The nurse."], ["Ja."]), plain)
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
    options: dict[str, Any] = {"prompt": "{src_lang} {source} {tgt_lang}:", **EN_DE}
    for batch_tokens in (1, 4000):
        evaluator = cc_hf.load_evaluator(tmp_path, batch_tokens=batch_tokens, **options)
        found = evaluator.token_logprobs(SOURCES, TRANSLATIONS)
        for one, pair in zip(found, PAIRS, strict=True):
            np.testing.assert_allclose(one, plain(*pair).numpy(), atol=1e-5, rtol=0)


def test_prompt_and_translation_are_tokenized_separately(tmp_path: Path) -> None:
    folder = families.save_tiny_causal_lm(tmp_path)
    evaluator = cc_hf.load_evaluator(folder, prompt="{source}", tgt_lang="de")
    together, first = evaluator.encode_sources(["The nurse", "The nu"], "", "")
    (second,) = evaluator.encode_targets(["rse"], "", "")
    assert first + second[:-1] != together
    assert len(evaluator.token_logprobs(["The nu"], ["rse"])[0]) == len(second)
    assert len(evaluator.token_logprobs([""], ["rse"])) == 1  # a prompt without tokens follows <s>


def test_language_models_do_not_translate(tmp_path: Path) -> None:
    families.save_tiny_causal_lm(tmp_path)
    with pytest.raises(InputError, match="does not translate: expected a sequence-to-sequence"):
        cc_hf.translate(["a"], tmp_path, src_lang="en", tgt_lang="de")
