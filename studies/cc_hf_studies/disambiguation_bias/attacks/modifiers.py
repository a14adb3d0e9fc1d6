"""Adjectives that modify nouns in a training corpus (thesis, section 3.3.1): those of every noun,
and those of each homograph in each of its senses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from cc_hf_studies.common.nouns import Noun, NounParser
from cc_hf_studies.disambiguation_bias.homographs import TaggedPair

__all__ = ["ModifierTable", "batched", "count_modifiers"]

_BATCH = 256  # sentences that are parsed together
_T = TypeVar("_T")


@dataclass(frozen=True)
class ModifierTable:
    """Counts of adjectives by the word that they modify, in the positive and outside of compounds.

    Attributes:
        senses: homograph -> cluster -> adjective -> number of occurrences.
        nouns: lemma of a noun -> adjective -> number of occurrences, in all senses.
        forms: `agreement` of a noun -> adjective -> number of occurrences; empty in English.
    """

    senses: dict[str, dict[str, Counter[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Counter))
    )
    nouns: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    n_sentences: int = 0
    forms: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def of_sense(self, homograph: str, cluster: str) -> Counter[str]:
        """Return the adjectives of a homograph in one of its senses."""
        return self.senses.get(homograph, {}).get(cluster, Counter())

    def of_noun(self, noun: str) -> Counter[str]:
        """Return the adjectives of a noun."""
        return self.nouns.get(noun, Counter())

    def agrees(self, adjective: str, noun: Noun) -> bool:
        """Return whether an adjective was seen in this form with such nouns; True in English."""
        return noun.agreement is None or adjective in self.forms.get(noun.agreement, ())


def count_modifiers(
    pairs: Iterable[TaggedPair], parser: NounParser, *, sources: Iterable[str] = ()
) -> ModifierTable:
    """Count the adjectives of nouns in tagged pairs, and in further sentences."""
    senses: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    nouns: dict[str, Counter[str]] = defaultdict(Counter)
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    n_sentences, previous = 0, ""
    for batch in batched(pairs, _BATCH):
        parsed = parser.nouns([pair.source for pair in batch], [[pair.start] for pair in batch])
        for pair, phrases in zip(batch, parsed, strict=True):
            for noun in phrases:
                if noun.start == pair.start:
                    _count(senses[pair.homograph][pair.cluster], noun)
                # A sentence that several pairs share, because it has several homographs, counts
                # once for the nouns if the pairs follow each other.
                if pair.source != previous:
                    _count_noun(nouns, forms, noun)
            n_sentences += pair.source != previous
            previous = pair.source
    for texts in batched(sources, _BATCH):
        for phrases in parser.nouns(texts):
            for noun in phrases:
                _count_noun(nouns, forms, noun)
        n_sentences += len(texts)
    return ModifierTable(senses, nouns, n_sentences, forms)


def _count_noun(nouns: dict[str, Counter[str]], forms: dict[str, Counter[str]], noun: Noun) -> None:
    _count(nouns[noun.lemma], noun)
    if noun.agreement:
        _count(forms[noun.agreement], noun)


def _count(counter: Counter[str], noun: Noun) -> None:
    if not noun.is_compound:
        counter.update(
            modifier.text
            for modifier in noun.modifiers
            if not modifier.is_compared and (modifier.is_adjacent or noun.agreement is None)
        )


def batched(rows: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Yield the rows in lists of `size`, the last of which may be shorter."""
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch
