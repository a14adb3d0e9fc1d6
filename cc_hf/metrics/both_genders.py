"""Rows on a person of one gender whose translation names the person in both genders at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cc_hf.cues.gender_brackets import differ_by_gender_brackets
from cc_hf.fit_to_cite import GENDERS
from cc_hf.metrics.base import Rows
from cc_hf.text.both_genders import names_both_genders

__all__ = ["BOTH", "rows_of_both"]

#: What such a translation shows, in place of a gender.
BOTH = "both"
_KEYS = ("category", "gender", "gold_gender")


def rows_of_both(rows: Rows) -> list[int]:
    """Return the rows whose translation names both genders though the source names one.

    Examples:
        >>> references = [{"source": "She is a baker.", "category": "female"}] * 2
        >>> texts = ["Sie ist Bäckerin.", "Sie ist Bäcker:in."]
        >>> rows_of_both(Rows(texts, references, ["0", "1"], "en", "de"))
        [1]
    """
    return [
        row
        for row, (text, reference) in enumerate(
            zip(rows.translations, rows.references, strict=True)
        )
        if names_both_genders(text, rows.tgt_lang)
        and _is_on_one_gender(reference, rows.src_lang)
        and not names_both_genders(_source(reference), rows.src_lang)
    ]


def _is_on_one_gender(reference: Mapping[str, Any], src_lang: str) -> bool:
    values = (str(reference.get(key, "")).rpartition("/")[2] for key in _KEYS)
    correct, incorrect = reference.get("correct_sources"), reference.get("incorrect_sources")
    return any(value in GENDERS for value in values) or bool(
        correct and incorrect and differ_by_gender_brackets(correct, incorrect, src_lang=src_lang)
    )


def _source(reference: Mapping[str, Any]) -> str:
    return str(reference.get("source") or next(iter(reference.get("correct_sources") or ()), ""))
