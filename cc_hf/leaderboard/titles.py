"""Names of data in words, and sections of their cards."""

from __future__ import annotations

from functools import cache

from cc_hf import registry
from cc_hf.data.loading import card_path, declaration

__all__ = ["card_section", "data_title"]


def data_title(dataset: str, config: str) -> str:
    """Return dataset and configuration in words; a configuration called default is not named.

    Args:
        dataset: a name of `cc-hf list datasets`, or another.
        config: a configuration of it.

    Examples:
        >>> data_title("winomt", "default"), data_title("winomt", "pro")
        ('WinoMT', 'WinoMT (pro)')
        >>> data_title("own", "")
        'own'
    """
    if dataset not in registry.names("dataset"):
        return f"{dataset} {config}".strip()
    title = declaration(dataset).title
    return title if config in ("", "default") else f"{title} ({config})"


@cache
def card_section(name: str, kind: str, heading: str = "") -> str:
    """Return a section of a card as Markdown, without its heading.

    Args:
        name: a registered dataset or metric.
        kind: "datasets" or "metrics".
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
