"""Shares of samples: quotients of sums of which some may be 0."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cc_hf.statistics.checks import as_floats

__all__ = ["quotients"]


def quotients(
    parts: npt.NDArray[np.generic], wholes: npt.NDArray[np.generic]
) -> npt.NDArray[np.float64]:
    """Return `parts` by `wholes`, and NaN where a whole is not above 0, such as in a resample
    without any sample that counts.

    Args:
        parts: numerators.
        wholes: denominators, of the same shape.

    Raises:
        InputError: for no values, other values or different shapes.

    Examples:
        >>> quotients(np.array([1, 0]), np.array([2, 0])).tolist()
        [0.5, nan]
    """
    numerators = as_floats("parts", parts, shape=None, is_finite=False)
    shape = numerators.shape
    denominators = as_floats("wholes", wholes, shape=shape, is_finite=False)
    return np.divide(numerators, denominators, out=np.full(shape, np.nan), where=denominators > 0)
