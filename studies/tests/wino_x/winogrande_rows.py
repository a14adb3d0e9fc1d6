"""Made-up WinoGrande: rows in its format, from templates whose last word decides."""

from collections.abc import Iterable
from typing import Any

from tests.helpers.wino_x_schemas import ACCUSATIVE, NOMINATIVE, NOUNS, TRIGGERS

Rows = list[dict[str, Any]]


def schema(template: str, option1: str, option2: str, words: tuple[str, str]) -> Rows:
    """Return the twins of a template with {} for the deciding word."""
    options = {"option1": option1, "option2": option2}
    sentences = {str(answer): template.format(word) for answer, word in enumerate(words, 1)}
    return [{"sentence": text, **options, "answer": n} for n, text in sentences.items()]


def hit_schemas(pairs: Iterable[tuple[str, str]]) -> Rows:
    """Return a schema for each pair of nouns of `tests.helpers.wino_x_schemas`."""
    text, words = "The {} hit the {} because the _ was {{}}.", ("heavy", "fragile")
    return [row for pair in pairs for row in schema(text.format(*pair), *pair, words)]


def german(source: str) -> str:
    """Translate a filled sentence of `hit_schemas` word by word."""
    _, first, _, _, second, _, _, filler, _, trigger = source.removesuffix(".").split()
    adjective = dict(TRIGGERS)[trigger]

    def phrase(noun: str, articles: dict[str, str]) -> str:
        word, pronoun = NOUNS[noun]
        return f"{articles[pronoun]} {word}"

    nominative = phrase(filler, NOMINATIVE)
    start = f"{phrase(first, NOMINATIVE)} traf {phrase(second, ACCUSATIVE)}"
    return f"{start}, weil {nominative[0].lower()}{nominative[1:]} {adjective} war."
