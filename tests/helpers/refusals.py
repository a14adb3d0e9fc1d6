"""Calls that must be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cc_hf.errors import InputError


def refuses(message: str, call: Callable[..., object], *arguments: Any, **options: Any) -> None:
    """Check that a call ends in an InputError.

    Args:
        message: A regular expression that the message must match.
        call: What is called.
        *arguments: Its arguments.
        **options: Its arguments by name.
    """
    with pytest.raises(InputError, match=message):
        call(*arguments, **options)
