"""Checkpoints with lexical shortcuts are converted whatever their form; contradictions are
refused. Models with lexical shortcuts judge and translate with the tokenizers that people give
them.
"""

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
from cc_hf_studies.lexical_shortcuts.family import LexicalShortcutEvaluator
from transformers import AutoModelForSeq2SeqLM, MarianTokenizer, PreTrainedTokenizerFast

import cc_hf
from cc_hf.errors import EvaluatorError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.loading import evaluator_of
from cc_hf.plugins.conversion.convert import convert
from cc_hf.plugins.conversion.evaluator import FairseqEvaluator
from studies.tests.lexical_shortcuts.contract_cases import save_tiny_lexical_shortcut
from studies.tests.lexical_shortcuts.shortcut_models import small_model
from tests.helpers import fairseq_models
from tests.helpers.models import TEXT, save_target_vocabulary, save_tiny_marian
from tests.helpers.usual import cases, fails, read_json, typed

_PAIRS = [
    ([5, 9, 30, 2], [7, 2]),
    ([11, 2], [12, 13, 14, 15, 16, 17, 18, 40, 2]),
    ([11, 2], [9, 2]),
    ([3, 3, 22, 23, 24, 25, 26, 27, 28, 2], [9, 3, 8, 7, 2]),
    ([2], [2]),
]
_LEXICAL: dict[str, Any] = {"arch": "shortcut_transformer", "use_feature_fusion": False}
_FUSION: dict[str, Any] = {"arch": "shortcut_transformer_with_feature_fusion"}
_FUSION["use_feature_fusion"] = True
_SEPARATE: Any = {"share_all_embeddings": False, "share_decoder_input_output_embed": True}
_PRE_NORM = fairseq_models.both(normalize_before=True)


_OTHER = {"encoder_layers": 1, "decoder_layers": 3, "decoder_attention_heads": 4}
_CROSS = "decoder.encoder_attn"


@pytest.mark.parametrize("form", [_LEXICAL, _FUSION], ids=["lexical", "fusion"])
@cases(
    ("shared", {}),
    ("separate vocabularies", _SEPARATE),
    ("untied", {**_SEPARATE, "share_decoder_input_output_embed": False}),
    ("pre-norm, embedding norm", {**_PRE_NORM, "layernorm_embedding": True}),
    ("pre-norm, separate vocabularies", {**_PRE_NORM, **_SEPARATE}),
    ("post-norm, embedding norm", {"layernorm_embedding": True}),
    ("other sizes", {**_OTHER, "encoder_ffn_embed_dim": 40}),
    ("gelu without scale", {"activation_fn": "gelu", "no_scale_embedding": True}),
    ("encoder only", {"shortcuts": fairseq_models.SHORTCUTS[:1]}),
    ("decoder only", {"shortcuts": fairseq_models.SHORTCUTS[1:]}),
    ("attention over the source", {"shortcuts": [_CROSS]}),
    ("both attentions", {"shortcuts": [*fairseq_models.SHORTCUTS, _CROSS]}),
)
def test_converted_shortcuts_are_equal(name: str, changes: Any, tmp_path: Path, form: Any) -> None:
    chosen = {**form, **changes}
    weights = fairseq_models.save_fairseq(tmp_path / "in", **chosen)
    conversion = convert(tmp_path / "in", output=tmp_path / "out")
    assert conversion.families == ("lexical_shortcut",)
    evaluator = typed(
        FairseqEvaluator,
        cc_hf.load_evaluator(conversion.folders[0], device="cpu", batch_tokens=1000),
    )
    parts = chosen.get("shortcuts", fairseq_models.SHORTCUTS)
    config = evaluator.model.config
    assert config.shortcut == ("fusion" if form is _FUSION else "lexical")
    flags = [part in parts for part in (*fairseq_models.SHORTCUTS, _CROSS)]
    assert [config.shortcut_encoder, config.shortcut_decoder, config.shortcut_cross] == flags
    sources, targets = ([list(pair[side]) for pair in _PAIRS] for side in (0, 1))
    scored, options = evaluator.id_logprobs(sources, targets), fairseq_models.options(**chosen)
    for logprobs, source, target in zip(scored, sources, targets, strict=True):
        expected = fairseq_models.reference_logprobs(weights, options, source, target)
        assert np.abs(logprobs - expected).max() < 1e-5


