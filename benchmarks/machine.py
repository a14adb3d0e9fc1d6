"""What the machine is and can do: its description, the peak rate of its products, the operations
that a model needs, and the peak memory of a process.
"""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.children import most_memory
from cc_hf.evaluators.fast.arithmetic import ARITHMETICS
from cc_hf.evaluators.fast.int8_products import Weights, quantise
from cc_hf.plugins.timing.machine import cpu_count, package_versions, processor_name

__all__ = ["busy_cores", "describe", "kernels", "pair_flops", "peak_memory", "peaks"]

_REPEATS = 3
# It ends when its parent does, even when that was killed.
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
# Each mode is named before its product, whose kernels oneDNN prints, and "-" after it.
_PRODUCTS = """
import torch
from cc_hf.evaluators.fast.arithmetic import ARITHMETICS, fast_exact_products
with torch.inference_mode(), fast_exact_products():
    for mode, arithmetic in ARITHMETICS.items():
        product = arithmetic.product(torch.randn(256, 256), None)
        states = arithmetic.prepare(torch.randn(512, 256))
        print("mode", mode, flush=True)
        product(states)
        print("mode -", flush=True)
"""
_PACKAGES = ("cc_hf", "torch", "transformers", "tokenizers", "sentencepiece", "ctranslate2")


def describe(threads: int, device: str) -> str:
    """Return processor or GPU, threads and versions of the libraries in one line."""
    versions = [f"{name} {version}" for name, version in package_versions(_PACKAGES).items()]
    hardware = (
        torch.cuda.get_device_name(device)
        if device != "cpu"
        else f"{processor_name()}, {threads} threads of {cpu_count()} cores"
    )
    software = ", ".join([f"Python {platform.python_version()}", *versions])
    return f"{hardware}; {platform.system()}, {software}"


def kernels() -> dict[str, str]:
    """Return the kernels that oneDNN chooses, by mode of `ARITHMETICS`, if it computes them."""
    run = subprocess.run(
        [sys.executable, "-c", _PRODUCTS],
        env={**os.environ, "ONEDNN_VERBOSE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    names, mode = {}, ""
    for line in run.stdout.splitlines():
        if line.startswith("mode "):
            mode = line.removeprefix("mode ")
        fields = line.split(",")
        if (
            mode not in ("", "-")
            and fields[2:4] == ["primitive", "exec"]
            and fields[5] != "reorder"
        ):
            names[mode] = fields[6]
    return names


@contextlib.contextmanager
def busy_cores(n: int) -> Iterator[None]:
    """Keep cores busy with other processes while the context is open."""
    programs = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(n)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def peaks(device: str, side: int) -> dict[str, float]:
    """Return the operations per second of a square product of `side` rows, by dtype.

    Of the libraries that torch can use for a product, the fastest counts. int8 is measured on the
    CPU only.
    """
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(side, side, generator=generator).to(device) for _ in range(2))
    products: dict[str, list[Callable[[], Any]]] = {"float32": [lambda: left @ right]}
    half = left.bfloat16(), right.bfloat16()
    products["bfloat16"] = [lambda: half[0] @ half[1], lambda: torch.nn.functional.linear(*half)]
    if device == "cpu":
        # The products that the mode bf16 makes, whose weights are in oneDNN's own layout.
        arithmetic = ARITHMETICS["bf16"]
        packed, states = arithmetic.product(right, None), arithmetic.prepare(left)
        products["bfloat16"].append(lambda: packed(states))
        whole = [
            torch.randint(-127, 128, (side, side), dtype=torch.int8, generator=generator)
            for _ in range(2)
        ]
        bytes_product, quantised = Weights(right, None), quantise(left)
        products["int8"] = [lambda: torch._int_mm(*whole), lambda: bytes_product(quantised)]
        with contextlib.suppress(RuntimeError):  # some builds of torch lack oneDNN
            inner = left.to_mkldnn()
            products["float32"].append(lambda: torch.nn.functional.linear(inner, right))
    best = {}
    with torch.inference_mode():
        for dtype, ways in products.items():
            rates = [2 * side**3 / seconds for way in ways for seconds in _timed(way, device)]
            if rates:
                best[dtype] = max(rates)
    return best


def _timed(product: Callable[[], Any], device: str) -> Iterator[float]:
    """Yield the seconds of a few repetitions of a product; none if the machine lacks it."""
    for repeat in range(_REPEATS + 1):
        start = time.perf_counter()
        try:
            product()
        except (RuntimeError, NotImplementedError, AttributeError):
            return
        if device != "cpu":
            torch.cuda.synchronize()  # products on a GPU return before they are computed
        if repeat:  # the first product is slower, since libraries prepare for its shape
            yield time.perf_counter() - start


def pair_flops(config: Any, lengths: npt.NDArray[np.int64]) -> float:
    """Return the operations that pairs need, each computed alone and without padding.

    They are the products with weights and those of attention.

    Args:
        lengths: (pairs, 2) numbers of tokens of source and translation.
    """
    width = config.d_model
    vocabulary = getattr(config, "tgt_vocab_size", None) or config.vocab_size
    source, target = lengths.T.astype(np.float64)
    encoder = source * (8 * width**2 + 4 * width * config.encoder_ffn_dim) + 4 * width * source**2
    decoder = (
        target * (12 * width**2 + 4 * width * config.decoder_ffn_dim)
        + 4 * source * width**2
        + 4 * width * (target**2 + target * source)
    )
    projection = 2 * target * width * vocabulary
    return float(
        (config.encoder_layers * encoder + config.decoder_layers * decoder + projection).sum()
    )


def peak_memory(device: str) -> int | None:
    """Return the most bytes that this process, or on a GPU the GPU, has held; None if unknown."""
    return most_memory() if device == "cpu" else int(torch.cuda.max_memory_allocated(device))
