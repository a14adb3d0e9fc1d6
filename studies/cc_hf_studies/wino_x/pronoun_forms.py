"""Find the pronouns of a translation and the forms that could replace them: singular, nominative,
third person (thesis, section 4.3.4, note 17). This works on texts only, without a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cc_hf.cues.placement import replace_at
from cc_hf.errors import InputError
from cc_hf.text.pronouns import pronoun_gender

__all__ = [
    "PRONOUN_FORMS",
    "PronounOccurrence",
    "ambiguous_pronoun",
    "check_language",
    "find_pronouns",
]

#: Target language of Wino-X -> {gender: form}.
PRONOUN_FORMS: dict[str, dict[str, str]] = {
    "de": {"male": "er", "female": "sie", "neutral": "es"},
    "fr": {"male": "il", "female": "elle"},
    "ru": {"male": "он", "female": "она", "neutral": "оно"},
}
# This does not match the beginning of "elle-même", but it matches the end of "est-il" and of
# "qu'elle".
_WORD = re.compile(r"(?<!\w)\w+(?![\w-])")
_LATIN = str.maketrans("оаОА", "oaOA")


@dataclass(frozen=True, slots=True)
class PronounOccurrence:
    """A pronoun in a text.

    Attributes:
        start: 0-based position in characters.
        alternatives: the other forms, written in the same way: with the same capitals, and in
            Russian with Latin letters if the pronoun has them.
    """

    text: str
    start: int
    alternatives: tuple[str, ...]

    def variants(self, translation: str) -> tuple[str, ...]:
        """Return the translation itself, then a copy per alternative with the pronoun replaced."""
        return (
            translation,
            *(
                replace_at(translation, self.start, len(self.text), other)
                for other in self.alternatives
            ),
        )


def check_language(lang: str) -> None:
    """Check that the pronoun forms of a language are known."""
    if lang not in PRONOUN_FORMS:
        raise InputError(
            f"the pronoun penalty knows the pronouns of {', '.join(PRONOUN_FORMS)}, got the"
            f" language {lang!r}; train with the objective mle"
        )


def find_pronouns(text: str, lang: str) -> tuple[PronounOccurrence, ...]:
    """Find all pronouns of a text, in order.

    Only the form decides, as in the thesis: German "sie" may also be a plural or an object.

    Examples:
        >>> pronouns = find_pronouns("Sie sieht, dass er esse.", "de")
        >>> [(p.text, p.start, p.alternatives) for p in pronouns]
        [('Sie', 0, ('Er', 'Es')), ('er', 16, ('sie', 'es'))]
    """
    check_language(lang)
    occurrences = []
    for match in _WORD.finditer(text):
        word, gender = match.group(), pronoun_gender(match.group(), lang)
        # The plurals "ils" and "elles" have a gender, too, but are not among the forms.
        if gender in PRONOUN_FORMS[lang] and len(word) == len(PRONOUN_FORMS[lang][gender]):
            others = tuple(
                _written_like(word, form)
                for other, form in PRONOUN_FORMS[lang].items()
                if other != gender
            )
            occurrences.append(PronounOccurrence(word, match.start(), others))
    return tuple(occurrences)


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
    """Return the pronoun that differs between a correct and a contrastive translation."""
    letters = enumerate(zip(correct, contrastive, strict=False))
    same = next(
        (i for i, (left, right) in letters if left != right), min(len(correct), len(contrastive))
    )
    return next(((p,) for p in pronouns if p.start + len(p.text) >= same), ())
