"""Accuracies of verdicts, computed from columns: of a thousand samples, or of millions. The cost
grows with the number of samples, whatever the number of categories.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.results import CategoryAccuracy, Interval, NoInterval
from cc_hf.schema import counted_categories
from cc_hf.statistics.accuracy import min_accuracy, total_accuracy
from cc_hf.statistics.checks import as_counts, as_flags, as_floats, as_labels
from cc_hf.statistics.score_intervals import FEWEST, Estimate, coded_share, lowest

__all__ = ["VerdictColumns"]


@dataclass(frozen=True)
class VerdictColumns:
    """Verdicts on samples, and the probabilities that they follow from, if there are any.

    Attributes:
        names: the categories, sorted, each with a sample.
        codes: shape (n,), the category of each sample as its index in `names`.
        is_correct: shape (n,), the verdicts.
        probability: shape (n,), the probability of the correct reading, in [0, 1]; 0.5 is a tie.
            None for verdicts alone, which have no weighted figures.
        is_inconclusive: shape (n,), whether there is no verdict; None to count none of these.
        is_neither: shape (n,), whether a sample shows neither reading, so that no accuracy counts
            it. Its share is a figure beside them; None where this is not told apart.
        uncounted: categories that minima ignore, besides "none".

    Examples:
        >>> probability = np.array([0.9, 0.4, 0.5])
        >>> columns = VerdictColumns.of(["b", "b", "a"], probability >= 0.5, probability)
        >>> columns.names, columns.weights.tolist(), columns.scores()["weighted_accuracy"]
        (('a', 'b'), [2, 1, 1], 0.75)
    """

    names: tuple[str, ...]
    codes: npt.NDArray[np.integer[Any]]
    is_correct: npt.NDArray[np.bool_]
    probability: npt.NDArray[np.float64] | None = None
    is_inconclusive: npt.NDArray[np.bool_] | None = None
    uncounted: Collection[str] = ()
    is_neither: npt.NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        n = len(as_flags("is_correct", self.is_correct))
        if self.probability is not None:
            as_floats("probability", self.probability, shape=(n,))
        if self.is_inconclusive is not None:
            as_flags("is_inconclusive", self.is_inconclusive, shape=(n,))
        codes = as_counts("codes", self.codes, shape=(n,))
        names = as_labels("names", self.names, are_texts=True)
        if len(np.bincount(codes)) != len(names) or not np.bincount(codes).all():
            raise InputError(f"codes: expected each index of {len(names)} categories, got others")
        if names != sorted(set(names)):
            raise InputError(f"names: expected different ones, sorted, got {names[:8]}")
        if self.is_neither is not None:
            as_flags("is_neither", self.is_neither, shape=(n,))

    @classmethod
    def of(
        cls,
        categories: Sequence[str],
        is_correct: npt.NDArray[np.bool_],
        probability: npt.NDArray[np.float64] | None = None,
        *,
        is_inconclusive: npt.NDArray[np.bool_] | None = None,
        is_neither: npt.NDArray[np.bool_] | None = None,
        uncounted: Collection[str] = (),
    ) -> VerdictColumns:
        """Return the columns of samples whose categories are given by their names."""
        labels = as_labels("categories", categories, are_texts=True)
        names = sorted(set(labels))
        index = {name: code for code, name in enumerate(names)}
        codes = np.array([index[label] for label in labels], dtype=np.int64)
        flags = is_correct, probability, is_inconclusive
        return cls(tuple(names), codes, *flags, uncounted, is_neither)

    @property
    def _is_counted(self) -> npt.NDArray[np.bool_] | slice:
        """The samples that accuracies count."""
        return slice(None) if self.is_neither is None else ~self.is_neither

    def _counted(self, members: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return members if self.is_neither is None else members[~self.is_neither[members]]

    @property
    def _known_probability(self) -> npt.NDArray[np.float64]:
        if self.probability is None:
            raise InputError("probability: expected columns with probabilities, got verdicts alone")
        return self.probability

    @property
    def confidence(self) -> npt.NDArray[np.float64]:
        """How far the probability of each sample is from a tie, shape (n,), in [0, 1]."""
        return np.abs(2 * self._known_probability - 1)

    @functools.cached_property
    def weights(self) -> npt.NDArray[np.int64]:
        """Return the weights of the samples by rank within their category, shape (n,), from 1 for
        the sample whose probability is closest to 0.5 (Vamvas & Sennrich 2021, section 3.4); 0 for
        what shows neither.
        """
        # Ranks within a category: the most certain decision of n gets the weight n.
        order = np.lexsort((-np.abs(self._known_probability - 0.5), self.codes))
        weights = np.zeros(len(order), dtype=np.int64)
        # What shows neither reading keeps weight 0, so that no other sum has to leave it out.
        for counted in map(self._counted, self.members(order)):
            weights[counted] = np.arange(len(counted), 0, -1)
        return weights

    def members(
        self, order: npt.NDArray[np.int64] | None = None
    ) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the samples of each category, in their own order if `order` is None."""
        # One sort serves all categories; a mask for each would read all rows again and again.
        order = np.argsort(self.codes, kind="stable") if order is None else order
        start = 0
        for n in np.bincount(self.codes).tolist():
            yield order[start : start + n]
            start += n

    @property
    def without_reading(self) -> str:
        """The first category of which every sample shows neither reading; "" if none does."""
        counted = {*self.codes[self._is_counted].tolist()}
        return next((n for code, n in enumerate(self.names) if code not in counted), "")

    @functools.cached_property
    def categories(self) -> tuple[CategoryAccuracy, ...]:
        """The counts and accuracies of each category, sorted by name."""
        accuracies = []
        for name, members in zip(self.names, self.members(), strict=True):
            correct = self.is_correct[self._counted(members)]
            if not len(correct):
                raise InputError(
                    f"neither: every translation of {name} shows neither reading, so that there is"
                    " no accuracy; lower the threshold, or leave it out"
                )
            accuracies.append(
                CategoryAccuracy(
                    category=name,
                    n=len(members),
                    n_correct=int(correct.sum()),
                    accuracy=total_accuracy(correct),
                    n_inconclusive=_n(self.is_inconclusive, members),
                    n_neither=_n(self.is_neither, members),
                    **self._by_probability(members),
                )
            )
        return tuple(accuracies)

    def _by_probability(self, members: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Return what probabilities add to the figures of a category."""
        if self.probability is None:
            return {}
        return {
            "n_ties": _n(self.probability == 0.5, members),
            "weighted_accuracy": total_accuracy(self.is_correct[members], self.weights[members]),
        }

    @property
    def counts(self) -> dict[str, int]:
        """Return the numbers of correct samples, ties and inconclusive verdicts, where these are
        known.
        """
        counts = {"n_correct": int(self.is_correct.sum())}
        if self.probability is not None:
            counts["n_ties"] = int((self.probability == 0.5).sum())
        if self.is_inconclusive is not None:
            counts["n_inconclusive"] = int(self.is_inconclusive.sum())
        if self.is_neither is not None:
            counts["n_neither"] = int(self.is_neither.sum())
        return counts

    def scores(self) -> dict[str, float]:
        """Return all accuracies: total, minimum, by category; with probabilities also weighted, and
        the mean confidence; and the shares of what shows neither reading, where this is told apart.
        """
        by_category = self.categories
        accuracy = total_accuracy(self.is_correct[self._is_counted])
        neither = {n: share.value for n, share in self._neither_shares(0.95).items()}
        lowest_accuracy = min_accuracy(by_category, weighted=False, uncounted=self.uncounted)
        if self.probability is None:
            return {
                "accuracy": accuracy,
                "min_accuracy": lowest_accuracy,
                **{f"accuracy_{c.category}": c.accuracy for c in by_category},
                **neither,
            }
        return {
            "accuracy": accuracy,
            "weighted_accuracy": total_accuracy(self.is_correct, self.weights),
            "min_accuracy": lowest_accuracy,
            "weighted_min_accuracy": min_accuracy(
                by_category, weighted=True, uncounted=self.uncounted
            ),
            # `fsum`, since the order of the rows must not change a digit of the figure.
            "mean_confidence": math.fsum(self.confidence) / len(self.codes),
            **{f"accuracy_{c.category}": c.accuracy for c in by_category},
            **{
                f"weighted_accuracy_{c.category}": c.weighted_accuracy
                for c in by_category
                if c.weighted_accuracy is not None
            },
            **neither,
        }

    def _neither_shares(self, level: float) -> dict[str, Estimate]:
        if self.is_neither is None:
            return {}
        return {
            "neither_share": coded_share(self.is_neither, None, self.codes, level=level),
            **{
                f"neither_share_{name}": coded_share(self.is_neither[members], level=level)
                for name, members in zip(self.names, self.members(), strict=True)
            },
        }

    def intervals(self, *, level: float = 0.95) -> dict[str, Interval | NoInterval]:
        """Return the interval of each accuracy, or the reason why there is none: fewer than
        `FEWEST` samples in a category, for weighted accuracies.
        """
        intervals: dict[str, Interval | NoInterval] = {}
        for prefix in ("",) if self.probability is None else ("", "weighted_"):
            estimates = self._estimates(prefix, level)
            fewest = min(estimate.n for estimate in estimates.values())
            for name, estimate in estimates.items():
                # Which category is the lowest is not known beforehand: the smallest decides.
                n = fewest if name == "weighted_min_accuracy" else estimate.n
                intervals[name] = (
                    NoInterval(
                        f"n = {n}, and an interval with weights by rank needs at least {FEWEST}"
                        " samples"
                    )
                    if prefix and n < FEWEST
                    else estimate.interval
                )
        return intervals | {n: e.interval for n, e in self._neither_shares(level).items()}

    def _estimates(self, prefix: str, level: float) -> dict[str, Estimate]:
        weights = self.weights if prefix else None
        parts: dict[str, Estimate] = {}
        for name, members in zip(self.names, map(self._counted, self.members()), strict=True):
            weight = None if weights is None else weights[members]
            parts[name] = coded_share(self.is_correct[members], weight, level=level)
        counted = counted_categories(self.names, self.uncounted)
        whole = (
            None if column is None else column[self._is_counted] for column in (weights, self.codes)
        )
        return {
            f"{prefix}accuracy": coded_share(
                self.is_correct[self._is_counted], *whole, level=level
            ),
            f"{prefix}min_accuracy": lowest([parts[name] for name in counted]),
            **{f"{prefix}accuracy_{name}": part for name, part in parts.items()},
        }


def _n(flags: npt.NDArray[np.bool_] | None, members: npt.NDArray[np.int64]) -> int:
    return 0 if flags is None else int(flags[members].sum())
