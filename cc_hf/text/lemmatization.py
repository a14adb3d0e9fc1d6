"""Lemmas of tokens, behind one protocol: simplemma by default, none at all, or a lemmatizer of the
caller's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Protocol, runtime_checkable

from cc_hf.errors import UnknownNameError

__all__ = ["LEMMATIZERS", "Lemmatizer", "load_lemmatizer"]


@runtime_checkable
class Lemmatizer(Protocol):
    """Anything that lemmatizes tokens.

    Attributes:
        name: with its version, as a signature says it.
        languages: ISO 639-1 codes that it knows; None where it takes any.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def languages(self) -> frozenset[str] | None: ...  # noqa: D102

    def lemmas(self, tokens: Sequence[str], lang: str) -> list[str]:
        """The lemmas of the tokens of one text, none of which is empty, as they are written in it.

        There may be more or fewer lemmas than tokens.
        """
        ...


class _Simplemma:
    """Dictionaries and rules, without context (Barbaresi 2023)."""

    @property
    def name(self) -> str:
        return f"simplemma-{version('simplemma')}"

    @property
    def languages(self) -> frozenset[str]:
        from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

        return frozenset(SUPPORTED_LANGUAGES)

    def lemmas(self, tokens: Sequence[str], lang: str) -> list[str]:
        from simplemma import lemmatize

        return [lemmatize(token, lang=lang) for token in tokens]


class _NoLemmas:
    """Nothing beside the tokens themselves."""

    name = "none"
    languages = None

    def lemmas(self, tokens: Sequence[str], lang: str) -> list[str]:
        return []


#: those that `load_lemmatizer` knows by name
LEMMATIZERS: dict[str, type[_Simplemma] | type[_NoLemmas]] = {
    "none": _NoLemmas,
    "simplemma": _Simplemma,
}


@cache
def load_lemmatizer(name: str) -> Lemmatizer:
    """The lemmatizer of a name in LEMMATIZERS.

    Raises:
        UnknownNameError: for any other name.

    >>> load_lemmatizer("simplemma").lemmas(["Die", "Schlösser"], "de")[1]
    'Schloss'
    """
    if name not in LEMMATIZERS:
        raise UnknownNameError("lemmatizer", name, LEMMATIZERS)
    return LEMMATIZERS[name]()
