"""Lemmas of tokens: by simplemma, none, or the caller's lemmatizer; and which words are known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Protocol, runtime_checkable

from cc_hf.errors import InputError, UnknownNameError

__all__ = [
    "LEMMATIZERS",
    "Lemmatizer",
    "check_language",
    "find_lemmatizer",
    "is_known",
    "lemma_line",
]


@runtime_checkable
class Lemmatizer(Protocol):
    """An object that lemmatizes tokens.

    Attributes:
        name: name with its version, as a signature holds it.
        languages: ISO 639-1 codes of the known languages; None if any language is accepted.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def languages(self) -> frozenset[str] | None: ...  # noqa: D102

    def lemmas(self, tokens: Sequence[str], lang: str) -> list[str]:
        """Return the lemmas of the tokens of one text, which may be more or fewer than the tokens.

        Args:
            tokens: non-empty tokens, as they are written in the text.
            lang: ISO 639-1 code of the text.
        """
        ...


class _Simplemma:
    """Lemmas by dictionaries and rules, without context (Barbaresi 2023)."""

    @property
    def name(self) -> str:
        return f"simplemma-{version('simplemma')}"

    @property
    def languages(self) -> frozenset[str]:
        from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

        return frozenset(SUPPORTED_LANGUAGES)

    def lemmas(self, tokens: Sequence[str], lang: str) -> list[str]:
        return [_simplemma_lemma(token, lang) for token in tokens]


#: Languages of which simplemma has the whole dictionary in memory.
_IN_MEMORY: set[str] = set()


@lru_cache(maxsize=65_536)
def _simplemma_lemma(token: str, lang: str) -> str:
    from simplemma import lemmatize

    _IN_MEMORY.add(lang)
    return lemmatize(token, lang=lang)


@lru_cache(maxsize=65_536)
def is_known(word: str, lang: str) -> bool:
    """Return whether the dictionary of simplemma has a word, its first letter in either case."""
    import simplemma

    # Few words are looked up, so the dictionary is searched in a compressed form, which takes less
    # memory and is read faster, unless lemmas have read the whole of it.
    return simplemma.is_known(word, lang, low_memory=lang not in _IN_MEMORY)


class _NoLemmas:
    """No lemmas, so that only the tokens themselves count."""

    name = "none"
    languages = None

    def lemmas(self, tokens: Sequence[str], lang: str) -> list[str]:
        return []


#: Lemmatizers by name.
LEMMATIZERS: dict[str, type[_Simplemma] | type[_NoLemmas]] = {
    "none": _NoLemmas,
    "simplemma": _Simplemma,
}


def find_lemmatizer(lemmatizer: str | Lemmatizer) -> Lemmatizer:
    """Return a lemmatizer from its name, or as it is given.

    Raises:
        InputError: for any other object.
        UnknownNameError: for a name that is not known.

    Examples:
        >>> find_lemmatizer("simplemma").lemmas(["Die", "Schlösser"], "de")[1]
        'Schloss'
    """
    if isinstance(lemmatizer, str):
        return _named(lemmatizer)
    if not isinstance(lemmatizer, Lemmatizer):
        raise InputError(
            "lemmatizer: expected a name or an object with name, languages and lemmas, got"
            f" {type(lemmatizer).__name__}"
        )
    return lemmatizer


@cache
def _named(name: str) -> Lemmatizer:
    if name not in LEMMATIZERS:
        raise UnknownNameError("lemmatizer", name, LEMMATIZERS)
    return LEMMATIZERS[name]()


def lemma_line(tokens: Sequence[str], lang: str, lemmatizer: Lemmatizer) -> str:
    """Return one lemma per token in lower case, with spaces between them, as aligners read texts.

    Lemmas give more links than tokens. A token whose lemma or language the lemmatizer does not know
    stands for itself.

    Examples:
        >>> lemma_line(["Die", "Schlösser"], "de", find_lemmatizer("simplemma"))
        'der schloss'
    """
    if lemmatizer.languages is not None and lang not in lemmatizer.languages:
        return " ".join(token.lower() for token in tokens)
    return " ".join(
        "_".join((lemmatizer.lemmas([token], lang) or [token])[0].lower().split())
        for token in tokens
    )


def check_language(
    tgt_lang: str,
    lemmatizer: Lemmatizer | None,
    *,
    remedy: str = "give another lemmatizer, or lemmatizer none",
) -> None:
    """Refuse a language that is not named, or that a lemmatizer does not know; None knows any.

    Raises:
        InputError: for such a language.
    """
    if not tgt_lang:
        raise InputError(
            "tgt_lang: expected the ISO 639-1 code of the translations' language, got none; tokens"
            " and lemmas depend on it"
        )
    known = None if lemmatizer is None else lemmatizer.languages
    if lemmatizer is not None and known is not None and tgt_lang not in known:
        raise InputError(
            f"tgt_lang: {lemmatizer.name} does not know {tgt_lang!r}; it knows"
            f" {', '.join(sorted(known))}; {remedy}"
        )
