"""Spanish, French and Italian: the feature Gender that spaCy gives the words of the phrase, read by
itself.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.text.gender.phrase import Phrase, most_frequent

__all__ = ["predictor"]

_GENDERS = {"Masc": "male", "Fem": "female", "Neut": "neutral"}


@functools.cache
def predictor(lang: str, spacy_model: str | None = None) -> RomanceGender:
    """The rules with a spaCy pipeline, the small one of the language if none is named; loaded once.

    Raises:
        MissingDependencyError: when spaCy or the pipeline is not installed.
        InputError: for a pipeline of another language.
    """
    name = spacy_model or f"{lang}_core_news_sm"
    try:
        import spacy
    except ImportError:
        raise MissingDependencyError(
            "spacy", install=f"pip install 'cc_hf[morphology]' && python -m spacy download {name}"
        ) from None
    try:
        pipeline = spacy.load(name, exclude=["ner", "parser", "lemmatizer"])
    except OSError:
        raise MissingDependencyError(name, install=f"python -m spacy download {name}") from None
    if pipeline.lang != lang:
        raise InputError(
            f"spacy_model: expected a pipeline for {lang}, got {name!r}, which is for"
            f" {pipeline.lang}"
        )
    meta = pipeline.meta
    return RomanceGender(
        pipeline, f"spacy-{spacy.__version__}+{meta['lang']}_{meta['name']}-{meta['version']}"
    )


@dataclass(frozen=True)
class RomanceGender:
    """What most of the words with a gender are; unknown if none has one.

    Phrases recur, and each is tagged once.
    """

    pipeline: Any
    signature_name: str
    _known: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def predict(self, phrase: Phrase) -> str:
        """`unknown` for an empty phrase, or one without gender."""
        text = phrase.text
        if text not in self._known:
            tokens = self.pipeline(text) if text.strip() else ()
            self._known[text] = most_frequent(
                [gender for token in tokens if (gender := self._gender(token))]
            )
        return self._known[text]

    def _gender(self, token: Any) -> str:
        if self.pipeline.lang == "fr" and token.text == "au" and token.pos_ == "DET":
            return "male"  # «à» and «le» in one
        if self.pipeline.lang == "it" and token.text.startswith("dell'"):
            return "male"  # spaCy does not split it
        found = token.morph.get("Gender")
        return _GENDERS.get(found[0], "") if found else ""
