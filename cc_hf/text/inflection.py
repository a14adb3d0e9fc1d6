"""English word forms."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inflect

__all__ = ["english_plural"]


@cache
def _engine() -> inflect.engine:
    import inflect  # takes seconds, and few need it

    return inflect.engine()


@cache
def english_plural(noun: str) -> str:
    """The plural of an English noun.

    >>> english_plural("battery")
    'batteries'
    """
    return str(_engine().plural(noun))
