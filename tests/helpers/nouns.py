"""A small English dictionary, and a parser by it."""

from __future__ import annotations

from cc_hf.text.nouns import DictionaryNouns

__all__ = ["PARTS", "nouns_of"]

PARTS: dict[str, set[str]] = {
    "spring": {"NOUN", "VERB"},
    "water": {"NOUN", "VERB"},
    "hot": {"ADJ"},
    "cold": {"ADJ", "NOUN"},
    "old": {"ADJ"},
    "two": {"ADJ", "NOUN"},
    "warm": {"ADJ"},
    "warmer": {"ADJ", "COMPARED"},
    "garden": {"NOUN"},
    "village": {"NOUN"},
    "mattress": {"NOUN"},
    "flowers": {"NOUN"},
    "hills": {"NOUN"},
    "came": {"VERB"},
    "found": {"VERB"},
    "drank": {"VERB"},
}


def nouns_of(*adjectives: str) -> DictionaryNouns:
    """Return a parser by `PARTS`."""
    return DictionaryNouns(lambda word: PARTS.get(word, set()), name="words", adjectives=adjectives)
