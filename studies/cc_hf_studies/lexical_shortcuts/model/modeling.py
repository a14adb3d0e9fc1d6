"""The transformer with lexical shortcuts as a model of transformers, with `generate`.

Emelin et al. 2019, "Widening the Representation Bottleneck in Neural Machine Translation with
Lexical Shortcuts", as the authors' fairseq computes it. A model on the Hub carries a copy of this
file, so that nothing of cc_hf is imported here but the files beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import GenerationMixin, PreTrainedModel
from transformers import __version__ as transformers_version
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

from .configuration import LexicalShortcutConfig
from .layers import (
    LexicalShortcutDecoderLayer,
    LexicalShortcutEncoderLayer,
    ShortcutAttention,
    sinusoids,
)

__all__ = [
    "LexicalShortcutEncoderOutput",
    "LexicalShortcutForConditionalGeneration",
    "LexicalShortcutOutput",
]

_TIES_ARE_MAPPED = int(transformers_version.partition(".")[0]) >= 5
_FIRST_POSITION = 2  # fairseq counts from the row after that of <pad>
_OPTIONS = ("output_hidden_states", "output_gates", "return_dict", "cache_position")
# transformers 5.24 has `cache` for what it called `past_key_values` before.
_CACHE = "cache" if "cache" in Seq2SeqLMOutput.__dataclass_fields__ else "past_key_values"


@dataclass
class LexicalShortcutEncoderOutput(BaseModelOutput):  # type: ignore[misc]
    """States of the sources.

    Attributes:
        last_hidden_state: (n, length, width), after the last norm.
        hidden_states: input of the first layer, then the output of each, if they were asked for.
        embeddings: E, the input of the first layer, which attention over the source may read.
        attention_mask: (n, length), False at padding, for a decoder that is given no mask.
        key_gates, value_gates: gates of each layer, (n, length, width) in fp32, if asked for.
    """

    embeddings: torch.Tensor | None = None
    attention_mask: torch.Tensor | None = None
    key_gates: tuple[torch.Tensor, ...] | None = None
    value_gates: tuple[torch.Tensor, ...] | None = None


@dataclass
class LexicalShortcutOutput(Seq2SeqLMOutput):  # type: ignore[misc]
    """Output of the whole model: that of transformers, and gates if they were asked for.

    Gates are those of each layer, (n, length, width) in fp32, 1 where only the shortcut counts;
    None for a part of the model without shortcuts. Those of the decoder are at the positions of
    this pass; "cross" is attention over the source.
    """

    encoder_key_gates: tuple[torch.Tensor, ...] | None = None
    encoder_value_gates: tuple[torch.Tensor, ...] | None = None
    decoder_key_gates: tuple[torch.Tensor, ...] | None = None
    decoder_value_gates: tuple[torch.Tensor, ...] | None = None
    cross_key_gates: tuple[torch.Tensor, ...] | None = None
    cross_value_gates: tuple[torch.Tensor, ...] | None = None


class _Stack(nn.Module):
    """The encoder, or the decoder."""

    def __init__(
        self,
        config: LexicalShortcutConfig,
        side: str,
        n_embeddings: int,
        layer_class: type[nn.Module],
    ) -> None:
        super().__init__()
        width = config.d_model
        self.embed_tokens = nn.Embedding(n_embeddings, width, padding_idx=config.pad_token_id)
        self.embed_scale = math.sqrt(width) if config.scale_embedding else 1.0
        if config.layernorm_embedding:
            self.layernorm_embedding = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            layer_class(config, side, number) for number in range(getattr(config, f"{side}_layers"))
        )
        if config.normalize_before:
            self.layer_norm = nn.LayerNorm(width)
        self.dropout = config.dropout
        self.pad_token_id = config.pad_token_id
        self.is_lexical = config.shortcut_source == "lexical"

    def embed(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Return E, (n, length, width): embeddings with positions, after norm and dropout.

        Args:
            positions: (n, length), from 0; below 0 at padding.
        """
        embedded = self.embed_tokens(ids)
        table = sinusoids(positions + _FIRST_POSITION, embedded.shape[-1])
        table = table.masked_fill((positions < 0)[..., None], 0.0)
        embedded = self.embed_scale * embedded + table.to(embedded.device, embedded.dtype)
        if hasattr(self, "layernorm_embedding"):
            embedded = self.layernorm_embedding(embedded)
        # Dropout of embeddings is drawn here only, once per pass: all layers read the same E.
        return functional.dropout(embedded, self.dropout, self.training)

    def shortcut_input(self, inputs: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return what the shortcuts of the next layer read."""
        # This is E, or in non-lexical models the output of the layer two below. E stands for layers
        # that do not exist.
        return inputs[0] if self.is_lexical else inputs[max(0, len(inputs) - 2)]

    def finished(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the last states after the norm that ends a pre-norm stack."""
        return self.layer_norm(hidden) if hasattr(self, "layer_norm") else hidden


class LexicalShortcutEncoder(_Stack):
    """The encoder."""

    main_input_name = "input_ids"

    def __init__(self, config: LexicalShortcutConfig) -> None:
        super().__init__(config, "encoder", config.vocab_size, LexicalShortcutEncoderLayer)

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        output_hidden_states: bool | None = None,
        output_gates: bool | None = None,
        **_options: Any,
    ) -> LexicalShortcutEncoderOutput:
        """Return the states of sources (n, length) that are padded on the left or on the right.

        A mask of None is 0 at the token of padding.
        """
        real = input_ids != self.pad_token_id if attention_mask is None else attention_mask != 0
        embeddings = self.embed(input_ids, _positions(real))
        embeddings = embeddings * real[..., None].to(embeddings.device, embeddings.dtype)
        mask = _additive(real[:, None, None, :], embeddings.dtype)
        inputs, gates = [embeddings], []
        for layer in self.layers:
            hidden, *layer_gates = layer(inputs[-1], self.shortcut_input(inputs), mask)
            inputs.append(hidden)
            gates.append(layer_gates)
        key_gates, value_gates = _by_kind(gates, output_gates, n=2)
        return LexicalShortcutEncoderOutput(
            last_hidden_state=self.finished(inputs[-1]),
            hidden_states=tuple(inputs) if output_hidden_states else None,
            embeddings=embeddings,
            attention_mask=real,
            key_gates=key_gates,
            value_gates=value_gates,
        )


