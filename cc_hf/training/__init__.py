"""Training with probing of what a model understands: `ProbingCallback`, `make_compute_metrics`.

Names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cc_hf.training.callback import ProbingCallback as ProbingCallback
    from cc_hf.training.callback import SystemOptions as SystemOptions
    from cc_hf.training.compute_metrics import make_compute_metrics as make_compute_metrics

_LAZY = {
    "ProbingCallback": "cc_hf.training.callback",
    "SystemOptions": "cc_hf.training.callback",
    "make_compute_metrics": "cc_hf.training.compute_metrics",
}

__all__ = ["ProbingCallback", "SystemOptions", "make_compute_metrics"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'cc_hf.training' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
