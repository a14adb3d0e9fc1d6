"""The layers of a transformer with lexical shortcuts: gates, attention, feed-forward.

A model on the Hub carries a copy of this file, so that nothing of cc_hf is imported here but the
configuration beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional
from transformers.cache_utils import EncoderDecoderCache
from transformers.modeling_layers import GradientCheckpointingLayer

from .configuration import LexicalShortcutConfig

__all__ = [
    "Gates",
    "LexicalShortcutDecoderLayer",
    "LexicalShortcutEncoderLayer",
    "ShortcutAttention",
    "gated",
    "sinusoids",
]

_ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
}

Gates = tuple[torch.Tensor | None, torch.Tensor | None]


def gated(
    shortcut: torch.Tensor, hidden: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the mixture of two maps and its gate: r = sigmoid(S + H + b), r S + (1 - r) H.

    These are equations 5.9 to 5.12 of the thesis. The maps of the embeddings, S, and of the states,
    H, are (n, length, width). The mixture has the precision of H, the gate at least fp32.
    """
    dtype = torch.promote_types(hidden.dtype, torch.float32)
    own_map, plain_map = shortcut.to(dtype), hidden.to(dtype)
    gate = torch.sigmoid(own_map + plain_map + bias.to(dtype))
    return (gate * own_map + (1 - gate) * plain_map).to(hidden.dtype), gate


def sinusoids(positions: torch.Tensor, width: int) -> torch.Tensor:
    """Return [sin | cos] of positions, in a last dimension of `width`, in fp32 as fairseq does.

    Examples:
        >>> sinusoids(torch.tensor([0]), 4).tolist()
        [[0.0, 0.0, 1.0, 1.0]]
    """
    half = width // 2
    steps = torch.arange(half, dtype=torch.float32, device=positions.device)
    angles = positions[..., None].float() * torch.exp(steps * -(math.log(10_000) / (half - 1)))
    table = torch.cat([angles.sin(), angles.cos()], dim=-1)
    return functional.pad(table, (0, width % 2))


class ShortcutAttention(nn.Module):
    """Multi-head attention whose keys and values may be mixed with maps of the embeddings.

    Args:
        layer: number of the layer, from 0; keys and values are kept by it.
    """

    def __init__(self, config: LexicalShortcutConfig, part: str, layer: int) -> None:
        super().__init__()
        width, bias = config.d_model, config.attention_bias
        self.shortcut = config.shortcuts_of(part)
        read = 2 * width if self.shortcut == "fusion" else width
        self.k_proj, self.v_proj = (nn.Linear(read, read, bias=bias) for _ in range(2))
        self.q_proj, self.out_proj = (nn.Linear(width, width, bias=bias) for _ in range(2))
        self.has_gates = self.shortcut in ("lexical", "fusion")
        if self.shortcut in ("lexical", "residual"):
            self.sc_k_proj, self.sc_v_proj = (nn.Linear(width, width, bias=bias) for _ in range(2))
        if self.has_gates:
            self.key_gate_bias, self.value_gate_bias = (
                nn.Parameter(torch.zeros(1, 1, width)) for _ in range(2)
            )
        side = "encoder" if part == "encoder" else "decoder"
        self.n_heads = getattr(config, f"{side}_attention_heads")
        self.dropout = config.attention_dropout
        self.is_cross = part == "cross"
        self.layer = layer

    def forward(
        self,
        query: torch.Tensor,
        states: torch.Tensor,
        embeddings: torch.Tensor | None,
        mask: torch.Tensor | None,
        past_key_values: EncoderDecoderCache | None = None,
    ) -> tuple[torch.Tensor, Gates]:
        """Return what is added to the residual stream, (n, length, width), and the gates.

        Gates are None without gates, and where keys and values were kept.

        Args:
            query: what attends, (n, length, width).
            states: what is attended to, (n, n_states, width).
            embeddings: what the shortcuts read, of the same shape as `states`; may be None without
                shortcuts.
            past_key_values: keys and values of the tokens before and of the source, or None.
        """
        gates: Gates = (None, None)
        if (
            past_key_values is not None
            and self.is_cross
            and past_key_values.is_updated.get(self.layer)
        ):
            kept = past_key_values.cross_attention_cache.layers[self.layer]
            keys, values = kept.keys, kept.values
        else:
            mixed_keys, mixed_values, gates = self.keys_and_values(states, embeddings)
            keys, values = self._split(mixed_keys), self._split(mixed_values)
            if past_key_values is not None:
                part = (
                    past_key_values.cross_attention_cache
                    if self.is_cross
                    else past_key_values.self_attention_cache
                )
                # They are kept after mixing, since the embedding of a position never changes.
                keys, values = part.update(keys, values, self.layer)
                if self.is_cross:
                    past_key_values.is_updated[self.layer] = True
        attended = functional.scaled_dot_product_attention(
            self._split(self.q_proj(query)),
            keys,
            values,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
        )
        return self.out_proj(attended.transpose(1, 2).flatten(2)), gates

    def keys_and_values(
        self, states: torch.Tensor, embeddings: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, Gates]:
        """Return keys and values before the heads are split, and their gates."""
        if self.shortcut == "none":
            return self.k_proj(states), self.v_proj(states), (None, None)
        if embeddings is None:
            raise ValueError(
                "encoder_outputs: expected the embeddings of the sources, which shortcut_cross"
                " reads, under `embeddings`; pass on the whole output of the encoder"
            )
        if self.shortcut in ("lexical", "residual"):
            key_maps = self.sc_k_proj(embeddings), self.k_proj(states)
            value_maps = self.sc_v_proj(embeddings), self.v_proj(states)
        else:
            both = torch.cat([embeddings, states], dim=-1)
            key_maps, value_maps = self.k_proj(both).chunk(2, -1), self.v_proj(both).chunk(2, -1)
        if not self.has_gates:
            return key_maps[0] + key_maps[1], value_maps[0] + value_maps[1], (None, None)
        keys, key_gate = gated(*key_maps, self.key_gate_bias)
        values, value_gate = gated(*value_maps, self.value_gate_bias)
        return keys, values, (key_gate, value_gate)

    def _split(self, states: torch.Tensor) -> torch.Tensor:
        """Return the states of each head, (n, heads, length, width per head)."""
        return states.view(*states.shape[:-1], self.n_heads, -1).transpose(1, 2)


