"""Sentences of our own: two people with occupations, what one did, why, and a pronoun.

Where a cue stands before an occupation, it decides the German gender of that noun and of nothing
else; where none stands the noun is mostly masculine. Pronouns follow the English pronoun, also
where it disagrees with the noun. No sentence of a test set is used.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tools.evaluator_recipe.grammar import (
    Case,
    Gender,
    Noun,
    Occupation,
    noun_phrase,
    parse_noun,
    read_occupations,
)

ENGLISH_PRONOUNS = {
    "m": {"s": "he", "h": "him", "p": "his"},
    "f": {"s": "she", "h": "her", "p": "her"},
}
GERMAN_PRONOUNS = {
    "m": {"s": "er", "a": "ihn", "d": "ihm", "p": "sein"},
    "f": {"s": "sie", "a": "sie", "d": "ihr", "p": "ihr"},
}
CUE_WORD = {"m": "male", "f": "female"}

_DETERMINERS = (
    ("the", "der", 24),
    ("a", "ein", 5),
    ("this", "dies-", 1),
    ("that", "dies-", 1),
    ("my", "mein", 1),
    ("our", "unser", 1),
)
_ADJECTIVES = (
    ("young", "jung"),
    ("old", "alt"),
    ("new", "neu"),
    ("nice", "nett"),
    ("friendly", "freundlich"),
    ("famous", "berühmt"),
    ("rich", "reich"),
    ("angry", "wütend"),
    ("experienced", "erfahren"),
    ("good", "gut"),
)
_LEADS = (
    ("Yesterday", "Gestern"),
    ("Last week", "Letzte Woche"),
    ("This morning", "Heute Morgen"),
    ("One day", "Eines Tages"),
    ("In the evening", "Am Abend"),
    ("After the meeting", "Nach dem Treffen"),
    ("Two years ago", "Vor zwei Jahren"),
    ("In the office", "Im Büro"),
)
_RELATIVES = {
    "m": (
        ("My husband", "Mein Mann"),
        ("My father", "Mein Vater"),
        ("His brother", "Sein Bruder"),
        ("Her son", "Ihr Sohn"),
        ("My uncle", "Mein Onkel"),
        ("Tom", "Tom"),
        ("That man", "Dieser Mann"),
        ("Your boyfriend", "Dein Freund"),
        ("Peter's father", "Peters Vater"),
        ("He", "Er"),
    ),
    "f": (
        ("My wife", "Meine Frau"),
        ("My mother", "Meine Mutter"),
        ("His sister", "Seine Schwester"),
        ("Her daughter", "Ihre Tochter"),
        ("My aunt", "Meine Tante"),
        ("Mary", "Maria"),
        ("That woman", "Diese Frau"),
        ("Your girlfriend", "Deine Freundin"),
        ("Peter's mother", "Peters Mutter"),
        ("She", "Sie"),
    ),
}
_KINDS = {
    "m": (
        ("a man", "ein Mann"),
        ("my father", "mein Vater"),
        ("my brother", "mein Bruder"),
        ("a clever man", "ein kluger Mann"),
        ("her husband", "ihr Mann"),
        ("a nice guy", "ein netter Kerl"),
        ("an old man", "ein alter Mann"),
    ),
    "f": (
        ("a woman", "eine Frau"),
        ("my mother", "meine Mutter"),
        ("my sister", "meine Schwester"),
        ("a clever woman", "eine kluge Frau"),
        ("his wife", "seine Frau"),
        ("a nice lady", "eine nette Dame"),
        ("an old woman", "eine alte Frau"),
    ),
}
_GROUPS = {
    "m": (
        ("Those men", "Diese Männer"),
        ("My brothers", "Meine Brüder"),
        ("The two men", "Die beiden Männer"),
        ("His sons", "Seine Söhne"),
        ("These guys", "Diese Kerle"),
    ),
    "f": (
        ("Those women", "Diese Frauen"),
        ("My sisters", "Meine Schwestern"),
        ("The two women", "Die beiden Frauen"),
        ("Her daughters", "Ihre Töchter"),
        ("These ladies", "Diese Damen"),
    ),
}
_COMMA_BEFORE = {
    "weil",
    "denn",
    "da",
    "als",
    "während",
    "bevor",
    "nachdem",
    "obwohl",
    "damit",
    "also",
    "aber",
    "um",
}
_FRONTED = {"weil", "als", "bevor", "nachdem", "obwohl", "während", "da"}
_SYLLABLES = (
    "bar",
    "lon",
    "mer",
    "tis",
    "gro",
    "zan",
    "fel",
    "dor",
    "kin",
    "plu",
    "ras",
    "ven",
    "mol",
    "sche",
    "tra",
    "bli",
    "hem",
    "nor",
    "sta",
    "wil",
)


@dataclass(frozen=True)
class Pair:
    """One training pair; `contrast` has the other cue, where a cue decides the translation."""

    english: str
    target: str
    contrast: str = ""


@dataclass(frozen=True)
class Person:
    """A noun phrase in both languages: the English words before and after the place of a cue, and
    the German noun.
    """

    english: str
    contrast: str
    noun: Noun | None  # None: "someone"
    determiner: str
    adjective: str
    cue: Gender | None
    gender: Gender | None  # of the German words, None where they are the same for all

    def german(self, case: Case) -> str:
        """Return the German words in a case."""
        if self.noun is None:
            return {"nom": "jemand", "acc": "jemanden", "dat": "jemandem", "gen": "jemandes"}[case]
        return noun_phrase(self.noun, case, determiner=self.determiner, adjective=self.adjective)


@cache
def read_phrases(
    name: str = "phrases.tsv", *, development: bool
) -> dict[str, tuple[tuple[str, str, str], ...]]:
    """Return the phrases of a table by kind: those for training, or those for `development`,
    which are every ninth of a kind.
    """
    rows: dict[str, list[tuple[str, str, str]]] = {}
    for line in (files(__package__) / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, english, german, *perfect = line.split("\t")
        rows.setdefault(kind, []).append((english, german, perfect[0] if perfect else german))
    return {
        kind: tuple(row for i, row in enumerate(phrases) if (i % 9 == 8) == development)
        for kind, phrases in rows.items()
    }


def english_plural(noun: str) -> str:
    """Return the plural of an English noun of occupations.tsv."""
    if noun.endswith("person"):
        return noun[: -len("person")] + "people"
    if noun.endswith("man") and noun != "German":
        return noun[:-2] + "en"
    if noun == "child":
        return "children"
    if noun == "midwife":
        return "midwives"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "ch", "sh", "x")) else "s")


def capital(text: str) -> str:
    """Return the words with their first letter in upper case, also after a cue such as "[male]"."""
    start = text.index("] ") + 2 if text.startswith(("[", "(")) and "] " in text else 0
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]


class SentenceStream(ABC):
    """A stream of pairs, a function of the seed alone.

    `development=True` uses only phrases that training never sees, and always sets exactly one cue.
    """

    def __init__(self, seed: int, phrases: str, *, development: bool) -> None:
        self._random = random.Random(seed)
        self._development = development
        self._phrases = read_phrases(phrases, development=development)

    def __iter__(self) -> Iterator[Pair]:
        while True:
            yield self.pair()

    @abstractmethod
    def pair(self) -> Pair:
        """Return the next pair."""

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _gender(self) -> Gender:
        return "m" if self._chance(0.5) else "f"


class SentenceMaker(SentenceStream):
    """The stream of German."""

    def __init__(self, seed: int, *, development: bool = False) -> None:
        super().__init__(seed, "phrases.tsv", development=development)
        self._occupations = read_occupations()
        self._determiner_weights = [weight for _, _, weight in _DETERMINERS]

    def pair(self) -> Pair:
        """Return the next pair."""
        draw = 0.0 if self._development else self._random.random()
        if draw < 0.70:
            return self._two_people()
        if draw < 0.86:
            return self._one_person()
        return self._plural()

    def _occupation(self) -> Occupation:
        if self._development or not self._chance(0.06):
            return self._random.choice(self._occupations)
        stem = "".join(self._random.sample(_SYLLABLES, self._random.choice((1, 2))))
        ending = self._random.choice(("er", "er", "er", "or", "ist", "ent"))
        english = stem + ending
        mark = {"er": "", "or": f":{english.capitalize()}en", "ist": "*", "ent": "*"}[ending]
        german = english.capitalize()
        return Occupation(
            english,
            (parse_noun(german + mark, "m"),),
            (parse_noun(german + "in", "f"),),
            (),
            mostly_female=False,
        )

    def _noun(self, occupation: Occupation, gender: Gender) -> Noun:
        # systems copy what they do not know: "der Mover", "die Mover"
        if not self._development and self._chance(0.025):
            word = occupation.english.title().replace(" ", "-")
            return parse_noun(
                (
                    word
                    if gender == "m"
                    else self._random.choice((word + "in", word + ":" + word + "s"))
                ),
                gender,
            )
        forms = occupation.masculine if gender == "m" else occupation.feminine
        return self._random.choice((forms[0], *forms))

    def _bracket(self, gender: Gender) -> tuple[str, str]:
        style = (
            "[{}]"
            if self._development or self._chance(0.9)
            else self._random.choice(("{}", "({})"))
        )
        other: Gender = "f" if gender == "m" else "m"
        return style.format(CUE_WORD[gender]), style.format(CUE_WORD[other])

    def person(self, *, cued: bool, pronoun: Gender | None) -> Person:
        """Return a person; `pronoun` is the gender of the English pronoun that refers to them."""
        cue = self._gender() if cued else None
        if cue and pronoun and self._chance(0.25):
            cue = pronoun  # agreement a little more often than not
        if not self._development and self._chance(0.06):
            words = self._random.choice(("someone", "someone", "somebody"))
            mark, other = self._bracket(cue) if cue else ("", "")
            return Person(
                f"{mark} {words}".strip(), f"{other} {words}".strip(), None, "", "", cue, None
            )
        occupation = self._occupation()
        gender: Gender | None = cue
        if cue is None:
            gender = "f" if self._chance(0.65 if occupation.mostly_female else 0.15) else "m"
            if pronoun and self._chance(0.3):
                gender = pronoun
        if occupation.epicene and not self._development and self._chance(0.2):
            noun, gender = self._random.choice(occupation.epicene), None
        else:
            noun = self._noun(occupation, "m" if gender == "m" else "f")
        english, german, _ = self._random.choices(_DETERMINERS, self._determiner_weights)[0]
        adjective = self._random.choice(_ADJECTIVES) if self._chance(0.1) else ("", "")
        mark, other = self._bracket(cue) if cue else ("", "")
        if noun.declension == "adjective" and english == "a" and adjective[0]:
            adjective = ("", "")
        variants = [
            " ".join(w for w in (english, adjective[0], m, occupation.english) if w)
            for m in (mark, other)
        ]
        if english == "a":
            variants = [indefinite(w) for w in variants]
        return Person(variants[0], variants[1], noun, german, adjective[1], cue, gender)

    def _pronouns(self, referent: Person | None, english: Gender) -> dict[str, str]:
        """Return the German pronouns: those of the English one, sometimes those of the noun (more
        often where the noun does not show a gender).
        """
        german = english
        noun_gender = referent and (referent.gender or referent.cue)
        if referent and noun_gender and noun_gender != english:
            german = noun_gender if self._chance(0.12 if referent.gender else 0.35) else english
        return GERMAN_PRONOUNS["f" if german == "f" else "m"]

    def _two_people(self) -> Pair:
        pronoun = self._gender()
        refers_to_first = self._chance(0.5)
        cue_place = self._random.random()  # first, second, both, none
        first_cued, second_cued = (
            (cue_place < 0.40 or 0.80 <= cue_place < 0.88),
            0.40 <= cue_place < 0.88,
        )
        if self._development:
            first_cued, second_cued = cue_place < 0.5, cue_place >= 0.5
        first = self.person(cued=first_cued, pronoun=pronoun if refers_to_first else None)
        second = self.person(cued=second_cued, pronoun=None if refers_to_first else pronoun)
        if second.english == first.english:
            second = self.person(cued=second_cued, pronoun=None if refers_to_first else pronoun)
        referent = first if refers_to_first else second
        kind = "comp" if self._chance(0.28) else "verb"
        english_verb, *german_verbs = self._random.choice(self._phrases[kind])
        german_verb = german_verbs[1] if self._chance(0.25) else german_verbs[0]
        en, de = ENGLISH_PRONOUNS[pronoun], self._pronouns(referent, pronoun)
        cases = {"acc": second.german("acc"), "dat": second.german("dat")}
        german_predicate = german_verb.format(**cases, **de)
        english_parts = [english_verb.format(o=o, **en) for o in (second.english, second.contrast)]
        english_clause = german_clause = ""
        if kind == "verb" and self._chance(0.88):
            english_clause, german_clause = self._clause(en, de)
        subject = first.german("nom")
        sources = []
        fronted = german_clause.split(" ")[0] in _FRONTED and self._chance(0.12)
        lead = self._random.choice(_LEADS) if not fronted and self._chance(0.1) else ("", "")
        pairs = ((first.english, english_parts[0]), (first.contrast, english_parts[1]))
        for s, predicate in pairs:
            if fronted:
                sources.append(f"{capital(english_clause)}, {s} {predicate}.")
            else:
                body = " ".join(x for x in (s, predicate, english_clause) if x)
                sources.append((f"{lead[0]}, {body}" if lead[0] else capital(body)) + ".")
        return Pair(
            sources[0],
            self._german(subject, german_predicate, german_clause, fronted=fronted, lead=lead[1]),
            sources[1],
        )

    def _clause(self, en: dict[str, str], de: dict[str, str]) -> tuple[str, str]:
        english, german, _ = self._random.choice(
            self._phrases["finish" if self._chance(0.25) else "clause"]
        )
        return english.format(o=en["h"], **en), german.format(**de)

    def _german(
        self, subject: str, predicate: str, clause: str, *, fronted: bool, lead: str
    ) -> str:
        verb, _, remainder = predicate.partition(" ")
        if fronted:
            return f"{capital(clause)}, {' '.join(x for x in (verb, subject, remainder) if x)}."
        body = " ".join(
            x
            for x in ((lead, verb, subject, remainder) if lead else (subject, verb, remainder))
            if x
        )
        if clause:
            body += (", " if clause.split(" ")[0] in _COMMA_BEFORE else " ") + clause
        return capital(body) + "."

    def _one_person(self) -> Pair:
        pronoun = self._gender()
        kind = self._random.choice(("pred", "pred", "about", "solo", "solo", "pron", "pron"))
        person = self.person(cued=self._chance(0.6), pronoun=pronoun)
        if kind == "solo" or person.noun is None:
            english, german, perfect = self._random.choice(self._phrases["solo"])
            predicate = perfect if self._chance(0.3) else german
            en, de = ENGLISH_PRONOUNS[pronoun], self._pronouns(person, pronoun)
            clause = self._clause(en, de) if self._chance(0.5) else ("", "")
            sources = [
                capital(" ".join(x for x in (s, english, clause[0]) if x)) + "."
                for s in (person.english, person.contrast)
            ]
            return Pair(
                sources[0],
                self._german(person.german("nom"), predicate, clause[1], fronted=False, lead=""),
                sources[1],
            )
        if kind == "pred":
            return self._predicate(person, pronoun)
        english, german, _ = self._random.choice(self._phrases[kind])
        en, de = ENGLISH_PRONOUNS[pronoun], self._pronouns(person, pronoun)
        kinds = self._random.choice(_KINDS[pronoun])
        german_noun = (
            person.noun if "{c}" not in german or person.gender else parse_noun("Kollege*", "m")
        )
        ein = {"m": "ein", "f": "eine", "n": "ein"}[german_noun.gender]
        good = {"m": "guter", "f": "gute", "n": "gutes"}[german_noun.gender]
        fields = {
            "n": person.german("nom"),
            "N": capital(person.german("nom")),
            "acc": person.german("acc"),
            "dat": person.german("dat"),
            "c": german_noun.form("nom", plural=False, adjective_ending=good[3:]),
            "ein": ein,
            "gut": good,
            "K": kinds[1],
        }
        sources = []
        for words in (person.english, person.contrast):
            bare = words.split(" ", 1)[1]
            sources.append(
                capital(
                    english.format(
                        n=words,
                        N=capital(words),
                        c=bare,
                        o=en["h"],
                        s=en["s"],
                        p=en["p"],
                        K=kinds[0],
                    )
                )
            )
        if "{c}" in german and (person.adjective or german_noun is not person.noun):
            return self._one_person()
        return Pair(sources[0], capital(german.format(**fields, **de)), sources[1])

    def _predicate(self, person: Person, context: Gender) -> Pair:
        """Return a pair such as "My wife is a physician.", in which the German noun follows the
        context unless there is a cue.
        """
        english, german, _ = self._random.choice(self._phrases["pred"])
        subject = self._random.choice(_RELATIVES[context])
        noun = person.noun
        if noun is None:
            return self._one_person()
        occupation = person.english.split(" ", 1)[1]
        if person.cue is None:
            row = next((o for o in self._occupations if o.english == occupation), None)
            if row is None:
                return self._one_person()
            noun = self._noun(row, context if self._chance(0.9) else "m")
        elif person.gender is None:
            return self._one_person()
        with_article = bool(person.adjective) or self._chance(0.25)
        if "als" in german.split():
            with_article = False
        phrase = noun_phrase(
            noun, "nom", determiner="ein" if with_article else "", adjective=person.adjective
        )
        if "als" in german.split() and person.adjective:
            return self._one_person()
        sources = []
        for words in (person.english, person.contrast):
            name = (
                subject[0]
                if english.startswith("{S}")
                else (
                    subject[0][0].lower() + subject[0][1:]
                    if subject[0] not in ("Tom", "Mary", "Peter's father", "Peter's mother")
                    else subject[0]
                )
            )
            sources.append(english.format(S=name, n=indefinite("a " + words.split(" ", 1)[1])))
        german_name = (
            subject[1]
            if german.startswith("{S}")
            or subject[1] in ("Tom", "Maria", "Peters Vater", "Peters Mutter")
            else subject[1][0].lower() + subject[1][1:]
        )
        return Pair(sources[0], german.format(S=german_name, n=phrase), sources[1])

    def _plural(self) -> Pair:
        occupation = self._random.choice(self._occupations)
        kind = self._random.choice(("group", "plural"))
        cue = self._gender() if self._chance(0.6) else None
        context = self._gender()
        gender: Gender = cue or (context if kind == "group" and self._chance(0.9) else "m")
        noun = self._noun(occupation, gender)
        english, german, _ = self._random.choice(self._phrases[kind])
        plural = english_plural(occupation.english)
        article = kind == "plural" and self._chance(0.4) and "{p}" not in english
        if cue:
            style = self._random.choice(("[{}]", "[{}]", "[{}]", "{}"))
            marks = [
                style.format(CUE_WORD[cue]),
                style.format(CUE_WORD["f" if cue == "m" else "m"]),
            ]
        else:
            marks = ["", ""]
        group = self._random.choice(_GROUPS[context])
        sources = []
        for mark in marks:
            words = " ".join(w for w in ("the" if article else "", mark, plural) if w)
            if english.startswith("{P}"):
                words = capital(words)
            sources.append(
                english.format(
                    P=words, p=f"{mark} {plural}".strip(), G=lower_unless_first(group[0], english)
                )
            )
        nominative, accusative, dative = (
            noun_phrase(noun, c, determiner="der" if article else "", plural=True)
            for c in ("nom", "acc", "dat")
        )
        translation = german.format(
            P=capital(nominative) if german.startswith("{P}") else nominative,
            p=noun_phrase(noun, "nom", determiner="", plural=True),
            A=accusative,
            D=dative,
            G=lower_unless_first(group[1], german),
        )
        return Pair(sources[0], translation, sources[1])


def lower_unless_first(name: str, template: str) -> str:
    """Return the name of a group as it stands in a template."""
    return name if template.startswith("{G}") else name[0].lower() + name[1:]


def indefinite(words: str) -> str:
    """Return words that begin with "a" or "an", with the article that fits the word after the cue."""
    phrase = words.split(" ", 1)[1]
    bare = phrase.split("] ", 1)[-1] if phrase.startswith("[") else phrase
    return f"{'an' if bare[:1].lower() in 'aeio' or bare.startswith('un') else 'a'} {phrase}"
