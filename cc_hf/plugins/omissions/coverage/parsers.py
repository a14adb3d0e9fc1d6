"""Parts of a text that may be missing, by a dependency parser: each word with all that depends on
it, as in the program of Vamvas & Sennrich (2022).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from cc_hf.errors import MissingDependencyError, check_choice
from cc_hf.plugins.omissions.coverage.spans import Span, chunks
from cc_hf.text.spacy_pipelines import load_pipeline, pipeline_name

__all__ = ["PARSERS", "Parser", "Word", "constituents", "load_parser", "parts_of"]

#: Parts of speech of words that do not make a part on their own; SPACE is of spaCy only.
_FUNCTION = frozenset(
    ["ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ", "PUNCT", "SYM", "SPACE"]
)


class Word(NamedTuple):
    """A word of a parsed sentence."""

    # Characters [start, end) of its token; a word of a contracted token ("zum") has those of the
    # whole token. None for a word without a place.
    start: int | None
    end: int | None
    head: int  # position of the word that it depends on; -1 for the root
    upos: str  # universal part of speech


class Parser(NamedTuple):
    """A parser of one language, which returns the words of each sentence of a text."""

    name: str
    parse: Callable[[str], list[list[Word]]]


def constituents(sentences: Sequence[Sequence[Word]]) -> list[Span]:
    """Return the parts of a text that may be missing from its translation.

    A part is a word with all its dependents, if they stand side by side and one of them is a
    content word.

    Examples:
        >>> words = [Word(0, 2, 1, "DET"), Word(3, 6, 2, "NOUN"), Word(7, 13, -1, "VERB")]
        >>> constituents([words])
        [Span(start=0, end=13), Span(start=0, end=6)]
    """
    if len(sentences) != 1:
        return []
    (words,) = sentences
    subtrees = [_subtree(words, position) for position in range(len(words))]
    spans = []
    for subtree in sorted(subtrees, key=len, reverse=True):  # equal sizes stay in their order
        first, last = min(subtree), max(subtree)
        start, end = words[first].start, words[last].end
        is_contiguous = last - first + 1 == len(subtree)
        has_content = any(words[position].upos not in _FUNCTION for position in subtree)
        if is_contiguous and has_content and start is not None and end is not None and start < end:
            spans.append(Span(start, end))
    return spans


def _subtree(words: Sequence[Word], root: int) -> set[int]:
    """Return the positions of a word and of all words that depend on it."""
    members, waiting = {root}, [root]
    while waiting:
        head = waiting.pop()
        new = {i for i, word in enumerate(words) if word.head == head} - members
        members |= new
        waiting += new
    return members


def _stanza(lang: str) -> Parser:
    try:
        import stanza
    except ImportError:
        raise MissingDependencyError("stanza", "stanza") from None
    steps = "tokenize,pos,lemma,depparse" if lang == "zh" else "tokenize,mwt,pos,lemma,depparse"
    try:
        pipeline = stanza.Pipeline(lang, processors=steps, verbose=False)
    except (OSError, ValueError) as error:  # without models; stanza's own error is a ValueError
        raise MissingDependencyError(
            f"stanza's models of {lang}",
            install=f"python -c \"import stanza; stanza.download('{lang}')\"",
        ) from error

    def parse(text: str) -> list[list[Word]]:
        return [
            [
                Word(token.start_char, token.end_char, int(word.head) - 1, word.upos)
                for token in sentence.tokens
                for word in token.words
            ]
            for sentence in pipeline(text).sentences
        ]

    return Parser(f"stanza-{stanza.__version__}", cache(parse))


def _spacy(lang: str) -> Parser:
    genre = "web" if lang in ("en", "zh") else "news"
    pipeline = load_pipeline(f"{lang}_core_{genre}_sm", lang, exclude=("ner", "lemmatizer"))

    def parse(text: str) -> list[list[Word]]:
        return [_words(sentence) for sentence in pipeline(text).sents]

    return Parser(pipeline_name(pipeline), cache(parse))


def _words(sentence: Any) -> list[Word]:
    """Return the words of a sentence of spaCy, whose root is its own head."""
    return [
        Word(
            token.idx,
            token.idx + len(token.text),
            -1 if token.head.i == token.i else token.head.i - sentence.start,
            token.pos_,
        )
        for token in sentence
    ]


PARSERS: dict[str, Callable[[str], Parser]] = {"stanza": _stanza, "spacy": _spacy}


@cache
def load_parser(name: str, lang: str) -> Parser:
    """Return a parser of a language, loaded once."""
    return PARSERS[name](lang)


def parts_of(text: str, lang: str, spans: str, *, keeps_names: bool = False) -> list[Span]:
    """Return the parts of a text that may be missing."""
    check_choice("spans", spans, ("chunks", *PARSERS))
    if spans == "chunks":
        return chunks(text, lang, keeps_names=keeps_names)
    return constituents(load_parser(spans, lang).parse(text))
