"""The sub-words of a text that are probed, with the bin of their frequency and the part of speech
of their word. No torch here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.text.pieces import piece_characters

__all__ = [
    "N_BINS",
    "ProbedText",
    "SubwordModel",
    "frequency_bins",
    "parts_of_speech",
    "type_counts",
]

#: Number of bins of types, from the rarest to the most frequent (Figures 5.6 and 5.7).
N_BINS = 10

_Ints = npt.NDArray[np.int64]


class SubwordModel(Protocol):
    """What is needed of an evaluator to know its sub-words."""

    decoder_start: tuple[int, ...]

    @property
    def mark_ids(self) -> frozenset[int]:
        """Ids of tokens that stand for no text."""

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the tokenizer's names of source tokens."""

    def target_pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the tokenizer's names of target tokens."""


@dataclass(frozen=True)
class ProbedText:
    """One side of sentence pairs, as the model reads it.

    Attributes:
        side: "encoder", which reads the sources, or "decoder", which reads what precedes each token
            of the translations.
        marks: ids of tokens that stand for no text and are not probed.
    """

    side: str
    texts: Sequence[str]
    rows: Sequence[Sequence[int]]
    marks: frozenset[int]

    @property
    def is_probed(self) -> list[list[bool]]:
        """Whether each token is a sub-word."""
        return [[number not in self.marks for number in row] for row in self.rows]

    @property
    def ids(self) -> _Ints:
        """The ids of all sub-words, sentence by sentence."""
        flat = [number for row in self.rows for number in row if number not in self.marks]
        return np.array(flat, dtype=np.int64)

    @property
    def sentences(self) -> _Ints:
        """The number of the sentence of each sub-word."""
        counts = [sum(number not in self.marks for number in row) for row in self.rows]
        return np.repeat(np.arange(len(counts)), counts).astype(np.int64)

    @property
    def starts(self) -> _Ints:
        """The index of the first sub-word of each sentence among all, and the number of all."""
        counts = [sum(number not in self.marks for number in row) for row in self.rows]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def frequency_bins(counts: Mapping[int, int], ids: Sequence[int] | _Ints) -> list[str]:
    """Return the bin of each sub-word: of ten with equally many types, "1" holding the rarest.

    A type that does not occur in the training text is in no bin, "". For fewer than ten types there
    are as many bins as types.
    """
    # Types of equal frequency are in the order of their ids.
    types = sorted((n, number) for number, n in counts.items() if n > 0)
    bins = np.array_split(np.array([number for _, number in types]), min(N_BINS, len(types)) or 1)
    bin_of = {
        int(number): str(index) for index, members in enumerate(bins, 1) for number in members
    }
    return [bin_of.get(int(number), "") for number in ids]


def type_counts(text: ProbedText) -> Counter[int]:
    """Count the types of a text."""
    return Counter(text.ids.tolist())


def parts_of_speech(text: ProbedText, model: SubwordModel, tagger: Any) -> list[str]:
    """Return the tag in Universal Dependencies of the word that each sub-word belongs to."""
    name_pieces = model.source_pieces if text.side == "encoder" else model.target_pieces
    tags: list[str] = []
    for sentence, row, document in zip(text.texts, text.rows, tagger.pipe(text.texts), strict=True):
        words = [(token.idx, token.idx + len(token.text), token.pos_) for token in document]
        tag_of = {position: tag for start, end, tag in words for position in range(start, end)}
        pieces = [
            "" if number in text.marks else piece
            for number, piece in zip(row, name_pieces(row), strict=True)
        ]
        tag, of_sentence = "", []
        spans = piece_characters(pieces, sentence)
        # A sub-word without characters, such as the mark of a word's beginning, has the tag of the
        # next one.
        for number, indices in reversed(list(zip(row, spans, strict=True))):
            tag = next((tag_of[index] for index in indices if index in tag_of), tag)
            if number not in text.marks:
                of_sentence.append(tag)
        tags += reversed(of_sentence)
    if tags and not any(tags):
        raise InputError(
            "spacy_model: expected a pipeline that tags parts of speech, got one without tags; name"
            " one with a tagger or a morphologizer, such as en_core_web_sm"
        )
    return tags
