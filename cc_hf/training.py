"""Another name for what the plug-in for training adds to `cc_hf`, which older programs import."""

from __future__ import annotations

from typing import Any

from cc_hf import registry

__all__ = ["ProbingCallback", "SystemOptions", "make_compute_metrics"]  # noqa: F822


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'cc_hf.training' has no attribute {name!r}")
    return registry.resolve("public name", name)
