"""Products of states with fixed weights in fp32, bf16 or int8, and which a machine supports."""

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
    "first_products",
    "in_fp32",
    "is_bf16_fast",
    "is_bf16_layout_known",
    "is_int8_faster",
    "small_caches",
]

# Largest error of sums of 256 products of standard normal numbers that counts as accurate; that of
# bf16 is 0.1.
_ACCURATE = 1e-3
_LARGE_BUFFER = 2**24  # elements; larger buffers are not kept
_BF16_ACCURATE = 0.5  # as _ACCURATE, for products in bf16
# Capacities, in prepared products, of the caches of oneDNN, and of torch for each thread. torch's
# saves little more time than oneDNN's.
_CACHES = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "128", "LRU_CACHE_CAPACITY": "4"}

#: Maps prepared states (..., n_in) to (..., n_out). The result may lie in memory that the next
#: product of the same width overwrites.
Product: TypeAlias = Callable[[Any], torch.Tensor]


class Prepare(Protocol):
    """The type of `Arithmetic.prepare`."""

    def __call__(
        self, states: torch.Tensor, *, is_positive: bool = False, is_spare: bool = False
    ) -> Any: ...


class MakeProduct(Protocol):
    """The type of `Arithmetic.product`."""

    def __call__(
        self, weight: torch.Tensor, bias: torch.Tensor | None, *, relu: bool = False
    ) -> Product: ...


@dataclass(frozen=True)
class Arithmetic:
    """How products are computed.

    Attributes:
        prepare: maps states (..., n_in) in fp32 or `dtype` to the input of products; called once
            for all products of the same states. `is_positive` says that no state is below 0,
            `is_spare` that the states are not needed afterwards and may be overwritten.
        product: makes the product with a weight (n_out, n_in) and a bias (n_out,) or None, both in
            fp32; `relu` sets negative results to 0. Every arithmetic except "exact" copies the
            weight.
        dtype: type of the results.
    """

    prepare: Prepare
    product: MakeProduct
    dtype: torch.dtype


class _Buffers(threading.local):
    """Memory that the products of this thread write to, by width and dtype."""

    def __init__(self) -> None:
        # Allocating fresh memory for each product costs more than writing it, since the system
        # provides it page by page.
        self.held: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def take(self, n_rows: int, n_columns: int, dtype: torch.dtype) -> torch.Tensor:
        """Return (n_rows, n_columns) of any content, in the same memory unless it is large."""
        size = n_rows * n_columns
        if size > _LARGE_BUFFER:
            return torch.empty(n_rows, n_columns, dtype=dtype)
        buffer = self.held.get((n_columns, dtype))
        if buffer is None or len(buffer) < size:
            buffer = self.held[n_columns, dtype] = torch.empty(size, dtype=dtype)
        return buffer[:size].view(n_rows, n_columns)


_BUFFERS = _Buffers()


def _multiplied(
    states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, relu: bool
) -> torch.Tensor:
    """Return a product, with the bias added afterwards on the CPU."""
    if states.device.type != "cpu":
        product = functional.linear(states, weight, bias)
        return product.relu_() if relu else product
    rows = states.flatten(0, -2)
    # A product that starts from the bias is up to a tenth slower.
    product = torch.mm(rows, weight.t(), out=_BUFFERS.take(len(rows), len(weight), states.dtype))
    if bias is not None:
        product.add_(bias)
    return (product.relu_() if relu else product).view(*states.shape[:-1], -1)


def _laid_out(weight: torch.Tensor, bias: torch.Tensor | None, relu: bool) -> Product:
    """Return a product whose weight is in the memory layout that oneDNN reads."""
    # The layout is made once here; otherwise oneDNN would make it anew in every product.
    reordered, activation = (
        torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), USUAL_ROWS),
        ("relu" if relu else "none"),
    )
    width = len(weight)

    def multiply(states: torch.Tensor) -> torch.Tensor:
        # Bias and ReLU are computed while the product is written.
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            states.flatten(0, -2), reordered, bias, activation, [], ""
        )
        return product.view(*states.shape[:-1], width)

    return multiply


def in_fp32(product: torch.Tensor) -> torch.Tensor:
    """Return a product in fp32: itself, or a copy of one (n_rows, n_columns).

    Examples:
        >>> in_fp32(torch.ones(1, 2, dtype=torch.bfloat16))
        tensor([[1., 1.]])
    """
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
    """Return a product in bf16, in oneDNN's layout where this torch supports that."""
    rounded, shift = weight.bfloat16(), None if bias is None else bias.bfloat16()
    if weight.device.type == "cpu" and is_bf16_layout_known():
        return _laid_out(rounded, shift, relu)
    return lambda states: _multiplied(states, rounded, shift, relu)


