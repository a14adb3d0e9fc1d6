"""Words that a masked language model expects before an ambiguous word, and those among them that
mark one sense (Vamvas & Sennrich 2021, appendix D, step 1).

These pure functions turn log-probabilities and word lists into word lists; `fill_mask` makes the
predictions, and `selection` does step 2.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated, TypeAlias

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError, check_choice
from cc_hf.records import parse_json
from cc_hf.rules import Kind

__all__ = [
    "AVERAGES",
    "N_CANDIDATES",
    "N_KEPT",
    "STOP_WORDS",
    "Candidates",
    "SenseCandidates",
    "candidates_json",
    "discriminating_words",
    "most_probable",
    "parse_candidates",
]

#: A mapping from ambiguous word to sense to words, most probable first. The published files of
#: candidates have this shape.
Candidates = Mapping[str, Mapping[str, Sequence[str]]]

#: Number of words per sense in the published files.
N_KEPT = 50
#: Number of words per side from which step 2 chooses.
N_CANDIDATES = 10
#: Words that mark no sense, as the paper's program lists them.
STOP_WORDS = frozenset({"the", "a", "an", "and", ",", "-"})
# The published candidates hold a zero-width space, which `cc_hf.reading.WORD` refuses.
_CANDIDATE: TypeAlias = Annotated[str, Kind("a text that is not blank", lambda text: text.strip())]

#: How the distributions of a sense's sentences are averaged. "geometric" is the mean of
#: log-probabilities; the paper's program sums logits, which gives the same order of words.
#: "arithmetic" is the mean of probabilities, in which a single confident sentence has more weight.
AVERAGES: dict[str, Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]] = {
    "geometric": lambda logprobs: logprobs,
    "arithmetic": np.exp,
}


@dataclass(frozen=True, slots=True)
class SenseCandidates:
    """Words from which the cues of a sense, and of the other senses of the word, are chosen."""

    correct: tuple[str, ...]
    incorrect: tuple[str, ...]


def most_probable(
    words: Sequence[str],
    logprobs: Iterable[npt.NDArray[np.float64]],
    *,
    n: int = N_KEPT,
    average: str = "geometric",
) -> tuple[str, ...]:
    """Return the words that are most probable on average over the sentences of one sense.

    Each distribution has natural log-probabilities of shape (len(words),); they are read one by
    one, so an iterator need not hold them all.

    Examples:
        >>> most_probable(["gas", "ion", "red"], [np.log([.6, .1, .3]), np.log([.3, .2, .5])], n=2)
        ('gas', 'red')
    """
    check_choice("average", average, AVERAGES)
    if n < 1:
        raise InputError(f"n: expected at least 1 word to keep, got {n}")
    total, n_sentences = np.zeros(len(words)), 0
    for row, distribution in enumerate(logprobs):
        if distribution.shape != total.shape:
            raise InputError(
                f"sentence {row}: expected log-probabilities of {len(words)} words, got an array of"
                f" shape {distribution.shape}"
            )
        total += AVERAGES[average](distribution)
        n_sentences += 1
    if not n_sentences:
        raise InputError("expected the distributions of at least one sentence, got none")
    return tuple(words[i] for i in np.argsort(-total, kind="stable")[:n])


def discriminating_words(
    candidates: Mapping[str, Sequence[str]],
    *,
    ambiguous_word: str,
    n: int = N_CANDIDATES,
    stop_words: Collection[str] = STOP_WORDS,
) -> dict[str, SenseCandidates]:
    """Return, per sense of an ambiguous word, words that mark it and words that mark the others.

    The correct words are the first `n` of the sense's own list that are in no other list. For the
    incorrect words, the other lists are read in turn (the first word of each, the second of each,
    ...); they are the first `n` that are not in the sense's own list. Case matters. Then the
    ambiguous word and stop words are dropped, so fewer than `n` words may remain.

    Examples:
        >>> words = discriminating_words(
        ...     {"pedal": ["gas", "the", "car"], "machine": ["ion", "gas", "new"]},
        ...     ambiguous_word="accelerator",
        ... )
        >>> words["pedal"]
        SenseCandidates(correct=('car',), incorrect=('ion', 'new'))
    """
    if len(candidates) < 2:
        raise InputError(
            f"{ambiguous_word!r}: expected at least two senses to tell apart, got {len(candidates)}"
        )
    if n < 1:
        raise InputError(f"n: expected at least 1 candidate, got {n}")
    # This rule of the paper's program explains its files: all 1086 + 1086 published insertions of
    # the 362 senses of MuCoW en-de, and all 609 + 609 of the 203 senses of en-ru, are among the
    # words found. Comparing only the first 40 words of the other sense finds 913 + 931 of 996 + 996
    # (en-de, two senses). None of the 291 words dropped in en-de is published. The program differs
    # in one respect that changes none of these figures: a word that two of three senses share uses
    # two of the `n` places.
    dropped = {ambiguous_word, *stop_words}
    marking = {}
    for sense, listed in candidates.items():
        others = [words for other, words in candidates.items() if other != sense]
        in_turn = [word for rank in zip_longest(*others) for word in rank if word is not None]
        marking[sense] = SenseCandidates(
            _first(listed, set(in_turn), n, dropped), _first(in_turn, set(listed), n, dropped)
        )
    return marking


def _first(words: Sequence[str], elsewhere: set[str], n: int, dropped: set[str]) -> tuple[str, ...]:
    unshared = [word for word in dict.fromkeys(words) if word not in elsewhere][:n]
    return tuple(word for word in unshared if word not in dropped)


def candidates_json(candidates: Candidates) -> str:
    """Return the text of a file of candidates, which `parse_candidates` reads.

    Examples:
        >>> parse_candidates(candidates_json({"bat": {"animal": ["fruit"]}}))
        {'bat': {'animal': ('fruit',)}}
    """
    plain = {
        word: {sense: list(words) for sense, words in senses.items()}
        for word, senses in candidates.items()
    }
    return json.dumps(plain, ensure_ascii=False, indent=2) + "\n"


def parse_candidates(text: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read candidates: {ambiguous word: {sense: [words, most probable first]}}.

    Examples:
        >>> parse_candidates('{"bat": {"animal": ["fruit"], "club": ["baseball"]}}')["bat"]["club"]
        ('baseball',)
    """
    what = "the JSON of {ambiguous word: {sense: [words]}}"
    return dict(parse_json(text, what, Mapping[str, Mapping[str, tuple[_CANDIDATE, ...]]]))
