import importlib.metadata
import math
import sys
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.errors import MissingDependencyError
from cc_hf.results import NoInterval
from cc_hf.test_sets.winomt.gender import (
    GENDERS,
    UNKNOWN,
    Phrase,
    east_slavic,
    gender_predictor,
    romance,
)
from cc_hf.test_sets.winomt.gender_figures import (
    count_cells,
    gender_figures,
    gender_intervals,
    printed_figures,
)
from cc_hf.text.alignment import space_tokens
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, Analysis
from tests.helpers.usual import cases, fails, limits, refuses

BUILT_IN = ("ar", "de", "he", "pt", "ru", "uk")


def gender(lang: str, phrase: str, text: str = "", position: int = 0, word: str = "doctor") -> str:
    tokens = tuple(space_tokens(phrase))
    asked = Phrase(tokens, position if tokens else -1, text or phrase, word)
    return gender_predictor(lang).predict(asked)


@cases(
    ("die Ärztin", "Sie sah die Ärztin.", 2, "doctor", "female"),
    ("ein", "Ein Arzt kam.", 0, "doctor", "female"),  # "ein" ends in "in"
    ("dem Arzt,", "Sie gab es dem Arzt, weil er kam.", 3, "doctor", "male"),
    ("die Pflegekraft", "Er sah die Pflegekraft.", 2, "nursing staff", "female"),
    ("der Pfleger", "Der Pfleger kam.", 0, "nurse", "female"),
    ("Der Pfleger", "Der Pfleger kam.", 0, "The Nurse", "female"),
    ("", "Die Ärztin kam.", -1, "doctor", "male"),
    ("Arzt", "Arzt kam.", 0, "doctor", "male"),
    ("Kind", "Das Kind kam.", 1, "child", "neutral"),
    # "Die" and "er" are equally near; "den" does not count
    ("Arzt", "Die Frau sah Arzt durch den er", 3, "doctor", "female"),
    # commas move "er" away, though it is the next word
    ("Arzt", "Die, ja, nein, Arzt er", 3, "doctor", "female"),
    # what Moses writes for a hyphen is one token, as is a word with hyphens
    ("Minister", "Die UNO @-@ Minister sagte ihr", 3, "minister", "neutral"),
    ("Vor-Ort-Rat", "Der gute Vor-Ort-Rat ihr", 2, "advisor", "neutral"),
    ("Check-in-Pfleger", "Der Check-in-Pfleger", 1, "carer", "male"),
)
def test_german_gender_is_read_from_article_and_noun(
    phrase: str, translation: str, position: int, word: str, expected: str
) -> None:
    assert gender("de", phrase, translation, position, word) == expected


@cases(
    ("ru", ["врач", "врача уборщица"], "male"),  # a tie goes to the first word
    ("ru", ["Уборщица"], "female"),
    ("ru", ["потому"], "neutral"),
    ("ru", [""], UNKNOWN),
    ("uk", ["лікарка"], "female"),
    ("uk", ["лікар"], "male"),
    ("he", ["הרופאה", "האחות."], "female"),
    ("he", ["הרופא", "את הרופא", "&quot; הרופא @-@"], "male"),
    ("he", ['הסמנכ"ל ארה"ב'], "male"),  # the mark of an acronym does not end a word
    ("he", [""], UNKNOWN),
    ("pt", ["a médica", "à gerente", "o da supervisora", "a &quot;médica&quot;"], "female"),
    ("pt", ["a\N{NO-BREAK SPACE}motorista", "médica\N{ZERO WIDTH SPACE}"], "female"),
    ("pt", ["A carpinteiro"], "female"),  # a capital begins a sentence: the article
    ("pt", ["a carpinteiro", "a alguém"], "male"),  # the preposition
    ("pt", ["o médico,", "o caixa"], "male"),  # the determiner decides
    ("pt", ["gerente"], "male"),  # the generic form
    ("pt", ["o dono da casa"], "male"),  # a complement says nothing of the person
    ("pt", ["que a", ",", "", "&apos; @-@ &quot;"], UNKNOWN),  # escapes of Moses are no nouns
    ("ar", ["الطبيبة", "طبيبﺔ"], "female"),
    ("ar", ["الطبيب"], "male"),
    ("ar", [""], UNKNOWN),
)
def test_gender_rules_read_the_phrase(lang: str, phrases: list[str], expected: str) -> None:
    assert {phrase: gender(lang, phrase) for phrase in phrases} == dict.fromkeys(phrases, expected)


