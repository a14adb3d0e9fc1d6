"""Words that several translations share at their beginning or end, though their sources do not."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["FEW", "is_whole", "shared_words"]

#: The share of translations from which shared words are looked at, two of them at least.
FEW = 0.01
_LABEL_ENDS, _NOTE_BEGINNINGS = ":\uff1a])|>-\u2013\u2014\u2192", "([*"
_SENTENCE_ENDS = '.!?;\u2026\u3002\u201c\u201d"\u00bb)*'
_MOST_WORDS = 12  # of a preface or an ending
_FEWEST_WORDS = 3  # that translations share beyond what their sources share
_CLEARLY_MORE, _COMMON, _MOST, _SAME = 0.1, 0.5, 0.8, 0.9
#: Marks of quotes, labels and sentences; how near to an end they count, and the share of sources
#: that may have some where translations have words of their own.
_MARKS = frozenset('.:!?]"\u201c\u201e\u00ab\u2014\u2013*>#\u2022|')
_NEAR, _MARKED = 25, 0.2
#: Length of a translation that is whole, as a share of the length of its source.
_SHORTEST, _SHORTEST_IDEOGRAPHS = 0.6, 0.15
_STOPS = frozenset(".,;:!?\u2026\u3002")
_IDEOGRAPH = re.compile("[\u3040-\u9fff\uac00-\ud7a3]")


def shared_words(
    texts: Sequence[str], sources: Sequence[str], excluded: Collection[int]
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the rows that begin or end with the same words as others though their sources do not,
    with these words, as "preface", "ending", or "beginning" where nothing sets the words apart.
    """
    for kind, outer_words in (("preface", _first_words), ("ending", _last_words)):
        words = {
            row: outer_words(text)
            for row, text in enumerate(texts)
            if text and sources[row] and row not in excluded
        }
        for common, members, is_main in _frequent(words, max(2, math.ceil(FEW * len(texts)))):
            shared = _set_apart(common, is_end=kind == "ending")
            n_words = len({word for word in shared if any(map(str.isalpha, word))})
            is_usual = len(members) >= _COMMON * len(texts)
            # Most groups are of a few words that a few rows share, and end here.
            if n_words < _FEWEST_WORDS and not is_usual:
                continue
            of_sources = {sources[row] for row in members}
            if len(of_sources) == 1:
                continue
            n_common = _n_common([outer_words(source) for source in of_sources])
            group = _Group(shared, n_common, n_words, is_main=is_main, kind=kind)
            if not (group.is_beyond or is_usual):
                continue
            matches = _literal(shared, members, texts, is_end=kind == "ending")
            if not matches:
                continue
            least = group.least_share(matches[0][1], of_sources)
            whole = [
                (row, match)
                for row, match in matches
                if is_whole(texts[row].replace(match[0], "", 1), sources[row])
            ]
            if len(whole) >= max(least * len(texts), _MOST * len(matches)):
                # Words that nothing sets apart may be the first of the translation as well.
                is_apart = kind == "ending" or _ends_apart(matches[0][1][0])
                name = kind if is_apart else "beginning"
                yield from ((row, (name, match[0])) for row, match in whole)


def is_whole(rest: str, source: str) -> bool:
    """Return whether what is left of a translation is long enough for its whole source."""
    has_letters = rest.isascii() or not _IDEOGRAPH.search(rest)
    return len(rest) >= (_SHORTEST if has_letters else _SHORTEST_IDEOGRAPHS) * len(source)


