"""Pronouns of a translation and what could stand in their place: singular, nominative, third person
(thesis, section 4.3.4, note 17). Texts only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cc_hf.cues.placement import replace_at
from cc_hf.errors import InputError
from cc_hf.text.pronouns import pronoun_gender

__all__ = ["FORMS", "PronounOccurrence", "ambiguous_pronoun", "check_language", "find_pronouns"]

#: gender -> form, per target language of Wino-X
FORMS: dict[str, dict[str, str]] = {
    "de": {"male": "er", "female": "sie", "neutral": "es"},
    "fr": {"male": "il", "female": "elle"},
    "ru": {"male": "он", "female": "она", "neutral": "оно"},
}
# not the beginning of «elle-même», but the end of «est-il» and «qu'elle»
_WORD = re.compile(r"(?<!\w)\w+(?![\w-])")
_LATIN = str.maketrans("оаОА", "oaOA")


@dataclass(frozen=True, slots=True)
class PronounOccurrence:
    """A pronoun in a text.

    Attributes:
        text: as it is written.
        start: 0-based position in characters.
        alternatives: the other forms, written likewise: with its capitals, and in Russian with
            Latin letters where it has them.
    """

    text: str
    start: int
    alternatives: tuple[str, ...]

    def variants(self, translation: str) -> tuple[str, ...]:
        """The translation as it is, and with each alternative in place of the pronoun.

        >>> (found,) = find_pronouns("Ich nahm sie.", "de")
        >>> found.variants("Ich nahm sie.")
        ('Ich nahm sie.', 'Ich nahm er.', 'Ich nahm es.')
        """
        return (
            translation,
            *(
                replace_at(translation, self.start, len(self.text), other)
                for other in self.alternatives
            ),
        )


def check_language(lang: str) -> None:
    """Refuse a language whose forms are not known.

    Raises:
        InputError: for a language other than those of `FORMS`.
    """
    if lang not in FORMS:
        raise InputError(
            f"the pronoun penalty knows the pronouns of {', '.join(FORMS)}, got the language"
            f" {lang!r}; train with the objective mle"
        )


def find_pronouns(text: str, lang: str) -> tuple[PronounOccurrence, ...]:
    """All pronouns of a text, in its order.

    The form alone decides, as in the thesis: German «sie» may be a plural or an object.

    Raises:
        InputError: for a language whose forms are not known.

    >>> [(p.text, p.start, p.alternatives) for p in find_pronouns("Sie sieht, dass er esse.", "de")]
    [('Sie', 0, ('Er', 'Es')), ('er', 16, ('sie', 'es'))]
    >>> [
    ...     (p.text, p.alternatives)
    ...     for p in find_pronouns("Je crois qu'elle part elle-même, part-il ?", "fr")
    ... ]
    [('elle', ('il',)), ('il', ('elle',))]
    """
    check_language(lang)
    found = []
    for match in _WORD.finditer(text):
        word, gender = match.group(), pronoun_gender(match.group(), lang)
        # «ils» and «elles» show a gender too
        if gender in FORMS[lang] and len(word) == len(FORMS[lang][gender]):
            others = tuple(
                _written_like(word, form) for other, form in FORMS[lang].items() if other != gender
            )
            found.append(PronounOccurrence(word, match.start(), others))
    return tuple(found)


def _written_like(word: str, form: str) -> str:
    if word.isupper():
        form = form.upper()
    elif word[0].isupper():
        form = form.capitalize()
    return (
        form.translate(_LATIN)
        if re.search("[a-zA-Z]", word) and re.search("[а-яА-Я]", form)
        else form
    )


def ambiguous_pronoun(
    correct: str, contrastive: str, pronouns: tuple[PronounOccurrence, ...]
) -> tuple[PronounOccurrence, ...]:
    """Of the pronouns of a correct translation the one that the contrastive translation has
    otherwise, none where they do not differ in one.

    >>> text = "Er nahm den Ball, weil er rund war."
    >>> [
    ...     p.start
    ...     for p in ambiguous_pronoun(
    ...         text, "Er nahm den Ball, weil sie rund war.", find_pronouns(text, "de")
    ...     )
    ... ]
    [23]
    """
    letters = enumerate(zip(correct, contrastive, strict=False))
    same = next(
        (i for i, (one, other) in letters if one != other), min(len(correct), len(contrastive))
    )
    return next(((p,) for p in pronouns if p.start + len(p.text) >= same), ())
