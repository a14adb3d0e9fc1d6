"""What a callback does to a model in training leaves no trace."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from cc_hf.models.pretrained import input_device

# isort: split
import torch

__all__ = ["undisturbed"]


@contextlib.contextmanager
def undisturbed(model: Any) -> Iterator[None]:
    """Put a model into eval mode; afterwards restore the modes of its modules and random states,
    and free the memory of the GPU that nobody uses.

    Args:
        model: in training; None for work without a model.
    """
    modes = [] if model is None else [(module, module.training) for module in model.modules()]
    state, numpy_state = random.getstate(), np.random.get_state()
    gpus = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    try:
        with torch.random.fork_rng(devices=gpus):
            if model is not None:
                model.eval()
            yield
    finally:
        for module, mode in modes:
            module.training = mode
        random.setstate(state)
        np.random.set_state(numpy_state)
        if model is not None and input_device(model).type == "cuda":
            torch.cuda.empty_cache()
