"""Products of states with fixed weights, in fp32, bf16 or int8, as fast as this machine does them;
and what the machine is good at.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeAlias

import torch
from torch.nn import functional

from cc_hf.evaluators.fast.int8_products import USUAL_ROWS, Weights, quantise

__all__ = [
    "ARITHMETICS",
    "Arithmetic",
    "Product",
    "fast_exact_products",
    "in_fp32",
    "is_bf16_fast",
    "is_bf16_layout_known",
    "is_int8_faster",
]

_ACCURATE = 1e-3  # of sums of 256 products of standard normal numbers; bf16 is off by 0.1
_LARGE_BUFFER = 2**24  # elements
_BF16_ACCURATE = 0.5
# of oneDNN and of torch's way to it, in prepared products
_CACHES = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "32", "LRU_CACHE_CAPACITY": "32"}

#: from prepared states (..., n_in) to (..., n_out), in memory that the next product of the same
#: width takes
Product: TypeAlias = Callable[[Any], torch.Tensor]


class Prepare(Protocol):
    """See `Arithmetic.prepare`."""

    def __call__(
        self, states: torch.Tensor, *, is_positive: bool = False, is_spare: bool = False
    ) -> Any: ...


class MakeProduct(Protocol):
    """See `Arithmetic.product`."""

    def __call__(
        self, weight: torch.Tensor, bias: torch.Tensor | None, *, relu: bool = False
    ) -> Product: ...


@dataclass(frozen=True)
class Arithmetic:
    """How products are made.

    Attributes:
        prepare: states (..., n_in) in fp32 or in `dtype` -> what products of this arithmetic take;
            done once for all products of the same states. `is_positive`: none is below 0.
            `is_spare`: nobody needs the states any more.
        product: weight (n_out, n_in) and bias (n_out,) or None, in fp32; `relu`: what is below 0
            becomes 0 -> the product with them. All arithmetics but exact copy the weight.
        dtype: of what products give.
    """

    prepare: Prepare
    product: MakeProduct
    dtype: torch.dtype


class _Buffers(threading.local):
    """Memory that products of this thread write to, by width and dtype: fresh memory for each costs
    more than writing it, page by page.
    """

    def __init__(self) -> None:
        self.held: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def take(self, n_rows: int, n_columns: int, dtype: torch.dtype) -> torch.Tensor:
        """(n_rows, n_columns) of any content, the same memory each time; large ones are not
        kept.
        """
        size = n_rows * n_columns
        if size > _LARGE_BUFFER:
            return torch.empty(n_rows, n_columns, dtype=dtype)
        found = self.held.get((n_columns, dtype))
        if found is None or len(found) < size:
            found = self.held[n_columns, dtype] = torch.empty(size, dtype=dtype)
        return found[:size].view(n_rows, n_columns)


_BUFFERS = _Buffers()


def _multiplied(
    states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, relu: bool
) -> torch.Tensor:
    """The bias apart: a product that begins with it is up to a tenth slower."""
    if states.device.type != "cpu":
        found = functional.linear(states, weight, bias)
        return found.relu_() if relu else found
    rows = states.flatten(0, -2)
    found = torch.mm(rows, weight.t(), out=_BUFFERS.take(len(rows), len(weight), states.dtype))
    if bias is not None:
        found.add_(bias)
    return (found.relu_() if relu else found).view(*states.shape[:-1], -1)


def _laid_out(weight: torch.Tensor, bias: torch.Tensor | None, relu: bool) -> Product:
    """The weight in the order in which oneDNN reads it; bias and relu are done while the product is
    written.
    """
    own, activation = (
        torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), USUAL_ROWS),
        ("relu" if relu else "none"),
    )
    width = len(weight)

    def product(states: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            states.flatten(0, -2), own, bias, activation, [], ""
        )
        return found.view(*states.shape[:-1], width)

    return product


def in_fp32(product: torch.Tensor) -> torch.Tensor:
    """A product in fp32: itself, or a copy."""
    if product.dtype == torch.float32 or product.device.type != "cpu":
        return product.float()
    return _BUFFERS.take(len(product), product.shape[1], torch.float32).copy_(product)


def _fp32_product(
    weight: torch.Tensor, bias: torch.Tensor | None, *, relu: bool = False
) -> Product:
    return lambda states: _multiplied(states, weight, bias, relu)


def _fp32(
    states: torch.Tensor, *, is_positive: bool = False, is_spare: bool = False
) -> torch.Tensor:
    return states


def _bf16(
    states: torch.Tensor, *, is_positive: bool = False, is_spare: bool = False
) -> torch.Tensor:
    return states.bfloat16()


def _bf16_product(
    weight: torch.Tensor, bias: torch.Tensor | None, *, relu: bool = False
) -> Product:
    own, shift = weight.bfloat16(), None if bias is None else bias.bfloat16()
    if weight.device.type == "cpu" and is_bf16_layout_known():
        return _laid_out(own, shift, relu)
    return lambda states: _multiplied(states, own, shift, relu)


#: by the name of the mode
ARITHMETICS: dict[str, Arithmetic] = {
    "exact": Arithmetic(_fp32, _fp32_product, torch.float32),
    "bf16": Arithmetic(_bf16, _bf16_product, torch.bfloat16),
    "int8": Arithmetic(quantise, Weights, torch.float32),
}


@cache
def is_bf16_fast(device: str) -> bool:
    """Return whether the device has native bf16 instructions.

    Decided from CPU flags, not by timing, so that it is reproducible.
    """
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device == "cpu" and any(_has_instructions(name) for name in ("avx512_bf16", "amx_bf16"))


@cache
def is_int8_faster() -> bool:
    """Return whether int8 is known to be faster than native bf16, or the CPU has no native bf16.

    The tables of docs/performance.md have int8 faster where both run in vector units
    (`avx512_vnni` beside `avx512_bf16`). None has it faster where matrix units (AMX) do bf16.
    Decided from CPU flags, not by timing, so that it is reproducible.
    """
    if not is_bf16_fast("cpu"):
        return True
    return _has_instructions("avx512_vnni") and not _has_instructions("amx_bf16")


def _has_instructions(name: str) -> bool:
    """Return whether the processor says that it has instructions, by torch's name for them."""
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get(name))


