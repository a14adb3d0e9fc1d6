"""Small models with lexical shortcuts and random weights, in every form."""

import random
from typing import Any

import torch
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutConfig
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutForConditionalGeneration as Model
from cc_hf_studies.lexical_shortcuts.probe import Pairs

from tests.helpers.models import TEXT

PAD, EOS = 1, 2
SOURCES = torch.tensor([[5, 6, 7, 8, 9, EOS], [10, 11, EOS, PAD, PAD, PAD], [12] * 5 + [EOS]])
INPUTS = torch.tensor([[EOS, 5, 6, 7], [EOS, 8, PAD, PAD], [EOS, 9, 9, PAD]])

_SELF = {"shortcut_encoder": False, "shortcut_decoder": False}
#: every variant of the thesis, section 5.4.3, and every form of the model around it
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {"shortcut": "none"},
    "lexical": {},
    "fusion": {"shortcut": "fusion"},
    "encoder only": {"shortcut_decoder": False},
    "decoder only": {"shortcut_encoder": False},
    "attention over the source": {**_SELF, "shortcut_cross": True},
    "both attentions": {"shortcut_cross": True},
    "residual in both attentions": {"shortcut_cross": True, "shortcut": "residual"},
    "both attentions, fusion": {"shortcut_cross": True, "shortcut": "fusion"},
    "non-lexical": {"shortcut_source": "non_lexical"},
    "non-lexical fusion": {"shortcut_source": "non_lexical", "shortcut": "fusion"},
    "pre-norm, embedding norm": {"normalize_before": True, "layernorm_embedding": True},
    "separate vocabularies": {"share_embeddings": False, "tgt_vocab_size": 30},
    "untied": {"share_embeddings": False, "tie_word_embeddings": False},
    "no biases": {"attention_bias": False, "scale_embedding": False},
}


def small_config(**changes: Any) -> LexicalShortcutConfig:
    """Return a configuration of 2 + 3 layers."""
    encoder = {"encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 24}
    decoder = {"decoder_layers": 3, "decoder_attention_heads": 2, "decoder_ffn_dim": 32}
    sizes = {"vocab_size": 40, "d_model": 16, "max_position_embeddings": 64}
    return LexicalShortcutConfig(**{**sizes, **encoder, **decoder, **changes})


def small_model(**changes: Any) -> Model:
    """Return a model whose weights are large enough that every part of it matters, in eval mode."""
    torch.manual_seed(0)
    model = Model(small_config(**changes))
    for name, weight in model.named_parameters():
        if "norm" not in name:
            torch.nn.init.normal_(weight, std=0.3)
        if "embed_tokens" in name:
            weight.data[PAD] = 0
    model.eval()
    return model


def pairs(n: int, seed: int) -> Pairs:
    """Return random sequences of the words that the tokenizer of the tiny models was made for."""
    draw = random.Random(seed)
    return Pairs(*([" ".join(draw.choices(WORDS, k=7)) for _ in range(n)] for _ in range(2)))


WORDS = TEXT.replace("[", "").replace("]", "").split()
