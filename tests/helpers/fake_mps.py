"""A device "mps" on this machine: tensors that say that they are on it, and are computed on the
CPU. As on a Mac, none may be of float64.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

_MPS, _META, _CPU = map(torch.device, ("mps", "meta:7", "cpu"))


class _OnMps(torch.Tensor):
    """A tensor that holds one of the CPU; for torch it is one of "meta", which needs no driver."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> Any:
        layout = {"strides": held.stride(), "storage_offset": held.storage_offset()}
        make: Any = torch.Tensor._make_wrapper_subclass
        return make(cls, held.shape, dtype=held.dtype, device=_META, **layout)

    def __init__(self, held: torch.Tensor) -> None:
        if held.dtype == torch.float64:
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        self.held = held

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return _MPS

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls,
        func: Callable[..., Any],
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return _computed(func, args, kwargs or {})


def _computed(func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Compute on the CPU; what comes out is on "mps" if it was asked to be, or anything was."""
    values = tree_leaves((tuple(args), dict(kwargs)))
    tensors = [value for value in values if isinstance(value, _OnMps)]
    devices = [value for value in values if isinstance(value, torch.device)]
    # torch may drop the index of the device.
    asked = [d == _META or (d.type == "meta" and bool(tensors)) for d in devices]
    is_on_mps = any(asked) if devices else bool(tensors)

    def on_cpu(value: Any) -> Any:
        is_device = isinstance(value, torch.device)
        return value.held if isinstance(value, _OnMps) else _CPU if is_device else value

    if tensors or is_on_mps:
        args, kwargs = tree_map(on_cpu, (tuple(args), dict(kwargs)))
    result = func(*args, **kwargs)

    def wrapped(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not is_on_mps:
            return value
        same = [tensor for tensor in tensors if tensor.held is value]  # of operations in place
        return same[0] if same else _OnMps(value)

    return tree_map(wrapped, result)


class _Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __torch_dispatch__(
        self, func: Any, types: object, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        return _computed(func, args, kwargs or {})


class _Names(TorchFunctionMode):
    """Hands "mps" on as "meta", for which torch asks no driver."""

    def __torch_function__(
        self, func: Any, types: object, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        if func is torch.device:
            return func(*args, **(kwargs or {}))
        if func is torch.Tensor.tolist:
            return getattr(args[0], "held", args[0]).tolist()

        def named(value: Any) -> Any:
            is_device = isinstance(value, (str, torch.device))
            return _META if is_device and str(value) == "mps" else value

        args, kwargs = tree_map(named, (tuple(args), dict(kwargs or {})))
        if func is torch.Tensor.new_tensor and isinstance(args[0], _OnMps):
            return _OnMps(args[0].held.new_tensor(*args[1:], **kwargs))
        if func is torch.tensor and kwargs.get("device") == _META:
            return _OnMps(func(*args, **{**kwargs, "device": _CPU}))
        if not torch.is_inference_mode_enabled():
            return func(*args, **kwargs)
        with torch.inference_mode(False), torch.no_grad():  # tensors of inference have no wrappers
            return func(*args, **kwargs)


@contextlib.contextmanager
def fake_mps() -> Iterator[None]:
    """Have a device "mps" while the context is open."""
    operations: Any = _Operations
    with pytest.MonkeyPatch.context() as patches, operations(), _Names():
        patches.setattr(torch.backends.mps, "is_available", lambda: True)
        patches.setattr(torch, "Event", lambda **options: Mock())  # generation waits for them
        patches.setattr(torch.mps, "get_rng_state", lambda device="mps": None)
        patches.setattr(torch.mps, "set_rng_state", lambda state, device="mps": None)
        yield
