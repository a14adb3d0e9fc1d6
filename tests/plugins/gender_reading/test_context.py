"""The rule in context finds the noun that is meant, and the gender that it shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from cc_hf.plugins.gender_reading.context import ContextRule
from cc_hf.text.alignment import space_tokens
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, Analysis
from tests.helpers.usual import cases

_M, _F, _BOTH = frozenset((MASCULINE,)), frozenset((FEMININE,)), frozenset((MASCULINE, FEMININE))


def _noun(lemma: str, genders: frozenset[str], number: str = "singular") -> Analysis:
    return Analysis(lemma, "noun", genders, number)


def _determiner(genders: frozenset[str], number: str = "singular", *, of: bool = False) -> Analysis:
    return Analysis("el", "determiner", genders, number, has_preposition=of)


_WORDS: dict[str, tuple[Analysis, ...]] = {
    "la": (_determiner(_F), _noun("la", _M)),
    "las": (_determiner(_F, "plural"),),
    "el": (_determiner(_M),),
    "del": (_determiner(_M, of=True),),
    "de": (Analysis("de", "preposition"),),
    "su": (_determiner(_BOTH),),
    "y": (Analysis("y", ""),),
    "médica": (_noun("médico", _F),),
    "médico": (_noun("médico", _M),),
    "guapa": (Analysis("guapo", "adjective", _F),),
    "ama": (_noun("ama", _F),),
    "llaves": (_noun("llave", _F, "plural"),),
    "trabajador": (_noun("trabajador", _M),),
    "construcción": (_noun("construcción", _F),),
    "cocina": (_noun("cocina", _F),),
    "panadero": (_noun("panadero", _M),),
    "directora": (_noun("director", _F),),
    "ejecutiva": (Analysis("ejecutivo", "adjective", _F),),
    "corrió": (Analysis("correr", "verb"),),
    "asistente": (_noun("asistente", _BOTH),),
    "enfermera": (_noun("enfermera", _F), _noun("enfermero", _M, "plural")),
    "alguien": (Analysis("alguien", "pronoun", _M),),
    "zapator": (),
    "xyz": (),
}


class _Dictionary:
    signature_name = "words"

    def analyse(self, texts: Sequence[str]) -> list[tuple[AnalysedWord, ...]]:
        return [
            tuple(
                AnalysedWord(word, token, _WORDS[word])
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
    ("la guapa médica corrió", (2,), "feminine"),  # the article stands before an adjective
    ("la médico corrió", (1,), "feminine"),  # the determiner decides
    ("el ama de llaves corrió", (1,), "feminine"),  # but not "el" before a stressed a-
    ("la directora ejecutiva corrió", (2,), "feminine"),  # the noun before an adjective
    (
        "trabajador de la construcción",
        (3,),
        "masculine",
    ),  # the noun of which this is the complement
    ("la cocina del panadero corrió", (3,), "masculine"),  # not every noun before "del" is meant
    ("su asistente corrió", (1,), "both"),
    ("su asistente guapa corrió", (1,), "feminine"),
    ("la enfermera corrió", (1,), "feminine"),  # the number of the determiner chooses the reading
    ("alguien corrió", (0,), "none"),
    ("zapator corrió", (0,), "masculine"),  # by its ending
    ("xyz corrió", (0,), ""),
    ("la corrió", (1,), "feminine"),  # what stands after a determiner is a noun
    ("el panadero y alguien", (3,), "none"),
    ("corrió", (), ""),
)
def test_a_gender_is_read_in_context(text: str, linked: tuple[int, ...], expected: str) -> None:
    assert _RULE.read_all([_Person(text, linked)]) == [expected]


def test_a_noun_under_the_article_is_the_person() -> None:
    persons = [_Person("la médica corrió", (2,), article_linked=(0, 1))]
    assert _RULE.read_all(persons) == ["feminine"]


def test_a_usual_translation_takes_the_place_of_a_misaligned_word() -> None:
    usual = [_Person("la médica corrió", (1,))] * 4
    misaligned = _Person("la cocina y el médico corrió", (1,))
    assert _RULE.read_all([*usual, misaligned])[-1] == "masculine"
    assert _RULE.read_all([misaligned]) == ["feminine"]


def test_the_signature_names_the_rule_and_the_dictionary() -> None:
    assert _RULE.signature_name == "context.2+words"
