"""Teacher forcing on a CPU, faster than the model's own forward pass: the same arithmetic, from the same weights, with less of everything else.

Each distinct source is encoded once, at its own length; its states are kept without padding. Products run in oneDNN, in fp32 or in bf16 with the
residual stream in fp32. Of the vocabulary only the log-sum-exp is kept, tile by tile; the logit of the token itself is computed exactly. For the
encoder-decoders of transformers that share this plan: Marian, FSMT, M2M100 (NLLB), mBART and BART.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from cc_hf.evaluators.batching import plan_batches

__all__ = ["PACKED_FAMILIES", "PackedModel"]

#: model_type -> row of the position table that the first token has
PACKED_FAMILIES = {"marian": 0, "bart": 2, "mbart": 2, "m2m_100": 2, "fsmt": 2}
_ACCURATE = 1e-3  # of sums of 256 products of standard normal numbers; bf16 is off by 0.1
_TILE = 1024  # columns of the vocabulary at a time

_Linear = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class _Attention:
    """`inputs`: one product for queries, keys and values, or for keys and values (`queries` then stands apart)."""

    inputs: _Linear
    output: _Linear
    norm: nn.LayerNorm
    queries: _Linear | None = None


@dataclass(frozen=True)
class _Layer:
    self_attention: _Attention
    cross_attention: _Attention | None
    fc1: _Linear
    fc2: _Linear
    norm: nn.LayerNorm


@dataclass(frozen=True)
class _Stack:
    """An encoder or a decoder. `before`, `after`: norms of the embeddings and of the last states, where the model has them."""

    embed: Callable[[torch.Tensor], torch.Tensor]
    positions: torch.Tensor
    before: nn.LayerNorm | None
    layers: tuple[_Layer, ...]
    after: nn.LayerNorm | None


class PackedModel:
    """A seq2seq model of one of PACKED_FAMILIES, on the CPU, in fp32.

    Args:
        model: of transformers, in eval mode; its parameters keep their values.
        bf16: products in bf16; False: all in fp32.

    `n_positions`: the longest source or target that its tables of positions have.
    """

    def __init__(self, model: Any, *, bf16: bool) -> None:
        config = model.config
        self.bf16 = bf16
        self.dtype = torch.bfloat16 if bf16 else torch.float32
        self.n_heads = (config.encoder_attention_heads, config.decoder_attention_heads)
        self.pre_norm = config.model_type in ("mbart", "m2m_100")
        self.activation = _activation(config.activation_function)
        first = PACKED_FAMILIES[config.model_type]
        encoder, decoder = model.get_encoder(), model.get_decoder()
        self.encoder, self.decoder = (self._stack(part, first) for part in (encoder, decoder))
        self.n_positions = min(len(self.encoder.positions), len(self.decoder.positions))
        head = decoder.output_projection if config.model_type == "fsmt" else model.lm_head
        bias = getattr(model, "final_logits_bias", None)
        self.head_weight = head.weight.detach()
        self.head_bias = torch.zeros(len(self.head_weight)) if bias is None else bias.detach().flatten()
        tiles = [slice(start, start + _TILE) for start in range(0, len(self.head_weight), _TILE)]
        self.tiles = [self._linear(self.head_weight[tile], self.head_bias[tile]) for tile in tiles]

    def logprobs(
        self, sources: Sequence[Sequence[int]], inputs: Sequence[Sequence[int]], labels: Sequence[Sequence[int]], *, n_uncounted: int = 0, batch_tokens: int
    ) -> list[npt.NDArray[np.float64]]:
        """Per pair of one batch the natural-log probabilities of its labels behind decoder inputs, under its source.

        Args:
            sources, inputs, labels: token ids, as many rows of each; inputs and labels of a row are of equal length.
            n_uncounted: so many labels at the start of each row are left out.
            batch_tokens: padded source tokens that are encoded together.
        """
        with torch.inference_mode(), fast_exact_products():
            states, places = self._encode(sources, batch_tokens)
            found = self._decode(states, [places[tuple(source)] for source in sources], inputs, labels, n_uncounted=n_uncounted)
        return np.split(found.double().numpy(), np.cumsum([len(row) - n_uncounted for row in labels])[:-1])

    def _encode(self, sources: Sequence[Sequence[int]], batch_tokens: int) -> tuple[torch.Tensor, dict[tuple[int, ...], tuple[int, int]]]:
        """The states of all distinct sources one after the other, (tokens, width), and where each stands: first row and number of rows."""
        distinct = sorted({tuple(source) for source in sources}, key=lambda source: (len(source), source))
        found, places, at = [], {}, 0
        for batch in plan_batches([len(source) for source in distinct], [0] * len(distinct), batch_tokens=batch_tokens):
            rows = [distinct[i] for i in batch]
            ids, real = _pad(rows)
            hidden = self._embed(self.encoder, ids)
            mask = _additive(real, self.dtype)
            for layer in self.encoder.layers:
                hidden = self._self_attention(layer.self_attention, hidden, self.n_heads[0], mask=mask)
                hidden = self._feed_forward(layer, hidden)
            if self.encoder.after is not None:
                hidden = self.encoder.after(hidden)
            found.append(self._cast(hidden[real]))
            for row in rows:
                places[row] = (at, len(row))
                at += len(row)
        return torch.cat(found), places

    def _decode(
        self, states: torch.Tensor, places: Sequence[tuple[int, int]], inputs: Sequence[Sequence[int]], labels: Sequence[Sequence[int]], *, n_uncounted: int
    ) -> torch.Tensor:
        """Log-probabilities of all counted labels, row by row, (tokens,)."""
        ids, real = _pad(inputs)
        wanted, _ = _pad(labels)
        width = max(n for _, n in places)
        rows = torch.cat([torch.arange(start, start + n) for start, n in places])
        memory = states[rows]
        real_source = torch.arange(width) < torch.tensor([n for _, n in places])[:, None]
        slots = torch.where(real_source, real_source.flatten().cumsum(0).view_as(real_source), 0)  # 0: a row of zeros
        mask = _additive(real_source, self.dtype)
        causal = torch.full((ids.shape[1],) * 2, -torch.inf, dtype=self.dtype).triu_(1)
        hidden = self._embed(self.decoder, ids)
        for layer in self.decoder.layers:
            hidden = self._self_attention(layer.self_attention, hidden, self.n_heads[1], mask=causal)
            hidden = self._cross_attention(layer, hidden, memory, slots, mask)
            hidden = self._feed_forward(layer, hidden)
        if self.decoder.after is not None:
            hidden = self.decoder.after(hidden)
        counted = real.clone()
        counted[:, :n_uncounted] = False
        return self._logprobs(hidden[counted], wanted[counted])

    def _logprobs(self, states: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        chosen: torch.Tensor = (states * self.head_weight[labels]).sum(-1) + self.head_bias[labels]
        cast = self._cast(states)
        total = torch.stack([_logsumexp(tile(cast)) for tile in self.tiles]).logsumexp(0)
        return chosen - total

    def _embed(self, stack: _Stack, ids: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = stack.embed(ids) + stack.positions[: ids.shape[1]]
        if stack.before is not None:
            hidden = stack.before(hidden)
        return hidden

    def _self_attention(self, block: _Attention, hidden: torch.Tensor, n_heads: int, *, mask: torch.Tensor | None) -> torch.Tensor:
        given = block.norm(hidden) if self.pre_norm else hidden
        queries, keys, values = (_heads(part, n_heads) for part in block.inputs(self._cast(given)).chunk(3, dim=-1))
        return self._add(block, hidden, _attend(queries, keys, values, mask))

    def _cross_attention(self, layer: _Layer, hidden: torch.Tensor, memory: torch.Tensor, slots: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        block = layer.cross_attention
        if block is None or block.queries is None:
            raise TypeError("a decoder layer has attention over the source")
        given = block.norm(hidden) if self.pre_norm else hidden
        queries = _heads(block.queries(self._cast(given)), self.n_heads[1])
        both = block.inputs(memory)
        both = torch.cat([both.new_zeros(1, both.shape[1]), both])[slots]
        keys, values = (_heads(part, self.n_heads[1]) for part in both.chunk(2, dim=-1))
        return self._add(block, hidden, _attend(queries, keys, values, mask))

    def _add(self, block: _Attention, hidden: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
        added = hidden + block.output(found.transpose(1, 2).flatten(2))
        return self._after(block.norm, added)

    def _feed_forward(self, layer: _Layer, hidden: torch.Tensor) -> torch.Tensor:
        given = layer.norm(hidden) if self.pre_norm else hidden
        return self._after(layer.norm, hidden + layer.fc2(self.activation(layer.fc1(self._cast(given)))))

    def _after(self, norm: nn.LayerNorm, added: torch.Tensor) -> torch.Tensor:
        if self.pre_norm:
            return added
        found: torch.Tensor = norm(added)
        return found

    def _cast(self, states: torch.Tensor) -> torch.Tensor:
        return states.bfloat16() if self.bf16 else states

    def _stack(self, part: Any, first: int) -> _Stack:
        scaled = hasattr(part.embed_tokens, "embed_scale")  # some embeddings scale themselves
        scale = 1.0 if scaled else float(part.embed_scale)
        positions = part.embed_positions.weight.detach() if hasattr(part.embed_positions, "weight") else part.embed_positions.weights.detach()
        return _Stack(
            embed=lambda ids: part.embed_tokens(ids) * scale,
            positions=positions[first:],
            before=getattr(part, "layernorm_embedding", None),
            layers=tuple(self._layer(layer) for layer in part.layers),
            after=getattr(part, "layer_norm", None),
        )

    def _layer(self, layer: Any) -> _Layer:
        own, cross = layer.self_attn, getattr(layer, "encoder_attn", None)
        projections = (own.q_proj, own.k_proj, own.v_proj)
        attention = _Attention(self._joined(*projections), self._joined(own.out_proj), layer.self_attn_layer_norm)
        over_source = None
        if cross is not None:
            over_source = _Attention(self._joined(cross.k_proj, cross.v_proj), self._joined(cross.out_proj), layer.encoder_attn_layer_norm, self._joined(cross.q_proj))
        return _Layer(attention, over_source, self._joined(layer.fc1), self._joined(layer.fc2), layer.final_layer_norm)

    def _joined(self, *modules: nn.Linear) -> _Linear:
        """One product for modules that take the same input.

        In fp32 the modules' own weights become parts of the joint one, so that nothing is held twice.
        """
        if len(modules) == 1:
            return self._linear(modules[0].weight, modules[0].bias)
        weight = torch.cat([module.weight.detach() for module in modules])
        if not self.bf16:
            for module, part in zip(modules, torch.split(weight, [len(module.weight) for module in modules]), strict=True):
                module.weight.data = part
        biases = [torch.zeros(len(module.weight)) if module.bias is None else module.bias.detach() for module in modules]
        return self._linear(weight, torch.cat(biases))

    def _linear(self, weight: torch.Tensor, bias: torch.Tensor | None) -> _Linear:
        own, shift = weight.detach().to(self.dtype), None if bias is None else bias.detach().to(self.dtype)
        return lambda states: functional.linear(states, own, shift)


@contextlib.contextmanager
def fast_exact_products() -> Iterator[None]:
    """Within it fp32 products run in oneDNN where that is as accurate as fp32 is; on some machines it is twice as fast as the default library.

    torch reaches it through the permission to use bf16, which a processor with matrix units (AMX) would take up: then nothing is changed.
    """
    with _bf16_permitted() if _onednn_is_accurate() else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def _bf16_permitted() -> Iterator[None]:
    setting: Any = getattr(torch.backends.mkldnn, "matmul", None)
    if not hasattr(setting, "fp32_precision"):
        yield  # an older torch
        return
    before = setting.fp32_precision
    setting.fp32_precision = "bf16"
    try:
        yield
    finally:
        setting.fp32_precision = before


@cache
def _onednn_is_accurate() -> bool:
    """Whether a product under that permission has fp32's accuracy on this machine, tried once."""
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(256, 256, generator=generator) for _ in range(2))
    try:
        with _bf16_permitted():
            found = left @ right
    except RuntimeError:
        return False
    return bool((found - left.double() @ right.double()).abs().max() < _ACCURATE)


