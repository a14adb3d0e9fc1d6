"""Noun phrases for people and sentences of our own in Romance languages, as sentences.py makes them
in German: a cue decides the gender of its noun, pronouns follow the English pronoun.

A language is a folder: its words (romance_words.py says which), occupations.tsv and phrases.tsv.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from cc_hf.cues.appositions import person_sources
from cc_hf.schema import Focus
from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.romance_words import Forms, RomanceLanguage, read_language
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


class Ending(str):
    """The ending of words that agree with a person. In a template `{x}` is the usual ending, and
    `{x:x/se}` has the masculine and the feminine ending of a word that has others.
    """

    __slots__ = ("_gender",)
    _gender: Gender

    @classmethod
    def of(cls, gender: Gender, language: RomanceLanguage) -> Ending:
        """Return the ending of a gender in a language."""
        ending = cls(language.pronouns[gender]["x"])
        ending._gender = gender
        return ending

    def __format__(self, spec: str) -> str:
        masculine, _, feminine = spec.partition("/")
        return (feminine if self._gender == "f" else masculine) if spec else str(self)


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


def parse_noun(cell: str, language: RomanceLanguage) -> Noun:
    """Return the noun of a cell of occupations.tsv. The head of the file explains its markers.

    Examples:
        >>> parse_noun("director/a ejecutivo/a", read_language("es")).forms[1::2]
        ('directora ejecutiva', 'directoras ejecutivas')
    """
    masculine, *others = cell.split("=")
    if len(others) == 3:
        return Noun((masculine, others[0], others[1], others[2]))
    if not others:
        words = [word.partition("/") for word in cell.split(" ")]
        masculine = " ".join(word for word, _, _ in words)
        others = [
            " ".join(
                (word.removesuffix("o") + ending) if ending else word for word, _, ending in words
            )
        ]
    forms: list[tuple[str, Gender]] = [(masculine, "m"), (others[0], "f")]
    plurals = [_plural(noun, gender, language) for noun, gender in forms]
    return Noun((masculine, others[0], plurals[0], plurals[1]))


def _plural(noun: str, gender: Gender, language: RomanceLanguage) -> str:
    """Return the plural of a noun with its adjectives; its complement stays."""
    words = noun.split(" ")
    end = next((i for i, w in enumerate(words) if w in language.complements), len(words))
    return " ".join([*(language.plural(w, gender) for w in words[:end]), *words[end:]])


@cache
def read_occupations(lang: str) -> tuple[Occupation, ...]:
    """Return all rows of a language's occupations.tsv."""
    language = read_language(lang)
    text = (files(__package__) / lang / "occupations.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return tuple(
        Occupation(
            english,
            tuple(parse_noun(cell, language) for cell in cells.split("|")),
            default == "f",
        )
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
        self._language = read_language(lang)
        self._occupations = read_occupations(lang)

    def pair(self) -> Pair:
        """Return the next pair."""
        draw = 0.0 if self._development else self._random.random()
        if draw < 0.66:
            pair = self._two_people()
        else:
            pair = self._one_person() if draw < 0.86 else self._plural()
        return replace(pair, target=self._language.write(pair.target))

    def person(self, *, cued: bool, pronoun: Gender | None) -> Person:
        """Return a person; `pronoun` is the gender of the English pronoun that refers to them.

        In development sentences a person with a cue has words that show its gender.
        """
        person = self._any_person(cued=cued, pronoun=pronoun)
        while self._development and person.cue and not self._shows_gender(person):
            person = self._any_person(cued=cued, pronoun=pronoun)
        return person

    def _shows_gender(self, person: Person) -> bool:
        genders: tuple[Gender, Gender] = ("m", "f")
        masculine, feminine = (self.phrase(replace(person, gender=g)) for g in genders)
        return masculine != feminine

    def _any_person(self, *, cued: bool, pronoun: Gender | None) -> Person:
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
            return language.write(f"{preposition} {language.someone}".strip())
        words = [person.noun.form(gender)]
        if person.adjective:
            adjective = language.adjectives[person.adjective][gender == "f"]
            words.insert(0 if person.adjective in language.before_noun else 1, adjective)
        english = person.determiner if determiner == "own" else determiner
        word = language.determiners[english][gender == "f"] if english else ""
        return language.write(" ".join(w for w in (preposition, word, *words) if w))

    def _fields(self, person: Person) -> dict[str, str]:
        """Return the fields of a template that stand for the person."""
        fields = {"n": self.phrase(person)}
        for field, preposition in self._language.prepositions.items():
            fields[field] = self.phrase(person, preposition)
        fields |= {"N": capital(fields["n"]), "A": capital(fields["a"])}
        fields["b"] = self.phrase(person, determiner="a" if person.adjective else "")
        return fields

    def _pronouns(self, referent: Person, english: Gender) -> dict[str, str]:
        """Return the pronouns: those of the English one, sometimes those of the noun; half of the
        subjects are left out where the language does so.
        """
        follows_noun = referent.gender != english and self._chance(0.12)
        gender = referent.gender if follows_noun else english
        pronouns = dict(self._language.pronouns[gender])
        pronouns |= {"L": capital(pronouns["l"]), "x": Ending.of(gender, self._language)}
        if self._language.drops_subject and self._chance(0.5):
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
        ending = Ending.of(first.gender, self._language)
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
        ending = Ending.of(person.gender, self._language)
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
        article = (
            bool(person.adjective)
            or self._chance(0.25)
            or any(verb in target for verb in self._language.with_article)
        )
        noun = self.phrase(person, determiner="a" if article else "")
        target = target.format(
            S=_within(subject[1], target), n=noun, x=Ending.of(context, self._language)
        )
        return Pair(sources[0], target, sources[1])

    def _some_people(self) -> Pair:
        """Return a pair whose subject is a word such as "some", with the cue of test sets."""
        gender = self._gender()
        word, forms = self._random.choice(tuple(self._language.people.items()))
        english, *targets = self._random.choice(
            [row for row in self._phrases["plural"] if row[0].startswith("{P}")]
        )
        word = capital(word)
        (feminine,), (masculine,) = person_sources(english.format(P=word), Focus(word, 0))
        right, other = (feminine, masculine) if gender == "f" else (masculine, feminine)
        target = self._random.choice(targets).format(
            T=capital(forms[gender == "f"]), x=Ending.of(gender, self._language)
        )
        return Pair(right, target, other)

    def _plural(self) -> Pair:
        if not self._development and self._chance(0.25):
            return self._some_people()
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
        # A plural has its article where the English one has none.
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
            x=Ending.of(context if kind == "group" else gender, self._language),
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
    language = read_language(lang)
    names = _NAMED.findall(pair.english)
    if len(names) != 1:
        return None
    match = _NAMED.search(pair.english)
    assert match is not None
    before_names = {p: p for p in language.prepositions.values()} | {**language.before_names}
    in_target = re.compile(
        rf"\b(?:((?i:{'|'.join(before_names)})) )?(?:{language.names[names[0]]})\b"
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
    before = places[0][1] or ""
    # "A" before a name may be another word than "a".
    preposition = before_names.get(before, before_names.get(before.lower(), ""))
    words = maker.phrase(person, preposition)
    start, end = places[0].span()
    is_first = not any(c.isalnum() for c in pair.target[:start])
    # The word before may be written together with the first of these, as "que un" is "qu'un".
    word_before = re.search(r"\w+ $", pair.target[:start])
    if word_before and not is_first:
        start = word_before.start()
        words = language.write(word_before.group() + words)
    target = pair.target[:start] + (capital(words) if is_first else words) + pair.target[end:]
    sources = [
        pair.english[: match.start()]
        + (capital(english) if match.start() == 0 else english)
        + pair.english[match.end() :]
        for english in (person.english, person.contrast)
    ]
    return Pair(sources[0], target, sources[1])
