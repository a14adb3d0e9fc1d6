"""How far a judge can be trusted with a figure, by evidence: corrected, supported, ranks only, or a
screen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cc_hf import registry
from cc_hf.evidence import (
    Evidence,
    Rates,
    bias,
    bias_limits,
    corners,
    distinct,
    evidence_of,
    kappa,
    known_evidence,
    least_youden,
    not_above,
    rates,
    shown_rates,
)
from cc_hf.figure_keys import figure_key
from cc_hf.languages import pair_codes
from cc_hf.score_limits import score_limits

__all__ = [
    "ACCURACIES",
    "CORRECTED_LEVEL",
    "LEVELS",
    "MEANINGS",
    "MOST_BIAS",
    "RANKS_ONLY",
    "SCREEN",
    "SUPPORTED",
    "Trust",
    "call_differs",
    "labels_to_rank",
    "missing_labels",
    "readings_of",
    "trust_by",
    "trust_of",
]

CORRECTED_LEVEL, SUPPORTED, RANKS_ONLY, SCREEN = "corrected", "supported", "ranks only", "screen"
#: The levels, the best first.
LEVELS = (CORRECTED_LEVEL, SUPPORTED, RANKS_ONLY, SCREEN)
#: Level -> what may be said by it.
MEANINGS = {
    CORRECTED_LEVEL: "the figures are corrected by labels of some translations",
    SUPPORTED: "figures may be cited",
    RANKS_ONLY: "differences between systems count, but figures may not be cited",
    SCREEN: "figures may be neither cited nor ranked",
}
#: Accuracies at which the possible bias is told where no figure is known.
ACCURACIES = (0.5, 0.65, 0.8, 0.95)
#: A figure is supported if the mistakes of its judge cannot move it by more.
MOST_BIAS = 0.03
# A judge that shortens differences more than this may turn them around.
_LEAST_YOUDEN = 0.6
# Labels by people who agree less are no evidence; a judge may agree less with them than they do
# among themselves by the second number.
_LEAST_KAPPA, _KAPPA_MARGIN = 0.4, 0.1
_FEWEST_PEOPLE = 2
_READINGS = ("female", "male")
_MANY_LABELS = 5000  # nobody labels more to check a judge


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a judge can be trusted with the figures of a result.

    Attributes:
        level: one of `LEVELS`.
        bias: name of a figure -> how far down and up the judge's mistakes may move it, in [-1, 1];
            {} without evidence.
        readings: figure in `bias` -> the reading that it counts, "" for several or none.
    """

    level: str
    bias: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rows: tuple[Evidence, ...] = ()
    readings: Mapping[str, str] = field(default_factory=dict)

    @property
    def labels(self) -> str:
        """The evidence in words, such as "197 labels of people (winomt)"; "" without any."""
        if not self.rows:
            return ""
        n = sum(row.n for row in self.rows)
        kinds = {"people": "labels of people", "pairs": "versions by people"}
        by = [kinds.get(row.labels, "readings of an analyser") for row in self.rows]
        datasets = ", ".join(sorted({row.dataset for row in self.rows}))
        of = next((f", of {row.of}" for row in self.rows if row.of), "")
        return f"{n:,} {' and '.join(dict.fromkeys(by))} ({datasets}{of})"

    def differs(self, figure: str, first: float, second: float) -> bool:
        """Return whether the evidence of each test set calls the two values different."""
        for dataset in dict.fromkeys(row.dataset for row in self.rows):
            part = [row for row in self.rows if row.dataset == dataset]
            readings = [self.readings[figure]] if self.readings[figure] else readings_of(part)
            # Both systems leave the gender open alike, as far as is known.
            if not all(call_differs(first, second, shown_rates(part, each)) for each in readings):
                return False
        return True

    @property
    def is_screen(self) -> bool:
        """Whether figures may be neither cited nor ranked."""
        return self.level == SCREEN

    @property
    def has_few_labels(self) -> bool:
        """Whether more labels may show that the judge can rank systems."""
        parts = [[r for r in self.rows if r.dataset == d] for d in {r.dataset for r in self.rows}]
        return any(
            not (shown.right.n and shown.wrong.n) or labels_to_rank(shown) is not None
            for part in parts
            for shown in (shown_rates(part, reading) for reading in readings_of(part))
            if least_youden(shown) < _LEAST_YOUDEN
        )

    @property
    def text(self) -> str:
        """The level, what may be said by it, and how far mistakes may move figures, as a sentence.

        Examples:
            >>> Trust(SUPPORTED, {"accuracy": (-0.01, 0.02)}).text
            'Supported: figures may be cited; mistakes may move figures by -1.0 to +2.0 points.'
        """
        is_moved = self.bias and self.level != CORRECTED_LEVEL
        mistakes = f"; mistakes may move {self.moved}" if is_moved else ""
        return f"{self.level.capitalize()}: {MEANINGS[self.level]}{mistakes}."

    @property
    def moved(self) -> str:
        """How far mistakes may move the figures, such as "figures by -9.8 to -3.2 points"."""
        moved = {
            category: f"by {100 * low:+.1f} to {100 * high:+.1f}"
            for name, (low, high) in self.bias.items()
            if (category := figure_key(name).category)
        }
        if len(moved) == len(_READINGS):
            (first, of_first), (second, of_second) = moved.items()
            return f"the accuracy on {first} {of_first} points and on {second} {of_second}"
        low = min(low for low, _ in self.bias.values())
        high = max(high for _, high in self.bias.values())
        return f"figures by {100 * low:+.1f} to {100 * high:+.1f} points"

    def with_others(self, others: Iterable[Trust]) -> Trust:
        """Return how far the judge can be trusted with the results of several systems: the least of
        their levels, and the widest of what its mistakes may do to their figures.
        """
        moved = dict(self.bias)
        level, rows = self.level, self.rows
        for other in others:
            level = max(level, other.level, key=LEVELS.index)
            rows = rows or other.rows
            for name, (low, high) in other.bias.items():
                before = moved.get(name, (low, high))
                moved[name] = min(low, before[0]), max(high, before[1])
        return Trust(level, moved, rows)


def trust_of(
    signed: Mapping[str, str],
    metric: str,
    figures: Mapping[str, tuple[str, float]],
    *,
    dataset: str = "",
    rows: Iterable[Evidence] = (),
) -> Trust | None:
    """Return how far the judge of a result can be trusted; None for figures that no evaluator made,
    or that are of the evaluator itself.

    Args:
        metric: the name in front of the fields; "" if it is not known.
        figures: name of a figure -> the reading that it counts, "" for several or none, and its
            value.
        dataset: name of the dataset; "" for data of the user.

    Examples:
        >>> trust_of({"eval": "org/t5-tiny-random@1", "langs": "en-de"}, "cc", {}).level
        'screen'
    """
    if "eval" not in signed or signed.get("sys") == "scored":
        return None
    known, rows = known_evidence(), tuple(rows)
    candidates = distinct([*known, *rows]) if rows else known
    fitting = evidence_of(
        {**signed, "langs": "-".join(pair_codes(signed.get("langs", "")))},
        metric,
        dataset=dataset,
        kind=registry.kind_of_sentences(dataset),
        rows=candidates,
    )
    return trust_by(fitting, figures)


def trust_by(rows: Sequence[Evidence], figures: Mapping[str, tuple[str, float]]) -> Trust:
    """Return how far evidence lets trust in figures: of several test sets, the least.

    Args:
        figures: as in `trust_of`; {} for figures at all of `ACCURACIES`.
    """
    rows = [row for row in rows if row.people_kappa is None or row.people_kappa >= _LEAST_KAPPA]
    if by_people := [row for row in rows if row.labels == "people"]:
        rows = by_people
    if not rows:
        return Trust(SCREEN)
    figures = figures or {
        f"{reading or 'accuracy'} {accuracy}": (reading, accuracy)
        for reading in readings_of(rows)
        for accuracy in ACCURACIES
    }
    level, moved = SUPPORTED, dict.fromkeys(figures, (0.0, 0.0))
    for dataset in dict.fromkeys(row.dataset for row in rows):
        part = [row for row in rows if row.dataset == dataset]
        for name, (reading, value) in figures.items():
            for each in [reading] if reading else readings_of(part):
                low, high = bias_limits(value, rates(part, each))
                moved[name] = min(moved[name][0], low), max(moved[name][1], high)
                level = max(level, _level(part, each, moved[name]), key=LEVELS.index)
    readings = {name: reading for name, (reading, _) in figures.items()}
    return Trust(level, moved, tuple(rows), readings)


def readings_of(rows: Iterable[Evidence]) -> tuple[str, ...]:
    """Return the readings that evidence tells apart: both genders, or ("",) for senses."""
    return _READINGS if any(row.reading in _READINGS for row in rows) else ("",)


def _level(rows: Sequence[Evidence], reading: str, moved: tuple[float, float]) -> str:
    shown = shown_rates(rows, reading)
    if least_youden(shown) < _LEAST_YOUDEN:
        return SCREEN
    known = [row.people_kappa for row in rows if row.people_kappa is not None]
    is_by_people = all(row.n_people >= _FEWEST_PEOPLE and not row.of for row in rows)
    if not (is_by_people and known and max(map(abs, moved)) <= MOST_BIAS):
        return RANKS_ONLY
    least = kappa(shown, at_least=True)
    return SUPPORTED if least is not None and least >= min(known) - _KAPPA_MARGIN else RANKS_ONLY


def labels_to_rank(of_judge: Rates) -> int | None:
    """Return how many labels of each kind in all would show that a judge can rank systems, if it
    errs on them as so far; None where it errs too often for any number.

    Examples:
        >>> from cc_hf.evidence import Rate
        >>> labels_to_rank(Rates(Rate(9, 10), Rate(10, 10)))
        17
    """
    values = [rate.value for rate in of_judge[:2]]
    for n in range(max(1, min(rate.n for rate in of_judge[:2])), _MANY_LABELS):
        margins = (value - score_limits(value, n)[0] for value in values)
        if sum(values) - 1 - math.hypot(*margins) >= _LEAST_YOUDEN:
            return n
    return None


def call_differs(first: float, second: float, of_judge: Rates) -> bool:
    """Return whether the difference of two shares in [0, 1], found by one judge, is more than twice
    what its mistakes may do to it.

    Whether the difference is significant is another question.

    Examples:
        >>> from cc_hf.evidence import Rate
        >>> call_differs(0.6, 0.7, Rates(Rate(180, 200), Rate(180, 200)))
        True
    """
    points = corners(of_judge)
    if any(s0 + s1 <= 1 for s0, s1 in points):
        return False
    # Most of the bias of one judge cancels: what counts is the bias of the one share minus that of
    # the other, at the same rates.
    moved = max(abs(bias(first, s0, s1) - bias(second, s0, s1)) for s0, s1 in points)
    return abs(first - second) > 2 * moved


def missing_labels(of_judge: Rates) -> tuple[int | None, int | None]:
    """Return how many more labels of translations that show a reading, and of others, would bring
    the limit of the judge's mistakes to `MOST_BIAS`, if it errs on them as so far; None where it
    errs too often for any number.

    Examples:
        >>> from cc_hf.evidence import Rate
        >>> missing_labels(Rates(Rate(29, 29), Rate(140, 146)))
        (96, None)
    """
    needed = [not_above(rate, MOST_BIAS) for rate in (of_judge.right, of_judge.wrong)]
    right, wrong = (
        None if n is None else max(0, n - rate.n)
        for n, rate in zip(needed, of_judge[:2], strict=True)
    )
    return right, wrong
