"""Products of states with fixed weights in int8.

Each row of the states and each output of the weights has a scale of its own. oneDNN computes the
products, with weights in its own layout, unsigned states and results in fp32. Instructions of older
processors add two products of bytes in 16 bits, which overflow unless the weights have fewer steps.
Where oneDNN's products are not exact, torch's plain product of int8 matrices is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

__all__ = ["USUAL_ROWS", "Quantised", "Weights", "is_int8_available", "quantise"]

#: Number of rows of states that the layout of weights is optimised for.
USUAL_ROWS = 512
_SMALLEST_SCALE = 1e-30  # so that a row of zeros does not divide by 0
_SIGNED, _UNSIGNED = 127, 255  # largest steps
# Largest step of weights whose products with unsigned bytes fit in 16 bits by twos: 2 * 255 * 64.
_SMALL = 64
_MIDDLE = 128  # the unsigned byte of 0 where values have both signs
# torch's names of instructions that add products of bytes in 32 bits.
_INSTRUCTIONS = ("avx512_vnni", "avx_vnni", "amx_int8")


@dataclass(frozen=True)
class Quantised:
    """States in bytes; their values are (rows - zero) * scales.

    Attributes:
        rows: (n, n_in), uint8 or int8.
        scales: (n, 1), fp32.
        zero: the byte that stands for 0.
        shape: shape of the states without their last axis.
    """

    rows: torch.Tensor
    scales: torch.Tensor
    zero: int
    shape: torch.Size


def quantise(
    states: torch.Tensor, *, is_positive: bool = False, is_spare: bool = False
) -> Quantised:
    """Round states (..., n_in) in fp32 to bytes, each row with a scale of its own.

    Args:
        is_positive: whether no state is below 0; unsigned bytes then have twice the resolution.
        is_spare: whether the states are not needed afterwards; their memory is then overwritten.
    """
    rows, is_unsigned = states.flatten(0, -2), _is_layout_known()
    # A scale for each row: its result does not depend on the rows beside it.
    # The largest magnitude of a row; two reductions need no copy of the states, as abs() would.
    largest = rows.amax(-1, keepdim=True)
    if not is_positive:
        largest = torch.maximum(largest, rows.amin(-1, keepdim=True).neg_())
    is_shifted = is_positive and is_unsigned
    scales = largest.clamp_(min=_SMALLEST_SCALE).div_(_UNSIGNED if is_shifted else _SIGNED)
    steps = (rows.mul_(1 / scales) if is_spare else rows * (1 / scales)).round_()
    steps_in_bytes = (steps.sub_(_MIDDLE) if is_shifted else steps).to(torch.int8)
    if is_unsigned:
        # The exclusive or equals adding 128; casting to uint8 would be three times as slow.
        steps_in_bytes = steps_in_bytes.view(torch.uint8).bitwise_xor_(_MIDDLE)
    zero = _MIDDLE if is_unsigned and not is_positive else 0
    return Quantised(steps_in_bytes, scales, zero, states.shape[:-1])


class Weights:
    """A product in int8 with fixed weights (n_out, n_in) and a bias (n_out,), both in fp32."""

    def __init__(
        self, weight: torch.Tensor, bias: torch.Tensor | None, *, relu: bool = False
    ) -> None:
        self.is_laid_out = _is_layout_known()
        n_steps = _weight_steps() if self.is_laid_out else _SIGNED
        self.scales = weight.abs().amax(-1).clamp_(min=_SMALLEST_SCALE).div_(n_steps)
        rows = (weight / self.scales[:, None]).round_().to(torch.int8)
        self.bytes = _laid_out(rows) if self.is_laid_out else rows.t().contiguous()
        self.zeros = torch.zeros(len(rows), dtype=torch.int32)
        self.bias = None if bias is None else bias.clone()
        self.relu = relu

    def __call__(self, states: Quantised) -> torch.Tensor:
        """Return the product with states (..., n_in): fp32 values of shape (..., n_out)."""
        if self.is_laid_out:
            product = _laid_out_product(states, self.bytes, self.scales, self.zeros)
        else:
            product = torch._int_mm(states.rows, self.bytes).float().mul_(self.scales)
        product = (
            product.mul_(states.scales)
            if self.bias is None
            else torch.addcmul(self.bias, product, states.scales, out=product)
        )
        return (product.relu_() if self.relu else product).view(*states.shape, -1)


@cache
def is_int8_available() -> bool:
    """Return whether this torch multiplies int8 matrices exactly on the CPU."""
    # The largest values: old instructions overflow where they add two products in 16 bits.
    largest = torch.full((32, 32), _SIGNED, dtype=torch.int8)
    try:
        return _is_layout_known() or bool(
            (torch._int_mm(largest, largest) == 32 * _SIGNED**2).all()
        )
    except (AttributeError, RuntimeError):
        return False


def _laid_out(rows: torch.Tensor) -> torch.Tensor:
    """Return weights in the memory layout that oneDNN reads."""
    packed: torch.Tensor = torch.ops.onednn.qlinear_prepack(rows, [USUAL_ROWS, rows.shape[1]])
    return packed


def _laid_out_product(
    states: Quantised, weights: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor
) -> torch.Tensor:
    """Return the product without the states' scales; oneDNN accepts only one for all rows."""
    product: torch.Tensor = torch.ops.onednn.qlinear_pointwise(
        states.rows,
        1.0,
        states.zero,
        weights,
        scales,
        zeros,
        None,
        1.0,
        0,
        torch.float32,
        "none",
        [],
        "",
    )
    return product


def _weight_steps() -> int:
    """Return the largest step of weights whose products oneDNN computes exactly."""
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return _SIGNED if any(capabilities.get(name) for name in _INSTRUCTIONS) else _SMALL


@cache
def _is_layout_known() -> bool:
    """Return whether this torch multiplies unsigned with signed bytes exactly; tried once."""
    # The largest values, which overflow first.
    largest = _weight_steps()
    generator = torch.Generator().manual_seed(0)
    states, weights = (
        torch.randint(250, 256, (64, 256), generator=generator, dtype=torch.uint8),
        torch.randint(largest - 7, largest + 1, (64, 256), generator=generator, dtype=torch.int8),
    )
    weights[::2] *= -1
    ones, zeros = torch.ones(64), torch.zeros(64, dtype=torch.int32)
    try:
        with torch.inference_mode():
            packed = _laid_out(weights)
            for zero in (0, _MIDDLE):
                product = _laid_out_product(
                    Quantised(states, ones[:, None], zero, states.shape[:-1]), packed, ones, zeros
                )
                if not torch.equal(product.long(), (states.long() - zero) @ weights.long().t()):
                    return False
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return True
