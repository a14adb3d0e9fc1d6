"""Counts of male and female forms of occupations in parallel text, at one stage or several (Vamvas
& Sennrich 2021, section 4.1 and appendix A).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.data.corpora.parallel import Corpus, CorpusBlock, StreamCorpus
from cc_hf.errors import InputError, in_file, shown
from cc_hf.records import NonEmpty, read_json, read_value
from cc_hf.rules import Kind
from cc_hf.signature import build
from cc_hf.text.tokenization import whole_words
from cc_hf_studies.common.corpus_blocks import count_blocks
from cc_hf_studies.distillation.gender_flows import GENDERS, OccupationCounts, counts_of_paths

__all__ = [
    "OccupationCounter",
    "OccupationForms",
    "count_occupations",
    "parse_occupation_forms",
    "read_occupation_forms",
]

_KEYS = ("src_forms", "tgt_forms_male", "tgt_forms_female")
_WORD = Kind(
    "a single word, as texts are searched word by word",
    lambda value: isinstance(value, str) and re.fullmatch(r"\w+", value) is not None,
)
_FORM = NonEmpty({str: {key: [_WORD] for key in _KEYS} | {"src_forms": NonEmpty([_WORD])}})
_BETWEEN = "\t"


@dataclass(frozen=True)
class OccupationForms:
    """The forms by which an occupation is counted; a form of both genders shows none.

    Attributes:
        source: words of the source language, in lower case.
        male, female: words of the target language, as they are written.
    """

    source: frozenset[str]
    male: frozenset[str]
    female: frozenset[str]

    def gender(self, words: set[str]) -> str:
        """Return "male" or "female" if only forms of this gender occur, else "other"."""
        male, female = not self.male.isdisjoint(words), not self.female.isdisjoint(words)
        return "other" if male == female else GENDERS[female]


def read_occupation_forms(path: str | Path) -> dict[str, OccupationForms]:
    """Read a user's file of occupations."""
    with in_file(path):
        return parse_occupation_forms(read_json(path, "an object, occupation to its forms", _FORM))


def parse_occupation_forms(value: Any) -> dict[str, OccupationForms]:
    """Return the forms of each occupation from JSON as `read_occupation_forms` describes it."""
    read_value(_FORM, value)
    occupations = {}
    for occupation, forms in value.items():
        if len(forms) > len(_KEYS):
            raise InputError(f"{occupation}: expected {', '.join(_KEYS)}, got {shown(forms)}")
        male, female = frozenset(forms["tgt_forms_male"]), frozenset(forms["tgt_forms_female"])
        source = frozenset(word.lower() for word in forms["src_forms"])
        occupations[occupation] = OccupationForms(source, male, female)
    return occupations


class OccupationCounter:
    """Count the genders of occupations in a block of sentences with their translations.

    Source words are compared in lower case, words of translations as they are written.
    """

    def __init__(self, occupations: Mapping[str, OccupationForms]) -> None:
        self.occupations = dict(occupations)
        self._by_word: dict[str, list[str]] = {}
        for occupation, forms in self.occupations.items():
            for word in sorted(forms.source):
                self._by_word.setdefault(word, []).append(occupation)

    def count(self, block: CorpusBlock) -> Counter[str]:
        """Return the number of pairs for each occupation and its gender at each stage."""
        numbers: Counter[str] = Counter()
        for row, source in enumerate(block.sources):
            words = set(whole_words(source.lower())) & self._by_word.keys()
            if not words or row in block.damaged:
                continue
            stages = [set(whole_words(texts[row])) for texts in block.targets]
            for occupation in {name for word in words for name in self._by_word[word]}:
                forms = self.occupations[occupation]
                numbers[_BETWEEN.join((occupation, *map(forms.gender, stages)))] += 1
        return numbers


def count_occupations(
    corpus: Corpus | StreamCorpus,
    counter: OccupationCounter,
    *,
    stages: Sequence[str],
    n_processes: int = 1,
    progress: bool = False,
) -> OccupationCounts:
    """Count male and female forms of occupations in parallel text."""
    counted = count_blocks(corpus, counter, n_processes=n_processes, progress=progress)
    if not counted.numbers:
        names = ", ".join(list(counter.occupations)[:9])
        raise InputError(
            f"{corpus.name}: expected sources with an occupation ({names}), got none in"
            f" {counted.n_pairs} pairs; check which side is which"
        )
    paths = {tuple(key.split(_BETWEEN)): number for key, number in counted.numbers.items()}
    rows = [
        (name, sorted(forms.source), sorted(forms.male), sorted(forms.female))
        for name, forms in sorted(counter.occupations.items())
    ]
    lexicon = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:7]
    fields: dict[str, str | int] = {
        "corpus": counted.corpus[:7],
        "forms": f"{len(rows)}.{lexicon}",
        "stages": "+".join(stages),
        "n": counted.n_pairs - counted.n_damaged,
    }
    return counts_of_paths(
        build("occupations", fields),
        stages,
        {occupation: {} for occupation in counter.occupations},
        paths,
        n_pairs=counted.n_pairs,
        n_damaged=counted.n_damaged,
        damaged=counted.damaged,
    )