def test_options_may_be_those_of_older_and_newer_versions(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    fairseq_models.save_fairseq(folder, without=["use_feature_fusion"], **_FUSION)
    assert convert(folder, output=tmp_path / "older").families == ("lexical_shortcut",)
    saved = torch.load(folder / "model1.pt", weights_only=False)
    chosen = vars(saved.pop("args"))
    named = {"_name": chosen.pop("arch"), "checkpoint_activations": False, "quant_noise_pq": 0}
    cfg = {"_name": None, "model": argparse.Namespace(**chosen, **named)}
    torch.save({**saved, "args": None, "cfg": cfg}, folder / "model1.pt")
    newer = convert(folder, output=tmp_path / "newer").folders[0]
    assert read_json(newer / "config.json")["shortcut"] == "fusion"


_SINUSOIDAL = "encoder_learned_pos=True; with shortcuts, positions must be sinusoidal"
_DIFFERENT = "encoder_normalize_before=True and decoder_normalize_before=False differ"
_BARE = "no weight key_gate_bias is in it, .* these are the weights of another architecture"
_CUTOFF = {"adaptive_softmax_cutoff": "100,200"}


@cases(
    (r"cross_self_attention=True", {**_LEXICAL, "cross_self_attention": True}),
    (_SINUSOIDAL, {**_LEXICAL, **fairseq_models.both(learned_pos=True)}),
    (_DIFFERENT, {**_LEXICAL, "encoder_normalize_before": True}),
    (_BARE, {**_LEXICAL, "shortcuts": []}),
    ("adaptive_softmax_cutoff='100,200'", {**_FUSION, **_CUTOFF}),
)
def test_other_forms_are_refused(reason: str, changes: dict[str, Any], tmp_path: Path) -> None:
    fairseq_models.save_fairseq(tmp_path / "in", **changes)
    fails(
        EvaluatorError,
        rf"'shortcut_transformer\w*' cannot .*: {reason}",
        convert,
        tmp_path / "in",
        output=tmp_path / "out",
    )


def test_weights_of_another_architecture_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    size = {"n_source": 56, "n_target": 56}
    options = (fairseq_models.options(**form) for form in (_LEXICAL, _FUSION))
    lexical, fusion = (fairseq_models.random_weights(chosen, **size) for chosen in options)
    gate = "encoder.layers.1.self_attn.key_gate_bias"
    without = {name: weight for name, weight in lexical.items() if name != gate}
    for form, weights, reason in (
        (_FUSION, lexical, "use_feature_fusion=True, but its weights have sc_k_proj.weight"),
        (_LEXICAL, fusion, "use_feature_fusion=False, but its weights lack sc_k_proj.weight"),
        (_LEXICAL, without, rf"the weight {re.escape(gate)} is missing \(1 in all\)"),
        (_LEXICAL, {**lexical, gate: torch.zeros(1, 1, 3)}, "its weights do not fit its options"),
    ):
        fairseq_models.save_fairseq(folder, weights=weights, **form)
        fails(EvaluatorError, reason, convert, folder, output=tmp_path / "out")


def test_a_plain_model_with_an_option_of_the_fork_stays_plain(tmp_path: Path) -> None:
    fairseq_models.save_fairseq(tmp_path / "in", use_feature_fusion=False, shortcuts=[])
    assert convert(tmp_path / "in", output=tmp_path / "out").families == ("fsmt",)


def test_a_converted_model_translates_and_its_folder_carries_its_code(tmp_path: Path) -> None:
    fairseq_models.save_fairseq(tmp_path / "in", **_LEXICAL, **_SEPARATE)
    folder = convert(tmp_path / "in", output=tmp_path / "out").folders[0]
    fairseq_models.check_translates_and_carries_its_code(folder, "modeling", "LexicalShortcut")
    evaluator = typed(FairseqEvaluator, cc_hf.load_evaluator(folder))
    assert evaluator.model.generation_config.suppress_tokens == [1]
    assert "use_cache=False" not in (folder / "README.md").read_text(encoding="utf-8")


_SOURCES = ["The doctor asked the nurse.", "The nurse.", "The nurse."]
_TRANSLATIONS = ["Der Arzt bat die Krankenschwester.", "Der Pfleger.", "Die Ärztin."]


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
    evaluator = typed(LexicalShortcutEvaluator, cc_hf.load_evaluator(tmp_path))
    assert evaluator.fast_modes() == ()
    # as in caches that exist, whatever the module of the class
    name = "cc_hf.evaluators.families.lexical_shortcut.LexicalShortcutEvaluator"
    assert evaluator.cache_identity()["class"] == name
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
    fails(EvaluatorError, r"tokenizer that ends every source.*got", cc_hf.load_evaluator, tmp_path)


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
