"""The configuration of a transformer with lexical shortcuts, as transformers keeps it.

A model on the Hub carries a copy of this file, so that nothing of cc_hf is imported here.
"""

from __future__ import annotations

import copy
from typing import Any

from transformers import PretrainedConfig

__all__ = ["SHORTCUTS", "SOURCES", "LexicalShortcutConfig"]

#: Forms of the shortcuts.
SHORTCUTS = ("none", "lexical", "fusion", "residual")
#: Inputs of the shortcuts.
SOURCES = ("lexical", "non_lexical")
_ACTIVATIONS = ("relu", "gelu")
_SHARES = ("dropout", "attention_dropout", "activation_dropout")
_SIZES = (
    "vocab_size",
    "tgt_vocab_size",
    "d_model",
    "encoder_layers",
    "decoder_layers",
    "encoder_attention_heads",
    "decoder_attention_heads",
    "encoder_ffn_dim",
    "decoder_ffn_dim",
    "max_position_embeddings",
)
_DEFAULTS = {
    "shortcut": "lexical",
    "shortcut_encoder": True,
    "shortcut_decoder": True,
    "shortcut_cross": False,
    "shortcut_source": "lexical",
    "d_model": 512,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 2048,
    "activation_function": "relu",
    "dropout": 0.1,
    "attention_dropout": 0.1,
    "activation_dropout": 0.1,
    "attention_bias": True,
    "normalize_before": False,
    "layernorm_embedding": False,
    "scale_embedding": True,
    "share_embeddings": True,
    "max_position_embeddings": 1024,
    "use_cache": True,
}


class LexicalShortcutConfig(PretrainedConfig):  # type: ignore[misc]
    """The configuration of a transformer with lexical shortcuts (Emelin et al. 2019).

    Token ids are those of fairseq by default. A decoder that starts with another token than </s>
    needs `decoder_start_token_id`.

    Args:
        tgt_vocab_size: number of embeddings of the target side; None for that of the source side.

    Attributes:
        shortcut: "none" for a plain transformer, "lexical" for gated shortcuts with projections of
            their own, "fusion" for feature fusion, where one projection reads embeddings and states
            together, "residual" for shortcuts that are added without a gate.
        shortcut_encoder, shortcut_decoder: whether self-attention of a side has shortcuts.
        shortcut_cross: whether attention over the source has shortcuts, from the embeddings of the
            source.
        shortcut_source: "lexical" for shortcuts from the embeddings, "non_lexical" for shortcuts
            from the output of the layer two below.
        d_model: width of the states.
        encoder_ffn_dim, decoder_ffn_dim: inner widths of the feed-forward parts.
        activation_function: "relu" or "gelu".
        dropout: share of embeddings and of what sub-layers add that is set to zero in training.
        attention_dropout, activation_dropout: the same for attention and within feed-forward parts.
        attention_bias: whether the projections of attention have biases, as in fairseq; the first
            program of the authors has none.
        normalize_before: whether norms precede the sub-layers; each stack then ends in a norm.
        layernorm_embedding: whether embeddings are normalised.
        scale_embedding: whether embeddings are multiplied by the root of `d_model`.
        share_embeddings: whether both sides have the same embeddings.
        max_position_embeddings: length of the longest source or target; positions are computed.
    """

    model_type = "lexical_shortcut"
    keys_to_ignore_at_inference = ["past_key_values", "cache"]  # noqa: RUF012 (read from the class)
    attribute_map = {  # noqa: RUF012 (transformers reads it from the class)
        "hidden_size": "d_model",
        "num_attention_heads": "encoder_attention_heads",
        "num_hidden_layers": "encoder_layers",
    }

    def __init__(
        self, vocab_size: int = 32000, tgt_vocab_size: int | None = None, **settings: Any
    ) -> None:
        self.vocab_size = vocab_size
        self.tgt_vocab_size = vocab_size if tgt_vocab_size is None else tgt_vocab_size
        for name, default in _DEFAULTS.items():
            setattr(self, name, settings.pop(name, default))
        self._check(cross_self_attention=bool(settings.pop("cross_self_attention", False)))
        super().__init__(
            **{
                "is_encoder_decoder": True,
                "tie_word_embeddings": True,
                "bos_token_id": 0,
                "pad_token_id": 1,
                "eos_token_id": 2,
                "decoder_start_token_id": 2,
                **settings,
            }
        )
        if self.pad_token_id is None:
            raise ValueError("pad_token_id: expected the id of padding, got None")

    def shortcuts_of(self, part: str) -> str:
        """Return the form of the shortcuts in one part of the model."""
        return str(self.shortcut) if getattr(self, f"shortcut_{part}") else "none"

    def get_text_config(self, decoder: bool | None = None, encoder: bool | None = None) -> Any:
        """Return the configuration of one side, as transformers asks for it."""
        config = super().get_text_config(decoder=decoder, encoder=encoder)
        if not encoder and config.vocab_size != self.tgt_vocab_size:
            config = copy.copy(config)
            # `generate` reads the number of logits from `vocab_size`.
            config.vocab_size = self.tgt_vocab_size
        return config

    def _check(self, *, cross_self_attention: bool) -> None:
        for name, choices in (
            ("shortcut", SHORTCUTS),
            ("shortcut_source", SOURCES),
            ("activation_function", _ACTIVATIONS),
        ):
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"{name}: expected one of {', '.join(choices)}, got {getattr(self, name)!r}"
                )
        for name in _SIZES:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}: expected a number above 0, got {value!r}")
        if self.d_model < 4:
            raise ValueError(f"d_model: expected at least 4, got {self.d_model}")
        for side in ("encoder", "decoder"):
            n_heads = getattr(self, f"{side}_attention_heads")
            if self.d_model % n_heads:
                raise ValueError(
                    f"{side}_attention_heads: expected a divisor of d_model={self.d_model}, got"
                    f" {n_heads}"
                )
        for name in _SHARES:
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name}: expected a share from 0 to 1, got {getattr(self, name)}")
        if self.share_embeddings and self.vocab_size != self.tgt_vocab_size:
            raise ValueError(
                f"share_embeddings: sides with vocab_size={self.vocab_size} and"
                f" tgt_vocab_size={self.tgt_vocab_size} cannot share embeddings; set it to False"
            )
        if cross_self_attention:
            raise ValueError(
                "cross_self_attention: not supported; self-attention over source and target"
                " together has no embeddings of the same length for its shortcuts"
            )
        if self.shortcuts_of("cross") != "none" and self.shortcut_source == "non_lexical":
            raise ValueError(
                "shortcut_cross: not supported with shortcut_source='non_lexical'; attention over"
                " the source takes its shortcuts from the embeddings of the source"
            )
