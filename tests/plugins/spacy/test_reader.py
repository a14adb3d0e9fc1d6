"""A pipeline of spaCy reads words in their sentences.

The pipeline of the tests has the tokenizer of spaCy and a table in place of a trained model.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from cc_hf.errors import MissingDependencyError, UnknownNameError
from cc_hf.plugins.spacy.reader import open_spacy
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, open_reader
from tests.helpers.usual import cases, fails

_M, _F = {MASCULINE}, {FEMININE}
#: Word -> part of speech, morphology and lemma, as es_core_news_sm gives them.
_WORDS = {
    "la": ("DET", "Gender=Fem|Number=Sing|PronType=Art", "el"),
    "del": ("ADP", "AdpType=Preppron", "del"),
    "al": ("ADP", "", "al"),
    "de": ("ADP", "", "de"),
    "della": ("ADP", "Gender=Fem|Number=Sing|PronType=Art", "di"),
    "médica": ("NOUN", "Gender=Fem|Number=Sing", "médico"),
    "artista": ("NOUN", "Number=Sing", "artista"),
    "guías": ("NOUN", "Gender=Fem,Masc|Number=Plur", "guía"),
    "cansado": ("VERB", "Gender=Masc|VerbForm=Part", "cansar"),
    "corrió": ("VERB", "VerbForm=Fin", "correr"),
    "María": ("PROPN", "", ""),
}


def _table_of_words(doc: Doc) -> Doc:
    for word in doc:
        word.pos_, morph, word.lemma_ = _WORDS.get(word.text, ("PUNCT", "", ""))
        word.set_morph(morph)
    return doc


spacy.Language.component("table_of_words", func=_table_of_words)


@pytest.fixture
def pipelines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Save the pipeline where spaCy finds it by its path."""
    pipeline = spacy.blank("es", meta={"name": "core_news_sm", "version": "9.1"})
    pipeline.add_pipe("table_of_words")
    pipeline.to_disk(tmp_path / "es_core_news_sm")
    monkeypatch.chdir(tmp_path)
    open_spacy.cache_clear()
    yield
    open_spacy.cache_clear()


def _read(text: str) -> tuple[AnalysedWord, ...]:
    (words,) = open_reader("spacy", "es").analyse([text])
    return words


@cases(
    ("la", "determiner", _F, "el", False),
    ("del", "determiner", _M, "del", True),
    ("della", "determiner", _F, "di", True),
    ("de", "preposition", set(), "de", False),
    ("médica", "noun", _F, "médico", False),
    ("artista", "noun", set(), "artista", False),
    ("guías", "noun", _M | _F, "guía", False),
    ("cansado", "participle", _M, "cansar", False),
    ("corrió", "verb", set(), "correr", False),
    ("María", "noun", set(), "María", False),
    (".", "", set(), ".", False),
)
def test_a_word_has_the_analysis_of_the_pipeline(
    word: str, pos: str, genders: set[str], lemma: str, has_preposition: bool, pipelines: None
) -> None:
    (analysis,) = _read(word)[0].analyses
    actual = (analysis.pos, {*analysis.genders}, analysis.lemma, analysis.has_preposition)
    assert actual == (pos, genders, lemma, has_preposition)


def test_words_know_their_token_in_any_text(pipelines: None) -> None:
    words = _read(" la\t médica.\n\ud800 guías ")
    assert [(word.text, word.token) for word in words] == [
        ("la", 0),
        ("médica", 1),
        (".", 1),
        ("?", 1),
        ("guías", 2),
    ]
    assert [a.number for word in words[::4] for a in word.analyses] == ["singular", "plural"]
    assert (_read(""), len(_read(f"la {' ' * 1_000_000} la"))) == ((), 2)


def test_the_signature_names_library_and_pipeline(pipelines: None) -> None:
    assert open_spacy("es").signature_name == f"spacy-{spacy.__version__}+es_core_news_sm-9.1"


def test_what_is_missing_is_named(pipelines: None) -> None:
    fails(UnknownNameError, "language of spaCy 'el'", open_reader, "spacy", "el")
    install = "'it_core_news_sm'.*python -m spacy download it_core_news_sm"
    fails(MissingDependencyError, install, open_reader, "spacy", "it")
