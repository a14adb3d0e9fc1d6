"""Words read by a pipeline of spaCy, which chooses one analysis of each word by its sentence.

Unlike a dictionary, a pipeline knows every word, and may be wrong about any.
"""

from __future__ import annotations

import bisect
import functools
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cc_hf.errors import UnknownNameError
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, Analysis
from cc_hf.text.spacy_pipelines import load_pipeline, pipeline_name

__all__ = ["Spacy", "open_spacy"]

#: Languages whose smallest pipeline is named like "es_core_news_sm" and tells genders.
_LANGUAGES = ("ca", "de", "es", "fr", "it", "pt", "ru", "uk")
_POS = {
    "ADJ": "adjective",
    "ADP": "preposition",
    "AUX": "verb",
    "DET": "determiner",
    "NOUN": "noun",
    "NUM": "numeral",
    "PRON": "pronoun",
    "PROPN": "noun",
    "VERB": "verb",
}
_GENDERS = {"Masc": MASCULINE, "Fem": FEMININE}
_NUMBERS = {"Sing": "singular", "Plur": "plural"}
#: Spanish prepositions with "el", of which the pipelines tell neither article nor gender.
_MASCULINE_ARTICLES = ("al", "del")


@functools.cache
def open_spacy(lang: str) -> Spacy:
    """Return the reader with the small pipeline of a language, which is loaded once.

    Raises:
        UnknownNameError: for a language without a pipeline here.
        MissingDependencyError: if spaCy or the pipeline is not installed.
    """
    if lang not in _LANGUAGES:
        raise UnknownNameError("language of spaCy", lang, _LANGUAGES)
    pipeline = load_pipeline(f"{lang}_core_news_sm", lang, exclude=("ner", "parser"))
    pipeline.max_length = sys.maxsize  # the limit is for parser and ner, which need the memory
    return Spacy(pipeline, pipeline_name(pipeline))


@dataclass(frozen=True)
class Spacy:
    """The reader of one language.

    Attributes:
        pipeline: a `spacy.Language` that sets parts of speech and morphology.
    """

    pipeline: Any
    signature_name: str

    def analyse(self, texts: Sequence[str]) -> list[tuple[AnalysedWord, ...]]:
        """Return the words of each text, each with the analysis that the pipeline chose."""
        # spaCy fails on lone surrogates.
        encodable = [text.encode("utf-8", "replace").decode() for text in texts]
        return [
            self._words(text, words)
            for text, words in zip(encodable, self.pipeline.pipe(encodable), strict=True)
        ]

    def _words(self, text: str, words: Any) -> tuple[AnalysedWord, ...]:
        starts = [token.start() for token in re.finditer(r"[^ \t]+", text)]
        return tuple(
            AnalysedWord(
                word.text, bisect.bisect_right(starts, word.idx) - 1, (self._analysis(word),)
            )
            for word in words
            if not word.is_space
        )

    def _analysis(self, word: Any) -> Analysis:
        """Return the analysis of a word; a preposition that holds an article is a determiner."""
        pos = _POS.get(word.pos_, "")
        genders = {_GENDERS[name] for name in word.morph.get("Gender") if name in _GENDERS}
        number = next(iter(word.morph.get("Number")), "")
        has_preposition = False
        if pos == "preposition":
            is_contracted = self.pipeline.lang == "es" and word.lower_ in _MASCULINE_ARTICLES
            if has_preposition := is_contracted or "Art" in word.morph.get("PronType"):
                pos = "determiner"
                genders |= {MASCULINE} if is_contracted else set()
        if pos == "verb" and "Part" in word.morph.get("VerbForm"):
            pos = "participle"
        lemma = word.lemma_ or word.text
        return Analysis(lemma, pos, frozenset(genders), _NUMBERS.get(number, ""), has_preposition)
