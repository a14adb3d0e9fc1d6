"""Configurations keep their settings; what cannot be computed is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoConfig

import cc_hf
from cc_hf.errors import EvaluatorError
from cc_hf.studies.lexical_shortcuts.model import LexicalShortcutConfig
from tests.helpers.cases import cases
from tests.helpers.refusals import fails
from tests.studies.lexical_shortcuts.contract_cases import save_tiny_lexical_shortcut
from tests.studies.lexical_shortcuts.shortcut_models import SOURCES, small_config, small_model


def test_generate_reads_the_size_of_the_target_vocabulary() -> None:
    config = small_config(share_embeddings=False, tgt_vocab_size=30)
    assert config.vocab_size == 40
    assert config.get_text_config().vocab_size == 30
    assert config.get_text_config(decoder=True).vocab_size == 30
    assert config.get_text_config(encoder=True).vocab_size == 40
    assert small_config().get_text_config().vocab_size == 40


_CROSS = {"shortcut_cross": True}


@cases(
    ({"cross_self_attention": True}, "cross_self_attention: not supported"),
    ({**_CROSS, "shortcut_source": "non_lexical"}, "_cross: not supported with shortcut_sou"),
    ({"shortcut": "gated"}, "shortcut: expected one of none, lexical, fusion, got 'gated'"),
    ({"shortcut_source": "lexicla"}, "shortcut_source: expected one of.*got 'lexicla'"),
    ({"activation_function": "swish"}, "activation_function: expected one of.*got 'swish'"),
    ({"tgt_vocab_size": 30}, "share_embeddings: sides with vocab_size=40 and tgt_vocab_size=3"),
    ({"decoder_attention_heads": 3}, "decoder_attention_heads: expected a divisor of.*got 3"),
    ({"encoder_layers": 0}, "encoder_layers: expected a number above 0, got 0"),
    ({"d_model": 2}, "d_model: expected at least 4, got 2"),
    ({"dropout": 1.5}, r"dropout: expected a share from 0 to 1, got 1\.5"),
    ({"pad_token_id": None}, "pad_token_id: expected the id of padding, got None"),
)
def test_settings_without_a_model_are_refused(changes: dict[str, Any], message: str) -> None:
    fails(ValueError, message, small_config, **changes)


def test_weights_of_another_form_are_refused_by_name(tmp_path: Path) -> None:
    save_tiny_lexical_shortcut(tmp_path)
    config = AutoConfig.from_pretrained(tmp_path)
    for changes, message in (
        ({"shortcut": "none"}, r"has no place for, \d+ of the weights: .*key_gate_bias"),
        ({"shortcut": "fusion"}, r"k_proj.* \[16, 16\], expected \[32, 32\]"),
        ({"layernorm_embedding": True}, r"lack 4 of the weights: .*layernorm_embedding"),
    ):
        changed = LexicalShortcutConfig(**{**config.to_dict(), **changes})
        changed.architectures = config.architectures
        changed.save_pretrained(tmp_path)
        fails(EvaluatorError, message, cc_hf.load_evaluator, tmp_path)


def test_a_configuration_that_is_refused_names_the_model_and_the_reason(tmp_path: Path) -> None:
    save_tiny_lexical_shortcut(tmp_path)
    path = tmp_path / "config.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("{", '{"cross_self_attention": true,', 1), encoding="utf-8")
    fails(EvaluatorError, "cross_self_attention: not supported", cc_hf.load_evaluator, tmp_path)


def test_the_configuration_of_a_model_is_not_changed_by_generation() -> None:
    model = small_model(share_embeddings=False, tgt_vocab_size=30)
    before = model.config.to_dict()
    asked = {"return_dict_in_generate": True, "output_scores": True}
    output = model.generate(SOURCES[:1], num_beams=2, max_new_tokens=3, **asked)
    beams = (output.sequences, output.scores, output.beam_indices)
    assert model.compute_transition_scores(*beams, normalize_logits=False).shape[0] == 1
    assert model.config.to_dict() == before
