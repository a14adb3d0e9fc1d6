"""Agreement with human annotators as published in Vamvas & Sennrich 2021 (Tables 2, A3 and A4).

All figures are in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "PUBLISHED_AGREEMENT",
    "PUBLISHED_EARLIER_KAPPAS",
    "PUBLISHED_KAPPAS",
    "PublishedAgreement",
    "published_agreement",
]

#: The key in `cc_hf.citations` of the paper that reports all these figures.
CITATION_KEY = "vamvas-sennrich-2021"


@dataclass(frozen=True, slots=True)
class PublishedAgreement:
    """One published agreement for one test set and metric.

    Attributes:
        agreement, weighted_agreement: in [0, 1]; None if it was not published.
        source: where the figures are printed.
    """

    dataset: str
    tgt_lang: str
    metric: str
    agreement: float | None
    weighted_agreement: float | None
    source: str


_TABLE, _PROGRAM = "Table 2", "Table 2; unweighted: the program's notebook"

PUBLISHED_AGREEMENT: tuple[PublishedAgreement, ...] = (
    PublishedAgreement("mucow", "de", "mucow_pattern_matching", 0.838, None, _TABLE),
    PublishedAgreement("mucow", "ru", "mucow_pattern_matching", 0.897, None, _TABLE),
    PublishedAgreement("winomt", "de", "winomt_pattern_matching", 0.863, None, _TABLE),
    PublishedAgreement("winomt", "ru", "winomt_pattern_matching", 0.755, None, _TABLE),
    PublishedAgreement("mucow", "de", "contrastive_conditioning", 887 / 1100, 0.880, _PROGRAM),
    PublishedAgreement("mucow", "ru", "contrastive_conditioning", 936 / 1091, 0.928, _PROGRAM),
    PublishedAgreement("winomt", "de", "contrastive_conditioning", 371 / 400, 0.976, _PROGRAM),
    PublishedAgreement("winomt", "ru", "contrastive_conditioning", 317 / 436, 0.782, _PROGRAM),
)

#: (dataset, target language) -> Cohen's kappa of the annotators on raw and on binary labels, as
#: printed in Table A3.
PUBLISHED_KAPPAS: dict[tuple[str, str], tuple[float, float]] = {
    ("mucow", "de"): (0.38, 0.92),
    ("mucow", "ru"): (0.57, 0.88),
    ("winomt", "de"): (0.95, 0.95),
    ("winomt", "ru"): (0.13, 0.20),
}

#: (dataset, target language) -> annotator -> Cohen's kappa with the annotations of Stanovsky et al.
#: 2019, as printed in Table A4.
PUBLISHED_EARLIER_KAPPAS: dict[tuple[str, str], dict[int, float]] = {
    ("winomt", "de"): {1: 0.27, 2: 0.30},
    ("winomt", "ru"): {1: 0.57, 2: 0.08},
}


def published_agreement(dataset: str, tgt_lang: str, metric: str) -> PublishedAgreement | None:
    """Return the published agreement for a test set and a metric, or None if there is none.

    Args:
        dataset: name of the test set, "mucow" or "winomt".
        tgt_lang: ISO 639-1 code of the target language.

    Examples:
        >>> published_agreement("winomt", "de", "contrastive_conditioning").weighted_agreement
        0.976
    """
    return next(
        (
            row
            for row in PUBLISHED_AGREEMENT
            if (row.dataset, row.tgt_lang, row.metric) == (dataset, tgt_lang, metric)
        ),
        None,
    )
