"""Translations that no metric can judge: copies of the source, one text for many sources, texts
that are not in the target language.

A model that has learned nothing can have an accuracy of 1.0 on such texts, so they are counted.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from cc_hf.normalization import is_blank
from cc_hf.text.lemmatization import find_lemmatizer, is_known
from cc_hf.text.other_languages import frequent_words, other_language
from cc_hf.text.tokenization import whole_words

__all__ = ["MANY_SOURCES", "UNUSABLE", "unrelated_lengths", "unusable_rows", "unusable_texts"]

#: What translations of each kind are, by the name of their count.
UNUSABLE: Mapping[str, str] = {
    "n_with_source": "contain their whole source",
    "n_repeated": "are also those of two or more other sources",
    "n_without_words": (
        "do not have two different words of the target language, or are in another language"
    ),
    "n_blank": "are blank",
}
# Correlation of lengths below which translations are those of other sentences, and the fewest
# translations. 36 files of systems on WinoMT have 0.62 to 0.89, references of MT-GenEval and MuCoW
# 0.92 to 0.98, the embedded model on SimpleGEN 0.59; in another order they have -0.06 to 0.06, and
# WinoMT, whose neighbours are alike, 0.5 if it is shifted by one line, which is not seen.
_LEAST_R, _FEWEST_LENGTHS = 0.3, 100
#: A translation of so many sources is a repeated one. Grammar makes good systems translate two
#: alike, such as "he" and "she" into Italian: the archived commercial systems of WinoMT for up to
#: 64 % of the sentences, and never three.
MANY_SOURCES = 3
# Share of right sentences without a word that the dictionaries know: 0.25 % in Hebrew, 0.1 % in
# Arabic, none in eight other languages of WinoMT and MT-GenEval. Share of right sentences that are
# taken for another language: at most 0.4 %, see docs/measurements.md.
_UNKNOWN_WORDS = 0.01
_SHORT = 5  # words below which one word of the target language is enough


def unusable_rows(
    translations: Sequence[str], sources: Sequence[str], tgt_lang: str, *, are_texts: bool = True
) -> dict[str, frozenset[int]]:
    """Return the rows whose translation cannot be judged.

    Blank translations are left out; metrics count them.

    Args:
        sources: for each row its source, or another text that tells its source from others.
        tgt_lang: ISO 639-1 code of the translations. Words are looked up in the dictionaries of
            simplemma, if it has one for the language, and compared with the most frequent words of
            other languages, see `cc_hf.text.other_languages`.
        are_texts: whether `sources` are the sources themselves.

    Returns:
        The names of `UNUSABLE` but n_blank -> rows. A name is missing if it cannot be told.

    Examples:
        >>> rows = unusable_rows(["A bat.", "Haus", "und", "xyz"], ["A bat.", "b", "c", "d"], "de")
        >>> {name: sorted(numbers) for name, numbers in rows.items()}
        {'n_with_source': [0], 'n_repeated': [], 'n_without_words': [3]}
    """
    texts = {row: text for row, text in enumerate(translations) if not is_blank(text)}
    rows = {}
    if are_texts:
        rows["n_with_source"] = {
            row for row, text in texts.items() if sources[row] and sources[row] in text
        }
    sources_of: dict[str, set[str]] = defaultdict(set)
    for row, text in texts.items():
        sources_of[text].add(sources[row])
    rows["n_repeated"] = {
        row for row, text in texts.items() if len(sources_of[text]) >= MANY_SOURCES
    }
    if tgt_lang in frequent_words() or _has_dictionary(tgt_lang):
        rows["n_without_words"] = {
            row
            for row, text in texts.items()
            if not _has_words(text, tgt_lang) or other_language(text, tgt_lang)
        }
    return {name: frozenset(numbers) for name, numbers in rows.items()}


def _has_dictionary(lang: str) -> bool:
    return lang in (find_lemmatizer("simplemma").languages or ())


def _has_words(text: str, tgt_lang: str) -> bool:
    """Return whether a text has words enough of its language; True where no dictionary says so."""
    words = whole_words(text)
    n_needed = 1 if len(words) < _SHORT else 2
    # Most texts have frequent words. To open a dictionary takes up to 2 s, so a list of some of its
    # words is asked before; a word stands there as the dictionary has it, see `is_known`.
    frequent = frequent_words().get(tgt_lang, frozenset())
    known = {word for word in words if word.lower() in frequent}
    if len(known) >= n_needed:
        return True
    listed = frequent_words("in_dictionary").get(tgt_lang, frozenset())
    known |= {
        word
        for word in words
        if word in listed or (word.lower() if word[:1].isupper() else word.capitalize()) in listed
    }
    if len(known) >= n_needed or not _has_dictionary(tgt_lang):
        return True
    others = (w for w in dict.fromkeys(words) if w not in known and is_known(w, tgt_lang))
    return len([*known, *itertools.islice(others, n_needed - len(known))]) == n_needed


def unusable_texts(counts: Mapping[str, int], n: int) -> list[str]:
    """Return a sentence for each kind of unusable translations that occurs, or is more than 1 % for
    texts without known words.

    Examples:
        >>> unusable_texts({"n_with_source": 2, "n_repeated": 0}, 8)
        ['2 of 8 translations contain their whole source']
    """
    return [
        f"{counts[name]:,} of {n:,} translations {what}"
        for name, what in UNUSABLE.items()
        if counts.get(name, 0) > (_UNKNOWN_WORDS * n if name == "n_without_words" else 0)
    ]


def unrelated_lengths(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return the correlation of the lengths of sources and translations, if it is so low that these
    are the translations of other sentences.

    Returns:
        Pearson's r; None if it is high enough, or for few pairs or lengths that are all the same.

    Examples:
        >>> sources = ["word " * (i % 7 + 1) for i in range(200)]
        >>> unrelated_lengths([(text, text) for text in sources])
        >>> round(unrelated_lengths(list(zip(sources, sources[3:]))), 2)
        -0.5
    """
    lengths = np.array([(len(a), len(b)) for a, b in pairs if not (is_blank(a) or is_blank(b))])
    if len(lengths) < _FEWEST_LENGTHS or not lengths.std(axis=0).all():
        return None
    r = float(np.corrcoef(lengths.T)[0, 1])
    return r if r < _LEAST_R else None
