"""The rule in context finds the noun that is meant, and the gender that it shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from cc_hf.plugins.apertium.context import ContextRule, open_context_rule
from cc_hf.plugins.apertium.reader import _unit
from cc_hf.text.alignment import space_tokens
from cc_hf.text.morphology import AnalysedWord
from tests.helpers.usual import cases, refuses

_WORDS = """
la/el<det><def><f><sg>/la<n><m><sg> el/el<det><def><m><sg> las/el<det><def><f><pl>
un/uno<det><m><sg> del/de<pr>+el<det><m><sg> al/a<pr>+el<det><m><sg> de/de<pr>
su/suyo<det><pos><mf><sg> y/y<cnjcoo> médica/médico<n><f><sg> médico/médico<n><m><sg>
guapa/guapo<adj><f><sg> guapo/guapo<adj><m><sg> guía/guía<n><mf><sg> ama/ama<n><f><sg>
llaves/llave<n><f><pl> trabajador/trabajador<n><m><sg> construcción/construcción<n><f><sg>
cocina/cocina<n><f><sg> panadero/panadero<n><m><sg> directora/director<n><f><sg>
ejecutiva/ejecutivo<adj><f><sg> corrió/correr<vblex> asistente/asistente<n><mf><sg>
enfermeras/enfermera<n><f><pl> enfermera/enfermera<n><f><sg>/enfermero<n><m><pl>
alguien/alguien<prn><m> doctora/*doctora zapator/*zapator xyz/*xyz
"""
_UNITS = {unit.partition("/")[0]: unit for unit in _WORDS.split()}


class _Dictionary:
    signature_name = "words"

    def analyse(self, texts: Sequence[str]) -> list[tuple[AnalysedWord, ...]]:
        return [
            tuple(
                AnalysedWord(word, token, _unit(_UNITS[word])[1])
                for token, word in enumerate(space_tokens(text))
            )
            for text in texts
        ]


@dataclass(frozen=True)
class _Person:
    translation: str
    linked: tuple[int, ...]
    article_linked: tuple[int, ...] = ()
    word: str = "doctor"


_RULE = ContextRule(_Dictionary(), "es")


@cases(
    ("la guapa médica corrió", (2,), "female"),  # the article stands before an adjective
    ("la médico corrió", (1,), "female"),  # the determiner decides
    ("el ama de llaves corrió", (1,), "female"),  # but not "el" before a stressed a-
    ("la directora ejecutiva corrió", (2,), "female"),  # the noun before an adjective
    ("trabajador de la construcción", (3,), "male"),  # the noun of which this is the complement
    ("la cocina del panadero corrió", (3,), "male"),  # not every noun before "del" is meant
    ("su asistente corrió", (1,), "neutral"),
    ("su asistente guapa corrió", (1,), "female"),
    ("la enfermera corrió", (1,), "female"),  # the number of the determiner chooses the reading
    ("alguien corrió", (0,), "neutral"),
    ("zapator corrió", (0,), "male"),  # by its ending
    ("xyz corrió", (0,), "unknown"),
    ("corrió", (), "unknown"),
)
def test_a_gender_is_read_in_context(text: str, linked: tuple[int, ...], expected: str) -> None:
    assert _RULE.predict_all([_Person(text, linked)]) == [expected]


def test_a_noun_under_the_article_is_the_person() -> None:
    person = _Person("la médica corrió", (2,), article_linked=(0, 1))
    assert _RULE.predict_all([person]) == ["female"]


def test_a_usual_translation_takes_the_place_of_a_misaligned_word() -> None:
    usual = [_Person("la médica corrió", (1,))] * 4
    misaligned = _Person("la cocina y el médico corrió", (1,))
    assert _RULE.predict_all([*usual, misaligned])[-1] == "male"
    assert _RULE.predict_all([misaligned]) == ["female"]


def test_the_signature_names_the_rule_and_the_dictionary() -> None:
    assert _RULE.signature_name == "context+words"


def test_another_language_is_refused() -> None:
    refuses("language of the rule in context 'pt'", open_context_rule, "pt")
