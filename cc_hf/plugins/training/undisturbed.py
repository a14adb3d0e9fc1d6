"""A context that restores a model in training, and all random states, after a callback used it."""

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
    """Put a model into eval mode, and restore everything afterwards.

    Restored are the modes of the model's modules, if any, and the random states of Python, numpy
    and torch. Unused GPU memory is released.

    Examples:
        >>> model = torch.nn.Dropout().train()
        >>> model.device = torch.device("cpu")
        >>> before = random.getstate()
        >>> with undisturbed(model):
        ...     _ = model.training, random.random()
        >>> model.training, random.getstate() == before
        (True, True)
    """
    modes = [] if model is None else [(module, module.training) for module in model.modules()]
    state, numpy_state = random.getstate(), np.random.get_state()
    # The states of all GPUs are restored, because the evaluator may be on another one.
    gpus = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.random.fork_rng(devices=gpus))
            if torch.backends.mps.is_available():
                stack.enter_context(torch.random.fork_rng(["mps"], device_type="mps"))
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