@dataclass(frozen=True)
class _Group:
    """Words that several translations share at one end, at which `words` begin.

    Attributes:
        n_common: number of words that the sources share there.
        n_words: number of different words with letters.
        is_main: whether nearly all rows with the same outermost word have all the words.
    """

    words: tuple[str, ...]
    n_common: int
    n_words: int
    is_main: bool
    kind: str

    @property
    def is_beyond(self) -> bool:
        """Whether the words are many more than the sources share."""
        least = max(self.n_common + _FEWEST_WORDS, 2 * self.n_common + 1)
        return self.n_words >= _FEWEST_WORDS and len(self.words) >= least

    def least_share(self, shared: re.Match[str], sources: Collection[str]) -> float:
        """Return the share of the translations from which the words are no translation."""
        # The share is the smaller, the clearer the words are set apart from the rest.
        before, border = shared.groups()
        is_label = before in _LABEL_ENDS or "\n" in border
        is_label |= self.kind == "ending" and shared[0].lstrip()[0] in _NOTE_BEGINNINGS
        if self.is_beyond and (is_label or before in _SENTENCE_ENDS):
            return FEW if is_label else _CLEARLY_MORE
        marked = [source for source in sources if self._has_marks(source)]
        if len(marked) > _MARKED * len(sources):
            return math.inf
        if set(self.words[0]) <= _STOPS:
            return math.inf
        is_sign = not any(map(str.isalnum, self.words[0]))
        if is_label or is_sign or before in _SENTENCE_ENDS:
            return _COMMON
        # Sentences made from a template share words, too, but their sources do as well.
        is_preface = self.kind == "preface" and self.is_main and self.n_common < 2
        return _COMMON if is_preface and self.n_words >= _FEWEST_WORDS else math.inf

    def _has_marks(self, source: str) -> bool:
        """Return whether a source has marks where the words stand in its translation."""
        part = source[1:-1][:_NEAR] if self.kind == "preface" else source[1:-1][-_NEAR:]
        return source[0] in _MARKS or source[0] == "-" or not _MARKS.isdisjoint(part)


def _set_apart(words: tuple[str, ...], *, is_end: bool) -> tuple[str, ...]:
    """Return those of shared words that punctuation sets apart from the others, else all."""
    n = len(words)
    if is_end:
        borders = [i for i in range(1, n) if words[i][-1] in _SENTENCE_ENDS]
    else:
        signs = _LABEL_ENDS + _SENTENCE_ENDS
        borders = [i for i in range(1, n + 1) if words[i - 1][-1] in signs]
        borders = borders or [1] * (not any(map(str.isalnum, words[0])))
    return words[: borders[-1]] if borders else words


def _literal(
    shared: Sequence[str], members: Sequence[int], texts: Sequence[str], *, is_end: bool
) -> list[tuple[int, re.Match[str]]]:
    """Return the shared words as they stand in each row that has something beside them."""
    # The groups are the character before the border between both, and the blanks at it.
    words = r"\s+".join(map(re.escape, reversed(shared) if is_end else shared))
    pattern = re.compile(
        rf"(?<=(\S))(\s+){words}\Z" if is_end else rf"\A{words}(?<=(\S))(\s+)(?=\S)"
    )
    matches = ((row, pattern.search(texts[row])) for row in members)
    return [(row, match) for row, match in matches if match is not None]


def _first_words(text: str) -> list[str]:
    return text.split(None, _MOST_WORDS)[:_MOST_WORDS]


def _last_words(text: str) -> list[str]:
    return text.rsplit(None, _MOST_WORDS)[-_MOST_WORDS:][::-1]


def _frequent(
    words: Mapping[int, Sequence[str]], fewest: int
) -> Iterator[tuple[tuple[str, ...], list[int], bool]]:
    """Yield the sequences of first words that at least `fewest` rows share, with these rows, each
    as long as nearly all of the rows share it, and whether these are nearly all rows with its first
    word.
    """
    groups: list[tuple[tuple[str, ...], list[int], int]] = [((), list(words), len(words))]
    while groups:
        shared, members, n_with_first = groups.pop()
        longer: dict[str, list[int]] = defaultdict(list)
        for row in members:
            if len(words[row]) > len(shared):
                longer[words[row][len(shared)]].append(row)
        is_longer = any(len(rows) >= _SAME * len(members) for rows in longer.values())
        # Nearly equal texts share more words than are looked at.
        if shared and not is_longer and len(shared) < _MOST_WORDS:
            yield shared, members, len(members) >= _SAME * n_with_first
        groups += [
            ((*shared, w), rows, n_with_first if shared else len(rows))
            for w, rows in longer.items()
            if len(rows) >= fewest
        ]


def _n_common(texts: Sequence[Sequence[str]]) -> int:
    """Return the number of first words that most of several texts share."""
    members, n = texts, 0
    while True:
        counts = Counter(words[n] for words in members if len(words) > n)
        if not counts:
            return n
        [(word, number)] = counts.most_common(1)
        if number < _MOST * len(texts):
            return n
        members = [words for words in members if len(words) > n and words[n] == word]
        n += 1


def _ends_apart(words: str) -> bool:
    """Return whether punctuation or a line feed sets words apart from what follows."""
    plain = words.rstrip()
    is_sign = not any(map(str.isalnum, plain))
    return is_sign or "\n" in words[len(plain) :] or plain[-1] in _LABEL_ENDS + _SENTENCE_ENDS