class LexicalShortcutDecoder(_Stack):
    """The decoder."""

    def __init__(self, config: LexicalShortcutConfig) -> None:
        super().__init__(config, "decoder", config.tgt_vocab_size, LexicalShortcutDecoderLayer)
        self.starts_with_pad = config.decoder_start_token_id == config.pad_token_id

    def forward(
        self,
        ids: torch.Tensor,
        attention_mask: torch.Tensor | None,
        encoded: LexicalShortcutEncoderOutput,
        source_mask: torch.Tensor | None,
        past_key_values: EncoderDecoderCache | None = None,
    ) -> tuple[torch.Tensor, list[torch.Tensor], list[list[torch.Tensor | None]]]:
        """Return the last states, the input of every layer with the output of the last, and four
        gates of every layer.

        Args:
            attention_mask: (n, length), with the tokens before if some are kept, 0 at padding; None
                for 0 at the token of padding, unless the decoder starts with it.
        """
        first = 0 if past_key_values is None else int(past_key_values.get_seq_length())
        n = ids.shape[1]
        real = self._real(ids, attention_mask, first)
        embeddings = self.embed(ids, _positions(real)[:, first:])
        causal = torch.ones(n, first + n, dtype=torch.bool, device=ids.device).tril(first)
        # Padding sees itself, so that no row of the softmax is empty in any precision.
        seen = causal & (real[:, None, :] | causal.triu(first))
        mask = _additive(seen[:, None], embeddings.dtype)
        inputs, gates = [embeddings], []
        for layer in self.layers:
            hidden, *layer_gates = layer(
                inputs[-1],
                self.shortcut_input(inputs),
                mask,
                encoded.last_hidden_state,
                encoded.embeddings,
                source_mask,
                past_key_values=past_key_values,
            )
            inputs.append(hidden)
            gates.append(layer_gates)
        return self.finished(inputs[-1]), inputs, gates

    def _real(
        self, ids: torch.Tensor, attention_mask: torch.Tensor | None, first: int
    ) -> torch.Tensor:
        """Return which tokens, those before included, are no padding: (n, first + length)."""
        n, length = ids.shape
        if attention_mask is not None:
            if attention_mask.shape != (n, first + length):
                raise ValueError(
                    f"decoder_attention_mask: expected the shape {(n, first + length)}, tokens"
                    f" before included, got {tuple(attention_mask.shape)}"
                )
            return attention_mask != 0
        kept = torch.ones(n, first, dtype=torch.bool, device=ids.device)
        new = torch.ones_like(ids, dtype=torch.bool)
        if not self.starts_with_pad:
            new = ids != self.pad_token_id
        return torch.cat([kept, new], dim=1)


