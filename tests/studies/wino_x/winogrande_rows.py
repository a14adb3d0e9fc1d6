"""Made-up WinoGrande: rows in its format, from templates whose last word decides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.helpers.wino_x_schemas import NOUNS

__all__ = ["german", "hit_schemas", "schema", "write_rows"]


def schema(
    template: str, option1: str, option2: str, words: tuple[str, str]
) -> list[dict[str, Any]]:
    """Return the twins of a template with {} for the deciding word."""
    return [
        {
            "sentence": template.format(word),
            "option1": option1,
            "option2": option2,
            "answer": str(answer),
        }
        for answer, word in enumerate(words, 1)
    ]


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows as WinoGrande's own files are."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def hit_schemas(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return a schema for each pair of nouns of `tests.helpers.wino_x_schemas`."""
    return [
        row
        for first, second in pairs
        for row in schema(
            f"The {first} hit the {second} because the _ was {{}}.",
            first,
            second,
            ("heavy", "fragile"),
        )
    ]


def german(source: str) -> str:
    """Translate a filled sentence of `hit_schemas` word by word."""
    _, first, _, _, second, _, _, filler, _, trigger = source.removesuffix(".").split()
    articles = {"er": ("Der", "den"), "sie": ("Die", "die"), "es": ("Das", "das")}

    def phrase(noun: str, case: int) -> str:
        word, pronoun = NOUNS[noun]
        return f"{articles[pronoun][case]} {word}"

    nominative = phrase(filler, 0)
    adjective = {"heavy": "schwer", "fragile": "dünn"}[trigger]
    return (
        f"{phrase(first, 0)} traf {phrase(second, 1)}, weil"
        f" {nominative[0].lower()}{nominative[1:]} {adjective} war."
    )
