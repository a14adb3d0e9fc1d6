"""Parts of cards that are generated, and links in cards that are published."""

from __future__ import annotations

import re

from cc_hf.errors import InputError

__all__ = ["with_block", "without_relative_links"]


def with_block(text: str, name: str, body: str) -> str:
    """Return the text with the content of a generated block replaced.

    Raises:
        InputError: if there is no such block.
    """
    pattern = re.compile(rf"(<!-- {name}: generated -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(text):
        raise InputError(f"expected a block {name!r} between markers, got none")
    return pattern.sub(lambda match: f"{match.group(1)}{body}\n{match.group(2)}", text)


def without_relative_links(card: str) -> str:
    """Return a card in which relative links, which lead nowhere on the Hub, are plain text.

    Examples:
        >>> without_relative_links("see [winomt](../winomt.md) and [a](https://example.org)")
        'see winomt and [a](https://example.org)'
    """
    return re.sub(r"\[([^\[\]\n]+)\]\((?![a-z]+:)[^)(\n]+\)", r"\1", card)