class _Body(nn.Module):
    """Encoder and decoder."""

    def __init__(self, config: LexicalShortcutConfig) -> None:
        super().__init__()
        self.encoder = LexicalShortcutEncoder(config)
        self.decoder = LexicalShortcutDecoder(config)


class LexicalShortcutForConditionalGeneration(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    """A transformer with lexical shortcuts and its projection to the vocabulary."""

    config_class = LexicalShortcutConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"
    supports_gradient_checkpointing = True
    accepts_loss_kwargs = False  # so that the Trainer averages over accumulated batches
    _supports_sdpa = True
    _no_split_modules = [  # noqa: RUF012 (transformers reads it from the class)
        "LexicalShortcutEncoderLayer",
        "LexicalShortcutDecoderLayer",
    ]

    def __init__(self, config: LexicalShortcutConfig) -> None:
        super().__init__(config)
        self.model = _Body(config)
        self.lm_head = nn.Linear(config.d_model, config.tgt_vocab_size, bias=False)
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

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Initialise a module as the authors' fairseq does."""
        # Functions of `nn.init` leave weights alone that were loaded.
        if isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding) or module is self.lm_head:
            weight = module.weight
            nn.init.normal_(weight, std=self.config.d_model**-0.5)
            pad = getattr(module, "padding_idx", None)
            if pad is not None and not getattr(weight, "_is_hf_initialized", False):
                weight[pad] = 0.0
        elif isinstance(module, nn.Linear):
            module.reset_parameters()
        elif isinstance(module, ShortcutAttention):
            for name, weight in module.named_parameters():
                if name.endswith("proj.weight"):
                    gain = 1.0 if name == "out_proj.weight" else 2**-0.5
                    nn.init.xavier_uniform_(weight, gain=gain)
            if module.out_proj.bias is not None:
                nn.init.zeros_(module.out_proj.bias)
            if module.has_gates:
                nn.init.xavier_uniform_(module.key_gate_bias)
                nn.init.xavier_uniform_(module.value_gate_bias)

    def get_encoder(self, *_arguments: Any, **_options: Any) -> LexicalShortcutEncoder:
        return self.model.encoder

    def get_decoder(self) -> LexicalShortcutDecoder:
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
        decoder_attention_mask: torch.Tensor | None = None,
        encoder_outputs: Any = None,
        past_key_values: EncoderDecoderCache | None = None,
        labels: torch.Tensor | None = None,
        use_cache: bool | None = None,
        cache: EncoderDecoderCache | None = None,
        **options: Any,
    ) -> Any:
        """Return the logits, and the loss if there are labels.

        Args:
            input_ids: sources, (n, n_source), padded on the left or on the right.
            attention_mask: (n, n_source), 0 at padding; None for 0 at the token of padding, or as
                `encoder_outputs` say.
            decoder_input_ids: inputs of the decoder, (n, n_target); those of the labels by default.
            decoder_attention_mask: (n, n_target), with the tokens before if some are kept, 0 at
                padding; None for 0 at the token of padding, unless the decoder starts with it.
            labels: (n, n_target), -100 at padding.
            options: output_hidden_states, for the input of the first layer (E) and the output of
                every layer, before the norm that ends a pre-norm stack; output_gates;
                return_dict, False for a tuple; cache_position, which is not needed.
        """
        if unknown := sorted(set(options) - set(_OPTIONS)):
            raise TypeError(f"unexpected options {', '.join(unknown)}; known are {_OPTIONS}")
        with_states = options.get("output_hidden_states")
        with_states = self.config.output_hidden_states if with_states is None else with_states
        with_gates = options.get("output_gates")
        if labels is not None and decoder_input_ids is None:
            decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        if decoder_input_ids is None:
            raise ValueError("decoder_input_ids: expected inputs of the decoder, or labels")
        encoded = _encoder_output(encoder_outputs)
        if encoded is None:
            encoded = self.model.encoder(input_ids, attention_mask, with_states, with_gates)
        kept = past_key_values if cache is None else cache
        cache = self._cache(kept, labels, use_cache)
        attention_mask = encoded.attention_mask if attention_mask is None else attention_mask
        source_mask = (
            None
            if attention_mask is None
            else _additive(attention_mask[:, None, None, :] != 0, encoded.last_hidden_state.dtype)
        )
        hidden, states, gates = self.model.decoder(
            decoder_input_ids, decoder_attention_mask, encoded, source_mask, cache
        )
        logits = self.lm_head(hidden)
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(
                logits.flatten(0, 1).float(), labels.flatten().to(logits.device)
            )
        key_gates, value_gates, cross_key_gates, cross_value_gates = _by_kind(
            gates, with_gates, n=4
        )
        output = LexicalShortcutOutput(
            loss=loss,
            logits=logits,
            **{_CACHE: cache},
            decoder_hidden_states=tuple(states) if with_states else None,
            encoder_last_hidden_state=encoded.last_hidden_state,
            encoder_hidden_states=encoded.hidden_states if with_states else None,
            encoder_key_gates=encoded.key_gates if with_gates else None,
            encoder_value_gates=encoded.value_gates if with_gates else None,
            decoder_key_gates=key_gates,
            decoder_value_gates=value_gates,
            cross_key_gates=cross_key_gates,
            cross_value_gates=cross_value_gates,
        )
        return output.to_tuple() if options.get("return_dict") is False else output

    def _cache(
        self,
        past_key_values: EncoderDecoderCache | None,
        labels: torch.Tensor | None,
        use_cache: bool | None,
    ) -> EncoderDecoderCache | None:
        """Return the cache of this pass, or None."""
        if use_cache is None:
            use_cache = self.config.use_cache and labels is None and not self.training
        if not use_cache:
            return None
        if past_key_values is None:
            return EncoderDecoderCache(DynamicCache(), DynamicCache())
        if not isinstance(past_key_values, EncoderDecoderCache) or past_key_values.is_compileable:
            raise ValueError(
                "past_key_values: expected an EncoderDecoderCache of two DynamicCaches, got"
                f" {type(past_key_values).__name__}; leave out cache_implementation"
            )
        return past_key_values

    def prepare_inputs_for_generation(self, input_ids: torch.Tensor, **options: Any) -> Any:
        """Return the inputs of one step of `generate`, with the mask of padding in all tokens."""
        # A step sees only its last token, so that padding on the left of a given beginning would be
        # lost.
        if options.get("decoder_attention_mask") is None and (
            self.config.decoder_start_token_id != self.config.pad_token_id
        ):
            options["decoder_attention_mask"] = (input_ids != self.config.pad_token_id).long()
        return super().prepare_inputs_for_generation(input_ids, **options)

    def prepare_decoder_input_ids_from_labels(self, labels: torch.Tensor) -> torch.Tensor:
        """Return the labels, shifted by one, after the token that starts the decoder."""
        start = torch.full_like(labels[:, :1], self.config.decoder_start_token_id)
        shifted = torch.cat([start, labels[:, :-1]], dim=1)
        return shifted.masked_fill(shifted == -100, self.config.pad_token_id)


