"""English word forms."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inflect

__all__ = ["english_plural"]


@cache
def _engine() -> inflect.engine:
    import inflect  # imported here because it takes seconds and is rarely needed

    return inflect.engine()


@cache
def english_plural(noun: str) -> str:
    """Return the plural of an English noun.

    Args:
        noun: noun in the singular.

    Examples:
        >>> english_plural("battery")
        'batteries'
    """
    return str(_engine().plural(noun))
