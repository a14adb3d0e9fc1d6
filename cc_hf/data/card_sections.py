"""Sections of cards."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from cc_hf import registry
from cc_hf.data.loading import card_path
from cc_hf.known_weights import known_name

__all__ = ["card_section", "evaluator_caution", "plain_text"]

_IMPORTANT = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)  # the sentence of a card in bold


@cache
def card_section(name: str, kind: str, heading: str = "") -> str:
    """Return a section of a card as Markdown, without its heading; "" if there is no such card or
    section.

    Args:
        name: a registered dataset or metric.
        kind: "datasets" or "metrics".
        heading: "" for the introduction below the title.

    Examples:
        >>> card_section("winomt", "datasets")[:6]
        'WinoMT'
    """
    return _section(card_path(name, kind=kind), heading)


def _section(path: Path, heading: str) -> str:
    text = path.read_text(encoding="utf-8").partition("\n# ")[2] if path.is_file() else ""
    if not heading:
        return text.partition("\n")[2].partition("\n## ")[0].strip()
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].strip()


def plain_text(markdown: str) -> str:
    """Return a paragraph of a card without marks of links and code.

    Examples:
        >>> plain_text("See `all` of [winomt](../datasets/winomt.md).")
        'See all of winomt.'
    """
    text = re.sub(r"\[([^\[\]]*)\]\([^)(]*\)", r"\1", markdown)
    return " ".join(text.replace("`", "").split())


def evaluator_caution(evaluator: str) -> str:
    """Return the important sentence of the card of each embedded evaluator; "" for other models.

    Examples:
        >>> evaluator_caution("cc-tiny-en-de@d644c6d303e7")[:43]
        'It is a small model; on which sentences its'
    """
    return " ".join(filter(None, map(_caution, evaluator.split("+"))))


def _caution(evaluator: str) -> str:
    name, _, identity = evaluator.partition("@")
    name = known_name(name, identity)
    embedded = registry.find("evaluator", name)
    match = _IMPORTANT.search(_section(embedded.card, "Description")) if embedded else None
    return " ".join(match[1].split()) if match else ""