def _logsumexp(logits: torch.Tensor) -> torch.Tensor:
    """Of each row, in fp32. log_softmax does in one pass over the logits what logsumexp does in four: it is the difference in any column."""
    return logits[:, 0].float() - functional.log_softmax(logits, dim=-1, dtype=torch.float32)[:, 0]


def _attend(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Attention of short sequences, (rows, heads, tokens, width); `mask` is added to the logits."""
    logits = (queries * queries.shape[-1] ** -0.5) @ keys.transpose(-1, -2)
    if mask is not None:
        logits = logits.add_(mask)
    found: torch.Tensor = logits.softmax(-1) @ values
    return found


def _additive(real: torch.Tensor, dtype: torch.dtype) -> torch.Tensor | None:
    """(rows, 1, 1, tokens): -inf where there is no token; None where there is no such place."""
    if real.all():
        return None
    return torch.zeros(real.shape, dtype=dtype).masked_fill_(~real, -torch.inf)[:, None, None, :]


def _heads(states: torch.Tensor, n_heads: int) -> torch.Tensor:
    return states.view(*states.shape[:-1], n_heads, -1).transpose(1, 2)


def _pad(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids padded by 0 at the right, and where the real ones are, (rows, longest)."""
    lengths = torch.tensor([len(row) for row in rows])
    real = torch.arange(int(lengths.max())) < lengths[:, None]
    ids = torch.zeros(real.shape, dtype=torch.long)
    ids[real] = torch.tensor([i for row in rows for i in row])
    return ids, real


def _activation(name: str) -> Callable[[torch.Tensor], torch.Tensor]:
    found: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"relu": functional.relu, "gelu": functional.gelu, "swish": functional.silu, "silu": functional.silu}
    return found[name]