@pytest.mark.parametrize("lang", BUILT_IN)
@given(st.lists(st.text(min_size=1), max_size=4).map(tuple), st.text(), st.text())
def test_any_text_is_read(lang: str, phrase: tuple[str, ...], translation: str, word: str) -> None:
    asked = Phrase(phrase, 0 if phrase else -1, translation, word)
    assert gender_predictor(lang).predict(asked) in (*GENDERS, UNKNOWN)


@pytest.mark.parametrize("lang", BUILT_IN)
def test_the_signature_names_the_morphology_used(lang: str) -> None:
    name = gender_predictor(lang).signature_name
    assert (
        name.startswith("pymorphy3-") and f"+pymorphy3-dicts-{lang}-" in name
        if lang in ("ru", "uk")
        else name == "rules"
    )


WORDS = {"la": "Fem", "doctora": "Fem", "el": "Masc", "médico": "Masc", "lo": "Neut"}


def _token(text: str) -> SimpleNamespace:
    morph = {"Gender": [WORDS[text]]} if text in WORDS else {}
    return SimpleNamespace(text=text, pos_="DET" if text == "au" else "NOUN", morph=morph)


@pytest.fixture
def spacy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def load(name: str, exclude: list[str]) -> Mock:
        if not name.endswith("core_news_sm"):
            raise OSError(f"[E050] Can't find model '{name}'.")
        meta = {"lang": name[:2], "name": "core_news_sm", "version": "3.8.0"}
        return Mock(side_effect=lambda s: [*map(_token, s.split())], lang=name[:2], meta=meta)

    fake = SimpleNamespace(load=load, __version__="3.8.0")
    monkeypatch.setitem(sys.modules, "spacy", fake)
    romance.predictor.cache_clear()
    yield fake
    romance.predictor.cache_clear()


@cases(
    ("es", ["la doctora", "la médico"], "female"),  # a tie goes to the first
    ("es", ["el médico"], "male"),
    ("es", ["lo"], "neutral"),
    ("es", ["de", "au"], "neutral"),
    ("es", [""], UNKNOWN),
    ("fr", ["au"], "male"),
    ("it", ["dell'avvocato"], "male"),
    ("fr", ["dell'avvocato"], "neutral"),
)
def test_romance_genders_by_spacy(lang: str, phrases: list[str], expected: str, spacy: Any) -> None:
    assert {phrase: gender(lang, phrase) for phrase in phrases} == dict.fromkeys(phrases, expected)


def test_the_spacy_pipeline_can_be_chosen(spacy: Any) -> None:
    assert gender_predictor("fr").signature_name == "spacy-3.8.0+fr_core_news_sm-3.8.0"
    fails(
        MissingDependencyError,
        r"'fr_core_news_lg'.*Install it with: python",
        gender_predictor,
        "fr",
        spacy_model="fr_core_news_lg",
    )
    refuses(
        r"expected a pipeline for fr.*got 'es_core_news_sm'",
        gender_predictor,
        "fr",
        spacy_model="es_core_news_sm",
    )


def test_missing_spacy_is_named_with_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    absent = MissingDependencyError("lt-proc", install="apt install lt-proc")
    monkeypatch.setattr(romance, "open_reader", Mock(side_effect=absent))
    romance.predictor.cache_clear()
    either = r"pip .*spacy>=3\.7' && python -m spacy.* it_core_news_sm; or apt install lt-proc"
    fails(MissingDependencyError, either, gender_predictor, "it")


_F, _M = frozenset([FEMININE]), frozenset([MASCULINE])
_WORDS_OF_DICTIONARY = {
    "la": (Analysis("el", "determiner", _F), Analysis("lo", "pronoun", _M)),
    "el": (Analysis("el", "determiner", _M),),
    "su": (Analysis("suyo", "determiner", _F | _M),),
    "médica": (Analysis("médico", "noun", _F),),
    "guía": (Analysis("guía", "noun", _F), Analysis("guía", "noun", _M)),
    "lo": (Analysis("lo", "pronoun", _M),),
}


