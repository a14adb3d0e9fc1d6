"""Models with lexical shortcuts judge and translate with the tokenizers that people give them."""

from pathlib import Path

import numpy as np
import pytest
import tokenizers
import torch
from transformers import AutoModelForSeq2SeqLM, MarianTokenizer, PreTrainedTokenizerFast

import cc_hf
from cc_hf.errors import EvaluatorError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.loading import evaluator_of
from cc_hf.studies.lexical_shortcuts.family import LexicalShortcutEvaluator
from tests.helpers.models import TEXT, save_target_vocabulary, save_tiny_marian
from tests.helpers.refusals import fails
from tests.studies.lexical_shortcuts.contract_cases import save_tiny_lexical_shortcut
from tests.studies.lexical_shortcuts.shortcut_models import small_model

_SOURCES = ["The doctor asked the nurse.", "The nurse.", "The nurse."]
_TRANSLATIONS = ["Der Arzt bat die Krankenschwester.", "Der Pfleger.", "Die Ärztin."]


_CUES = {"correct": "female", "incorrect": "male"}


def _fast_tokenizer(*, with_eos: bool = True) -> PreTrainedTokenizerFast:
    """Return a tokenizer of words, as people train one for a model of their own."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = tokenizers.trainers.WordLevelTrainer(special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    if with_eos:
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", 2)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )


def test_a_model_with_a_tokenizer_of_ones_own_scores_as_by_hand(tmp_path: Path) -> None:
    tokenizer = _fast_tokenizer()
    model = small_model(vocab_size=len(tokenizer))
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    evaluator = cc_hf.load_evaluator(tmp_path)
    assert isinstance(evaluator, LexicalShortcutEvaluator)
    assert evaluator.fast_modes() == ()
    # as in caches that exist, whatever the module of the class
    assert evaluator.cache_identity()["class"] == (
        "cc_hf.evaluators.families.lexical_shortcut.LexicalShortcutEvaluator"
    )
    assert evaluator.max_tokens == 64
    logprobs = evaluator.token_logprobs(_SOURCES, _TRANSLATIONS, src_lang="en", tgt_lang="de")
    for source, translation, row in zip(_SOURCES, _TRANSLATIONS, logprobs, strict=True):
        ids, labels = tokenizer(source)["input_ids"], tokenizer(translation)["input_ids"]
        assert labels[-1] == 2
        inputs = torch.tensor([[2, *labels[:-1]]])
        with torch.inference_mode():
            logits = model(torch.tensor([ids]), decoder_input_ids=inputs).logits[0]
        expected = logits.log_softmax(-1)[range(len(labels)), labels]
        np.testing.assert_allclose(row, expected.numpy(), atol=1e-5)


def test_a_tokenizer_that_does_not_end_texts_with_eos_is_refused(tmp_path: Path) -> None:
    tokenizer = _fast_tokenizer(with_eos=False)
    small_model(vocab_size=len(tokenizer)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(EvaluatorError, match=r"expected a tokenizer that ends every source.*got"):
        cc_hf.load_evaluator(tmp_path)


def test_tokenizers_with_two_vocabularies_are_checked_by_side(tmp_path: Path) -> None:
    save_tiny_marian(tmp_path)
    tokenizer = save_target_vocabulary(tmp_path, size=60)

    def evaluator(n_target: int) -> Evaluator:
        marks = {"eos_token_id": 0, "pad_token_id": n_target - 1}
        sizes = {"vocab_size": 71, "tgt_vocab_size": n_target, "share_embeddings": False}
        model = small_model(**sizes, **marks, decoder_start_token_id=n_target - 1)
        return evaluator_of(model, tokenizer)

    n_tokens = len(tokenizer(text_target="Die")["input_ids"])
    assert evaluator(60).token_logprobs(["The nurse."], ["Die"])[0].shape == (n_tokens,)
    fails(EvaluatorError, "ids below 59, the number of target embeddings, it", evaluator, 59)


def test_a_model_in_training_is_judged_with_its_weights_of_the_moment(tmp_path: Path) -> None:
    folder = save_tiny_lexical_shortcut(tmp_path)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    evaluator = evaluator_of(model, MarianTokenizer.from_pretrained(folder))
    before = evaluator.mean_logprobs(_SOURCES, _TRANSLATIONS)
    with torch.no_grad():
        model.get_decoder().layers[0].encoder_attn.key_gate_bias.add_(3.0)
    assert (np.abs(evaluator.mean_logprobs(_SOURCES, _TRANSLATIONS) - before) > 1e-4).all()
