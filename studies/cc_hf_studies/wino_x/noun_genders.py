"""The grammatical gender of a noun phrase in the nominative: by a list of nouns, by its article, or
by a dictionary of forms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["NOT_NOMINATIVE", "NounGenders", "noun_genders"]

#: What is returned for a phrase that is no singular in the nominative.
NOT_NOMINATIVE = "not_nominative"

_UNKNOWN = "unknown"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ARTICLES: dict[str, dict[str, str]] = {
    "de": {"der": "male", "die": "female", "das": "neutral"},
    "es": {"el": "male", "la": "female"},
    "fr": {"le": "male", "la": "female"},
    "it": {"il": "male", "lo": "male", "la": "female"},
    "pt": {"o": "male", "a": "female"},
}
#: Articles of other cases, and contractions with prepositions.
_OTHER_FORMS: dict[str, frozenset[str]] = {
    "de": _words("den dem des am im zum zur vom beim ins ans"),
    "es": _words("al del los las"),
    "fr": _words("au aux du des les"),
    "it": _words("al allo alla del dello della nel nello nella sul sulla i gli le"),
    "pt": _words("ao à do da no na pelo pela os as"),
}
#: Languages whose nouns pymorphy3 knows.
_ANALYZED = ("ru", "uk")
_MORPHOLOGICAL = {"masc": "male", "femn": "female", "neut": "neutral"}


@dataclass(frozen=True)
class NounGenders:
    """The genders of nouns of one language.

    Attributes:
        articles: article in the nominative singular -> gender; empty for languages without articles
            that show it.
        nouns: noun in lower case -> gender, which is asked first.
        analyzer: pymorphy3's analyzer; None for other languages.
    """

    articles: Mapping[str, str] = field(default_factory=dict)
    other_forms: frozenset[str] = frozenset()
    nouns: Mapping[str, str] = field(default_factory=dict)
    analyzer: Any = None

    def gender(self, article: str, words: Sequence[str]) -> str:
        """Return the gender of a phrase; `article` is the word before the noun, or "".

        Examples:
            >>> noun_genders("de").gender("dem", ["Tisch"])
            'not_nominative'
            >>> noun_genders("pl", {"stół": "male"}).gender("", ["Stół"])
            'male'
        """
        form = article.lower()
        if form in self.other_forms:
            return NOT_NOMINATIVE
        listed = [self.nouns[word.lower()] for word in words[::-1] if word.lower() in self.nouns]
        if listed:
            return listed[0]
        if self.analyzer is not None:
            return self._analyzed(words)
        return self.articles.get(form, _UNKNOWN)

    def _analyzed(self, words: Sequence[str]) -> str:
        """Return the gender of the first noun by its forms."""
        for word in words:
            parses = [p for p in self.analyzer.parse(word) if p.tag.POS == "NOUN"]
            if parses:
                genders = {
                    _MORPHOLOGICAL.get(p.tag.gender, _UNKNOWN)
                    for p in parses
                    if p.tag.case == "nomn" and p.tag.number == "sing"
                }
                if not genders:
                    return NOT_NOMINATIVE
                return genders.pop() if len(genders) == 1 else _UNKNOWN
        return _UNKNOWN


def noun_genders(lang: str, nouns: Mapping[str, str] | None = None) -> NounGenders:
    """Return the genders of a language."""
    analyzer = None
    if lang in _ANALYZED:
        import pymorphy3

        analyzer = pymorphy3.MorphAnalyzer(lang=lang)
    return NounGenders(
        _ARTICLES.get(lang, {}), _OTHER_FORMS.get(lang, frozenset()), nouns or {}, analyzer
    )
