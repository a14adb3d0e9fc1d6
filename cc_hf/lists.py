"""Lists that callers pass: one check for every public door.

A text is a sequence of letters, so a function that takes a list of texts and iterates over it would
take a single text letter by letter. Every such function calls `listed_texts` or `listed` first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from cc_hf.errors import InputError, shown

__all__ = ["check_text", "listed", "listed_rows", "listed_texts"]


def check_text(text: str, where: str) -> str:
    """Refuse a text with a lone surrogate, which cannot be written as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} is not valid Unicode: a lone surrogate at character {error.start}; fix the"
            " encoding of the file it came from"
        ) from None
    return str.__str__(text)


def listed(name: str, values: Any, *, what: str = "", n: int | None = None) -> list[Any]:
    """Return the values of a list, tuple, generator, array, or column of `datasets` or pandas.

    Args:
        name: name of the parameter, for messages.
        values: a one-dimensional, ordered collection.
        what: the values in the plural, for messages.
        n: the expected number of values; None for any.

    Raises:
        InputError: for another number of values, a text, a mapping, a table, an unordered
            collection (a set), or no collection.

    Examples:
        >>> listed("predictions", (text for text in ("a", "b")))
        ['a', 'b']
        >>> listed("sources", "Hello", what="texts")
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: sources: expected a list of texts, got one text, 'Hello'; put it into a list
    """  # noqa: E501
    expected = f"{name}: expected a list{f' of {what}' if what else ''}"
    if isinstance(values, (str, bytes)):
        raise InputError(f"{expected}, got one text, {shown(values)}; put it into a list")
    if isinstance(values, (set, frozenset)):
        raise InputError(f"{expected}, got {type(values).__name__}, which has no order")
    if (
        isinstance(values, Mapping)
        or not isinstance(values, Iterable)
        or getattr(values, "ndim", 1) != 1
    ):
        raise InputError(f"{expected}, got {type(values).__name__}")
    # By position: the index of a pandas column is ignored.
    members = list(values)
    if n is not None and len(members) != n:
        raise InputError(f"{name}: expected one per item, {n} in all, got {len(members)}")
    return members


def listed_texts(name: str, values: Any, *, n: int | None = None) -> list[str]:
    """Return texts as `listed` does; refuse a value that is no text or has a lone surrogate.

    Examples:
        >>> listed_texts("sources", ["Hello", None])
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: sources: row 1: expected one of the texts, got None
    """
    members = listed(name, values, what="texts", n=n)
    # One pass over the whole finds that nothing is wrong; where something is, its row is looked up.
    if {*map(type, members)} <= {str}:
        with contextlib.suppress(UnicodeEncodeError):
            "".join(members).encode("utf-8")
            return members
    texts = []
    for row, text in enumerate(members):
        if not isinstance(text, str):
            raise InputError(f"{name}: row {row}: expected one of the texts, got {shown(text)}")
        texts.append(check_text(text, f"{name}: row {row}"))
    return texts


def listed_rows(name: str, values: Any) -> list[Any]:
    """Return rows as `listed` does; a table of pandas has a mapping for each row."""
    if getattr(values, "ndim", 1) == 2 and hasattr(values, "to_dict"):
        filled = values.astype(object).where(values.notna(), None)
        return list(filled.to_dict(orient="records"))
    return listed(name, values)
