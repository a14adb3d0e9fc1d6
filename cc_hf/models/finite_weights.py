"""Refuse models whose weights are not finite: fast products turn NaN into 0, and scores hide it."""

from __future__ import annotations

from typing import Any

import torch

from cc_hf.errors import EvaluatorError

__all__ = ["check_finite_weights"]

_DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
# No trained weight comes near this limit, and a flipped bit of the exponent exceeds it. Products of
# larger weights overflow to NaN inside a layer, where a ReLU fused with the product hides it.
_LIMIT = 2.0**64


@torch.no_grad()
def check_finite_weights(model: Any, name: str) -> None:
    """Check every parameter and buffer of a model once, without a copy.

    Quantised weights, and those that are not in memory (device "meta"), are not checked; scores
    still are.

    Raises:
        EvaluatorError: for the first weight that has NaN, infinite or absurdly large values.
    """
    # Buffers may hold infinities, which serve as masks.
    for part, limit in ((model.named_parameters(), _LIMIT), (model.named_buffers(), torch.inf)):
        for label, weight in part:
            if weight.dtype not in _DTYPES or weight.device.type == "meta" or weight.numel() == 0:
                continue
            low, high = (float(value) for value in torch.aminmax(weight))  # NaN if any value is
            if not (-limit <= low and high <= limit):
                n_bad = int((~(weight.abs() <= limit)).sum())
                raise EvaluatorError(
                    f"{name}: the weight {label} ({n_bad} of its {weight.numel()} values) is NaN,"
                    f" infinite or larger than 2**64 in {str(weight.dtype).rpartition('.')[2]};"
                    " expected finite numbers. The model is damaged, its training diverged, or its"
                    " dtype is too narrow: download it again, or load it in float32"
                )
