"""How often each sense of ambiguous words occurs in training data: a JSON object, "word - target
words of the sense" -> number, as Vamvas & Sennrich (2021, appendix A) published it.

The sense that occurs most often is the frequent one of its word.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.errors import InputError, in_file, shown
from cc_hf.records import COUNT, NonEmpty, read_json, read_value
from cc_hf.schema import Example

__all__ = ["Sense", "frequent_senses", "read_sense_counts", "sense_of", "with_counts"]

#: An ambiguous word, and the target words that show one of its senses.
Sense: TypeAlias = tuple[str, frozenset[str]]

_BETWEEN = " - "
#: Names of the categories of senses, and the field of examples that are in other categories.
_CATEGORIES = ("frequent", "infrequent")


def sense_of(name: str) -> Sense:
    """Return the sense that a key of a file of counts names: a word, " - ", and its target words.

    Examples:
        >>> word, forms = sense_of("ball - ballen ball")
        >>> word, sorted(forms)
        ('ball', ['ball', 'ballen'])
    """
    word, between, forms = name.partition(_BETWEEN)
    if not (word.strip() and between and forms.split()):
        raise InputError(
            f"expected a word, {_BETWEEN!r} and the target words of a sense, such as"
            f" 'bat - fledermaus', got {shown(name)}"
        )
    return word.strip(), frozenset(forms.split())


def frequent_senses(counts: Mapping[str, float]) -> set[Sense]:
    """Return, for each ambiguous word, the sense that occurs most often; of equal ones the first.

    Examples:
        >>> frequent_senses({"bat - fledermaus": 3, "bat - schläger": 3, "air - luft": 1}) == {
        ...     ("bat", frozenset({"fledermaus"})),
        ...     ("air", frozenset({"luft"})),
        ... }
        True
    """
    best: dict[str, tuple[float, frozenset[str]]] = {}
    for name, count in counts.items():
        word, forms = sense_of(name)
        if word not in best or count > best[word][0]:
            best[word] = (count, forms)
    return {(word, forms) for word, (_, forms) in best.items()}


def read_sense_counts(path: str | Path) -> dict[str, int]:
    """Read a user's file of counts, such as `cc-hf study distillation senses --output` writes it.

    Args:
        path: a JSON object, name of a sense (see `sense_of`) -> number; or the object with the key
            "counts" that holds it.
    """
    counts = read_json(path, "an object, sense to number", NonEmpty({str: None}))
    with in_file(path):
        counts = counts.get("counts", counts)
        read_value(NonEmpty({str: COUNT}), counts)
        frequent_senses(counts)  # refuses names that are no senses
    return dict(counts)


def with_counts(
    declared: DatasetDeclaration, config: str | None, path: str | Path
) -> DatasetDeclaration:
    """Return a dataset of word senses whose categories are those of a user's training data.

    The signature then has the hash of the counts. The category of an example, or in the translation
    suite the column `frequency`, is `frequent` or `infrequent`.

    Args:
        config: name of a configuration whose examples name `ambiguous_word` and `correct_senses`;
            None for the default.
    """
    if not {"ambiguous_word", "correct_senses"} <= set(declared.extra_keys_of(config)):
        raise InputError(
            f"counts: {declared.name} {declared.config(config).name} does not name senses; expected"
            " a configuration of mucow with frequent and infrequent senses, such as en-de"
        )
    counts = read_sense_counts(path)
    frequent = frequent_senses(counts)
    text = "\n".join(f"{name}\t{count}" for name, count in counts.items())

    def recounted(example: Example) -> Example:
        sense = example.extra["ambiguous_word"], frozenset(example.extra["correct_senses"].split())
        # A sense whose word was not counted is infrequent, as with the published counts.
        category = _CATEGORIES[sense not in frequent]
        if "frequency" in example.extra:
            return replace(example, extra={**example.extra, "frequency": category})
        return replace(example, category=category)

    return replace(
        declared,
        read=lambda paths, config, split: map(recounted, declared.read(paths, config, split)),
        counts=hashlib.sha256(text.encode()).hexdigest()[:7],
    )
