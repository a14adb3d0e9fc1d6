"""Nouns with their adjectives: in English, German and Portuguese sentences by a spaCy pipeline, in
English ones also by a dictionary of parts of speech without a parser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from cc_hf.errors import InputError, MissingDependencyError, check_choice
from cc_hf.text.lemmatization import find_lemmatizer
from cc_hf.text.spacy_pipelines import load_pipeline, pipeline_name
from cc_hf.text.tokenization import Token, word_tokens

__all__ = [
    "DictionaryNouns",
    "Modifier",
    "Noun",
    "NounParser",
    "SpacyNouns",
    "english_parts",
    "noun_parser",
]

# Words of closed classes. Dictionaries call many of them nouns, too.
_CLOSED_CLASSES = """
    a about after all am an and another any are as at be been before between both but by can
    could did do does down during each either for from had has have he her here him his how i if
    in into is it its like may me might more most much must my neither no nor not of off on one
    or our out over own she should so some such than that the their them then there these they
    this those through to too under up us was we were what when where which while who whose why
    will with would you your
"""
# Dictionaries call them adjectives.
_NUMBERS = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    thousand million billion dozen several few many various
"""
_FUNCTION_WORDS = frozenset(f"{_CLOSED_CLASSES} {_NUMBERS}".split())
_BEFORE_NOUNS = """a an the this that these those my your his her its our their some any no every
    each another either neither"""
_DETERMINERS = frozenset(f"{_BEFORE_NOUNS} {_NUMBERS}".split())
_COMPARED = ("JJR", "JJS")
_SPACY_LANGUAGES = ("en", "de", "pt")
# Words after which the form of a German adjective is known, by their tags in TIGER.
_GERMAN_DETERMINERS = ("ART", "PDAT", "PIAT", "PPOSAT", "PWAT", "APPRART")
_PORTUGUESE_OF = ("de", "do", "da", "dos", "das")


