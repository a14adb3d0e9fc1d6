"""Spanish, French and Italian gender rules: the feature Gender that spaCy assigns to the words
of the phrase, which is tagged without its sentence.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from cc_hf.test_sets.winomt.gender.phrase import Phrase, most_frequent
from cc_hf.text.spacy_pipelines import load_pipeline, pipeline_name

__all__ = ["predictor"]

_GENDERS = {"Masc": "male", "Fem": "female", "Neut": "neutral"}


@functools.cache
def predictor(lang: str, spacy_model: str | None = None) -> RomanceGender:
    """Return the rules with a spaCy pipeline; it is loaded once.

    Args:
        lang: "es", "fr" or "it".
        spacy_model: name or path of a pipeline; None for the small one of the language.

    Raises:
        MissingDependencyError: if spaCy or the pipeline is not installed.
        InputError: for a pipeline of another language.
    """
    pipeline = load_pipeline(
        spacy_model or f"{lang}_core_news_sm", lang, exclude=("ner", "parser", "lemmatizer")
    )
    return RomanceGender(pipeline, pipeline_name(pipeline))


@dataclass(frozen=True)
class RomanceGender:
    """Rules for Spanish, French and Italian.

    A phrase has the gender of most of its words with a gender, and is unknown without any. Phrases
    recur, so the gender of each is cached.

    Attributes:
        pipeline: spaCy pipeline of the language.
        signature_name: spaCy and the pipeline with their versions.
    """

    pipeline: Any
    signature_name: str
    _known: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def predict(self, phrase: Phrase) -> str:
        """Return the gender of a phrase; `unknown` for an empty one, or one without gender."""
        text = phrase.text
        if text not in self._known:
            tokens = self.pipeline(text) if text.strip() else ()
            self._known[text] = most_frequent(
                [gender for token in tokens if (gender := self._gender(token))]
            )
        return self._known[text]

    def _gender(self, token: Any) -> str:
        if self.pipeline.lang == "fr" and token.text == "au" and token.pos_ == "DET":
            return "male"  # contraction of "à" and "le"
        if self.pipeline.lang == "it" and token.text.startswith("dell'"):
            return "male"  # spaCy does not split it
        genders = token.morph.get("Gender")
        return _GENDERS.get(genders[0], "") if genders else ""
