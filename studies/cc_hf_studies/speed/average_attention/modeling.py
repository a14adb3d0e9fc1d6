"""The transformer with an average attention network as a model of transformers, with `generate`.

Zhang et al. 2018, "Accelerating Neural Transformer via an Average Attention Network", section 4:
each layer of the decoder averages its inputs up to the current one in place of self-attention. All
else is Marian. A model on the Hub carries a copy of this file, so that nothing of cc_hf is imported
here but the file beside it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import MarianMTModel
from transformers.activations import ACT2FN
from transformers.cache_utils import CacheLayerMixin, EncoderDecoderCache

from .configuration import AverageAttentionConfig

__all__ = ["AverageAttention", "AverageAttentionForConditionalGeneration", "RunningSum"]


class RunningSum(CacheLayerMixin):  # type: ignore[misc]
    """What a layer keeps of the inputs so far: their sum and their number."""

    is_sliding = False
    is_compileable = False

    def __init__(self, **_options: Any) -> None:
        super().__init__()
        self.n_inputs = 0

    def lazy_initialization(self, *states: torch.Tensor) -> None:
        """Begin with a sum of zeros in the form of the first inputs, (n, length, width)."""
        self.device = states[0].device
        self.keys = self.values = torch.zeros_like(states[0][:, :1], dtype=torch.float32)
        self.is_initialized = True

    def update(self, inputs: torch.Tensor, *_others: Any, **_options: Any) -> torch.Tensor:
        """Add inputs (n, length, width), and return the sum of all, (n, 1, width) in fp32."""
        if not self.is_initialized:
            self.lazy_initialization(inputs)
        self.keys = self.values = self.keys + inputs.float().sum(dim=1, keepdim=True)
        self.n_inputs += inputs.shape[1]
        return self.keys

    def get_seq_length(self, *_options: Any) -> int:
        return self.n_inputs

    def get_mask_sizes(self, query_length: Any, *_options: Any) -> tuple[int, int]:
        """Return the length and the start of the mask, which transformers makes for each step."""
        n = query_length.shape[0] if isinstance(query_length, torch.Tensor) else query_length
        return self.n_inputs + int(n), 0

    def get_max_length(self) -> int:
        """Return -1: there is no largest number of inputs."""
        return -1

    def get_max_cache_shape(self) -> int:
        """Return -1, as `get_max_length`, under the name of older versions of transformers."""
        return -1

    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        """Give each beam the sum of the beam that it continues."""
        if self.is_initialized:
            self.keys = self.values = self.keys.index_select(0, beam_idx.to(self.keys.device))

    def batch_repeat_interleave(self, repeats: int) -> None:
        if self.is_initialized:
            self.keys = self.values = self.keys.repeat_interleave(repeats, dim=0)

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        if self.is_initialized:
            self.keys = self.values = self.keys[indices, ...]

    def reset(self) -> None:
        self.n_inputs, self.is_initialized = 0, False

    def crop(self, *_lengths: int) -> None:
        """Refuse to forget the last inputs, which cannot be told apart in the sum."""
        raise NotImplementedError(
            "a running sum cannot be cropped: use beam search, greedy search or sampling, not"
            " assisted generation"
        )


class AverageAttention(nn.Module):
    """The average attention network of a layer, in place of self-attention.

    g_j = FFN((y_1 + ... + y_j) / j); i_j, f_j = sigmoid(W [y_j; g_j] + b); the result, to which the
    layer adds y_j before it normalises, is i_j * y_j + f_j * g_j.

    Args:
        layer: number of the layer, from 0; sums are kept by it.
    """

    def __init__(self, config: AverageAttentionConfig, layer: int) -> None:
        super().__init__()
        width = config.d_model
        if config.average_ffn:
            self.fc1 = nn.Linear(width, config.inner_width)
            self.fc2 = nn.Linear(config.inner_width, width)
            self.activation = ACT2FN[config.activation_function]
        if config.average_gate:
            self.gates = nn.Linear(2 * width, 2 * width)
        self.activation_dropout = config.activation_dropout
        self.layer = layer

    def forward(
        self,
        hidden_states: torch.Tensor,
        past_key_values: Any = None,
        attention_mask: torch.Tensor | None = None,
        cache: Any = None,
        **_options: Any,
    ) -> tuple[torch.Tensor, None]:
        """Return what is added to the residual stream, (n, length, width), and no weights.

        Targets may be padded on the right, where padding follows all that counts.
        """
        averages = self.averages(hidden_states, past_key_values if cache is None else cache)
        if hasattr(self, "fc1"):
            inner = self.activation(self.fc1(averages))
            inner = nn.functional.dropout(inner, self.activation_dropout, self.training)
            averages = self.fc2(inner)
        if not hasattr(self, "gates"):
            return hidden_states + averages, None
        both = torch.cat([hidden_states, averages], dim=-1)
        input_gate, forget_gate = self.gates(both).sigmoid().chunk(2, dim=-1)
        return input_gate * hidden_states + forget_gate * averages, None

    def averages(self, inputs: torch.Tensor, past_key_values: Any = None) -> torch.Tensor:
        """Return the mean of all inputs up to each, (n, length, width)."""
        n = inputs.shape[1]
        first = 0
        counts = torch.arange(1, n + 1, device=inputs.device, dtype=torch.float32)
        if past_key_values is not None:
            kept = self._kept(past_key_values)
            first = kept.get_seq_length()
            total = kept.update(inputs)
            if n == 1:  # a step of decoding, whose cost does not depend on what came before
                return (total / (first + 1)).to(inputs.dtype)
        # One product with a lower triangle, whose rows are divided by the number of inputs.
        triangle = torch.ones(n, n, device=inputs.device).tril() / (first + counts)[:, None]
        averages = triangle.to(inputs.dtype) @ inputs
        if first:
            before = total - inputs.float().sum(dim=1, keepdim=True)
            averages = averages + (before / (first + counts)[:, None]).to(inputs.dtype)
        return averages

    def _kept(self, past_key_values: Any) -> RunningSum:
        """Return what this layer keeps in a cache, replacing an empty cache of keys and values."""
        if isinstance(past_key_values, EncoderDecoderCache):
            past_key_values = past_key_values.self_attention_cache
        layers = past_key_values.layers
        while len(layers) <= self.layer:
            layers.append(RunningSum())
        if not isinstance(layers[self.layer], RunningSum):
            if layers[self.layer].get_seq_length():
                raise ValueError(
                    "past_key_values: expected a cache that this model filled, got one with keys"
                    " and values"
                )
            layers[self.layer] = RunningSum()
        kept: RunningSum = layers[self.layer]
        return kept


class AverageAttentionForConditionalGeneration(MarianMTModel):  # type: ignore[misc]
    """A Marian model with an average attention network in each layer of the decoder."""

    config_class = AverageAttentionConfig

    def __init__(self, config: AverageAttentionConfig) -> None:
        super().__init__(config)
        for number, layer in enumerate(self.model.decoder.layers):
            layer.self_attn = AverageAttention(config, number)
        self.post_init()  # for the weights that are new
