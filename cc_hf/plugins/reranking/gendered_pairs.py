"""Do two translations differ in the gender of a person, and in nothing else?

Words are compared without knowledge of morphology: those of one lemma begin alike, and a closed
list has the articles, pronouns and possessives of each language.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord
from cc_hf.text.tokenization import whole_words
from cc_hf.text.transliteration import in_latin_letters

__all__ = ["FUNCTION_WORDS", "PairCheck", "check_pair"]

_MOST_WORDS = 6  # that differ between both translations
_MOST_IN_BLOCK = 3
_GENDERED = ("determiner", "noun", "adjective", "participle", "pronoun")
_PREFIX = 3  # letters that words of one lemma share

#: Target language -> articles, pronouns and possessives that change with the gender of a person.
FUNCTION_WORDS: dict[str, frozenset[str]] = {
    lang: frozenset(words.split())
    for lang, words in {
        "de": "der die das den dem des ein eine einen einem einer eines er sie ihn ihm ihr ihre"
        " ihrer ihren ihrem ihres sein seine seiner seinen seinem seines kein keine keinen keinem"
        " keiner dieser diese diesen diesem jener jene jenen jenem welcher welche welchen welchem"
        " zum zur vom von beim bei dessen deren mein meine meinen meinem meiner",
        "es": "el la los las un una unos unas él ella ellos ellas lo le del de al a este esta ese"
        " esa aquel aquella nuestro nuestra",
        "fr": "le la l les un une il elle ils elles lui du de au à ce cet cette mon ma ton ta son"
        " sa celui celle ceux celles",
        "it": "il lo la l i gli le un uno una egli lui lei essa del dello della dell al allo alla"
        " all dal dallo dalla dall nel nello nella nell sul sullo sulla sull questo questa quel"
        " quello quella suo sua mio mia",
        "pt": "o a os as um uma ele ela eles elas do da no na ao à pelo pela este esta esse essa"
        " aquele aquela seu sua dele dela num numa meu minha",
    }.items()
}


@dataclass(frozen=True, slots=True)
class PairCheck:
    """What a pair of translations was checked for.

    Attributes:
        direction: whether each is more probable under its own cue.
        minimal: whether they differ in a few words of the same lemmas, or function words.
        no_leak: whether neither holds a word of the cue.
        adequate: whether neither is much less probable than the plain translation.
        shown: whether the words that differ show both genders by a dictionary, each on its side, as
            far as it knows them; True without a dictionary.
        differing: the words that differ, (masculine, feminine) for each place.
    """

    direction: bool
    minimal: bool
    no_leak: bool
    adequate: bool
    differing: tuple[tuple[str, str], ...]
    shown: bool = True

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that the pair does not pass."""
        names = ("direction", "minimal", "no_leak", "adequate", "shown")
        return tuple(name for name in names if not getattr(self, name))


def check_pair(
    masculine: str,
    feminine: str,
    tgt_lang: str,
    *,
    first: str = "",
    leaks: frozenset[str] = frozenset(),
    direction: bool = True,
    adequate: bool = True,
    words: tuple[Sequence[AnalysedWord], Sequence[AnalysedWord]] | None = None,
) -> PairCheck:
    """Check whether two translations differ in the gender that they show, and in nothing else.

    Words are compared in lower case and without accents. At most six words of a side may differ,
    three in one place. Each must be a function word, or begin with the same three letters as a word
    of the other side in that place.

    Args:
        words: the words of both sides, read in a dictionary; None without one.

    Examples:
        >>> check = check_pair("Der Lehrer sah ihn.", "Die Lehrerin sah ihn.", "de")
        >>> check.differing, check.failed
        ((('Der Lehrer', 'Die Lehrerin'),), ())
    """
    sides = whole_words(masculine), whole_words(feminine)
    keys = [[in_latin_letters(word.lower()) for word in side] for side in sides]
    function_words = set(map(in_latin_letters, FUNCTION_WORDS[tgt_lang]))
    blocks = [
        (slice(a, b), slice(c, d))
        for tag, a, b, c, d in difflib.SequenceMatcher(
            None, keys[0], keys[1], autojunk=False
        ).get_opcodes()
        if tag != "equal"
    ]
    is_minimal = bool(blocks) and all(
        max(len(keys[0][a]), len(keys[1][b])) <= _MOST_IN_BLOCK
        and _are_forms(keys[0][a], keys[1][b], function_words)
        for a, b in blocks
    )
    n_words = [sum(len(keys[i][block[i]]) for block in blocks) for i in (0, 1)]
    plain = set(map(in_latin_letters, whole_words(first.lower())))
    return PairCheck(
        direction=direction,
        minimal=is_minimal and max(n_words) <= _MOST_WORDS,
        no_leak=not (leaks - plain) & {*keys[0], *keys[1]}
        and not ({"[", "("} & {*masculine, *feminine}) - set(first),
        adequate=adequate,
        differing=tuple((" ".join(sides[0][a]), " ".join(sides[1][b])) for a, b in blocks),
        shown=words is None
        or _show_both(
            words,
            [{word for a in blocks for word in sides[i][a[i]]} for i in (0, 1)],
        ),
    )


def _show_both(
    words: tuple[Sequence[AnalysedWord], Sequence[AnalysedWord]], differing: Sequence[set[str]]
) -> bool:
    """Return whether the words that differ show one gender on each side, or on one at least."""
    of_man, of_woman = (
        {word.shown_gender(*_GENDERED) for word in side if word.text in of_side} - {""}
        for side, of_side in zip(words, differing, strict=True)
    )
    return of_man <= {MASCULINE} and of_woman <= {FEMININE} and bool(of_man or of_woman)


def _are_forms(left: Sequence[str], right: Sequence[str], function_words: set[str]) -> bool:
    """Return whether each word is a function word or has a word of the same lemma opposite."""
    return all(
        word in function_words or any(word[:_PREFIX] == other[:_PREFIX] for other in others)
        for words, others in ((left, right), (right, left))
        for word in words
    )
