"""Parametrized cases of refused input, with ids that read as the expected message."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

_MOST = 48


def cases_by_message(
    names: Sequence[str], cases: Sequence[tuple[Any, ...]]
) -> pytest.MarkDecorator:
    """Parametrize a test, where the last value of a case is the message that it expects.

    Args:
        names: The names of the parameters.
        cases: One tuple of values per case.

    Returns:
        The decorator. The id of a case is the beginning of its message, without punctuation.
    """
    return pytest.mark.parametrize(names, cases, ids=[_words(case[-1]) for case in cases])


def _words(message: object) -> str:
    words = re.findall(r"[\w.-]*\w", str(message))
    while len(" ".join(words)) > _MOST:
        words.pop()
    return " ".join(words)
