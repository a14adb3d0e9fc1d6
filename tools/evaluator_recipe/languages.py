"""The target languages of the recipe: German by its own grammar and word lists, Romance languages
by tables and a reader of morphology.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cc_hf.files import file_sha256
from cc_hf.text.morphology import MASCULINE, open_reader
from tools.evaluator_recipe import corpora, corpus, romance, twins
from tools.evaluator_recipe.grammar import Gender
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
    if (digest := file_sha256(path)) != corpus.TATOEBA:
        raise ValueError(f"{path}: expected sha256 {corpus.TATOEBA}, got {digest}")
    return german_of(corpus.read_tatoeba(path))


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
    shown = _shown_genders(pairs, reader, code)

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


def _shown_genders(pairs: Sequence[Pair], reader: Any, code: str) -> dict[Pair, frozenset[Gender]]:
    """Return the genders of adjectives and participles in the singular that stand beside no noun:
    they may agree with a person.
    """
    shown: dict[Pair, frozenset[Gender]] = {}
    for pair, words in zip(pairs, reader.analyse([p.target for p in pairs]), strict=True):
        genders: set[Gender] = set()
        for i, word in enumerate(words):
            numbers = {a.number for a in word.analyses if a.pos in {"adjective", "participle"}}
            name = twins.may_agree(words, i, code)
            if name and numbers <= {"singular"} and not _of_perfect(words, i):
                genders.add("m" if name == MASCULINE else "f")
        shown[pair] = frozenset(genders)
    return shown


def _of_perfect(words: Sequence[Any], i: int) -> bool:
    """Whether a participle follows a form of "haber", and agrees with nothing."""
    before = words[i - 1].analyses if i else ()
    return any(a.lemma in {"haber", "avoir", "avere", "ter", "haver"} for a in before)
