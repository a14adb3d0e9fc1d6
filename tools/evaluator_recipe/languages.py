"""The target languages of the recipe: German by its own grammar and word lists, Romance languages
by tables and a reader of morphology.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cc_hf.text.morphology import MASCULINE, open_reader
from tools.evaluator_recipe import agreement, corpora, corpus, romance, twins
from tools.evaluator_recipe.grammar import Gender
from tools.evaluator_recipe.romance_words import RomanceLanguage, read_language
from tools.evaluator_recipe.sentences import Pair, SentenceMaker
from tools.evaluator_recipe.train import Language


def open_language(
    code: str, *, upstream: Path, packages: Path, without: Sequence[str] = ()
) -> Language:
    """Return a language with its corpora.

    Args:
        code: "de", or a language of `romance_words.languages`.
        upstream: the upstream repositories, as `--data-dir` of `cc-hf` has them.
        packages: the folder of unpacked packages of Debian.
        without: kinds of corpora that are left out.
    """
    if code == "de":
        return german(upstream)
    return romance_language(code, upstream, packages, without=without)


def german(upstream: Path) -> Language:
    """Return German, with the Tatoeba archive of the shipped evaluator."""
    path = upstream / "tatoeba/deu-eng.zip"
    return german_of(corpus.read_tatoeba(path, sha256=corpus.TATOEBA))


def german_of(pairs: Sequence[Pair]) -> Language:
    """Return German with these natural pairs."""
    return Language(
        "de",
        pairs,
        lambda seed, development: SentenceMaker(seed, development=development),
        corpus.cued_copies,
        _with_person_in_german,
    )


def _with_person_in_german(pair: Pair, maker: Any, cued: bool) -> Pair | None:
    return corpus.with_person(pair, maker, cued=cued)


def romance_language(
    code: str, upstream: Path, packages: Path, *, without: Sequence[str] = ()
) -> Language:
    """Return a Romance language, whose words Apertium reads."""
    reader = open_reader("apertium", code)
    pairs = [
        pair
        for of_language in corpora.corpora(code)
        if of_language.kind not in without
        for pair in corpora.read_corpus(of_language, upstream=upstream, packages=packages)
    ]
    pairs = list(dict.fromkeys(pairs))
    shown = _shown_genders(pairs, reader, read_language(code))

    def with_person(pair: Pair, maker: Any, cued: bool) -> Pair | None:
        genders = shown[pair]
        if len(genders) > 1:
            return None
        gender = next(iter(genders), None)
        return romance.with_person(pair, maker, code, cued=cued, shown=gender)

    return Language(
        code,
        pairs,
        lambda seed, development: romance.RomanceMaker(code, seed, development=development),
        partial(_copies, reader=reader, code=code),
        with_person,
    )


def _copies(pairs: Sequence[Pair], *, reader: Any, code: str) -> list[Pair]:
    return list(twins.cued_copies(pairs, reader, code))


def _shown_genders(
    pairs: Sequence[Pair], reader: Any, language: RomanceLanguage
) -> dict[Pair, frozenset[Gender]]:
    """Return the genders of adjectives and participles in the singular that stand beside no noun,
    of pronouns after a hyphen ("est-il"), and of nouns for people in a predicate ("est un ami"):
    they may agree with a person.
    """
    shown: dict[Pair, frozenset[Gender]] = {}
    analysed = reader.analyse([p.target for p in pairs])
    of_lemma: dict[str, set[str]] = {}
    for a in (a for words in analysed for word in words for a in word.analyses if a.pos == "noun"):
        of_lemma.setdefault(a.lemma, set()).update(a.genders)
    for pair, words in zip(pairs, analysed, strict=True):
        genders: set[Gender] = set()
        for i, word in enumerate(words):
            if word.text.startswith("-"):
                genders |= {"m" if g == MASCULINE else "f" for g in word.genders("pronoun")}
            of_person = any(len(of_lemma.get(a.lemma, ())) > 1 for a in word.analyses)
            noun_gender = word.shown_gender("noun")
            if of_person and noun_gender and agreement.is_in_predicate(words, i):
                genders.add("m" if noun_gender == MASCULINE else "f")
            numbers = {a.number for a in word.analyses if a.pos in {"adjective", "participle"}}
            name = agreement.may_agree(words, i, language)
            # French "heureux" is of both numbers; an unknown word has none.
            if name and numbers != {"plural"} and not agreement.is_of_perfect(words, i):
                genders.add("m" if name == MASCULINE else "f")
        shown[pair] = frozenset(genders)
    return shown