class _Layer(GradientCheckpointingLayer):  # type: ignore[misc]
    """What layers of both sides share."""

    def __init__(self, config: LexicalShortcutConfig, side: str, number: int) -> None:
        super().__init__()
        width, inner = config.d_model, getattr(config, f"{side}_ffn_dim")
        self.self_attn = ShortcutAttention(config, side, number)
        self.self_attn_layer_norm = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)
        self.final_layer_norm = nn.LayerNorm(width)
        self.activation = _ACTIVATIONS[config.activation_function]
        self.dropout, self.activation_dropout = config.dropout, config.activation_dropout
        self.normalize_before = config.normalize_before

    def before(self, hidden: torch.Tensor, norm: nn.LayerNorm) -> torch.Tensor:
        """Return the input of a sub-layer, normalised in a pre-norm model."""
        return norm(hidden) if self.normalize_before else hidden

    def after(self, hidden: torch.Tensor, change: torch.Tensor, norm: nn.LayerNorm) -> torch.Tensor:
        """Return the residual sum after a sub-layer, normalised in a post-norm model."""
        hidden = hidden + functional.dropout(change, self.dropout, self.training)
        return hidden if self.normalize_before else norm(hidden)

    def fed_forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the states after the feed-forward part."""
        inner = self.activation(self.fc1(self.before(hidden, self.final_layer_norm)))
        inner = functional.dropout(inner, self.activation_dropout, self.training)
        return self.after(hidden, self.fc2(inner), self.final_layer_norm)


class LexicalShortcutEncoderLayer(_Layer):
    """A layer of the encoder."""

    def forward(
        self, hidden: torch.Tensor, embeddings: torch.Tensor, mask: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        """Return the states after the layer, (n, length, width), and the gates of keys and values.

        With gradient checkpointing, `embeddings` must be an argument, so that their gradient is
        kept.
        """
        normed = self.before(hidden, self.self_attn_layer_norm)
        change, gates = self.self_attn(normed, normed, embeddings, mask)
        hidden = self.after(hidden, change, self.self_attn_layer_norm)
        return self.fed_forward(hidden), *gates


class LexicalShortcutDecoderLayer(_Layer):
    """A layer of the decoder, with attention over the source."""

    def __init__(self, config: LexicalShortcutConfig, side: str, number: int) -> None:
        super().__init__(config, side, number)
        self.encoder_attn = ShortcutAttention(config, "cross", number)
        self.encoder_attn_layer_norm = nn.LayerNorm(config.d_model)

    def forward(
        self,
        hidden: torch.Tensor,
        embeddings: torch.Tensor,
        mask: torch.Tensor | None,
        states: torch.Tensor,
        source_embeddings: torch.Tensor | None,
        source_mask: torch.Tensor | None,
        past_key_values: EncoderDecoderCache | None = None,
    ) -> tuple[torch.Tensor | None, ...]:
        """Return the states after the layer, (n, length, width), and four gates: keys and values of
        self-attention, keys and values of attention over the source.

        Args:
            source_embeddings: embeddings of the sources, or None if nothing reads them.
            past_key_values: keys and values of the tokens before and of the sources, or None.
        """
        normed = self.before(hidden, self.self_attn_layer_norm)
        change, gates = self.self_attn(normed, normed, embeddings, mask, past_key_values)
        hidden = self.after(hidden, change, self.self_attn_layer_norm)
        change, cross_gates = self.encoder_attn(
            self.before(hidden, self.encoder_attn_layer_norm),
            states,
            source_embeddings,
            source_mask,
            past_key_values,
        )
        hidden = self.after(hidden, change, self.encoder_attn_layer_norm)
        return self.fed_forward(hidden), *gates, *cross_gates
