"""Checks at the doors of the statistics: arrays, labels and numbers that callers give, and values
that differ by rounding alone. The parameter `name` of a check is what its messages begin with.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Hashable, Sized
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, shown
from cc_hf.lists import listed, listed_texts

__all__ = [
    "as_counts",
    "as_flags",
    "as_floats",
    "as_labels",
    "check_level",
    "check_number",
    "check_type",
    "is_constant",
    "with_ties",
]

_ROUNDING = 1e-12  # relative to two values: what sums in different orders differ by, and more
_ULPS = 1e-15  # relative to the largest value, from which smaller ones may be differences

_Shape = tuple[int | None, ...]


def as_floats(
    name: str,
    values: Any,
    *,
    shape: _Shape | None = (None,),
    may_be_empty: bool = False,
    is_finite: bool = True,
    are_flags: bool = False,
) -> npt.NDArray[np.float64]:
    """Return numbers as an array, or raise an InputError.

    Args:
        shape: the expected length of each dimension, None for any; or None for any shape.
        is_finite: whether NaN and infinite numbers are refused.
        are_flags: whether booleans are accepted, as 0 and 1.

    Examples:
        >>> as_floats("weights", [1, 2])
        array([1., 2.])
    """
    array = _array(
        name, values, "numbers", "iufb" if are_flags else "iuf", shape, may_be_empty
    ).astype(np.float64)
    if is_finite and not np.isfinite(array).all():
        position = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(
            f"{name}: expected finite numbers, got {array.flat[position]} at position {position};"
            " leave out what is undefined"
        )
    return array


def as_counts(
    name: str, values: Any, *, shape: _Shape | None = (None,), may_be_empty: bool = False
) -> npt.NDArray[np.int64]:
    """Return whole numbers of 0 or more as an array; for its shape, see `as_floats`."""
    return _whole(name, values, shape, may_be_empty).astype(np.int64)


def _whole(name: str, values: Any, shape: _Shape | None, may_be_empty: bool) -> npt.NDArray[Any]:
    what = "whole numbers of 0 or more"
    array = _array(name, values, what, "iu", shape, may_be_empty)
    if (array < 0).any():
        raise InputError(f"{name}: expected {what}, got {array[array < 0][0]}")
    return array


def as_flags(
    name: str, values: Any, *, shape: _Shape | None = (None,), may_be_empty: bool = False
) -> npt.NDArray[np.bool_]:
    """Return values that are true or false as an array; for its shape, see `as_floats`."""
    return _array(name, values, "values that are true or false", "b", shape, may_be_empty)


def _array(
    name: str, values: Any, what: str, kinds: str, shape: _Shape | None, may_be_empty: bool
) -> npt.NDArray[Any]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):  # such as rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in kinds and (array.dtype.kind == "O" or array.size):
        raise InputError(f"{name}: expected {what}, got {shown(values)}")
    if not array.size and not may_be_empty:
        raise InputError(f"{name}: expected at least one value, got none")
    if shape is None:
        return array
    if array.ndim != len(shape) or any(
        wanted not in (None, given) for wanted, given in zip(shape, array.shape, strict=True)
    ):
        wanted_shape = ", ".join("n" if length is None else str(length) for length in shape)
        raise InputError(
            f"{name}: expected {what}, in the shape ({wanted_shape}), got the shape {array.shape}"
        )
    return array


def as_labels(
    name: str, values: Any, *, n: int | None = None, are_texts: bool = False
) -> list[Any]:
    """Return labels, names or texts as a list; refuse NaN, which is equal to nothing.

    Args:
        n: the expected number of labels; None for any.
    """
    if not isinstance(values, Sized):  # some callers read the values again
        raise InputError(f"{name}: expected a list, got {type(values).__name__}")
    if are_texts:
        return listed_texts(name, values, n=n)
    labels = listed(name, values, what="labels", n=n)
    if {*map(type, labels)} <= {str, int, bool}:
        return labels
    for row, label in enumerate(labels):
        if not (_is_hashable(label) and bool(label == label)):
            raise InputError(f"{name}: row {row}: expected one of the labels, got {shown(label)}")
    return labels


def _is_hashable(label: Hashable) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def check_type(name: str, value: Any, kind: type) -> None:
    """Raise an InputError for an object of another class."""
    if not isinstance(value, kind):
        raise InputError(f"{name}: expected a {kind.__name__}, got {shown(value)}")


def check_number(name: str, value: Any, *, low: float = -math.inf, high: float = math.inf) -> None:
    """Raise an InputError for what is no finite number from `low` to `high`; a boolean is none.

    Examples:
        >>> check_number("score", -1, low=0)
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: score: expected a finite number of 0 or more, got -1
    """
    if not _is_number(value) or not low <= value <= high or abs(value) > sys.float_info.max:
        of_range = f" of {low:g} or more" if high == math.inf else f" from {low:g} to {high:g}"
        raise InputError(
            f"{name}: expected a finite number{of_range if low > -math.inf else ''}, got"
            f" {shown(value)}"
        )


def _is_number(value: object) -> bool:
    # The abstract class is slow to ask, and this is asked of every score of every judgement.
    if type(value) in (float, int):
        return True
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def check_level(level: Any, name: str = "level") -> None:
    """Refuse what is no number in (0, 1), such as a confidence level."""
    if not _is_number(level) or not 0 < level < 1:
        raise InputError(f"{name}: expected a number in (0, 1), got {shown(level)}")


def with_ties(values: npt.NDArray[np.float64], *, scale: float = 0.0) -> npt.NDArray[np.float64]:
    """Return the values, shape (n,), with those made equal that differ by rounding alone.

    Args:
        values: finite numbers. Each becomes the smallest one that it is equal to.
        scale: the largest of the values that these were computed from, where it is larger.

    Examples:
        >>> with_ties(np.array([0.1 + 0.2, 0.3, 0.5])).tolist()
        [0.3, 0.3, 0.5]
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    sizes = np.abs(ascending)
    largest = max(scale, float(sizes.max(initial=0.0)))
    # Halves, because a difference of large numbers can overflow.
    gaps = np.diff(ascending / 2)
    # Less than 1e-12 of the larger neighbour, or 1e-15 of the largest of all, since small values
    # may be differences of large ones.
    closest = np.maximum(_ROUNDING * np.maximum(sizes[1:], sizes[:-1]), _ULPS * largest) / 2
    is_first = np.concatenate([[True], gaps > closest]) if len(values) else np.zeros(0, np.bool_)
    tied = np.empty_like(values)
    tied[order] = ascending[is_first][np.cumsum(is_first) - 1]
    return tied


def is_constant(values: Any, *, scale: float = 0.0) -> bool:
    """Return whether numbers, at least one, are all the same, apart from rounding.

    Args:
        scale: the largest of the values that these were computed from, where it is larger.

    Examples:
        >>> is_constant([0.1 + 0.2, 0.3]), is_constant([0.1, 0.3])
        (True, False)
    """
    tied = with_ties(as_floats("values", values), scale=scale)
    return bool(tied.min() == tied.max())
