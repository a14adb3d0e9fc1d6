"""The configuration of a student of Bergamot, as transformers keeps it."""

from __future__ import annotations

from typing import Any

from transformers import AutoConfig, GenerationConfig, PretrainedConfig

__all__ = ["BergamotConfig", "generation_settings"]

_DEFAULTS = {
    "d_model": 256,
    "encoder_layers": 6,
    "decoder_layers": 2,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 1536,
    "decoder_ffn_dim": 1536,
    "activation_function": "relu",
    "decoder_recurrence": True,
    "share_encoder_decoder_embeddings": True,
    "max_position_embeddings": 1024,
}


class BergamotConfig(PretrainedConfig):  # type: ignore[misc]
    """The configuration of a student.

    Token ids are those of the SentencePiece models: </s> is 0. One id is added after the last one
    for padding and for the start of the decoder; its embedding is zero, and it is never produced.

    Attributes:
        encoder_ffn_dim, decoder_ffn_dim: inner widths of the feed-forward parts.
        activation_function: "relu" or "swish".
        decoder_recurrence: whether the decoder has SSRUs in place of self-attention.
        share_encoder_decoder_embeddings: whether both sides have the same embeddings.
        max_position_embeddings: length of the longest source or target; positions are computed.
    """

    model_type = "bergamot"
    attribute_map = {  # noqa: RUF012 (transformers reads it from the class)
        "hidden_size": "d_model",
        "num_attention_heads": "encoder_attention_heads",
        "num_hidden_layers": "encoder_layers",
    }

    def __init__(self, vocab_size: int = 32001, **settings: Any) -> None:
        self.vocab_size = vocab_size
        for name, default in _DEFAULTS.items():
            setattr(self, name, settings.pop(name, default))
        super().__init__(
            **{
                "is_encoder_decoder": True,
                "tie_word_embeddings": True,
                "eos_token_id": 0,
                "pad_token_id": vocab_size - 1,
                "decoder_start_token_id": vocab_size - 1,
                **settings,
            }
        )


def generation_settings(config: BergamotConfig) -> GenerationConfig:
    """Return the settings of `generate` for a model."""
    return GenerationConfig(
        eos_token_id=config.eos_token_id,
        pad_token_id=config.pad_token_id,
        decoder_start_token_id=config.decoder_start_token_id,
        max_length=config.max_position_embeddings,
    )


AutoConfig.register(BergamotConfig.model_type, BergamotConfig, exist_ok=True)