#: Arithmetics by the names of modes.
ARITHMETICS: dict[str, Arithmetic] = {
    "exact": Arithmetic(_fp32, _fp32_product, torch.float32),
    "bf16": Arithmetic(_bf16, _bf16_product, torch.bfloat16),
    "int8": Arithmetic(quantise, Weights, torch.float32),
}


@cache
def is_bf16_fast(device: str) -> bool:
    """Return whether the device has native bf16 instructions.

    Examples:
        >>> is_bf16_fast("mps")
        False
    """
    # By flags of the processor, not by timing, so that it is the same in every run.
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device == "cpu" and any(_has_instructions(name) for name in ("avx512_bf16", "amx_bf16"))


@cache
def is_int8_faster() -> bool:
    """Return whether int8 is known to be faster than native bf16, or the CPU has no native bf16."""
    if not is_bf16_fast("cpu"):
        return True
    # In the tables of docs/performance.md, int8 is faster where both run in vector units
    # (`avx512_vnni` beside `avx512_bf16`), and never where matrix units (AMX) compute bf16.
    return _has_instructions("avx512_vnni") and not _has_instructions("amx_bf16")


def _has_instructions(name: str) -> bool:
    """Return whether the CPU reports instructions, by torch's name for them."""
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get(name))


@cache
def is_bf16_layout_known() -> bool:
    """Return whether this torch multiplies bf16 weights in oneDNN's layout accurately."""
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(256, 256, generator=generator).bfloat16() for _ in range(2))
    # It is tried once. These are the functions that torch's compiler calls, whose names begin with
    # "_". A torch without them uses the plain layout.
    try:
        with small_caches(), torch.inference_mode():
            product = _laid_out(right, None, False)(left)
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return bool((product - left.double() @ right.double().t()).abs().max() < _BF16_ACCURATE)


@contextlib.contextmanager
def fast_exact_products() -> Iterator[None]:
    """Compute fp32 products with oneDNN while the context is open, if that is as accurate."""
    # On some machines oneDNN is twice as fast as the default library. torch selects it if bf16 is
    # permitted. A processor with matrix units (AMX) would then compute in bf16, so that nothing is
    # changed there.
    with _bf16_permitted() if _onednn_is_accurate() else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def small_caches() -> Iterator[None]:
    """Limit the products that oneDNN and torch keep prepared, while the context is open."""
    # oneDNN prepares each product by its shape, and keeps the last 1,024 with their memory, up to a
    # megabyte each; torch keeps as many again for each thread. The shapes of products with weights
    # recur from batch to batch, since `PackedRows` rounds the number of tokens, and those of
    # attention hardly, so that more would gain little.
    unset = {name: value for name, value in _CACHES.items() if name not in os.environ}
    # oneDNN reads the environment at its first product, torch at the first of each thread. The
    # variables are therefore set for these only (`first_products`), and without effect where oneDNN
    # was used before. Those that the user set are kept.
    os.environ.update(unset)
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)


class _Permission:
    """How many threads have permitted bf16, and the setting before the first did."""

    def __init__(self) -> None:
        self.lock, self.n_holders, self.before = threading.Lock(), 0, ""


_PERMISSION = _Permission()


@contextlib.contextmanager
def _bf16_permitted() -> Iterator[None]:
    setting: Any = getattr(torch.backends.mkldnn, "matmul", None)
    if not hasattr(setting, "fp32_precision"):
        yield  # an older torch
        return
    # The setting holds for all threads: the first that asks changes it, the last restores it.
    with _PERMISSION.lock:
        if not _PERMISSION.n_holders:
            _PERMISSION.before, setting.fp32_precision = setting.fp32_precision, "bf16"
        _PERMISSION.n_holders += 1
    try:
        yield
    finally:
        with _PERMISSION.lock:
            _PERMISSION.n_holders -= 1
            if not _PERMISSION.n_holders:
                setting.fp32_precision = _PERMISSION.before


def first_products() -> None:
    """Compute a small product in fp32 and in bf16, by which a thread sets up its caches."""
    with torch.inference_mode(), fast_exact_products():
        for mode in ("exact", "bf16"):
            arithmetic = ARITHMETICS[mode]
            arithmetic.product(torch.ones(32, 32), None)(arithmetic.prepare(torch.ones(32, 32)))


@cache
def _onednn_is_accurate() -> bool:
    """Return whether fp32 products of oneDNN are accurate here with bf16 permitted; tried once."""
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(256, 256, generator=generator) for _ in range(2))
    try:
        with small_caches(), _bf16_permitted():
            product = left @ right
    except RuntimeError:
        return False
    return bool((product - left.double() @ right.double()).abs().max() < _ACCURATE)
