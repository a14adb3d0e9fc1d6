"""Lengths of the sentences, contexts, translations and fillers of Wino-X (thesis, Table 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cc_hf.errors import InputError
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.text.tokenization import moses_words

__all__ = ["Length", "sequence_lengths"]


@dataclass(frozen=True, slots=True)
class Length:
    """The length of one kind of text.

    Attributes:
        mean: mean number of Moses tokens, in which a gap is one token.
        deviation: standard deviation over all texts (the sum of squares is divided by n).
    """

    what: str
    lang: str
    n: int
    mean: float
    deviation: float


def sequence_lengths(examples: Sequence[ContrastiveTranslationExample]) -> tuple[Length, ...]:
    """Measure the texts of a configuration, both translations or both fillers of each sample."""
    if not examples:
        raise InputError("expected at least one example, got none")
    for example in examples:
        if not isinstance(example, ContrastiveTranslationExample):
            raise InputError(
                f"example {example.id!r}: expected translations or filled gaps, such as of"
                f" mt_en_de.translations or lm_en_de, got {type(example).__name__}"
            )
    languages = {example.tgt_lang for example in examples}
    if len(languages) > 1:
        raise InputError(f"expected examples in one language, got {', '.join(sorted(languages))}")
    (lang,) = languages
    if examples[0].source:
        texts = {
            ("sentence", examples[0].src_lang): [example.source for example in examples],
            ("translation", lang): [
                text
                for example in examples
                for text in (example.correct_translation, *example.contrastive_translations)
            ],
        }
    else:
        texts = {
            ("context", lang): [example.extra["context"] for example in examples],
            ("filler", lang): [
                example.extra[f"{side}_filler"]
                for example in examples
                for side in ("correct", "incorrect")
            ],
        }
    return tuple(_length(what, language, members) for (what, language), members in texts.items())


def _length(what: str, lang: str, texts: Sequence[str]) -> Length:
    lengths = np.array([len(moses_words(text, lang)) for text in texts])
    return Length(what, lang, len(texts), float(lengths.mean()), float(lengths.std()))
