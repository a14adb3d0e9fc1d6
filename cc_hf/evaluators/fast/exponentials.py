"""Exponentials in base 2, which are faster than those in base e."""

from __future__ import annotations

import math

import torch

__all__ = ["LOG2_E", "lost_nothing"]

#: What turns an exponent of e into one of 2.
LOG2_E = math.log2(math.e)
_SMALLEST_SUM = 2.0**-80


def lost_nothing(sums: torch.Tensor) -> bool:
    """Return whether no sum of exponentials, in fp32, overflowed or may have lost digits.

    Examples:
        >>> lost_nothing(torch.tensor([1.0])), lost_nothing(torch.tensor([1.0, 0.0]))
        (True, False)
    """
    return bool(((sums > _SMALLEST_SUM) & (sums < torch.inf)).all())
