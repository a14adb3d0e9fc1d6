"""Spanish, French and Italian gender rules: the genders of the words of the phrase, which is read
without its sentence, by spaCy as in the paper's program or by the dictionaries of Apertium.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cc_hf.errors import MissingDependencyError
from cc_hf.test_sets.winomt.gender.phrase import GenderPredictor, Phrase, most_frequent
from cc_hf.text.morphology import FEMININE, MASCULINE, MorphologyReader, open_reader
from cc_hf.text.spacy_pipelines import load_pipeline, pipeline_name

__all__ = ["predictor"]

_GENDERS = {"Masc": "male", "Fem": "female", "Neut": "neutral"}
_OF_READER = {MASCULINE: "male", FEMININE: "female"}
#: Parts of speech whose gender shows that of a person, the surest first. Pronouns are not among
#: them: "la" before a verb is somebody else.
_GENDERED = ("determiner", "noun", "adjective", "participle")


@functools.cache
def predictor(lang: str, spacy_model: str | None = None) -> GenderPredictor:
    """Return the rules with a spaCy pipeline, or with Apertium where the small one is missing."""
    try:
        pipeline = load_pipeline(
            spacy_model or f"{lang}_core_news_sm", lang, exclude=("ner", "parser", "lemmatizer")
        )
    except MissingDependencyError as error:
        if spacy_model is not None:
            raise
        try:
            reader = open_reader("apertium", lang)
        except MissingDependencyError as other:
            raise MissingDependencyError(
                error.package, install=f"{error.install}; or {other.install}"
            ) from None
        return DictionaryGender(reader, reader.signature_name)
    return RomanceGender(pipeline, pipeline_name(pipeline))


@dataclass(frozen=True)
class RomanceGender(GenderPredictor):
    """Rules with spaCy: the gender of most words of a phrase; neutral where no word has one."""

    pipeline: Any
    signature_name: str
    _known: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def predict(self, phrase: Phrase) -> str:
        text = phrase.text
        if text not in self._known:
            tokens = self.pipeline(text) if text.strip() else ()
            self._known[text] = _gender_of(text, [self._gender(token) for token in tokens])
        return self._known[text]

    def _gender(self, token: Any) -> str:
        if self.pipeline.lang == "fr" and token.text == "au" and token.pos_ == "DET":
            return "male"  # contraction of "à" and "le"
        if self.pipeline.lang == "it" and token.text.startswith("dell'"):
            return "male"  # spaCy does not split it
        genders = token.morph.get("Gender")
        return _GENDERS.get(genders[0], "") if genders else ""


@dataclass(frozen=True)
class DictionaryGender(GenderPredictor):
    """The same rules with a reader that looks words up."""

    reader: MorphologyReader
    signature_name: str

    def predict(self, phrase: Phrase) -> str:
        return self.predict_all([phrase])[0]

    def predict_all(self, phrases: Sequence[Phrase]) -> list[str]:
        """Return the gender of each phrase, by one process for all."""
        texts = list(dict.fromkeys(phrase.text for phrase in phrases))
        words = dict(zip(texts, self.reader.analyse(texts), strict=True))
        genders = {
            text: _gender_of(
                text, [_OF_READER.get(word.shown_gender(*_GENDERED), "") for word in of_text]
            )
            for text, of_text in words.items()
        }
        return [genders[phrase.text] for phrase in phrases]


def _gender_of(text: str, genders: Sequence[str]) -> str:
    """Return the gender of most words, "" where a word has none."""
    shown = [gender for gender in genders if gender]
    # The published figures count aligned words without a gender as neutral; the program that was
    # released counts them as unknown.
    return most_frequent(shown or ["neutral"] * bool(text.strip()))