@dataclass(frozen=True, slots=True)
class Modifier:
    """An adjective that modifies a noun.

    Attributes:
        start: 0-based position of its first character in the sentence.
        is_adjacent: whether it stands directly before the noun, in Portuguese directly after it.
        is_compared: whether it is a comparative or superlative.
    """

    text: str
    start: int
    length: int
    is_adjacent: bool = True
    is_compared: bool = False


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun of a sentence.

    Attributes:
        start: 0-based position of its first character in the sentence.
        is_compound: whether it is a part of a compound, such as "baseball bat".
        agreement: what the form of an adjective depends on: two nouns with the same text take the
            same forms. None in English, "" if it is not known.
    """

    text: str
    lemma: str
    start: int
    modifiers: tuple[Modifier, ...] = ()
    is_compound: bool = False
    agreement: str | None = None


class NounParser(Protocol):
    """A way to find nouns and their adjectives."""

    @property
    def signature_name(self) -> str:
        """The name with versions, as a signature holds it."""

    def nouns(
        self, sources: Sequence[str], known_starts: Sequence[Collection[int]] | None = None
    ) -> list[list[Noun]]:
        """Return the nouns of each sentence, from left to right.

        Args:
            known_starts: positions in characters of known nouns of each sentence; None for none.
        """


class DictionaryNouns:
    """Nouns and adjectives by a dictionary, without a parser.

    An adjective stands directly before its noun. It is a word that the dictionary has as an
    adjective only, or one of `adjectives`, whose most frequent use is that of an adjective. A noun
    is a word whose position is known, or one that may be a noun by the dictionary and either cannot
    be anything else or stands after a determiner. A noun is part of a compound if a word beside it
    may be a noun, or is joined by a hyphen.
    """

    def __init__(
        self,
        parts: Callable[[str], Collection[str]],
        *,
        name: str,
        adjectives: Collection[str] = (),
    ) -> None:
        self._parts = parts
        self._name = name
        self._adjectives = frozenset(adjectives)

    @property
    def signature_name(self) -> str:
        """The name of the dictionary."""
        return self._name

    def with_uses(self, sources: Iterable[str]) -> DictionaryNouns:
        """Return a parser that also knows the adjectives whose other uses are rarer."""
        uses, total = Counter[str](), Counter[str]()
        for source in sources:
            words = [token.text.lower() for token in word_tokens(source)]
            for word, following in zip(words, [*words[1:], ""], strict=True):
                parts = self._parts_of(word)
                if "ADJ" in parts and len(parts - {"COMPARED"}) > 1:
                    total[word] += 1
                    # A word is used as an adjective where the next word may be a noun.
                    uses[word] += "NOUN" in self._parts_of(following)
        adjectives = {word for word, n in uses.items() if 2 * n > total[word]}
        return DictionaryNouns(self._parts, name=self._name, adjectives=adjectives)

    def nouns(
        self, sources: Sequence[str], known_starts: Sequence[Collection[int]] | None = None
    ) -> list[list[Noun]]:
        starts = [()] * len(sources) if known_starts is None else known_starts
        return [
            self._nouns(source, set(known)) for source, known in zip(sources, starts, strict=True)
        ]

    def _nouns(self, source: str, known: set[int]) -> list[Noun]:
        tokens = word_tokens(source)
        words = [token.text.lower() for token in tokens]
        nouns = []
        for index, token in enumerate(tokens):
            first = index  # of the noun with its adjectives
            while first > 0 and self._is_adjective(words[first - 1]):
                first -= 1
            has_determiner = first > 0 and words[first - 1] in _DETERMINERS
            if not (token.start in known or self._is_noun(words[index], has_determiner)):
                continue
            modifiers = tuple(
                self._modifier(tokens[i], is_adjacent=i == index - 1) for i in range(first, index)
            )
            is_compound = any(
                words[i] == "-" or self._may_be_noun(tokens[i], words[i], known)
                for i in (first - 1, index + 1)
                if 0 <= i < len(tokens)
            )
            nouns.append(Noun(token.text, _lemma(token.text), token.start, modifiers, is_compound))
        return nouns

    def _is_noun(self, word: str, has_determiner: bool) -> bool:
        parts = self._parts_of(word)
        if has_determiner and not self._is_adjective(word):
            return "NOUN" in parts
        return parts == {"NOUN"}

    def _parts_of(self, word: str) -> frozenset[str]:
        return frozenset() if word in _FUNCTION_WORDS else frozenset(self._parts(word))

    def _is_adjective(self, word: str) -> bool:
        parts = self._parts_of(word)
        return "ADJ" in parts and (parts <= {"ADJ", "COMPARED"} or word in self._adjectives)

    def _modifier(self, token: Token, *, is_adjacent: bool) -> Modifier:
        word = token.text.lower()
        is_compared = "COMPARED" in self._parts_of(word)
        return Modifier(word, token.start, len(token.text), is_adjacent, is_compared)

    def _may_be_noun(self, token: Token, word: str, known: set[int]) -> bool:
        return token.start in known or "NOUN" in self._parts_of(word)


class SpacyNouns:
    """Nouns and adjectives by the dependencies of a spaCy pipeline."""

    def __init__(self, model: str, lang: str = "en") -> None:
        check_choice("lang", lang, _SPACY_LANGUAGES)
        self._lang = lang
        self._pipeline = load_pipeline(model, lang, exclude=["ner"])
        if "parser" not in self._pipeline.pipe_names:
            raise InputError(
                f"spacy_model: expected a pipeline with a parser, got {model!r}, which has"
                f" {', '.join(self._pipeline.pipe_names) or 'no parts'}"
            )

    @property
    def signature_name(self) -> str:
        """The versions of spaCy and of the pipeline."""
        return pipeline_name(self._pipeline)

    def nouns(
        self, sources: Sequence[str], known_starts: Sequence[Collection[int]] | None = None
    ) -> list[list[Noun]]:
        starts = [()] * len(sources) if known_starts is None else known_starts
        return [
            [
                spacy_noun(token, self._lang)
                for token in parsed
                if token.pos_ == "NOUN" or token.idx in known
            ]
            for parsed, known in zip(self._pipeline.pipe(sources), starts, strict=True)
        ]


def spacy_noun(token: Any, lang: str = "en") -> Noun:
    """Return the noun of a token of spaCy."""
    step = 1 if lang == "pt" else -1
    modifiers = tuple(
        Modifier(
            child.text.lower(),
            child.idx,
            len(child.text),
            is_adjacent=child.i == token.i + step,
            is_compared=_is_compared(child, lang),
        )
        for child in (token.children if lang == "pt" else token.lefts)
        if _is_adjective(child, lang)
    )
    is_compound = token.dep_ == "compound" or any(
        child.dep_ == "compound" for child in token.children
    )
    agreement = None
    if lang == "pt":
        # An adjective would part "banco de dados".
        is_compound |= token.i + 1 < len(token.doc) and _text_at(token, 1) in _PORTUGUESE_OF
        agreement = " ".join((token.text.lower(), *_features(token, "Gender", "Number")))
    elif lang == "de":
        before = -1 - len(modifiers)
        has_determiner = token.i + before >= 0 and token.nbor(before).tag_ in _GERMAN_DETERMINERS
        form = (_text_at(token, before), token.text) if has_determiner else ()
        agreement = " ".join((*form, *_features(token, "Case", "Number"))) if form else ""
    return Noun(token.text, token.lemma_.lower(), token.idx, modifiers, is_compound, agreement)


def _is_adjective(child: Any, lang: str) -> bool:
    """Return whether a token modifies its head; the German pipelines have TIGER's relations."""
    if lang == "de":
        return bool(child.dep_ == "nk" and child.pos_ == "ADJ")
    return bool(child.dep_ == "amod")


def _is_compared(child: Any, lang: str) -> bool:
    if lang == "en":
        return child.tag_ in _COMPARED
    return bool({"Cmp", "Sup"} & {*child.morph.get("Degree")})


def _text_at(token: Any, distance: int) -> str:
    return str(token.nbor(distance).text.lower())


def _features(token: Any, *names: str) -> tuple[str, ...]:
    return tuple("".join(token.morph.get(name)) for name in names)


@cache
def english_parts(word: str) -> frozenset[str]:
    """Return the parts of speech of an English word in the dictionary of lemminflect."""
    try:
        from lemminflect import getAllLemmas
    except ImportError:
        raise MissingDependencyError("lemminflect", "morphology") from None
    lemmas = getAllLemmas(word)
    is_compared = word not in lemmas.get("ADJ", (word,))
    return frozenset({*lemmas, "COMPARED"} if is_compared else lemmas)


def noun_parser(spacy_model: str | None = None, lang: str = "en") -> NounParser:
    """Return a spaCy pipeline's parser of nouns, or lemminflect's English dictionary for None."""
    if spacy_model is not None:
        return SpacyNouns(spacy_model, lang)
    if lang != "en":
        raise InputError(
            f"spacy_model: expected a pipeline that finds adjectives in {lang!r}, got none; name"
            f" one, such as {lang}_core_news_sm"
        )
    english_parts("word")  # fails at once if lemminflect is not installed
    return DictionaryNouns(english_parts, name=f"lemminflect-{_lemminflect_version()}")


def _lemminflect_version() -> str:
    from importlib.metadata import version

    return version("lemminflect")


@cache
def _lemma(word: str) -> str:
    return find_lemmatizer("simplemma").lemmas([word.lower()], "en")[0].lower()
