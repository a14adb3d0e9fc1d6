"""A small English dictionary, and a parser by it."""

from cc_hf_studies.common.nouns import DictionaryNouns

_WORDS = {
    "NOUN": "garden village mattress flowers hills",
    "NOUN VERB": "spring water",
    "ADJ": "hot old warm",
    "ADJ NOUN": "cold two",
    "VERB": "came found drank",
    "ADJ COMPARED": "warmer",
}
PARTS = {word: set(parts.split()) for parts, words in _WORDS.items() for word in words.split()}


def nouns_of(*adjectives: str) -> DictionaryNouns:
    """Return a parser by `PARTS`."""
    return DictionaryNouns(lambda word: PARTS.get(word, set()), name="words", adjectives=adjectives)
