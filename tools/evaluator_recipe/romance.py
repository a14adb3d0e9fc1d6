"""Noun phrases for people and sentences of our own in Romance languages, as sentences.py makes them
in German: a cue decides the gender of its noun, pronouns follow the English pronoun.

Spanish is the first; another language is a row in `LANGUAGES` and a folder of tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.sentences import (
    CUE_WORD,
    ENGLISH_PRONOUNS,
    Pair,
    SentenceStream,
    capital,
    english_plural,
    indefinite,
    lower_unless_first,
)

#: Masculine and feminine singular, masculine and feminine plural.
Forms = tuple[str, str, str, str]


@dataclass(frozen=True)
class Language:
    """What one Romance language needs beside its tables of phrases and occupations.

    `determiners` and `adjectives` are by the English word; an adjective marked "<" stands before
    its noun. `contractions` are a preposition and an article as one word.
    """

    determiners: Mapping[str, Forms]
    contractions: Mapping[tuple[str, str], str]
    adjectives: Mapping[str, tuple[str, str]]
    before_noun: frozenset[str]
    leads: tuple[tuple[str, str], ...]
    relatives: Mapping[Gender, tuple[tuple[str, str], ...]]
    kinds: Mapping[Gender, tuple[tuple[str, str], ...]]
    groups: Mapping[Gender, tuple[tuple[str, str], ...]]
    #: By gender: subject pronoun, object pronoun, the pronoun after a preposition, an adjective's
    #: ending.
    pronouns: Mapping[Gender, Mapping[str, str]]
    #: "few" and "many" before a plural noun.
    few_many: Mapping[Gender, tuple[str, str]]
    someone: str
    names: Mapping[str, str]
    #: Conjunctions that may stand first in a sentence, with their clause.
    fronted: frozenset[str]
    comma_before: frozenset[str]


LANGUAGES = {
    "es": Language(
        determiners={
            "the": ("el", "la", "los", "las"),
            "a": ("un", "una", "unos", "unas"),
            "this": ("este", "esta", "estos", "estas"),
            "that": ("ese", "esa", "esos", "esas"),
            "my": ("mi", "mi", "mis", "mis"),
            "our": ("nuestro", "nuestra", "nuestros", "nuestras"),
        },
        contractions={("a", "el"): "al", ("de", "el"): "del"},
        adjectives={
            "young": ("joven", "joven"),
            "old": ("viejo", "vieja"),
            "new": ("nuevo", "nueva"),
            "nice": ("simpático", "simpática"),
            "friendly": ("amable", "amable"),
            "famous": ("famoso", "famosa"),
            "rich": ("rico", "rica"),
            "angry": ("enfadado", "enfadada"),
            "experienced": ("experimentado", "experimentada"),
            "good": ("buen", "buena"),
            "Spanish": ("español", "española"),
            "tall": ("alto", "alta"),
        },
        before_noun=frozenset({"new", "good"}),
        leads=(
            ("Yesterday", "Ayer"),
            ("Last week", "La semana pasada"),
            ("This morning", "Esta mañana"),
            ("One day", "Un día"),
            ("In the evening", "Por la noche"),
            ("After the meeting", "Después de la reunión"),
            ("Two years ago", "Hace dos años"),
            ("In the office", "En la oficina"),
        ),
        relatives={
            "m": (
                ("My husband", "Mi marido"),
                ("My father", "Mi padre"),
                ("His brother", "Su hermano"),
                ("Her son", "Su hijo"),
                ("My uncle", "Mi tío"),
                ("Tom", "Tom"),
                ("That man", "Ese hombre"),
                ("Your boyfriend", "Tu novio"),
                ("Peter's father", "El padre de Peter"),
                ("He", "Él"),
            ),
            "f": (
                ("My wife", "Mi esposa"),
                ("My mother", "Mi madre"),
                ("His sister", "Su hermana"),
                ("Her daughter", "Su hija"),
                ("My aunt", "Mi tía"),
                ("Mary", "Mary"),
                ("That woman", "Esa mujer"),
                ("Your girlfriend", "Tu novia"),
                ("Peter's mother", "La madre de Peter"),
                ("She", "Ella"),
            ),
        },
        kinds={
            "m": (
                ("a man", "un hombre"),
                ("my father", "mi padre"),
                ("my brother", "mi hermano"),
                ("a clever man", "un hombre inteligente"),
                ("her husband", "su marido"),
                ("a nice guy", "un buen tipo"),
                ("an old man", "un hombre mayor"),
            ),
            "f": (
                ("a woman", "una mujer"),
                ("my mother", "mi madre"),
                ("my sister", "mi hermana"),
                ("a clever woman", "una mujer inteligente"),
                ("his wife", "su esposa"),
                ("a nice lady", "una señora simpática"),
                ("an old woman", "una mujer mayor"),
            ),
        },
        groups={
            "m": (
                ("Those men", "Esos hombres"),
                ("My brothers", "Mis hermanos"),
                ("The two men", "Los dos hombres"),
                ("His sons", "Sus hijos"),
                ("These guys", "Estos chicos"),
            ),
            "f": (
                ("Those women", "Esas mujeres"),
                ("My sisters", "Mis hermanas"),
                ("The two women", "Las dos mujeres"),
                ("Her daughters", "Sus hijas"),
                ("These ladies", "Estas señoras"),
            ),
        },
        pronouns={
            "m": {"s": "él", "l": "lo", "e": "él", "x": "o"},
            "f": {"s": "ella", "l": "la", "e": "ella", "x": "a"},
        },
        few_many={"m": ("unos pocos", "muchos"), "f": ("unas pocas", "muchas")},
        someone="alguien",
        names={"Tom": "Tom", "Mary": "María|Mary"},
        fronted=frozenset({"cuando", "mientras", "aunque", "antes", "después"}),
        comma_before=frozenset({"pero", "así", "aunque"}),
    )
}


@dataclass(frozen=True)
class Noun:
    """The forms of a noun for a person; those of both genders are alike where the article alone
    shows the gender.
    """

    forms: Forms

    def form(self, gender: Gender, *, plural: bool = False) -> str:
        """Return the noun in a gender and a number."""
        return self.forms[2 * plural + (gender == "f")]


@dataclass(frozen=True)
class Occupation:
    """An English noun for a person, and its nouns; `mostly_female`: feminine without a cue."""

    english: str
    nouns: tuple[Noun, ...]
    mostly_female: bool


def parse_noun(cell: str) -> Noun:
    """Return the noun of a cell of occupations.tsv. The head of the file explains its markers.

    Examples:
        >>> parse_noun("director/a ejecutivo/a").forms[1::2]
        ('directora ejecutiva', 'directoras ejecutivas')
    """
    masculine, _, feminine = cell.partition("=")
    if not feminine:
        words = [word.partition("/") for word in cell.split(" ")]
        masculine = " ".join(word for word, _, _ in words)
        feminine = " ".join(
            (word.removesuffix("o") + "a") if mark else word for word, mark, _ in words
        )
    return Noun((masculine, feminine, _plural(masculine), _plural(feminine)))


_ACCENTS = str.maketrans("áéíóú", "aeiou")


def _plural(noun: str) -> str:
    """Return the plural of a Spanish noun with its adjectives; what follows "de" stays."""
    words = noun.split(" ")
    end = words.index("de") if "de" in words else len(words)
    return " ".join([*map(_plural_word, words[:end]), *words[end:]])


def _plural_word(word: str) -> str:
    if word[-1] in "aeiouáéf":
        return word + "s"
    if word.endswith("z"):
        return word[:-1] + "ces"
    return (word[:-2] + word[-2:].translate(_ACCENTS) if word[-1] in "ns" else word) + "es"


@cache
def read_occupations(lang: str) -> tuple[Occupation, ...]:
    """Return all rows of a language's occupations.tsv."""
    text = (files(__package__) / lang / "occupations.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return tuple(
        Occupation(english, tuple(map(parse_noun, cells.split("|"))), default == "f")
        for english, cells, default in rows
    )


