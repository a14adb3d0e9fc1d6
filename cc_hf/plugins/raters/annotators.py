"""How well two or more annotators agree: with each other, and with earlier labels (Vamvas &
Sennrich 2021, Tables A3 and A4).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.comparing.people.annotations import Annotation, annotators_of, rows_of_both
from cc_hf.errors import InputError
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.agreement import cohen_kappa, kappa_interval, krippendorff_alpha

__all__ = [
    "AnnotatorAgreement",
    "EarlierAgreement",
    "PairAgreement",
    "annotator_agreement",
    "earlier_agreement",
    "earlier_agreement_of_rows",
]

_TOO_BAD = "Translation too bad to tell"


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Cohen's kappa of two of several annotators."""

    annotators: tuple[int, int]  # from 1
    kappa_raw: float | None  # None if there are no raw labels
    kappa_binarised: float


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """Cohen's kappa of two annotators, or its mean over all pairs, on raw and on binary labels.

    Readings of any number take the place of binary labels.
    """

    n_raw: int  # translations
    kappa_raw: float | None  # None if the file has no raw labels
    raw_interval: Interval | NoInterval | None
    n_binarised: int
    kappa_binarised: float
    binarised_interval: Interval | NoInterval
    alpha: float  # Krippendorff's on binary labels, of all annotators
    pairs: tuple[PairAgreement, ...] = ()  # if there are three annotators or more


@dataclass(frozen=True, slots=True)
class EarlierAgreement:
    """Cohen's kappa of an annotator with earlier raw labels of the same translations (Table A4)."""

    annotator: int  # 1 or 2
    n: int  # translations with both labels
    kappa: float
    interval: Interval | NoInterval


def earlier_agreement(
    path: Path, *, seed: int = 0, n_resamples: int = 1000
) -> tuple[EarlierAgreement, ...]:
    """Return the agreement of each annotator with earlier annotations (Table A4)."""
    # As in the paper, translations that the annotator found too bad to tell are ignored: the
    # earlier annotators had no such label.
    return earlier_agreement_of_rows(
        (row for _, row in rows_of_both(path)), seed=seed, n_resamples=n_resamples
    )


def earlier_agreement_of_rows(
    values: Iterable[Any], *, seed: int = 0, n_resamples: int = 1000
) -> tuple[EarlierAgreement, ...]:
    """Return the agreement of each annotator with earlier ones, as `earlier_agreement` does."""
    rows = [row for row in values if isinstance(row, dict)]
    agreements = []
    for number, name in enumerate(annotators_of(rows), 1):
        pairs = [
            (row["label_earlier"], label)
            for row in rows
            if row.get("label_earlier")
            and (label := row.get(f"label_{name}"))
            and not label.startswith(_TOO_BAD)
        ]
        if pairs:
            left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            interval = kappa_interval(left, right, seed=seed, n_resamples=n_resamples)
            agreements.append(
                EarlierAgreement(number, len(pairs), cohen_kappa(left, right), interval)
            )
    return tuple(agreements)


def annotator_agreement(
    annotations: Sequence[Annotation], *, seed: int = 0, n_resamples: int = 1000
) -> AnnotatorAgreement:
    """Return Cohen's kappa of the annotators (Table A3), with bootstrap intervals.

    Of several annotators it is the mean over all pairs, without intervals.
    """
    raw = list(zip(*(a.raw for a in annotations if a.raw), strict=True))
    binary = list(zip(*(a.labels for a in annotations if a.labels), strict=True))
    n_raw, n_binarised = (len(labels[0]) if labels else 0 for labels in (raw, binary))
    if not binary:
        raise InputError("agreement on nothing: expected at least one item, got none")
    pairs = [
        PairAgreement(
            (left + 1, right + 1),
            cohen_kappa(raw[left], raw[right]) if raw else None,
            cohen_kappa(binary[left], binary[right]),
        )
        for left, right in itertools.combinations(range(len(binary)), 2)
    ]

    def interval(labels: Sequence[Sequence[str]]) -> Interval | NoInterval:
        if len(labels) == 2:
            return kappa_interval(*labels, seed=seed, n_resamples=n_resamples)
        return NoInterval(f"it is a mean over {len(pairs)} pairs of annotators")

    raw_kappas = [pair.kappa_raw for pair in pairs if pair.kappa_raw is not None]
    return AnnotatorAgreement(
        n_raw=n_raw,
        kappa_raw=sum(raw_kappas) / len(raw_kappas) if raw_kappas else None,
        raw_interval=interval(raw) if raw else None,
        n_binarised=n_binarised,
        kappa_binarised=sum(pair.kappa_binarised for pair in pairs) / len(pairs),
        binarised_interval=interval(binary),
        alpha=krippendorff_alpha(binary),
        pairs=tuple(pairs) if len(pairs) > 1 else (),
    )