class _Dictionary:
    signature_name = "words"

    def analyse(self, texts: Sequence[str]) -> list[tuple[AnalysedWord, ...]]:
        return [
            tuple(
                AnalysedWord(word, 0, _WORDS_OF_DICTIONARY.get(word, ())) for word in text.split()
            )
            for text in texts
        ]


@cases(
    (["la", "la guía", "la el", "su médica", "médica la el"], "female"),  # a tie goes to the first
    (["el", "el la"], "male"),
    (["su", "guía", "lo", "zzz"], "neutral"),
    ([""], UNKNOWN),
)
def test_romance_genders_by_a_dictionary(
    phrases: list[str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without spaCy: pronouns show nobody's gender, and a form of both shows none."""
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setattr(romance, "open_reader", lambda *_: _Dictionary())
    romance.predictor.cache_clear()
    assert gender_predictor("es").signature_name == "words"
    assert {phrase: gender("es", phrase) for phrase in phrases} == dict.fromkeys(phrases, expected)
    romance.predictor.cache_clear()


def test_a_dictionary_that_is_an_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Mock(side_effect=importlib.metadata.PackageNotFoundError("pymorphy3-dicts-uk"))
    monkeypatch.setattr(importlib.metadata, "version", absent)
    fails(
        MissingDependencyError,
        r"pymorphy3-dicts-uk.*\[ukrainian\]",
        east_slavic.predictor.__wrapped__,
        "uk",
    )


_ROW = st.tuples(*map(st.sampled_from, (GENDERS, ("pro", "anti", "none"), (*GENDERS, UNKNOWN))))
_ROWS = st.lists(_ROW, min_size=1, max_size=30)


@given(_ROWS)
def test_figures_equal_their_definitions(rows: list[tuple[str, str, str]]) -> None:
    gold, stereotypes, predicted = zip(*rows, strict=True)
    actual = gender_figures(count_cells(gold, stereotypes, predicted))
    expected: dict[str, float] = {}
    for gender in set(gold):
        correct = sum(g == p == gender for g, _, p in rows)
        precision = correct / predicted.count(gender) if gender in predicted else 0.0
        recall = correct / gold.count(gender)
        f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
        names = (f"{name}_{gender}" for name in ("precision", "recall", "f1"))
        expected |= zip(names, (precision, recall, f1), strict=True)
    for side in {"pro", "anti"} & set(stereotypes):
        n_correct = sum(g == p for g, s, p in rows if s == side)
        expected[f"accuracy_{side}"] = n_correct / stereotypes.count(side)
    if {"male", "female"} <= set(gold):
        expected["delta_g"] = expected["f1_male"] - expected["f1_female"]
    if {"pro", "anti"} <= set(stereotypes):
        expected["delta_s"] = expected["accuracy_pro"] - expected["accuracy_anti"]
    assert actual == pytest.approx(expected)


@given(_ROWS)
def test_printed_figures_differ_only_by_rounding(rows: list[tuple[str, str, str]]) -> None:
    cells = count_cells(*zip(*rows, strict=True))
    exact, printed = gender_figures(cells), printed_figures(cells)
    accuracy = sum(g == p for g, _, p in rows) / len(rows)
    assert printed["accuracy"] == pytest.approx(accuracy, abs=0.0006)
    assert exact.keys() | {"accuracy"} == printed.keys()
    assert all(printed[name] == pytest.approx(value, abs=0.004) for name, value in exact.items())
    assert all(round(value, 3) == value for value in printed.values())


@given(_ROWS)
def test_every_figure_has_an_interval_without_nan(rows: list[tuple[str, str, str]]) -> None:
    cells = count_cells(*zip(*rows, strict=True))
    intervals = gender_intervals(cells)
    assert intervals.keys() == gender_figures(cells).keys()
    assert all(isinstance(i, NoInterval) or -math.inf < i.low < i.high for i in intervals.values())


def test_intervals_contain_their_figures() -> None:
    rng = np.random.default_rng(0)
    names = ["male", "female"], ["pro", "anti"], ["male", "female", "unknown"]
    cells = count_cells(*(rng.choice(column, size=300).tolist() for column in names))
    actual = gender_intervals(cells)
    for name, value in gender_figures(cells).items():
        low, high = limits(actual[name])
        assert low < value < high