@dataclass(frozen=True)
class Person:
    """A noun phrase in both languages; `contrast` has the other cue. None as noun is "someone"."""

    english: str
    contrast: str
    noun: Noun | None
    determiner: str
    adjective: str
    cue: Gender | None
    gender: Gender


class RomanceMaker(SentenceStream):
    """The stream of a Romance language."""

    def __init__(self, lang: str, seed: int, *, development: bool = False) -> None:
        super().__init__(seed, f"{lang}/phrases.tsv", development=development)
        self._language = LANGUAGES[lang]
        self._occupations = read_occupations(lang)

    def pair(self) -> Pair:
        """Return the next pair."""
        draw = 0.0 if self._development else self._random.random()
        if draw < 0.66:
            return self._two_people()
        if draw < 0.86:
            return self._one_person()
        return self._plural()

    def person(self, *, cued: bool, pronoun: Gender | None) -> Person:
        """Return a person; `pronoun` is the gender of the English pronoun that refers to them."""
        cue = self._gender() if cued else None
        if cue and pronoun and self._chance(0.25):
            cue = pronoun  # agreement a little more often than not
        if not self._development and self._chance(0.05):
            words = self._random.choice(("someone", "someone", "somebody"))
            return Person(words, words, None, "", "", None, "m")
        occupation = self._random.choice(self._occupations)
        by_default: Gender = "f" if occupation.mostly_female and self._chance(0.7) else "m"
        if not cue and pronoun and self._chance(0.25):
            by_default = pronoun
        weights = (24, 5, 1, 1, 0 if self._development else 2, 1)  # "mi" shows no gender
        determiner = self._random.choices(tuple(self._language.determiners), weights)[0]
        adjective = (
            self._random.choice(tuple(self._language.adjectives)) if self._chance(0.12) else ""
        )
        marks = self._marks(cue)
        variants = [
            " ".join(w for w in (determiner, adjective, mark, occupation.english) if w)
            for mark in marks
        ]
        if determiner == "a":
            variants = [indefinite(words) for words in variants]
        noun = self._random.choice((occupation.nouns[0], *occupation.nouns))
        return Person(variants[0], variants[1], noun, determiner, adjective, cue, cue or by_default)

    def _marks(self, cue: Gender | None) -> tuple[str, str]:
        """Return the cue and the other one, mostly in brackets."""
        if not cue:
            return "", ""
        plain = self._development or self._chance(0.9)
        style = "[{}]" if plain else self._random.choice(("{}", "({})"))
        return style.format(CUE_WORD[cue]), style.format(CUE_WORD["f" if cue == "m" else "m"])

    def phrase(self, person: Person, preposition: str = "", *, determiner: str = "own") -> str:
        """Return the noun phrase, after a preposition if one is given; `determiner`: another than
        the person's own, or none.
        """
        language, gender = self._language, person.gender
        if person.noun is None:
            return f"{preposition} {language.someone}".strip()
        words = [person.noun.form(gender)]
        if person.adjective:
            adjective = language.adjectives[person.adjective][gender == "f"]
            words.insert(0 if person.adjective in language.before_noun else 1, adjective)
        english = person.determiner if determiner == "own" else determiner
        word = language.determiners[english][gender == "f"] if english else ""
        contracted = language.contractions.get((preposition, word))
        before = [contracted] if contracted else [preposition, word]
        return " ".join(w for w in (*before, *words) if w)

    def _fields(self, person: Person) -> dict[str, str]:
        """Return the fields of a template that stand for the person."""
        fields = {"n": self.phrase(person), "a": self.phrase(person, "a")}
        fields |= {"N": capital(fields["n"]), "A": capital(fields["a"])}
        fields["de"] = self.phrase(person, "de")
        fields["b"] = self.phrase(person, determiner="a" if person.adjective else "")
        return fields

    def _pronouns(self, referent: Person, english: Gender) -> dict[str, str]:
        """Return the pronouns: those of the English one, sometimes those of the noun; half of the
        subjects are left out.
        """
        follows_noun = referent.gender != english and self._chance(0.12)
        pronouns = dict(self._language.pronouns[referent.gender if follows_noun else english])
        pronouns["L"] = capital(pronouns["l"])
        if self._chance(0.5):
            pronouns["s"] = ""
        return pronouns

    def _two_people(self) -> Pair:
        pronoun = self._gender()
        refers_to_first = self._chance(0.5)
        cue_place = self._random.random()  # first, second, both, none
        first_cued = cue_place < 0.40 or 0.80 <= cue_place < 0.88
        second_cued = 0.40 <= cue_place < 0.88
        if self._development:
            first_cued, second_cued = cue_place < 0.5, cue_place >= 0.5
        first = self.person(cued=first_cued, pronoun=pronoun if refers_to_first else None)
        second = self.person(cued=second_cued, pronoun=None if refers_to_first else pronoun)
        kind = "comp" if self._chance(0.28) else "verb"
        english_verb, *verbs = self._random.choice(self._phrases[kind])
        en = ENGLISH_PRONOUNS[pronoun]
        of_pronoun = self._pronouns(first if refers_to_first else second, pronoun)
        ending = self._language.pronouns[first.gender]["x"]
        predicate = self._random.choice(verbs).format(
            **{**of_pronoun, **self._fields(second), "y": ending}
        )
        parts = [english_verb.format(o=o, **en) for o in (second.english, second.contrast)]
        english_clause = clause = ""
        if kind == "verb" and self._chance(0.88):
            clause_kind = "finish" if self._chance(0.25) else "clause"
            english_clause, *clauses = self._random.choice(self._phrases[clause_kind])
            english_clause = english_clause.format(o=en["h"], **en)
            clause = self._random.choice(clauses).format(**of_pronoun)
        conjunction = clause.split(" ")[0]
        fronted = conjunction in self._language.fronted and self._chance(0.12)
        lead = self._random.choice(self._language.leads) if self._chance(0.1) else ("", "")
        subject = self.phrase(first)
        sources = []
        for words, part in zip((first.english, first.contrast), parts, strict=True):
            sources.append(_joined(lead[0], words, part, english_clause, fronted=fronted))
        target = _joined(
            lead[1],
            subject,
            predicate,
            clause,
            fronted=fronted,
            comma=conjunction in self._language.comma_before,
        )
        return Pair(sources[0], target, sources[1])

    def _one_person(self) -> Pair:
        pronoun = self._gender()
        kind = self._random.choice(("pred", "pred", "about", "solo", "solo", "pron", "pron"))
        person = self.person(cued=self._chance(0.6), pronoun=pronoun)
        if person.noun is None:
            return self._one_person()
        if kind == "pred":
            return self._predicate(person, pronoun)
        english, *targets = self._random.choice(self._phrases[kind])
        en, of_pronoun = ENGLISH_PRONOUNS[pronoun], self._pronouns(person, pronoun)
        kinds = self._random.choice(self._language.kinds[pronoun])
        ending = self._language.pronouns[person.gender]["x"]
        fields = {**of_pronoun, **self._fields(person), "y": ending, "K": kinds[1]}
        if kind == "solo":
            english, targets = "{N} " + english + ".", ["{N} " + t + "." for t in targets]
        target = _spaced(self._random.choice(targets).format(**fields))
        sources = [
            english.format(n=w, N=capital(w), o=en["h"], s=en["s"], p=en["p"], K=kinds[0])
            for w in (person.english, person.contrast)
        ]
        return Pair(capital(sources[0]), capital(target), capital(sources[1]))

    def _predicate(self, person: Person, context: Gender) -> Pair:
        """Return a pair such as "My wife is a physician.", in which the noun follows the context
        unless there is a cue.
        """
        english, *targets = self._random.choice(self._phrases["pred"])
        subject = self._random.choice(self._language.relatives[context])
        if not person.cue:
            follows: Gender = context if self._chance(0.9) else "m"
            person = replace(person, gender=follows)
        sources = [
            english.format(
                S=_within(subject[0], english), n=indefinite("a " + words.split(" ", 1)[1])
            )
            for words in (person.english, person.contrast)
        ]
        target = self._random.choice(targets)
        article = bool(person.adjective) or self._chance(0.25) or "convirtió" in target
        noun = self.phrase(person, determiner="a" if article else "")
        return Pair(sources[0], target.format(S=_within(subject[1], target), n=noun), sources[1])

    def _plural(self) -> Pair:
        occupation = self._random.choice(self._occupations)
        kind = self._random.choice(("group", "plural"))
        cue = self._gender() if self._chance(0.6) else None
        context = self._gender()
        gender: Gender = cue or (context if kind == "group" and self._chance(0.9) else "m")
        noun = self._random.choice(occupation.nouns).form(gender, plural=True)
        english, *targets = self._random.choice(self._phrases[kind])
        plural = english_plural(occupation.english)
        has_article = kind == "plural" and self._chance(0.4) and "{p}" not in english
        marks = self._marks(cue)
        group = self._random.choice(self._language.groups[context])
        sources = []
        for mark in marks:
            words = " ".join(w for w in ("the" if has_article else "", mark, plural) if w)
            if english.startswith("{P}"):
                words = capital(words)
            sources.append(
                english.format(
                    P=words,
                    p=f"{mark} {plural}".strip(),
                    G=lower_unless_first(group[0], english),
                )
            )
        # A plural has its article in Spanish where the English one has none.
        full = f"{self._language.determiners['the'][2 + (gender == 'f')]} {noun}"
        few, many = self._language.few_many[gender]
        template = self._random.choice(targets)
        target = template.format(
            P=noun,
            T=capital(full),
            t=full,
            U=few,
            V=many,
            G=lower_unless_first(group[1], template),
        )
        return Pair(sources[0], target, sources[1])


