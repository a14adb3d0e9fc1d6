"""Calls that must be refused."""

from collections.abc import Callable
from typing import Any

import pytest

from cc_hf.errors import InputError


def fails(
    error: type[BaseException] | tuple[type[BaseException], ...],
    message: str,
    call: Callable[..., object],
    *args: Any,
    **options: Any,
) -> None:
    """Check that a call ends in an error.

    Args:
        error: Its class, or several of which it is one.
        message: A regular expression that its message must match.
        call: What is called.
        *args: Its arguments.
        **options: Its arguments by name.
    """
    with pytest.raises(error, match=message):
        call(*args, **options)


def refuses(message: str, call: Callable[..., object], *args: Any, **options: Any) -> None:
    """Check that a call ends in an InputError, as `fails` does."""
    fails(InputError, message, call, *args, **options)
