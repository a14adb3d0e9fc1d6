"""What people said about commercial systems on MT-GenEval, and what is in it, as printed in Currey
et al. 2022 (Tables 5, 7 and 12).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cc_hf.comparing.published import read_published
from cc_hf_studies.mt_geneval.counts import DataCounts

__all__ = [
    "CITATION_KEY",
    "printed_counts",
    "printed_must_she",
    "printed_ratings",
    "printed_winomt",
]

#: The key in `cc_hf.citations` of the paper that prints these figures.
CITATION_KEY = "currey-2022"

_MUST_SHE = ("instances", "words", "target words", "target phrases")


def printed_ratings() -> dict[str, dict[str, Any]]:
    """Return the printed figures of raters, in [0, 1], by target language.

    Examples:
        >>> printed_ratings()["ar"]["accuracies"], printed_ratings()["ar"]["f_score"]
        ((0.515, 0.513, 0.505), 0.84)
    """
    tables = read_published(Path(__file__).parent)
    scores, accuracies = tables["Table 5"], tables["Table 7"]
    return {
        lang: {
            "accuracies": tuple(round(float(cells[name]) / 100, 4) for name in "ABC"),
            "alpha": float(cells["alpha"]),
            "accuracy_reference": round(float(cells["references"]) / 100, 4),
            "alpha_reference": float(cells["alpha of references"]),
            "f_score": scores.value("systems", lang),
        }
        for lang, cells in accuracies.rows.items()
    }


def printed_counts() -> dict[str, DataCounts]:
    """Return the printed counts of the development set by target language."""
    table = read_published(Path(__file__).parent)["Table 12"]
    return {
        row: DataCounts(*(int(table.value(row, column)) for column in cells))
        for row, cells in table.rows.items()
        if len(row) == len("de")
    }


def printed_winomt() -> DataCounts:
    """Return the printed numbers of instances and words of WinoMT."""
    table = read_published(Path(__file__).parent)["Table 12"]
    return DataCounts(*(int(table.value("WinoMT", name)) for name in ("instances", "words")))


def printed_must_she() -> DataCounts:
    """Return the printed counts of the French part of MuST-SHE.

    Examples:
        >>> printed_must_she().n_target_phrases
        1456
    """
    table = read_published(Path(__file__).parent)["Table 12"]
    instances, words, *target = (int(table.value("MuST-SHE fr", c)) for c in _MUST_SHE)
    return DataCounts(instances, words, None, *target)
