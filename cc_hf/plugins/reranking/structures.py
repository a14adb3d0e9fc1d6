"""Pairs of a system beside pairs by people, as Garg et al. 2024 compare gender alternatives.

A structure is a place where the two translations of a pair differ, with the words of both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from cc_hf.plugins.reranking.alternatives import Alternatives
from cc_hf.plugins.reranking.gendered_pairs import check_pair
from cc_hf.schema import Example
from cc_hf.text.morphology import open_reader

__all__ = ["Structures", "pairs_by_people", "structures"]


class Structures(NamedTuple):
    """Numbers of structures, over the sources for which system and people have a pair.

    The share of `n_common` in `n_system` is the precision, that in `n_people` the recall.
    """

    n_sources: int
    n_system: int
    n_people: int
    n_common: int


def pairs_by_people(
    examples: Sequence[Example], tgt_lang: str, reader: str | None
) -> list[Alternatives]:
    """Return the versions by people of each example, with their checks; [] without versions."""
    versions = [(e.extra.get("masculine", ""), e.extra.get("feminine", "")) for e in examples]
    if not versions or not all(map(all, versions)):
        return []
    words: list[Any] = [None] * len(versions)
    if reader is not None:
        analyse = open_reader(reader, tgt_lang).analyse
        words = [*zip(*map(analyse, zip(*versions, strict=True)), strict=True)]
    return [
        Alternatives(
            example.source,
            "",
            masculine,
            masculine,
            feminine,
            check=check_pair(masculine, feminine, tgt_lang, first=masculine, words=of_pair),
            how="people",
        )
        for example, (masculine, feminine), of_pair in zip(examples, versions, words, strict=True)
    ]


def structures(rows: Sequence[Alternatives], people: Sequence[Alternatives]) -> Structures:
    """Compare the structures of a system's pairs with those of people.

    Examples:
        >>> from dataclasses import replace
        >>> check = check_pair("Der Arzt sah ihn.", "Die Ärztin sah sie.", "de")
        >>> pair = Alternatives("The doctor saw them.", "doctor", "", check=check, how="people")
        >>> other = check_pair("Der Arzt sah es.", "Die Ärztin sah es.", "de")
        >>> structures([replace(pair, check=other)], [pair])
        Structures(n_sources=1, n_system=1, n_people=2, n_common=1)
    """
    both = [
        (Counter(row.check.differing), Counter(pair.check.differing))
        for row, pair in zip(rows, people, strict=True)
        if row.how and row.check is not None and pair.check is not None
    ]
    return Structures(
        len(both),
        sum(system.total() for system, _ in both),
        sum(of_people.total() for _, of_people in both),
        sum((system & of_people).total() for system, of_people in both),
    )
