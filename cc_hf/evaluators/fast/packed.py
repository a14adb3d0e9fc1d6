"""Teacher forcing that is faster than the model's own forward pass, with the same weights.

It supports Marian, FSMT, M2M100 (NLLB), mBART and BART of transformers, and models that have a
`first_position`, the row of the first token in their table of positions. Their decoders may have
recurrences (SSRU) in place of self-attention. Tokens are concatenated without padding, which is
added for attention only. Products are in fp32, bf16 or int8; the residual stream, norms and
softmax are in fp32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.fast.arithmetic import (
    ARITHMETICS,
    Product,
    fast_exact_products,
    in_fp32,
)
from cc_hf.evaluators.fast.attention import attend, heads
from cc_hf.evaluators.fast.rows import PackedRows, joined_ids, real_positions, slots_of
from cc_hf.evaluators.fast.vocabulary import Vocabulary

__all__ = ["ACTIVATIONS", "PACKED_FAMILIES", "PackedModel", "first_position", "n_positions"]

#: model_type -> row of the first token in the table of positions. fairseq counts from behind the id
#: of padding, which is 1, and the classes for its models keep the unused rows.
PACKED_FAMILIES = {"marian": 0, "bart": 2, "mbart": 2, "m2m_100": 2, "fsmt": 2}
_BLOCK_ROWS = 512  # rows at a time in the feed-forward part of a layer, whose inner states are wide
# Lengths of padded sources are rounded up to this, so that shapes recur (rows.py says why they
# should). Those of translations are not: the variants of a source share theirs, and rows of one
# length need no padding at all.
_SOURCE_STEP = 4


@dataclass(frozen=True)
class _Attention:
    """Attention with its norm."""

    # One product for queries, keys and values, or for keys and values if `queries` is given.
    inputs: Product
    output: Product
    norm: nn.LayerNorm
    queries: Product | None = None


@dataclass(frozen=True)
class _Recurrence:
    """An SSRU with its norm."""

    # One product for gates and candidates, of which `states` makes all states.
    inputs: Product
    norm: nn.LayerNorm
    states: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class _Layer:
    self_attention: _Attention | _Recurrence
    cross_attention: _Attention | None
    fc1: Product
    fc2: Product
    norm: nn.LayerNorm


@dataclass(frozen=True)
class _Stack:
    """An encoder or a decoder."""

    embed: Callable[[torch.Tensor], torch.Tensor]
    positions: torch.Tensor
    # Norms of the embeddings (`before`) and of the last states (`after`), or None.
    before: nn.LayerNorm | None
    layers: tuple[_Layer, ...]
    after: nn.LayerNorm | None


class PackedModel:
    """The faster pass of an encoder and decoder with a `first_position` and weights in fp32."""

    def __init__(self, model: Any, *, mode: str) -> None:
        config = model.config
        self.mode = mode
        self.arithmetic = ARITHMETICS[mode]
        self.device = model.device
        self.n_heads = (config.encoder_attention_heads, config.decoder_attention_heads)
        # By the class, which has its norms in one place; no configuration says where.
        self.pre_norm = config.model_type in ("mbart", "m2m_100")
        self.is_relu = config.activation_function == "relu"
        self.activation = ACTIVATIONS[config.activation_function]
        first = first_position(model) or 0
        encoder, decoder = model.get_encoder(), model.get_decoder()
        with torch.no_grad():
            self.encoder, self.decoder = (self._stack(part, first) for part in (encoder, decoder))
            head = decoder.output_projection if config.model_type == "fsmt" else model.lm_head
            self.vocabulary = Vocabulary(
                head.weight.detach(), _head_bias(model), arithmetic=self.arithmetic
            )

    def logprobs(
        self,
        sources: Sequence[Sequence[int]],
        inputs: Sequence[Sequence[int]],
        labels: Sequence[Sequence[int]],
        *,
        n_uncounted: int = 0,
        batch_tokens: int,
    ) -> list[npt.NDArray[np.float64]]:
        """Return the natural logarithms of the labels' probabilities, one float64 array per pair.

        Args:
            batch_tokens: largest number of source tokens that are encoded together, padding
                included.
        """
        with torch.inference_mode(), fast_exact_products():
            states, spans = self._encode(sources, batch_tokens)
            logprobs = self._decode(
                states,
                [spans[tuple(source)] for source in sources],
                inputs,
                labels,
                n_uncounted=n_uncounted,
            )
        # The first `n_uncounted` labels of a row, such as a target language, are given and not
        # chosen, so that no score counts them.
        ends = np.cumsum([len(row) - n_uncounted for row in labels])
        return np.split(logprobs.cpu().double().numpy(), ends[:-1])

    def _encode(
        self, sources: Sequence[Sequence[int]], batch_tokens: int
    ) -> tuple[torch.Tensor, dict[tuple[int, ...], tuple[int, int]]]:
        """Return states (tokens, width) of distinct sources, and first row and length of each."""
        # Sorting makes the batches, and so the rounding, independent of the order of the pairs.
        distinct = sorted(
            {tuple(source) for source in sources}, key=lambda source: (len(source), source)
        )
        # The sources of a planned batch fit into one; `score_batch` takes any number of them.
        states, spans, n_rows = [], {}, 0
        for batch in plan_batches(
            [len(source) for source in distinct], [0] * len(distinct), batch_tokens=batch_tokens
        ):
            rows = PackedRows([distinct[i] for i in batch], self._put, step=_SOURCE_STEP)
            hidden, mask = self._embed(self.encoder, rows), self._additive(rows.real)
            for layer in self.encoder.layers:
                hidden = self._over_tokens(layer, hidden, rows, self.n_heads[0], mask=mask)
                hidden = self._feed_forward(layer, hidden)
            states.append(hidden if self.encoder.after is None else self.encoder.after(hidden))
            start = n_rows
            for i in batch:
                spans[distinct[i]] = (start, len(distinct[i]))
                start += len(distinct[i])
            # Not `start`: behind the tokens of a batch are copies up to a usual number of rows.
            n_rows += len(hidden)
        return torch.cat(states), spans

    def _decode(
        self,
        states: torch.Tensor,
        spans: Sequence[tuple[int, int]],
        inputs: Sequence[Sequence[int]],
        labels: Sequence[Sequence[int]],
        *,
        n_uncounted: int,
    ) -> torch.Tensor:
        """Return the log-probabilities of all counted labels, row by row, (tokens,)."""
        rows = PackedRows(inputs, self._put)
        starts, lengths = (torch.tensor(column) for column in zip(*spans, strict=True))
        real_source = real_positions(lengths, step=_SOURCE_STEP)
        slots = self._put(slots_of(starts, real_source))
        # The states of the sources are prepared once for the products of all layers.
        memory, mask = self.arithmetic.prepare(states), self._additive(real_source)
        # Padding comes last, so that this mask keeps real tokens from it, too.
        causal = self._put(torch.full((rows.real.shape[1],) * 2, -torch.inf).triu_(1))
        hidden = self._embed(self.decoder, rows)
        for layer in self.decoder.layers:
            hidden = self._over_tokens(layer, hidden, rows, self.n_heads[1], mask=causal)
            hidden = self._cross_attention(layer, hidden, rows, memory, slots, mask)
            hidden = self._feed_forward(layer, hidden)
        if self.decoder.after is not None:
            hidden = self.decoder.after(hidden)
        counted = self._put(joined_ids([row[n_uncounted:] for row in labels]))
        return self.vocabulary.logprobs(rows.without_first(n_uncounted, hidden), counted)

    def _embed(self, stack: _Stack, rows: PackedRows) -> torch.Tensor:
        hidden: torch.Tensor = stack.embed(rows.ids) + stack.positions[rows.columns]
        if stack.before is not None:
            hidden = stack.before(hidden)
        return hidden

    def _over_tokens(
        self,
        layer: _Layer,
        hidden: torch.Tensor,
        rows: PackedRows,
        n_heads: int,
        *,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return the states, (tokens, width), after self-attention or a recurrence in each row."""
        block = layer.self_attention
        if isinstance(block, _Recurrence):
            return self._recurrence(block, hidden, rows)
        normed = block.norm(hidden) if self.pre_norm else hidden
        queries, keys, values = (
            heads(part, n_heads)
            for part in rows.padded(block.inputs(self.arithmetic.prepare(normed))).chunk(3, dim=-1)
        )
        return self._add(block, hidden, rows, attend(queries, keys, values, mask))

    def _recurrence(
        self, block: _Recurrence, hidden: torch.Tensor, rows: PackedRows
    ) -> torch.Tensor:
        # Gates and candidates of all positions are one product; only their recurrence, in fp32
        # whatever the mode, goes position by position. Padding comes last, so that no real state
        # depends on it.
        normed = block.norm(hidden) if self.pre_norm else hidden
        inputs = in_fp32(block.inputs(self.arithmetic.prepare(normed)))
        gates, candidates = rows.padded(inputs).chunk(2, dim=-1)
        states = block.states(gates.sigmoid(), candidates)
        return self._after(block.norm, hidden.add_(rows.unpadded(states).relu_()))

    def _cross_attention(
        self,
        layer: _Layer,
        hidden: torch.Tensor,
        rows: PackedRows,
        memory: Any,
        slots: torch.Tensor,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        block = layer.cross_attention
        if block is None or block.queries is None:
            raise TypeError("a decoder layer has attention over the source")
        normed = block.norm(hidden) if self.pre_norm else hidden
        queries = heads(
            rows.padded(block.queries(self.arithmetic.prepare(normed))), self.n_heads[1]
        )
        # Keys and values of a source are computed once, and looked up for each of its translations.
        # This product leaves the queries as they are, though they may lie in the memory of products
        # of their width: it is twice as wide.
        keys, values = (
            heads(part, self.n_heads[1])
            for part in functional.embedding(slots, block.inputs(memory)).chunk(2, dim=-1)
        )
        return self._add(block, hidden, rows, attend(queries, keys, values, mask))

    def _add(
        self, block: _Attention, hidden: torch.Tensor, rows: PackedRows, attended: torch.Tensor
    ) -> torch.Tensor:
        """Return the residual stream with the output of attention added, in the same memory."""
        return self._after(
            block.norm,
            hidden.add_(
                block.output(
                    self.arithmetic.prepare(
                        rows.unpadded(attended.transpose(1, 2).flatten(2)), is_spare=True
                    )
                )
            ),
        )

    def _feed_forward(self, layer: _Layer, hidden: torch.Tensor) -> torch.Tensor:
        """Add the output of the feed-forward part to the residual stream, in the same memory."""
        prepare = self.arithmetic.prepare
        # The inner states of a block stay in the processor's cache.
        # Blocks of equal size, since each number of rows needs a prepared product of its own.
        for rows in (
            hidden.tensor_split(-(-len(hidden) // _BLOCK_ROWS))
            if hidden.device.type == "cpu"
            else (hidden,)
        ):
            normed = layer.norm(rows) if self.pre_norm else rows
            inner = self.activation(layer.fc1(prepare(normed)))
            rows.add_(layer.fc2(prepare(inner, is_positive=self.is_relu, is_spare=True)))
        return self._after(layer.norm, hidden)

    def _after(self, norm: nn.LayerNorm, added: torch.Tensor) -> torch.Tensor:
        """Return the residual stream, normalised in models that do so after adding to it."""
        if self.pre_norm:
            return added
        normed: torch.Tensor = norm(added)
        return normed

    def _put(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a tensor on the device, without waiting for the copy."""
        return tensor if self.device.type == "cpu" else tensor.to(self.device, non_blocking=True)

    def _additive(self, real: torch.Tensor) -> torch.Tensor | None:
        """Return an attention mask (rows, 1, 1, tokens), -inf at padding; None without padding."""
        # The mask is on the CPU, so that asking it does not wait for a GPU.
        if real.all():
            return None
        return self._put(torch.zeros(real.shape).masked_fill_(~real, -torch.inf)[:, None, None, :])

    def _stack(self, part: Any, first: int) -> _Stack:
        scaled = hasattr(part.embed_tokens, "embed_scale")  # some embeddings scale themselves
        scale = 1.0 if scaled else float(part.embed_scale)
        return _Stack(
            embed=lambda ids: part.embed_tokens(ids) * scale,
            positions=_positions(part)[first:],
            before=getattr(part, "layernorm_embedding", None),
            layers=tuple(self._layer(layer) for layer in part.layers),
            after=getattr(part, "layer_norm", None),
        )

    def _layer(self, layer: Any) -> _Layer:
        cross, norm = getattr(layer, "encoder_attn", None), layer.self_attn_layer_norm
        over_tokens: _Attention | _Recurrence
        if hasattr(layer, "recurrence"):
            inputs = self._joined(layer.recurrence.forget, layer.recurrence.candidate)
            over_tokens = _Recurrence(inputs, norm, layer.recurrence.states)
        else:
            attention = layer.self_attn
            inputs = self._joined(attention.q_proj, attention.k_proj, attention.v_proj)
            over_tokens = _Attention(inputs, self._joined(attention.out_proj), norm)
        over_source = None
        if cross is not None:
            over_source = _Attention(
                self._joined(cross.k_proj, cross.v_proj),
                self._joined(cross.out_proj),
                layer.encoder_attn_layer_norm,
                self._joined(cross.q_proj),
            )
        return _Layer(
            over_tokens,
            over_source,
            self._joined(layer.fc1, relu=self.is_relu),
            self._joined(layer.fc2),
            layer.final_layer_norm,
        )

    def _joined(self, *modules: nn.Linear, relu: bool = False) -> Product:
        """Return one product for modules that have the same input."""
        # One product of wide weights is faster than several of narrow ones. In fp32 the weights of
        # the modules become views of the joint weight, so that nothing is held twice.
        weights = [module.weight.detach() for module in modules]
        biases = [
            (
                torch.zeros(len(weight), device=self.device)
                if module.bias is None
                else module.bias.detach()
            )
            for module, weight in zip(modules, weights, strict=True)
        ]
        bias = None if all(module.bias is None for module in modules) else torch.cat(biases)
        weight = weights[0] if len(weights) == 1 else torch.cat(weights)
        if self.mode == "exact" and len(modules) > 1:
            for module, part in zip(
                modules, torch.split(weight, [len(rows) for rows in weights]), strict=True
            ):
                module.weight.data = part
        return self.arithmetic.product(weight, bias, relu=relu)


def first_position(model: Any) -> int | None:
    """Return the row of the first token in a model's tables of positions; None: no packed pass."""
    of_model: int | None = getattr(model, "first_position", None)
    return PACKED_FAMILIES.get(model.config.model_type, of_model)


def n_positions(model: Any) -> int:
    """Return the length of the longest source or target by the tables of positions."""
    sides = (model.get_encoder(), model.get_decoder())
    return min(len(_positions(part)) for part in sides) - (first_position(model) or 0)


def _positions(part: Any) -> torch.Tensor:
    # M2M100 computes its sinusoids into a buffer of another name; tables of the others are weights.
    table: torch.Tensor = (
        part.embed_positions.weight
        if hasattr(part.embed_positions, "weight")
        else part.embed_positions.weights
    )
    return table.detach()


def _head_bias(model: Any) -> torch.Tensor | None:
    """Return the bias of the projection to the vocabulary, or None if it adds nothing."""
    # BART and mBART have zeros here, which would cost a pass over all logits.
    bias = getattr(model, "final_logits_bias", None)
    return None if bias is None or not bias.any() else bias.detach().flatten()


def _silu(states: torch.Tensor) -> torch.Tensor:
    return functional.silu(states, inplace=True)


#: Activations, which work in place if possible. A model with another one runs its own pass.
ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "gelu": functional.gelu,
    "relu": lambda states: states,  # the product before has already applied it
    "silu": _silu,
    "swish": _silu,
}
