"""The students of Bergamot as a model of transformers, with `generate`.

The encoder is a transformer. The decoder has a simpler simple recurrent unit (SSRU; Kim et al.
2019, "From Research to Production and Back") in place of self-attention, or self-attention in older
models. Norms follow the residual sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import AutoModelForSeq2SeqLM, GenerationMixin, PreTrainedModel
from transformers import __version__ as transformers_version
from transformers.cache_utils import EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

from cc_hf.models.cache_name import CACHE
from cc_hf.plugins.bergamot.configuration import BergamotConfig

__all__ = ["BergamotConfig", "BergamotForConditionalGeneration", "Recurrence"]

_ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": functional.relu,
    "swish": functional.silu,
}
_TIES_ARE_MAPPED = int(transformers_version.partition(".")[0]) >= 5


class Recurrence(nn.Module):
    """A simpler simple recurrent unit."""

    def __init__(self, width: int, layer: int) -> None:
        super().__init__()
        self.forget = nn.Linear(width, width)
        self.candidate = nn.Linear(width, width, bias=False)
        self.layer = layer

    def forward(
        self, hidden: torch.Tensor, cache: EncoderDecoderCache | None = None
    ) -> torch.Tensor:
        """Return the states after ReLU, (n, length, width); `cache` has the tokens before."""
        gates, candidates = self.forget(hidden).sigmoid(), self.candidate(hidden)
        if cache is not None:
            # The cache of keys and values holds gates and candidates, from which the states follow.
            gates, candidates = (
                rows[:, 0]
                for rows in cache.self_attention_cache.update(
                    gates[:, None], candidates[:, None], self.layer
                )
            )
        return self.states(gates, candidates)[:, -hidden.shape[1] :].relu()

    @staticmethod
    def states(gates: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
        """Return all states of a linear recurrence: c_t = f_t * c_(t-1) + (1 - f_t) * z_t, c_0 = 0.

        With f in [0, 1] (`gates`), z (`candidates`) and the states c of shape (n, length, width).

        Examples:
            >>> gates, candidates = torch.tensor([[[0.5], [0.5]]]), torch.tensor([[[4.0], [2.0]]])
            >>> Recurrence.states(gates, candidates).tolist()
            [[[2.0], [2.0]]]
        """
        # Targets are known in scoring, so gates and candidates of all positions are computed at
        # once; only this product and sum go position by position.
        additions = (candidates - gates * candidates).unbind(1)
        states = [additions[0]]
        for gate, addition in zip(gates.unbind(1)[1:], additions[1:], strict=True):
            states.append(torch.addcmul(addition, gate, states[-1]))
        return torch.stack(states, dim=1)


class _Attention(nn.Module):
    """Attention with as many keys as values."""

    def __init__(self, width: int, n_heads: int, layer: int = 0) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(width, width) for _ in range(4)
        )
        self.n_heads = n_heads
        self.layer = layer

    def forward(
        self,
        hidden: torch.Tensor,
        states: torch.Tensor,
        mask: torch.Tensor | None,
        cache: EncoderDecoderCache | None = None,
        *,
        is_cross: bool = False,
    ) -> torch.Tensor:
        """Return the attention of `hidden` over `states`, in the shape of `hidden`."""
        if cache is not None and is_cross and cache.is_updated.get(self.layer):
            kept = cache.cross_attention_cache.layers[self.layer]
            keys, values = kept.keys, kept.values
        else:
            keys, values = self._split(self.k_proj(states)), self._split(self.v_proj(states))
            if cache is not None:
                part = cache.cross_attention_cache if is_cross else cache.self_attention_cache
                keys, values = part.update(keys, values, self.layer)
                if is_cross:
                    cache.is_updated[self.layer] = True
        attended = functional.scaled_dot_product_attention(
            self._split(self.q_proj(hidden)), keys, values, attn_mask=mask
        )
        projected: torch.Tensor = self.out_proj(attended.transpose(1, 2).flatten(2))
        return projected

    def _split(self, states: torch.Tensor) -> torch.Tensor:
        """Return the states of each head, (n, heads, length, width per head)."""
        return states.view(*states.shape[:-1], self.n_heads, -1).transpose(1, 2)


class _Layer(nn.Module):
    """A layer of the encoder, or with attention over the source of the decoder."""

    def __init__(self, config: BergamotConfig, number: int, *, is_decoder: bool) -> None:
        super().__init__()
        width, side = config.d_model, "decoder" if is_decoder else "encoder"
        n_heads = getattr(config, f"{side}_attention_heads")
        inner = getattr(config, f"{side}_ffn_dim")
        if is_decoder and config.decoder_recurrence:
            self.recurrence = Recurrence(width, number)
        else:
            self.self_attn = _Attention(width, n_heads, number)
        self.self_attn_layer_norm = _norm(width)
        if is_decoder:
            self.encoder_attn = _Attention(width, n_heads, number)
            self.encoder_attn_layer_norm = _norm(width)
        self.fc1, self.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)
        self.final_layer_norm = _norm(width)
        self.activation = _ACTIVATIONS[config.activation_function]

    def forward(
        self,
        hidden: torch.Tensor,
        mask: torch.Tensor | None,
        states: torch.Tensor | None = None,
        source_mask: torch.Tensor | None = None,
        cache: EncoderDecoderCache | None = None,
    ) -> torch.Tensor:
        """Return the states after the layer, (n, length, width)."""
        if hasattr(self, "recurrence"):
            change = self.recurrence(hidden, cache)
        else:
            change = self.self_attn(hidden, hidden, mask, cache)
        hidden = self.self_attn_layer_norm(hidden + change)
        if states is not None:
            change = self.encoder_attn(hidden, states, source_mask, cache, is_cross=True)
            hidden = self.encoder_attn_layer_norm(hidden + change)
        change = self.fc2(self.activation(self.fc1(hidden)))
        normed: torch.Tensor = self.final_layer_norm(hidden + change)
        return normed


class _Positions(nn.Module):
    """The table of positions, [sin | cos], which Marian computes and does not store."""

    weight: torch.Tensor

    def __init__(self, n: int, width: int) -> None:
        super().__init__()
        self.size = (n, width)
        self.register_buffer("weight", self.computed(), persistent=False)

    def computed(self) -> torch.Tensor:
        """Return the table, (n, width)."""
        n, width = self.size
        half = width // 2
        # Computed in float64: rounding of the angles of far positions would be seen in fp32.
        steps = torch.arange(half, dtype=torch.float64, device="cpu") * (
            -math.log(10_000) / (half - 1)
        )
        angles = torch.arange(n, dtype=torch.float64, device="cpu")[:, None] * steps.exp()
        return torch.cat([angles.sin(), angles.cos()], dim=-1).float()


class _Stack(nn.Module):
    """The encoder, or the decoder."""

    def __init__(self, config: BergamotConfig, *, is_decoder: bool) -> None:
        super().__init__()
        side = "decoder" if is_decoder else "encoder"
        # Padding, which also starts the decoder, stays a zero vector in training.
        self.embed_tokens = nn.Embedding(
            config.vocab_size, config.d_model, padding_idx=config.pad_token_id
        )
        self.embed_positions = _Positions(config.max_position_embeddings, config.d_model)
        self.embed_scale = math.sqrt(config.d_model)
        self.layers = nn.ModuleList(
            _Layer(config, number, is_decoder=is_decoder)
            for number in range(getattr(config, f"{side}_layers"))
        )

    def embed(self, ids: torch.Tensor, first: int = 0) -> torch.Tensor:
        """Return scaled embeddings with positions; those of padding and the start are zero."""
        embedded: torch.Tensor = self.embed_tokens(ids) * self.embed_scale
        return embedded + self.embed_positions.weight[first : first + ids.shape[1]]


class _Encoder(_Stack):
    main_input_name = "input_ids"

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_options: Any
    ) -> BaseModelOutput:
        """Return the states of the sources under `last_hidden_state`, (n, length, width)."""
        hidden = self.embed(input_ids)
        mask = _additive(attention_mask, hidden.dtype)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return BaseModelOutput(last_hidden_state=hidden)


class _Decoder(_Stack):
    def forward(
        self,
        ids: torch.Tensor,
        states: torch.Tensor,
        attention_mask: torch.Tensor | None,
        cache: EncoderDecoderCache | None,
    ) -> torch.Tensor:
        """Return the last states, (n, length, width)."""
        first = 0 if cache is None else cache.get_seq_length()
        hidden = self.embed(ids, first)
        n = ids.shape[1]
        source_mask = _additive(attention_mask, hidden.dtype)
        causal = torch.full((n, first + n), -torch.inf, device=ids.device).triu_(first + 1)
        for layer in self.layers:
            hidden = layer(hidden, causal.to(hidden.dtype), states, source_mask, cache)
        return hidden


class _Body(nn.Module):
    def __init__(self, config: BergamotConfig) -> None:
        super().__init__()
        self.encoder = _Encoder(config, is_decoder=False)
        self.decoder = _Decoder(config, is_decoder=True)


class BergamotForConditionalGeneration(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    """A student with its projection to the vocabulary."""

    config_class = BergamotConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"
    first_position = 0
    _supports_sdpa = True

    def __init__(self, config: BergamotConfig) -> None:
        super().__init__(config)
        self.model = _Body(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        bias = torch.zeros(1, config.vocab_size)
        bias[0, -1] = -torch.inf  # padding is never produced
        self.register_buffer("final_logits_bias", bias)
        tied = {}
        if config.tie_word_embeddings:
            tied["lm_head.weight"] = "model.decoder.embed_tokens.weight"
        if config.share_encoder_decoder_embeddings:
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
        if self.config.share_encoder_decoder_embeddings:
            self.model.encoder.embed_tokens.weight = shared

    def _init_weights(self, module: nn.Module) -> None:
        """Compute positions again after loading; other weights keep the defaults of torch."""
        if isinstance(module, _Positions):
            with torch.no_grad():
                module.weight.copy_(module.computed())

    def get_encoder(self) -> _Encoder:
        """Return the encoder."""
        return self.model.encoder

    def get_decoder(self) -> _Decoder:
        """Return the decoder."""
        return self.model.decoder

    def get_input_embeddings(self) -> nn.Module:
        """Return the embeddings of the source side."""
        return self.model.encoder.embed_tokens

    def get_output_embeddings(self) -> nn.Module:
        """Return the projection to the vocabulary."""
        return self.lm_head

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.Tensor | None = None,
        encoder_outputs: BaseModelOutput | None = None,
        past_key_values: EncoderDecoderCache | None = None,
        labels: torch.Tensor | None = None,
        use_cache: bool | None = None,
        cache: EncoderDecoderCache | None = None,
        **_options: Any,
    ) -> Seq2SeqLMOutput:
        """Return the logits, and the loss if there are labels.

        Args:
            input_ids: sources, (n, n_source).
            attention_mask: (n, n_source), 0 at padding; None without padding.
            decoder_input_ids: inputs of the decoder, (n, n_target); those of the labels by default.
            labels: (n, n_target), -100 at padding.
        """
        cache = past_key_values if cache is None else cache
        if labels is not None and decoder_input_ids is None:
            decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        if encoder_outputs is None:
            encoder_outputs = self.model.encoder(input_ids, attention_mask)
        hidden = self.model.decoder(
            decoder_input_ids,
            encoder_outputs[0],
            attention_mask,
            cache if use_cache else None,
        )
        logits = self.lm_head(hidden)
        logits = logits + self.final_logits_bias.to(logits.dtype)[..., : logits.shape[-1]]
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())
        return Seq2SeqLMOutput(
            loss=loss,
            logits=logits,
            **{CACHE: cache},
            encoder_last_hidden_state=encoder_outputs[0],
        )

    def prepare_decoder_input_ids_from_labels(self, labels: torch.Tensor) -> torch.Tensor:
        """Return the labels, shifted by one, after the token that starts the decoder."""
        start = torch.full_like(labels[:, :1], self.config.decoder_start_token_id)
        shifted = torch.cat([start, labels[:, :-1]], dim=1)
        return shifted.masked_fill(shifted == -100, self.config.pad_token_id)


def _norm(width: int) -> nn.LayerNorm:
    return nn.LayerNorm(width, eps=1e-9)


def _additive(mask: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor | None:
    """Return a mask that is added to logits, (n, 1, 1, length), -inf at padding."""
    if mask is None or bool(mask.all()):
        return None
    zeros = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    return zeros.masked_fill_(mask == 0, -torch.inf)[:, None, None, :]


AutoModelForSeq2SeqLM.register(BergamotConfig, BergamotForConditionalGeneration, exist_ok=True)
