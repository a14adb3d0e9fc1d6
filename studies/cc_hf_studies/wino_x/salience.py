"""Measure how much each word of a source matters to the translation of a pronoun, and whether the
words that decide its meaning matter most. The functions are pure: no models here.

See Emelin & Sennrich 2021 and the thesis, section 4.3.3. The two sentences of a schema differ in
their triggers only, so words that both share are not triggers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from cc_hf.errors import InputError
from cc_hf.statistics.checks import is_constant
from cc_hf_studies.common.mean_tests import TTest, cohen_d, paired_t_test, t_test

__all__ = [
    "Importance",
    "Salience",
    "SubwordImportance",
    "TriggerImportance",
    "WordSalience",
    "referent_salience",
    "salience_rows",
    "shared_words",
    "trigger_importance",
    "trigger_words",
]


@dataclass(frozen=True, slots=True)
class WordSalience:
    """One word of the source.

    Attributes:
        salience: mean salience of its sub-words, in [-1, 1].
        subwords: text and salience of each sub-word.
    """

    text: str
    start: int
    salience: float
    subwords: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Salience:
    """One source, with the probability of the pronoun that translates its "it".

    Attributes:
        pair: its schema; "" if there is none.
        probability: P(pronoun | source), the product over its tokens, in [0, 1].
        words: the words of the source in order. The salience of a word is P(pronoun | source) -
            P(pronoun | source without the word), the prediction difference of Li et al. 2019.
        ambiguous: index of "it" among the words; None if no token of the model stands for it.
        marks: special tokens (EOS, languages) and their salience.
        referents: the correct and the incorrect referent as in the source; "" if unknown.
        translation: the translation with the pronoun; "" if unknown.
    """

    example_id: str
    pair: str
    source: str
    pronoun: str
    probability: float
    words: tuple[WordSalience, ...]
    ambiguous: int | None
    marks: tuple[tuple[str, float], ...] = ()
    referents: tuple[str, str] = ("", "")
    translation: str = ""


@dataclass(frozen=True, slots=True)
class Importance:
    """Salience of a first group of words compared with a second one: triggers with other words, or
    correct with incorrect referents.

    Attributes:
        mean_first, mean_second: mean salience, in [-1, 1].
        effect: Cohen's D with the pooled standard deviation (thesis, equation 4.8); positive if the
            first group matters more.
        welch: t-test over all words, with unequal variances.
        paired: t-test over sentences, between the means of both groups in each. None if fewer than
            two sentences have both groups, or if all differences are equal.
    """

    n_first: int
    n_second: int
    mean_first: float
    mean_second: float
    effect: float
    welch: TTest
    paired: TTest | None


@dataclass(frozen=True, slots=True)
class SubwordImportance:
    """Importance of triggers against other sub-words, EOS included, as the program of Emelin &
    Sennrich 2021 computes it; `effect` is the absolute value of Cohen's D.
    """

    n_first: int
    n_second: int
    effect: float
    test: TTest


@dataclass(frozen=True)
class TriggerImportance:
    """Whether models recognise the words that decide what a pronoun refers to.

    Attributes:
        n_sentences: number of sentences with a twin, whose triggers are known.
        n_alone: number of sentences without a twin.
        triggers: triggers compared with other words; "it" is ignored. Its `effect` is the
            importance score of the thesis.
        as_program: the same over sub-words; None if it is undefined.
        referents: the correct compared with the incorrect referent, over all sentences in which
            both are found; None if there are fewer than two of these.
        skipped: example -> why its salience was not measured.
    """

    n_sentences: int
    n_alone: int
    triggers: Importance
    as_program: SubwordImportance | None
    referents: Importance | None
    n_without_referents: int
    skipped: Mapping[str, str] = field(default_factory=dict)


def shared_words(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return index pairs of the words that two sentences share: a longest common subsequence.

    All other words are triggers. Of several such alignments, the one with the latest matches is
    returned.
    """
    best = np.zeros((len(left) + 1, len(right) + 1), dtype=np.int64)
    for i, a in enumerate(left, 1):
        for j, b in enumerate(right, 1):
            best[i, j] = max(
                best[i - 1, j], best[i, j - 1], best[i - 1, j - 1] + 1 if a == b else 0
            )
    matches = []
    i, j = len(left), len(right)
    # Walking back from the end takes the latest matches first.
    while i and j:
        if left[i - 1] == right[j - 1] and best[i, j] == best[i - 1, j - 1] + 1:
            i, j = i - 1, j - 1
            matches.append((i, j))
        elif best[i - 1, j] >= best[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return matches[::-1]


def trigger_words(left: Salience, right: Salience) -> tuple[set[int], set[int]]:
    """Return the indices of the words, "it" excepted, that the other of two twins lacks."""
    shared = shared_words([word.text for word in left.words], [word.text for word in right.words])
    sides = ((left, {i for i, _ in shared}), (right, {j for _, j in shared}))
    first, second = (
        {i for i in range(len(sentence.words)) if i not in common and i != sentence.ambiguous}
        for sentence, common in sides
    )
    return first, second


def trigger_importance(
    saliences: Sequence[Salience], *, skipped: Mapping[str, str] | None = None
) -> TriggerImportance:
    """Compare the salience of triggers with other words, and of correct and incorrect referents."""
    pairs = _twins(saliences)
    groups: list[tuple[list[float], list[float]]] = []  # per sentence: triggers, others
    pieces: tuple[list[float], list[float]] = ([], [])
    for left, right in pairs:
        for sentence, triggers in zip((left, right), trigger_words(left, right), strict=True):
            numbered = [
                (i, word.salience)
                for i, word in enumerate(sentence.words)
                if i != sentence.ambiguous
            ]
            groups.append(
                (
                    [value for i, value in numbered if i in triggers],
                    [value for i, value in numbered if i not in triggers],
                )
            )
        for all_of_kind, of_pair in zip(pieces, _subword_groups(left, right), strict=True):
            all_of_kind += of_pair
    if not pairs:
        name, reason = next(iter((skipped or {}).items()), ("", ""))
        why = (
            f"{len(skipped or {})} were not measured, such as {name}: {reason}"
            if name
            else "give whole schemas"
        )
        raise InputError(
            f"expected two sentences of one schema, which tell its triggers, got {len(saliences)}"
            f" sentences of as many schemas; {why}"
        )
    referents = [pair for pair in map(referent_salience, saliences) if pair is not None]
    return TriggerImportance(
        n_sentences=2 * len(pairs),
        n_alone=len(saliences) - 2 * len(pairs),
        triggers=_importance(groups, "triggers"),
        as_program=_subword_importance(*pieces),
        referents=(
            _importance([([a], [b]) for a, b in referents], "referents")
            if len(referents) > 1 and _has_spread(referents)
            else None
        ),
        n_without_referents=len(saliences) - len(referents),
        skipped=dict(skipped or {}),
    )


def _twins(saliences: Sequence[Salience]) -> list[tuple[Salience, Salience]]:
    by_pair: dict[str, list[Salience]] = {}
    for sentence in saliences:
        if sentence.pair:
            by_pair.setdefault(sentence.pair, []).append(sentence)
    for name, members in by_pair.items():
        if len(members) > 2:
            raise InputError(f"schema {name!r}: expected two sentences, got {len(members)}")
    return [(members[0], members[1]) for members in by_pair.values() if len(members) == 2]


def _importance(groups: Sequence[tuple[Sequence[float], Sequence[float]]], what: str) -> Importance:
    first, second = (
        [value for group, _ in groups for value in group],
        [value for _, group in groups for value in group],
    )
    if len(first) < 2 or len(second) < 2:
        raise InputError(
            f"{what}: expected at least two on each side to compare, got {len(first)} and"
            f" {len(second)}; give more sentences"
        )
    means = np.array([(np.mean(a), np.mean(b)) for a, b in groups if a and b]).reshape(-1, 2)
    differences, scale = means[:, 0] - means[:, 1], float(np.abs(means).max(initial=0.0))
    paired = (
        paired_t_test(means[:, 0], means[:, 1])
        if len(means) > 1 and not is_constant(differences, scale=scale)
        else None
    )
    return Importance(
        len(first),
        len(second),
        float(np.mean(first)),
        float(np.mean(second)),
        cohen_d(first, second),
        t_test(first, second),
        paired,
    )


def _has_spread(pairs: Sequence[tuple[float, float]]) -> bool:
    return not all(is_constant(side) for side in zip(*pairs, strict=True))


def _subwords(sentence: Salience) -> tuple[list[tuple[str, float]], set[int]]:
    """Return all sub-words, special tokens last, and the indices of those of "it"."""
    subwords: list[tuple[str, float]] = []
    ambiguous: set[int] = set()
    for number, word in enumerate(sentence.words):
        if number == sentence.ambiguous:
            ambiguous = set(range(len(subwords), len(subwords) + len(word.subwords)))
        subwords += word.subwords
    return [*subwords, *sentence.marks], ambiguous


def _subword_groups(left: Salience, right: Salience) -> tuple[list[float], list[float]]:
    """Return the saliences of triggers and of other sub-words, pooled over both twins."""
    (first, first_it), (second, second_it) = _subwords(left), _subwords(right)
    shared = shared_words([text for text, _ in first], [text for text, _ in second])
    triggers: list[float] = []
    others: list[float] = []
    for pieces, ambiguous, common in (
        (first, first_it, {i for i, _ in shared}),
        (second, second_it, {j for _, j in shared}),
    ):
        for number, (_, value) in enumerate(pieces):
            if number not in ambiguous:
                (others if number in common else triggers).append(value)
    return triggers, others


def _subword_importance(
    triggers: Sequence[float], others: Sequence[float]
) -> SubwordImportance | None:
    """Return the comparison of the groups as the program makes it; None if it is undefined."""
    if min(len(triggers), len(others)) < 2 or (is_constant(triggers) and is_constant(others)):
        return None
    # The program lets pingouin choose the test: Welch's for groups of different sizes, otherwise
    # Student's.
    test = t_test(triggers, others, equal_variances=len(triggers) == len(others))
    return SubwordImportance(len(triggers), len(others), abs(cohen_d(triggers, others)), test)


def referent_salience(sentence: Salience) -> tuple[float, float] | None:
    """Return the mean salience of each referent where it stands last; None if one is not found."""
    words = [word.text.lower() for word in sentence.words]
    means: list[float] = []
    for name in sentence.referents:
        parts = name.lower().split()
        starts = (
            [
                start
                for start in range(len(words) - len(parts) + 1)
                if words[start : start + len(parts)] == parts
            ]
            if parts
            else []
        )
        if starts:
            means.append(
                float(
                    np.mean(
                        [
                            word.salience
                            for word in sentence.words[starts[-1] : starts[-1] + len(parts)]
                        ]
                    )
                )
            )
    return (means[0], means[1]) if len(means) == 2 else None


def salience_rows(saliences: Sequence[Salience]) -> list[dict[str, Any]]:
    """Return the saliences as plain dicts that can be written as JSON."""
    return [asdict(sentence) for sentence in saliences]
