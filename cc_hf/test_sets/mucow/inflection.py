"""English word forms."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import inflect

__all__ = ["english_article", "english_plural"]


@cache
def _engine() -> inflect.engine:
    # Imported here because it is rarely needed, and without its checks of types: typeguard parses
    # the whole module again for each of its functions, which takes two seconds.
    import typeguard

    checks: Any = typeguard
    checked, checks.typechecked = checks.typechecked, lambda function: function
    try:
        import inflect
    finally:
        checks.typechecked = checked
    return inflect.engine()


@cache
def english_plural(noun: str) -> str:
    return str(_engine().plural(noun))


@cache
def english_article(word: str) -> str:
    """Return the indefinite article that stands before an English word, "a" or "an".

    Examples:
        >>> [english_article(word) for word in ("hour", "university", "old", "European")]
        ['an', 'a', 'an', 'a']
    """
    return str(_engine().a(word)).split(" ", 1)[0]
