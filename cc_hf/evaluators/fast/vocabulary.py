"""Log-probabilities of tokens under the projection to the vocabulary, tile by tile."""

from __future__ import annotations

import torch
from torch.nn import functional

from cc_hf.evaluators.fast.arithmetic import Arithmetic, Product, in_fp32
from cc_hf.evaluators.fast.exponentials import LOG2_E, lost_nothing

__all__ = ["Vocabulary"]

_TILE_COLUMNS = 1024  # columns of the vocabulary at a time
# Columns that shift the logits of rounded products; GPUs multiply multiples of 8 faster.
_SHIFT_COLUMNS = 8


class Vocabulary:
    """The projection to the vocabulary: fp32 weights (vocabulary, width), bias (vocabulary,)."""

    def __init__(
        self, weight: torch.Tensor, bias: torch.Tensor | None, *, arithmetic: Arithmetic
    ) -> None:
        self.weight, self.bias, self.arithmetic = weight, bias, arithmetic
        self.is_shifted = arithmetic.dtype != torch.float32
        # Tiles bound the memory: the logits of the whole vocabulary never exist at once.
        self.tiles = [
            self._tile(slice(start, start + _TILE_COLUMNS))
            for start in range(0, len(weight), _TILE_COLUMNS)
        ]

    def logprobs(self, states: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return natural log-probabilities, (labels,) fp32, of labels by their rows of states."""
        # There may be more rows of states than labels, which are ignored.
        n_labels = len(labels)
        labels = functional.pad(labels, (0, len(states) - n_labels))
        # The logit of the label itself is computed in fp32, whatever the tiles are in.
        label_logits: torch.Tensor = (states * self.weight[labels]).sum(-1)
        if self.bias is not None:
            label_logits += self.bias[labels]
        # Base 2 until the end, since its powers are faster.
        label_logits *= LOG2_E
        scaled, shift = self._shifted(states, label_logits)
        prepared = self.arithmetic.prepare(scaled, is_spare=True)
        total = torch.zeros_like(label_logits)
        for tile in self.tiles:
            total += in_fp32(tile(prepared)).exp2_().sum(-1)
        if lost_nothing(total):
            sums = total.log2_()
        else:
            # A sum overflowed or underflowed; logsumexp subtracts the largest logit first.
            parts = [in_fp32(tile(prepared)).div_(LOG2_E).logsumexp(-1) for tile in self.tiles]
            sums = torch.stack(parts).logsumexp(0).mul_(LOG2_E)
        return (label_logits - shift - sums).div_(LOG2_E)[:n_labels]

    def _shifted(
        self, states: torch.Tensor, label_logits: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | float]:
        """Return the tiles' input, and what they subtract from all logits of a row, in base 2."""
        if not self.is_shifted:
            return states * LOG2_E, 0.0
        # The logit of the label is subtracted before rounding. The logits that matter most are then
        # mostly near 0, where rounding is finest.
        width = states.shape[1]
        scaled = states.new_zeros(len(states), width + _SHIFT_COLUMNS)
        torch.mul(states, LOG2_E, out=scaled[:, :width])
        # Two rounded numbers give the shift more digits than one has.
        high = label_logits.to(self.arithmetic.dtype).float()
        low = (label_logits - high).to(self.arithmetic.dtype).float()
        scaled[:, -2], scaled[:, -1] = -high, -low
        return scaled, high + low

    def _tile(self, tile: slice) -> Product:
        weight = self.weight[tile]
        if self.is_shifted:
            weight = functional.pad(weight, (0, _SHIFT_COLUMNS), value=1.0)
        return self.arithmetic.product(
            weight, None if self.bias is None else self.bias[tile] * LOG2_E
        )
