"""The forward model of fast_align on numpy (Dyer, Chahuneau & Smith 2013, "A Simple, Fast, and
Effective Reparameterization of IBM Model 2").

It runs five iterations of variational Bayes with an optimised diagonal tension, like the program
with the options -d -o -v. It uses one thread and no random numbers. Three oddities of the program
are kept because its alignments depend on them; they are marked below.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Alignment", "fast_align"]

#: Pairs of source and target token, counted from 0.
Alignment: TypeAlias = tuple[tuple[int, int], ...]

_Floats: TypeAlias = npt.NDArray[np.float64]
_Ints: TypeAlias = npt.NDArray[np.int64]

# The program's defaults, and its constants that have no option; alignments depend on all of them.
_N_ITERATIONS = 5  # the last one only decodes
_P_NULL = 0.08
_TENSION = 4.0
_MIN_TENSION, _MAX_TENSION = 0.1, 14.0
_N_STEPS, _STEP = 8, 20.0
_ALPHA = 0.01
_UNSEEN = 1e-9  # of every pair of words at first, so that the first iteration has a uniform table


def fast_align(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
) -> list[Alignment]:
    """Align every target token to one source token or to none.

    The model is estimated on the given pairs, so each alignment depends on all of them. A pair with
    an empty side has no links and no influence. The memory needed is about 150 bytes times the sum
    of (source tokens + 1) * target tokens.

    Examples:
        >>> fast_align([["the", "house"], ["the", "book"]], [["das", "Haus"], ["das", "Buch"]])
        [((0, 0), (1, 1)), ((0, 0), (1, 1))]
    """
    pairs = [
        row
        for row, (source, target) in enumerate(zip(sources, targets, strict=True))
        if source and target
    ]
    alignments: list[Alignment] = [()] * len(sources)
    if pairs:
        cells = _make_cells([sources[row] for row in pairs], [targets[row] for row in pairs])
        best = _decode(cells, _posteriors(cells))
        start = 0
        for row in pairs:
            links = best[start : start + len(targets[row])].tolist()
            alignments[row] = tuple([(i - 1, j) for j, i in enumerate(links) if i > 0])
            start += len(targets[row])
    return alignments


@dataclass(frozen=True)
class _Cells:
    """The corpus as flat arrays.

    There are p target tokens. A cell is a combination of a target token with NULL or one of the
    source tokens 1 .. n. An entry is a pair of words in the table of translation probabilities.

    Attributes:
        n, m: (p,) numbers of source and target tokens of each target token's pair.
        j: (p,) position of each target token, counted from 1.
        start: (p,) index of each target token's first cell.
        position: index of each cell's target token.
        i: source position of each cell, counted from 1; 0 is NULL.
        entry: entry of each cell.
        word: source word of each entry.
    """

    n: _Ints
    m: _Ints
    j: _Ints
    start: _Ints
    position: _Ints
    i: _Ints
    entry: _Ints
    word: _Ints


def _make_cells(sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> _Cells:
    """Return all cells of the corpus, with its words numbered."""
    # A word that is looked up for the first time gets the next number.
    vocabulary = defaultdict[str, int](itertools.count(1).__next__)
    vocabulary["<eps>"] = 0  # NULL, which the program also calls so
    source, target = (
        np.array([vocabulary[word] for tokens in side for word in tokens])
        for side in (sources, targets)
    )
    n_source, n_target = (np.array([len(tokens) for tokens in side]) for side in (sources, targets))
    n, m = np.repeat(n_source, n_target), np.repeat(n_target, n_target)
    j = _counted(n_target) + 1
    position, i = np.repeat(np.arange(len(target)), n + 1), _counted(n + 1)
    # This is the index in `source` at which the token's sentence begins.
    first = np.repeat(np.cumsum(n_source) - n_source, n_target)
    # `maximum` gives cells of NULL a valid index, whose word `where` does not take.
    words = np.where(i == 0, 0, source[first[position] + np.maximum(i, 1) - 1])
    # Each pair of words is encoded as one number, so that `unique` can number the pairs.
    keys, entry = np.unique(words * len(vocabulary) + target[position], return_inverse=True)
    return _Cells(n, m, j, np.cumsum(n + 1) - (n + 1), position, i, entry, keys // len(vocabulary))


def _counted(lengths: _Ints) -> _Ints:
    """Return 0 .. length - 1 for each length, concatenated."""
    return np.asarray(np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths))


def _sums(index: _Ints, weights: _Floats) -> _Floats:
    """Return the sum of the weights for each index, added in their order, as in the program."""
    return np.asarray(np.bincount(index, weights=weights), dtype=np.float64)


def _posteriors(cells: _Cells) -> _Floats:
    """Return the unnormalised probability of each cell in the last iteration."""
    n_cells = cells.n + 1
    n, m, j = (np.repeat(values, n_cells) for values in (cells.n, cells.m, cells.j))
    feature = _feature(j, cells.i, m, n)
    # Oddity 1: the empirical feature uses the 0-based target index.
    shifted = _feature(j - 1, cells.i, m, n)
    is_word = cells.i > 0
    shapes, n_tokens = _distinct_shapes(cells)
    tension, table = _TENSION, np.full(len(cells.word), _UNSEEN)
    for iteration in range(1, _N_ITERATIONS + 1):
        normalizer = _normalizer(cells.j, cells.m, cells.n, tension) / (1 - _P_NULL)
        joint = np.exp(feature * tension)
        joint /= np.repeat(normalizer, n_cells)
        joint[cells.start] = _P_NULL  # each target token's first cell is that of NULL
        joint *= table[cells.entry]
        if iteration == _N_ITERATIONS:
            break
        posterior = joint / np.repeat(_sums(cells.position, joint), n_cells)
        counts = _sums(cells.entry, posterior)
        # At first the table is uniform: posteriors are the prior, by which no tension is learnt.
        if iteration > 1:
            empirical = float((shifted * posterior)[is_word].sum()) / len(cells.j)
            tension = _updated_tension(tension, empirical, shapes, n_tokens)
        table = _normalized(counts, cells.word)
    return joint


def _distinct_shapes(cells: _Cells) -> tuple[_Ints, _Ints]:
    """Return the distinct shapes (j, m, n) in ascending order, and how often each occurs."""
    # Most shapes recur, so the gradient is computed once for each distinct shape.
    # Each shape is encoded as one number, since numbers are sorted faster than rows.
    sides = (int(cells.m.max()) + 1, int(cells.m.max()) + 1, int(cells.n.max()) + 1)
    keys, counts = np.unique(
        np.ravel_multi_index((cells.j, cells.m, cells.n), sides), return_counts=True
    )
    return np.stack(np.unravel_index(keys, sides)), counts


def _decode(cells: _Cells, joint: _Floats) -> _Ints:
    """Return the most probable i of each target token, the first of equal ones."""
    # The program begins with NULL, and replaces its choice only by a more probable one.
    best = np.flatnonzero(joint == np.maximum.reduceat(joint, cells.start)[cells.position])
    _, first = np.unique(cells.position[best], return_index=True)
    return np.asarray(cells.i[best[first]])


def _normalized(counts: _Floats, word: _Ints) -> _Floats:
    """Return translation probabilities by variational Bayes with a symmetric Dirichlet prior."""
    # They are exp(digamma(c + alpha) - digamma(sum)), over the target words seen with a source
    # word.
    smoothed = counts + _ALPHA
    totals = _sums(word, smoothed)
    totals = np.where(totals > 0, totals, 1.0)  # words that occur only on the target side have none
    return np.asarray(np.exp(_digamma(smoothed) - _digamma(totals)[word]))


def _digamma(values: _Floats) -> _Floats:
    """Return digamma by recurrence up to 7 and the asymptotic series, as in the program."""
    x, shifts = values.copy(), np.zeros_like(values)
    while (small := x < 7).any():
        shifts[small] -= 1 / x[small]
        x[small] += 1
    x -= 0.5
    square = (1 / x) ** 2
    fourth = square**2
    return np.asarray(
        shifts
        + np.log(x)
        + square / 24
        - fourth * 7 / 960
        + fourth * square * 31 / 8064
        - fourth * fourth * 127 / 30720
    )


def _feature(j: _Ints, i: _Ints, m: _Ints, n: _Ints) -> _Floats:
    """Return how far a link is from the diagonal, as a value of 0 or less."""
    return np.asarray(-np.abs(i / n - j / m))


def _normalizer(j: _Ints, m: _Ints, n: _Ints, tension: float) -> _Floats:
    """Return the sum over i = 1 .. n of exp(tension * feature)."""
    # The sum consists of two geometric series, above and below the diagonal.
    below = (j * n / m).astype(np.int64)
    # Oddity 2: the number of terms above would be negative in some cases, which occur only with m
    # and n exchanged. There the program's unsigned number wraps around.
    above = (n - below) % 2**32
    ratio = np.exp(-tension / n)
    series = np.exp(_feature(j, below + 1, m, n) * tension) * (1 - ratio**above) + np.exp(
        _feature(j, below, m, n) * tension
    ) * (1 - ratio**below)
    return np.asarray(series / (1 - ratio))


def _expected_feature(j: _Ints, m: _Ints, n: _Ints, tension: float) -> _Floats:
    """Return the derivative of the normaliser's logarithm with respect to the tension."""
    below = (j * n / m).astype(np.int64)
    ratio = np.exp(-tension / n)
    series = np.zeros(len(j))
    for first, n_terms in ((below + 1, n - below), (below, below)):
        feature = _feature(j, first, m, n)
        weight = np.exp(feature * tension)
        beyond = weight * ratio**n_terms
        last = feature - (n_terms - 1) / n
        series += np.where(
            n_terms > 0,
            (last * beyond - feature * weight) / (ratio - 1)
            + (beyond - weight * ratio) / n / (ratio - 1) ** 2,
            0.0,
        )
    # Oddity 3: the program divides by a normaliser with m and n exchanged.
    return np.asarray(series / _normalizer(j, n, m, tension))


def _updated_tension(tension: float, empirical: float, shapes: _Ints, counts: _Ints) -> float:
    """Return the tension after gradient steps towards the empirical feature."""
    j, m, n = shapes
    for _ in range(_N_STEPS):
        model = float((counts * _expected_feature(j, m, n, tension)).sum()) / int(counts.sum())
        tension = min(max(tension + (empirical - model) * _STEP, _MIN_TENSION), _MAX_TENSION)
    return tension
