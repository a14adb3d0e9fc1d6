"""Parametrized cases with ids made of words, above all of the expected message."""

import inspect
import re
import unicodedata
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

_MOST = 48
_Test = TypeVar("_Test", bound=Callable[..., None])


def _words(value: object) -> str:
    """Return the first words of a value in ASCII: pytest would escape all other letters."""
    text = unicodedata.normalize("NFKD", str(value)).encode("ascii", "ignore").decode()
    words = re.findall(r"[\w.-]*\w", text) or ["empty"]
    while len(words) > 1 and len(" ".join(words)) > _MOST:
        words.pop()
    return " ".join(words)


def cases(*rows: Any) -> Callable[[_Test], _Test]:
    """Parametrize a test by its first parameters, with ids from the last text of each case.

    Args:
        *rows: One tuple of values per case, its only value, or a `pytest.param`.

    Returns:
        The decorator.
    """
    of_cases = [row if isinstance(row, tuple) else (row,) for row in rows]

    def parametrized(test: _Test) -> _Test:
        values = [getattr(row, "values", row) for row in of_cases]  # those of a pytest.param
        names = [*inspect.signature(test).parameters][: len(values[0])]
        texts = [[value for value in row if isinstance(value, str)] for row in values]
        ids = [_words(of_case[-1]) if of_case else None for of_case in texts]
        marked: _Test = pytest.mark.parametrize(names, of_cases, ids=ids)(test)
        return marked

    return parametrized
