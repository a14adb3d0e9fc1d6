"""Agreement with human annotators as published in Vamvas & Sennrich 2021 (Tables 2, A3 and A4).

All figures are in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cc_hf.comparing.published import read_published

__all__ = [
    "PRINTED",
    "PublishedAgreement",
    "published_agreement",
    "published_earlier_kappas",
    "published_kappas",
]

#: The key in `cc_hf.citations` of the paper that reports all these figures.
CITATION_KEY = "vamvas-sennrich-2021"
#: The folder of the tables that hold the figures.
PRINTED = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PublishedAgreement:
    """One published agreement for one test set and metric."""

    dataset: str
    tgt_lang: str
    metric: str
    agreement: float | None  # in [0, 1]; None if not published
    weighted_agreement: float | None  # in [0, 1]; None if not published
    source: str  # where the figures are printed


def published_agreement(dataset: str, tgt_lang: str, metric: str) -> PublishedAgreement | None:
    """Return the published agreement for a test set and a metric, or None if there is none."""
    tables, column = read_published(PRINTED), f"{dataset} {tgt_lang}"
    if column not in tables["Table 2"].columns:
        return None
    if metric == f"{dataset}_pattern_matching":
        printed = tables["Table 2"].value("pattern matching", column)
        return PublishedAgreement(dataset, tgt_lang, metric, printed, None, "Table 2")
    if metric != "contrastive_conditioning":
        return None
    row = "contrastive conditioning"
    n_agree, n = map(int, tables["Table 2, unweighted"].rows[row][column].split("/"))
    weighted = tables["Table 2, weighted"].value(row, column)
    source = "Table 2; unweighted: the program's notebook"
    return PublishedAgreement(dataset, tgt_lang, metric, n_agree / n, weighted, source)


def published_kappas(dataset: str, tgt_lang: str) -> tuple[float, ...]:
    """Return Cohen's kappa of the annotators on raw and on binary labels (Table A3); () for none.

    Examples:
        >>> published_kappas("mucow", "de")
        (0.38, 0.92)
    """
    tables, column = read_published(PRINTED), f"{dataset} {tgt_lang}"
    rows = {"Table A3": "raw", "Table A3, binary": "binary"}
    return tuple(
        tables[name].value(row, column)
        for name, row in rows.items()
        if column in tables[name].columns
    )


def published_earlier_kappas(dataset: str, tgt_lang: str) -> dict[int, float]:
    """Return annotator -> Cohen's kappa with the labels of Stanovsky et al. 2019 (Table A4).

    Examples:
        >>> published_earlier_kappas("winomt", "de")
        {1: 0.27, 2: 0.3}
    """
    table, column = read_published(PRINTED)["Table A4"], f"{dataset} {tgt_lang}"
    return {
        int(row): table.value(row, column) for row, cells in table.rows.items() if column in cells
    }