def _encoder_output(known: Any) -> LexicalShortcutEncoderOutput | None:
    """Return an output of the encoder that was passed on, as one of this model."""
    if known is None or isinstance(known, LexicalShortcutEncoderOutput):
        return known
    if isinstance(known, (tuple, list)):
        return LexicalShortcutEncoderOutput(last_hidden_state=known[0])
    return LexicalShortcutEncoderOutput(**known)


def _positions(real: torch.Tensor) -> torch.Tensor:
    """Return positions from 0 that skip padding, which is far below 0."""
    counted = real.long().cumsum(dim=1) - 1
    return counted.masked_fill(~real, -_FIRST_POSITION)


def _additive(real: torch.Tensor, dtype: torch.dtype) -> torch.Tensor | None:
    """Return a mask that is added to logits, of the shape of `real`; None if everything is real."""
    if bool(real.all()):
        return None
    zeros = torch.zeros(real.shape, dtype=dtype, device=real.device)
    # The lowest finite number keeps a source of padding alone from NaN.
    return zeros.masked_fill_(~real, torch.finfo(dtype).min)


def _by_kind(
    gates: Sequence[Sequence[torch.Tensor | None]], wanted: bool | None, *, n: int
) -> list[tuple[torch.Tensor, ...] | None]:
    """Return the gates of all layers by kind; None if not asked for or lacking in a layer."""
    kinds = [tuple(gate for gate in kind if gate is not None) for kind in zip(*gates, strict=True)]
    return [kind if wanted and kind else None for kind in kinds] or [None] * n
