"""What the baselines share as models of transformers: embeddings that are tied, the projection to
the vocabulary, `generate` with what a step keeps. For scoring and translating: without dropout.

A model on the Hub carries a copy of this file, so that nothing of cc_hf is imported here.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import GenerationMixin, PreTrainedModel
from transformers import __version__ as transformers_version
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import Seq2SeqLMOutput

__all__ = ["TranslationModel"]

_TIES_ARE_MAPPED = int(transformers_version.partition(".")[0]) >= 5
#: Options that `generate` passes, and that make no difference here.
_OPTIONS = {"decoder_attention_mask", "return_dict", "cache_position"}
# transformers 5.24 has `cache` for what it called `past_key_values` before.
_CACHE = "cache" if "cache" in Seq2SeqLMOutput.__dataclass_fields__ else "past_key_values"


class _Body(nn.Module):
    """Encoder and decoder."""

    encoder: Any
    decoder: Any

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder


class TranslationModel(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    """An encoder and a decoder of fairseq, with the projection to the vocabulary.

    Args:
        encoder: returns from ids (n, n_source) and their mask an output with `last_hidden_state`.
        decoder: returns from ids (n, n_target), that output, the mask of the source as booleans,
            and what is kept of the tokens before, the states (n, n_target, width).
    """

    base_model_prefix = "model"
    main_input_name = "input_ids"

    def __init__(
        self, config: Any, encoder: nn.Module, decoder: nn.Module, *, has_bias: bool
    ) -> None:
        super().__init__(config)
        self.model = _Body(encoder, decoder)
        self.lm_head = nn.Linear(config.decoder_out_embed_dim, config.vocab_size, bias=has_bias)
        tied = {}
        if config.tie_word_embeddings:
            tied["lm_head.weight"] = "model.decoder.embed_tokens.weight"
        if config.share_embeddings:
            tied["model.encoder.embed_tokens.weight"] = "model.decoder.embed_tokens.weight"
        self._tied_weights_keys = tied if _TIES_ARE_MAPPED else list(tied)
        self.post_init()

    def tie_weights(self, *arguments: Any, **options: Any) -> None:
        """Share the embeddings of both sides and the projection, as the configuration says."""
        if _TIES_ARE_MAPPED:
            super().tie_weights(*arguments, **options)
            return
        shared = self.model.decoder.embed_tokens.weight
        if self.config.tie_word_embeddings:
            self.lm_head.weight = shared
        if self.config.share_embeddings:
            self.model.encoder.embed_tokens.weight = shared

    def get_encoder(self, *_arguments: Any, **_options: Any) -> nn.Module:
        encoder: nn.Module = self.model.encoder
        return encoder

    def get_decoder(self) -> nn.Module:
        decoder: nn.Module = self.model.decoder
        return decoder

    def get_input_embeddings(self) -> nn.Module:
        """Return the embeddings of the source side."""
        embeddings: nn.Module = self.model.encoder.embed_tokens
        return embeddings

    def get_output_embeddings(self) -> nn.Module:
        """Return the projection to the vocabulary."""
        return self.lm_head

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.Tensor | None = None,
        encoder_outputs: Any = None,
        past_key_values: EncoderDecoderCache | None = None,
        use_cache: bool | None = None,
        cache: EncoderDecoderCache | None = None,
        **options: Any,
    ) -> Seq2SeqLMOutput:
        """Return the logits.

        Args:
            input_ids: sources, (n, n_source), padded on the right.
            attention_mask: (n, n_source), 0 at padding; None for no padding.
            decoder_input_ids: inputs of the decoder, (n, n_target), padded on the right.
            use_cache: whether to keep what the next token needs; None for no.
        """
        if unknown := sorted(set(options) - _OPTIONS):
            raise TypeError(
                f"unexpected options {', '.join(unknown)}: these models are not trained"
            )
        if decoder_input_ids is None:
            raise ValueError("decoder_input_ids: expected inputs of the decoder, got None")
        encoded = encoder_outputs
        if encoded is None:
            encoded = self.model.encoder(input_ids, attention_mask)
        states = encoded.last_hidden_state
        if attention_mask is None:
            attention_mask = torch.ones(states.shape[:2], device=states.device)
        cache = past_key_values if cache is None else cache
        if use_cache and cache is None:
            cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        hidden = self.model.decoder(decoder_input_ids, encoded, attention_mask != 0, cache)
        return Seq2SeqLMOutput(
            logits=self.lm_head(hidden), encoder_last_hidden_state=states, **{_CACHE: cache}
        )
