"""How replies are decoded: the checks and the name that all backends share. No torch here."""

from __future__ import annotations

import math

from cc_hf.errors import InputError
from cc_hf.models.conversations import Decoding

__all__ = ["check_counts", "check_decoding", "decoding_name"]


def check_decoding(decoding: Decoding) -> None:
    """Check that a model can decode so.

    Raises:
        InputError: for no tokens, or a temperature below 0.

    Examples:
        >>> check_decoding(Decoding(max_new_tokens=0))
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: max_new_tokens: expected a whole number from 1, got 0
    """
    check_counts(max_new_tokens=decoding.max_new_tokens)
    if not (math.isfinite(decoding.temperature) and decoding.temperature >= 0):
        raise InputError(
            f"temperature: expected a number of at least 0, got {decoding.temperature!r}"
        )


def check_counts(**counts: object) -> None:
    """Check that options are whole numbers from 1.

    Args:
        counts: values by the names of the options.

    Raises:
        InputError: for the first that is not.

    Examples:
        >>> check_counts(batch_size=8, concurrency=4)
    """
    for name, value in counts.items():
        if type(value) is not int or value < 1:
            raise InputError(f"{name}: expected a whole number from 1, got {value!r}")


def decoding_name(decoding: Decoding) -> str:
    """Return how replies are decoded, as identities hold it.

    Examples:
        >>> decoding_name(Decoding()), decoding_name(Decoding(temperature=0.7))
        ('greedy/256 tokens', 'temperature 0.7/256 tokens')
    """
    how = f"temperature {decoding.temperature:g}" if decoding.temperature else "greedy"
    return f"{how}/{decoding.max_new_tokens} tokens"
