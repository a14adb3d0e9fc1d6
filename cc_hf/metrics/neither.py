"""The third verdict: a translation whose score barely depends on the cue shows neither reading, as
neutral forms, paraphrases and omissions do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError

__all__ = [
    "BY_EVIDENCE",
    "OFF",
    "TellsNeither",
    "checked_threshold",
    "not_given",
    "shows_neither",
    "signed_threshold",
    "text_of_threshold",
]

#: Values of the option `neither` besides a number: two verdicts only, or the threshold that
#: evidence on the judge gives.
OFF, BY_EVIDENCE = "off", "evidence"


@runtime_checkable
class TellsNeither(Protocol):
    """A metric with the option `neither`, whose verdicts follow from two scores."""

    neither: str | float
    score: str

    def option_fields(self) -> dict[str, str]:
        """Return the signature fields of the options that verdicts depend on."""


def checked_threshold(value: object) -> str | float:
    """Return the value of the option `neither`, a number as one.

    Examples:
        >>> checked_threshold("0.031"), checked_threshold("off")
        (0.031, 'off')
    """
    if value in (OFF, BY_EVIDENCE):
        return str(value)
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or not 0 < number < math.inf:
        raise InputError(
            f"neither: expected {OFF}, {BY_EVIDENCE} or a difference of log scores above 0, such as"
            f" 0.03, got {value!r}"
        )
    return number


def not_given(category: str) -> str:
    """Return the note on figures for which the third verdict was not given."""
    return f"The verdict neither is not given: every translation of {category} would have it"


def text_of_threshold(value: float) -> str:
    """Return a threshold as signatures have it: all digits that tell it from others.

    Examples:
        >>> text_of_threshold(0.03), text_of_threshold(1.0)
        ('0.03', '1')
    """
    return repr(value).removesuffix(".0")


def signed_threshold(signed: Mapping[str, str]) -> float:
    """Return the threshold that a signature has; 0 for two verdicts.

    Examples:
        >>> signed_threshold({"neither": "0.03"}), signed_threshold({})
        (0.03, 0.0)
    """
    value = checked_threshold(signed.get("neither", OFF))
    if value == BY_EVIDENCE or ("neither" in signed and value == OFF):
        raise InputError(f"signature: neither: expected a number above 0, got {value}")
    return 0.0 if isinstance(value, str) else value


def shows_neither(probability: npt.NDArray[np.float64] | float, threshold: float) -> Any:
    """Return whether both readings are about equally probable: abs(log s_c - log s_i) is below a
    threshold; the probability s_c / (s_c + s_i) is in [0, 1], of any shape.

    Examples:
        >>> shows_neither(np.array([0.5, 0.501, 0.6]), 0.03).tolist()
        [True, True, False]
    """
    return np.abs(np.asarray(probability) - 0.5) < math.tanh(threshold / 2) / 2
