"""fairseq's convolutional model (`fairseq/models/fconv.py` of version 0.12.2) as a model of
transformers. Its weights are those after weight normalisation.

A model on the Hub carries a copy of this file, so that nothing of cc_hf is imported here but the
files beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers.cache_utils import EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from .configuration import ConvS2SConfig
from .translation import TranslationModel

__all__ = ["ConvS2SEncoderOutput", "ConvS2SForConditionalGeneration"]

_HALF = math.sqrt(0.5)  # keeps the variance of a sum
_FIRST_POSITION = 2  # fairseq counts from the row after that of <pad>


@dataclass
class ConvS2SEncoderOutput(BaseModelOutput):  # type: ignore[misc]
    """States of the sources.

    Attributes:
        last_hidden_state: (n, length, width), the keys of attention over the source.
        values: (n, length, width), the values: keys with the embeddings added.
    """

    values: Any = None


class _Stack(nn.Module):
    """Convolutions with gated linear units and residual connections, between two projections."""

    def __init__(
        self, config: ConvS2SConfig, side: str, n_embeddings: int, *, out_width: int
    ) -> None:
        super().__init__()
        width = config.d_model
        layers = getattr(config, f"{side}_convolutions")
        n_positions = config.max_source_positions
        if side == "decoder":
            n_positions = config.max_target_positions
        self.embed_tokens = nn.Embedding(n_embeddings, width, config.pad_token_id)
        self.embed_positions = nn.Embedding(n_positions + _FIRST_POSITION, width)
        channels = [layers[0][0], *(layer[0] for layer in layers)]
        self.fc1 = nn.Linear(width, channels[0])
        self.convolutions = nn.ModuleList()
        self.projections = nn.ModuleList()
        self.kernels = [layer[1] for layer in layers]
        self.residuals = [layer[2] for layer in layers]
        for number, (n_out, kernel, residual) in enumerate(layers):
            n_residual = channels[number + 1 - residual] if residual else n_out
            self.convolutions.append(nn.Conv1d(channels[number], 2 * n_out, kernel))
            self.projections.append(
                nn.Identity() if n_residual == n_out else nn.Linear(n_residual, n_out)
            )
        self.fc2 = nn.Linear(channels[-1], out_width)

    def convolve(self, number: int, states: torch.Tensor) -> torch.Tensor:
        """Return the gated convolution of states (n, length, channels), which are not padded."""
        convolved = self.convolutions[number](states.transpose(1, 2))
        return functional.glu(convolved, dim=1).transpose(1, 2)

    def with_residual(self, states: torch.Tensor, inputs: list[torch.Tensor]) -> torch.Tensor:
        """Return the output of a layer."""
        number = len(inputs) - 1
        if not (residual := self.residuals[number]):
            return states
        kept: torch.Tensor = self.projections[number](inputs[-residual])
        return (states + kept) * _HALF


class ConvS2SEncoder(_Stack):
    """The encoder, with the names of weights that fairseq has."""

    def __init__(self, config: ConvS2SConfig) -> None:
        super().__init__(config, "encoder", config.src_vocab_size, out_width=config.d_model)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **_options: Any
    ) -> ConvS2SEncoderOutput:
        """Return the states of sources (n, length) with their mask, 0 at padding."""
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        mask = attention_mask.long()
        positions = mask.cumsum(1) * mask + _FIRST_POSITION - 1
        embedded = self.embed_tokens(input_ids) + self.embed_positions(positions)
        inputs = [self.fc1(embedded)]
        for number, kernel in enumerate(self.kernels):
            states = inputs[-1] * mask[:, :, None]  # padding counts as zeros
            states = functional.pad(states, (0, 0, (kernel - 1) // 2, kernel // 2))
            inputs.append(self.with_residual(self.convolve(number, states), inputs))
        keys = self.fc2(inputs[-1])
        return ConvS2SEncoderOutput(last_hidden_state=keys, values=(keys + embedded) * _HALF)


class ConvS2SAttention(nn.Module):
    """Attention of one layer of the decoder over the source (section 3.3 of the paper)."""

    def __init__(self, n_channels: int, width: int) -> None:
        super().__init__()
        self.in_projection = nn.Linear(n_channels, width)
        self.out_projection = nn.Linear(width, n_channels)

    def forward(
        self,
        states: torch.Tensor,
        embedded: torch.Tensor,
        encoded: ConvS2SEncoderOutput,
        source_mask: torch.Tensor,
    ) -> torch.Tensor:
        """Return the states with what they attend to, both (n, n_target, n_channels)."""
        queries = (self.in_projection(states) + embedded) * _HALF
        keys: torch.Tensor = encoded.last_hidden_state
        scores = torch.bmm(queries, keys.transpose(1, 2))
        shares = scores.masked_fill(~source_mask[:, None], -torch.inf).softmax(dim=2)
        n_tokens = source_mask.sum(1).to(shares.dtype)
        context = torch.bmm(shares, encoded.values) * n_tokens.sqrt()[:, None, None]
        output: torch.Tensor = (self.out_projection(context) + states) * _HALF
        return output


class ConvS2SDecoder(_Stack):
    """The decoder, whose cache keeps the inputs of each convolution as keys, and no values."""

    def __init__(self, config: ConvS2SConfig) -> None:
        super().__init__(
            config, "decoder", config.vocab_size, out_width=config.decoder_out_embed_dim
        )
        self.attention = nn.ModuleDict(
            {
                str(number): ConvS2SAttention(
                    config.decoder_convolutions[number][0], config.d_model
                )
                for number, attends in enumerate(config.decoder_attention)
                if attends
            }
        )

    def forward(
        self,
        ids: torch.Tensor,
        encoded: ConvS2SEncoderOutput,
        source_mask: torch.Tensor,
        cache: EncoderDecoderCache | None = None,
    ) -> torch.Tensor:
        """Return the states that the projection reads, see `TranslationModel`."""
        n = ids.shape[1]
        first = _FIRST_POSITION + (0 if cache is None else int(cache.get_seq_length()))
        positions = torch.arange(first, first + n, device=ids.device)
        embedded = self.embed_tokens(ids) + self.embed_positions(positions)
        inputs = [self.fc1(embedded)]
        for number, kernel in enumerate(self.kernels):
            states = inputs[-1]
            if cache is not None:
                new = states[:, None]
                kept, _ = cache.self_attention_cache.update(new, new[..., :0], number)
                states = kept[:, 0]
            # Each token sees the `kernel - 1` tokens before it; before the first there are zeros.
            n_seen = n + kernel - 1
            states = states[:, -n_seen:]
            states = functional.pad(states, (0, 0, n_seen - states.shape[1], 0))
            states = self.convolve(number, states)
            if str(number) in self.attention:
                states = self.attention[str(number)](states, embedded, encoded, source_mask)
            inputs.append(self.with_residual(states, inputs))
        output: torch.Tensor = self.fc2(inputs[-1])
        return output


class ConvS2SForConditionalGeneration(TranslationModel):
    """fairseq's convolutional model with its projection to the vocabulary."""

    config_class = ConvS2SConfig

    def __init__(self, config: ConvS2SConfig) -> None:
        super().__init__(config, ConvS2SEncoder(config), ConvS2SDecoder(config), has_bias=True)
