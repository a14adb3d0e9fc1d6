"""Sections of cards."""

from __future__ import annotations

from functools import cache

from cc_hf.data.loading import card_path

__all__ = ["card_section"]


@cache
def card_section(name: str, kind: str, heading: str = "") -> str:
    """Return a section of a card as Markdown, without its heading.

    Args:
        name: a registered dataset or metric, or an embedded evaluator.
        kind: "datasets", "metrics" or "models".
        heading: the heading of the section; "" for the introduction below the title.

    Returns:
        The text; "" if the card has no such section.

    Examples:
        >>> card_section("winomt", "datasets")[:6]
        'WinoMT'
        >>> "@inproceedings{" in card_section("winomt", "datasets", "Citation")
        True
    """
    text = card_path(name, kind=kind).read_text(encoding="utf-8").partition("\n# ")[2]
    if not heading:
        return text.partition("\n")[2].partition("\n## ")[0].strip()
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].strip()