def _within(name: str, template: str) -> str:
    """Return the name of a person as it stands in a template: lower case but where it begins."""
    if template.startswith("{S}") or name.split(" ")[0] in {"Tom", "Mary", "Peter's"}:
        return name
    return name[0].lower() + name[1:]


def _joined(
    lead: str, subject: str, predicate: str, clause: str, *, fronted: bool, comma: bool = False
) -> str:
    if fronted:
        return _spaced(f"{capital(clause)}, {subject} {predicate}.")
    body = f"{lead}, {subject} {predicate}" if lead else f"{subject} {predicate}"
    if clause:
        body += (", " if comma else " ") + clause
    return _spaced(capital(body) + ".")


def _spaced(text: str) -> str:
    """Return the text without the second space that a pronoun left out leaves."""
    return (
        re.sub(r" +([.,]?)", lambda m: m[1] or " ", text) if "  " in text or " ." in text else text
    )


#: A name, or a pronoun that begins both sides.
_NAMED = re.compile(r"\b(?:Tom|Mary)\b|^(?:He|She)(?= )")


def with_person(
    pair: Pair, maker: RomanceMaker, lang: str, *, cued: bool, shown: Gender | None
) -> Pair | None:
    """Return the pair with a name, or the pronoun at its start, replaced by an occupation; None if
    it has not one on each side.

    `shown` is the gender that other words of the sentence show, which the person must have.
    """
    language = LANGUAGES[lang]
    names = _NAMED.findall(pair.english)
    if len(names) != 1:
        return None
    match = _NAMED.search(pair.english)
    assert match is not None
    in_target = re.compile(
        rf"\b(?:(a|de) )?(?:{language.names[names[0]]})\b"
        if names[0] in language.names
        else f"^(){language.pronouns['m' if names[0] == 'He' else 'f']['s'].capitalize()}(?= )"
    )
    places = [*in_target.finditer(pair.target)]
    if len(places) != 1:
        return None
    for _ in range(8):
        person = maker.person(cued=cued, pronoun=None)
        if person.noun is not None and shown in {None, person.gender}:
            break
    else:
        return None
    words = maker.phrase(person, places[0][1] or "")
    start, end = places[0].span()
    is_first = not any(c.isalnum() for c in pair.target[:start])
    target = pair.target[:start] + (capital(words) if is_first else words) + pair.target[end:]
    sources = [
        pair.english[: match.start()]
        + (capital(english) if match.start() == 0 else english)
        + pair.english[match.end() :]
        for english in (person.english, person.contrast)
    ]
    return Pair(sources[0], target, sources[1])
