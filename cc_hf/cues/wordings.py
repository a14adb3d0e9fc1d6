"""Wordings of cues as data: what is put into a source to say which reading is meant.

Small evaluators understand some wordings far better than others, so `cc-hf cues calibrate` compares
them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from cc_hf.cues.english_pronouns import with_pronouns
from cc_hf.cues.templates import PLACEMENTS, apply_cue
from cc_hf.errors import InputError, UnknownNameError, check_choice
from cc_hf.languages import base_code
from cc_hf.records import write_record
from cc_hf.schema import ContrastiveSourceExample, Focus

__all__ = [
    "GENDERS",
    "GENDER_WORDINGS",
    "Wording",
    "check_takes_cues",
    "gender_wordings",
    "named_wording",
    "reworded",
]

GENDERS = ("female", "male")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,39}")

#: A mapping from kind of word to source language to the words for female and male. The English
#: adjectives are the paper's. Words of other languages are translations, which were never validated
#: with people. Where a language has no fitting adjective, a noun stands in its place.
_GENDER_WORDS: dict[str, dict[str, tuple[str, str]]] = {
    "adjective": {
        "ar": ("أنثى", "ذكر"),
        "cs": ("ženský", "mužský"),
        "de": ("weiblich", "männlich"),
        "en": ("female", "male"),
        "es": ("femenino", "masculino"),
        "et": ("naine", "mees"),
        "fi": ("nainen", "mies"),
        "fr": ("féminin", "masculin"),
        "he": ("נקבה", "זכר"),
        "hi": ("महिला", "पुरुष"),
        "it": ("femminile", "maschile"),
        "lt": ("moteris", "vyras"),
        "lv": ("sieviete", "vīrietis"),
        "nl": ("vrouwelijk", "mannelijk"),
        "pl": ("żeński", "męski"),
        "pt": ("feminino", "masculino"),
        "ro": ("feminin", "masculin"),
        "ru": ("женский", "мужской"),
        "tr": ("kadın", "erkek"),
        "uk": ("жіночий", "чоловічий"),
    },
    "noun": {
        "ar": ("امرأة", "رجل"),
        "cs": ("žena", "muž"),
        "de": ("Frau", "Mann"),
        "en": ("woman", "man"),
        "es": ("mujer", "hombre"),
        "et": ("naine", "mees"),
        "fi": ("nainen", "mies"),
        "fr": ("femme", "homme"),
        "he": ("אישה", "גבר"),
        "hi": ("महिला", "पुरुष"),
        "it": ("donna", "uomo"),
        "lt": ("moteris", "vyras"),
        "lv": ("sieviete", "vīrietis"),
        "nl": ("vrouw", "man"),
        "pl": ("kobieta", "mężczyzna"),
        "pt": ("mulher", "homem"),
        "ro": ("femeie", "bărbat"),
        "ru": ("женщина", "мужчина"),
        "tr": ("kadın", "erkek"),
        "uk": ("жінка", "чоловік"),
    },
    "phrase": {
        "cs": ("žena", "muž"),
        "de": ("eine Frau", "ein Mann"),
        "en": ("a woman", "a man"),
        "es": ("una mujer", "un hombre"),
        "fr": ("une femme", "un homme"),
        "it": ("una donna", "un uomo"),
        "nl": ("een vrouw", "een man"),
        "pl": ("kobieta", "mężczyzna"),
        "pt": ("uma mulher", "um homem"),
        "ro": ("o femeie", "un bărbat"),
        "ru": ("женщина", "мужчина"),
        "uk": ("жінка", "чоловік"),
    },
    "polite noun": {"en": ("lady", "gentleman")},
    "none": {"en": ("", "")},
}
#: A mapping from wording to the kind of its words, the pattern around them, and whether the
#: pronouns of the sentence are put into the gender as well.
_GENDER_PATTERNS: dict[str, tuple[str, str, bool]] = {
    "gender_brackets": ("adjective", "[{}]", False),
    "gender_parentheses": ("adjective", "({})", False),
    "gender_adjectives": ("adjective", "{}", False),
    "gender_nouns": ("noun", "{}", False),
    "gender_polite_nouns": ("polite noun", "{}", False),
    "gender_appositions": ("phrase", "{{focus}}, {},", False),
    "gender_pronouns": ("none", "", True),
    "gender_nouns_pronouns": ("noun", "{}", True),
    "gender_brackets_pronouns": ("adjective", "[{}]", True),
    "gender_brackets_phrase": ("adjective", "[{}]", False),
}
#: Wordings whose cues do not stand directly before the focus.
_GENDER_PLACEMENTS = {"gender_brackets_phrase": "phrase"}


@dataclass(frozen=True)
class Wording:
    """One way to say in a source which reading is meant.

    Attributes:
        name: name in tables and signatures: small letters, digits, "_", "-" and ".".
        cues: a mapping from reading to cue (see `cc_hf.cues.templates.apply_cue`), at least two
            readings. It may be empty if `pronouns` is true.
        placement: where cues go, see `cc_hf.cues.templates.apply_cue`.
        pronouns: whether the English pronouns of the whole sentence are put into the gender of the
            reading. The readings are then "female" and "male".

    Raises:
        InputError: for a name, cues or readings that are not as expected.

    Examples:
        >>> wording = Wording("status", {"formal": "sir", "informal": "buddy"}, placement="after")
        >>> wording.source("Can you come?", Focus("you", 4), "formal")
        'Can you sir come?'
    """

    name: str
    cues: Mapping[str, str] = field(default_factory=dict)
    placement: str = "before"
    pronouns: bool = False

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(
                "name of a wording: expected at most 40 small letters, digits, '_', '-' or '.', got"
                f" {self.name!r}"
            )
        check_choice("placement", self.placement, PLACEMENTS)
        has_texts = all(text.strip() for pair in self.cues.items() for text in pair)
        if not has_texts or (len(self.cues) < 2 and not (self.pronouns and not self.cues)):
            raise InputError(
                f"cues of the wording {self.name!r}: expected a cue for each of at least two"
                f" readings, got {self.cues!r}"
            )
        if len(set(self.cues.values())) < len(self.cues):
            raise InputError(
                f"cues of the wording {self.name!r}: expected another cue for each reading, got"
                f" {dict(self.cues)!r}"
            )
        if self.pronouns and set(self.readings) != set(GENDERS):
            raise InputError(
                f"cues of the wording {self.name!r}: with pronouns, expected the readings"
                f" {' and '.join(GENDERS)}, got {', '.join(self.readings)}"
            )

    @property
    def readings(self) -> tuple[str, ...]:
        """The readings that the wording can tell apart."""
        return tuple(self.cues) or GENDERS

    @property
    def signature_name(self) -> str:
        """The name, with a digest of the content unless this is a wording of the package."""
        if any(self == known for known in GENDER_WORDINGS.get(self.name, {}).values()):
            return self.name
        content = json.dumps(write_record(self), ensure_ascii=False, sort_keys=True)
        return f"{self.name}@{hashlib.sha256(content.encode()).hexdigest()[:7]}"

    def source(self, source: str, focus: Focus, reading: str) -> str:
        """Return the source with the cue for one of `readings`.

        Raises:
            InputError: for another reading, or a focus that is not in the source.
        """
        check_choice("reading", reading, self.readings)
        if self.cues:
            source = apply_cue(source, focus, self.cues[reading], self.placement)
        return with_pronouns(source, reading) if self.pronouns else source


def _language_wordings(name: str) -> dict[str, Wording]:
    kind, pattern, pronouns = _GENDER_PATTERNS[name]
    placement = _GENDER_PLACEMENTS.get(name, "before")
    is_english = pronouns or placement == "phrase"  # both go by English words
    return {
        language: Wording(
            name,
            {
                gender: pattern.format(word)
                for gender, word in zip(GENDERS, words, strict=True)
                if word
            },
            placement,
            pronouns,
        )
        for language, words in _GENDER_WORDS[kind].items()
        if not is_english or language == "en"
    }


#: A mapping from name to source language to wording.
GENDER_WORDINGS: dict[str, dict[str, Wording]] = {
    name: _language_wordings(name) for name in _GENDER_PATTERNS
}


def gender_wordings(src_lang: str) -> tuple[Wording, ...]:
    """Return the wordings of gender cues in a language, by ISO 639-1; () if it has none.

    Examples:
        >>> [wording.name for wording in gender_wordings("fi")]
        ['gender_brackets', 'gender_parentheses', 'gender_adjectives', 'gender_nouns']
    """
    code = base_code(src_lang)
    return tuple(
        by_language[code] for by_language in GENDER_WORDINGS.values() if code in by_language
    )


def named_wording(name: str, src_lang: str) -> Wording:
    """Return a wording of the package by its name, as `cc-hf list wordings` has it.

    Raises:
        UnknownNameError: for a name that is not known in this language.

    Examples:
        >>> wording = named_wording("gender_nouns_pronouns", "en")
        >>> wording.source("The nurse lost her key.", Focus("nurse", 4), "male")
        'The man nurse lost his key.'
    """
    known = {wording.name: wording for wording in gender_wordings(src_lang)}
    if name not in known:
        raise UnknownNameError(
            f"wording of cues in {src_lang or 'an unknown language'}", name, known
        )
    return known[name]


def check_takes_cues(source: str, contrastive_sources: Collection[str]) -> None:
    """Refuse cues in a source that already shows a reading, as one of a counterfactual pair does.

    Args:
        contrastive_sources: the contrastive sources that its dataset has for it, of all readings.

    Raises:
        InputError: if the source is one of them.
    """
    # A cue on top contradicts what the sentence says ("the woman baron himself"), so that even
    # right translations are judged wrong.
    if source in contrastive_sources:
        raise InputError(
            f"expected a source that leaves the reading open, got {source[:120]!r}, which is itself"
            " one of its contrastive sources and shows the reading; use the dataset's own cues"
        )


def reworded(example: ContrastiveSourceExample, wording: Wording) -> ContrastiveSourceExample:
    """Return the example with contrastive sources in another wording."""
    try:
        check_takes_cues(example.source, (*example.correct_sources, *example.incorrect_sources))
    except InputError as error:
        raise InputError(f"cues: example {example.id!r}: {error} (leave `cues` out)") from None
    if not example.focus.text:
        raise InputError(
            f"example {example.id!r}: focus: expected the words that cues are put at, got none"
        )
    if example.gold not in wording.readings:
        raise InputError(
            f"example {example.id!r}: expected one of {', '.join(wording.readings)} as gold, the"
            f" readings of the wording {wording.name!r}, got {example.gold!r}"
        )
    sources = {
        reading: wording.source(example.source, example.focus, reading)
        for reading in wording.readings
    }
    if len(set(sources.values())) < len(sources):
        raise InputError(
            f"example {example.id!r}: the wording {wording.name!r} makes the same source for two"
            f" readings of {example.source!r}; use another wording"
        )
    return replace(
        example,
        correct_sources=(sources.pop(example.gold),),
        incorrect_sources=tuple(sources.values()),
    )