@cache
def is_bf16_layout_known() -> bool:
    """Return whether this torch multiplies in bf16 with weights that lie in oneDNN's own order, as
    accurately as with others. It is tried once.

    The functions are those that torch's compiler calls, whose names begin with "_". A torch without
    them does without.
    """
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(256, 256, generator=generator).bfloat16() for _ in range(2))
    try:
        with _small_caches(), torch.inference_mode():
            found = _laid_out(right, None, False)(left)
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return bool((found - left.double() @ right.double().t()).abs().max() < _BF16_ACCURATE)


@contextlib.contextmanager
def fast_exact_products() -> Iterator[None]:
    """Within it fp32 products run in oneDNN where that is as accurate as fp32 is; on some machines
    it is twice as fast as the default library.

    torch reaches it through the permission to use bf16, which a processor with matrix units (AMX)
    would take up: then nothing is changed.
    """
    with _bf16_permitted() if _onednn_is_accurate() else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def _small_caches() -> Iterator[None]:
    """oneDNN prepares each product by its shape, and keeps the last 1,024 with their memory.

    Hardly two batches have a shape in common: a few are enough.

    It looks at the environment at its first product and never again, so the variables are set for
    the first ones that are tried here, and taken back. Where they are set already, or it was used
    before, all stays as it is.
    """
    own = {name: value for name, value in _CACHES.items() if name not in os.environ}
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name, None)


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
        with _small_caches(), _bf16_permitted():
            found = left @ right
    except RuntimeError:
        return False
    return bool((found - left.double() @ right.double()).abs().max() < _ACCURATE)
