"""Rows of users as examples, one by one, and the columns that they may have."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.cues.templates import apply_cue
from cc_hf.data.files.cells import (
    CELL_SEPARATOR,
    SOURCE_KEYS,
    TRANSLATION_KEYS,
    as_string,
    category_cell,
    focus_cell,
    gender_of,
    language_cell,
    split_cell,
    text_cell,
    texts_cell,
)
from cc_hf.data.files.sense_rows import parse_senses, senses_text
from cc_hf.errors import InputError
from cc_hf.languages import language_tag
from cc_hf.schema import (
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    Focus,
    ProbingExample,
)
from cc_hf.tables.rows import folded

__all__ = [
    "CUE_KEYS",
    "OWN_KEYS",
    "check_keys",
    "column_advice",
    "custom_example",
    "example_of_row",
    "flat_row",
    "with_known_keys",
    "word_example",
]

#: Columns with the cues of a row.
CUE_KEYS = ("correct_cues", "incorrect_cues")
#: Columns with a meaning, but for those of rows in a contrastive format.
OWN_KEYS = (
    "id",
    "source",
    "focus",
    "position",
    *CUE_KEYS,
    "placement",
    "category",
    "gold",
    "src_lang",
    "tgt_lang",
)
_KNOWN_KEYS = {
    *(*OWN_KEYS, *SOURCE_KEYS, *TRANSLATION_KEYS, "ambiguous_word", "cluster", "homograph"),
    *("reference", "senses"),
}
#: Columns as others call them, for advice.
_OTHER_NAMES = {
    "source": ("src", "sentence", "text", "english", "original", "input"),
    "gold": ("gender", "sex", "label", "gold_gender", "gold_label", "genus"),
}
#: Columns of rows without anything to disambiguate (metrics coverage and critical_errors).
_PLAIN_KEYS = {
    *("id", "line", "source", "category", "src_lang", "tgt_lang", "translation", "reference"),
    *("omission", "addition", "source_spans", "translation_spans", "errors"),
}
_GENDERS = ("male", "female")


def custom_example(row: Mapping[str, Any], *, src_lang: str = "en") -> ContrastiveSourceExample:
    """Return one example from the columns of `read_custom` in a row.

    Args:
        src_lang: source language of a row that names none, ISO 639-1.

    Examples:
        >>> example = custom_example(
        ...     {
        ...         "source": "The doctor asked the doctor.",
        ...         "focus": "doctor",
        ...         "position": 21,
        ...         "gold": "female",
        ...     }
        ... )
        >>> example.correct_sources
        ('The doctor asked the [female] doctor.',)
    """
    row = with_known_keys(row)
    check_keys(tuple(row))
    source = language_tag(src_lang, "src_lang")
    return _with_cues(row, 0, sorted(set(row) - set(OWN_KEYS)), source)


def with_known_keys(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the names of known columns as they are read."""
    if not (renamed := _known_keys(tuple(row))):
        return row
    return dict(zip(renamed, row.values(), strict=True))


@lru_cache(maxsize=1024)  # a file has the same columns in each row
def _known_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of columns as they are read; none if they are written so."""
    names = tuple(folded(key) if folded(key) in _KNOWN_KEYS else key for key in keys)
    if names == keys:
        return ()
    if several := [name for name in names if names.count(name) > 1]:
        raise InputError(f"expected one column {several[0]}, got several; rename one of them")
    return names


def column_advice(row: Mapping[str, Any], name: str) -> str:
    """Return which column of a row may be meant, for messages."""
    near = [key for key in row if folded(key) in _OTHER_NAMES[name]]
    if name == "gold":
        near = [key for key, cell in row.items() if gender_of(cell)] or near
    return f"; did you mean {near[0]!r}? Rename it to {name}" if near else ""


def flat_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row in a contrastive format with its `extra` as columns of their own."""
    is_contrastive = any(key in row for key in (*SOURCE_KEYS, *TRANSLATION_KEYS))
    if not is_contrastive or not isinstance(extra := row.get("extra"), dict):
        return row
    return {**extra, **{key: value for key, value in row.items() if key != "extra"}}


@lru_cache(maxsize=1024)
def check_keys(keys: tuple[str, ...]) -> None:
    """Refuse misspelt columns, which would be kept in `extra` and otherwise ignored."""
    for key in keys:
        near = difflib.get_close_matches(key.strip().lower(), OWN_KEYS, n=1, cutoff=0.9)
        if key not in OWN_KEYS and near:
            raise InputError(
                f"column {key!r}: did you mean {near[0]!r}? Rename it, also if it is something else"
            )


def _common(row: Mapping[str, Any], number: int, src_lang: str) -> dict[str, Any]:
    """Return the fields that examples of every kind have of a row."""
    return {
        "id": str(row.get("id", number)),
        "src_lang": language_cell(row, "src_lang") or src_lang,
        "tgt_lang": language_cell(row, "tgt_lang"),
        "category": category_cell(row) or "all",
    }


def word_example(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ProbingExample:
    """Return an ambiguous word with its reference, see `cc_hf.data.files.custom.read_words`."""
    source = text_cell(row, "source", required=True)
    focus = focus_cell(row, source)
    extra = {key: as_string(row.get(key, "")) for key in extra_keys}
    if not language_cell(row, "tgt_lang"):
        raise InputError(
            "tgt_lang is empty; expected the language of the reference, such as 'de', in each row,"
            " or a language pair for all"
        )
    return ProbingExample(
        **_common(row, number, src_lang),
        source=source,
        gold=text_cell(row, "gold", required=True),
        focus=focus,
        extra={
            **extra,
            "ambiguous_word": extra.get("ambiguous_word") or focus.text,
            "reference": text_cell(row, "reference", required=True),
        },
    )


def example_of_row(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> Example:
    """Return the example of a row of any kind, see `cc_hf.data.files.custom.read_custom`."""
    if row.keys().isdisjoint(CUE_KEYS):
        if "senses" in row and "cluster" in row:
            return _with_senses(row, number, extra_keys, src_lang)
        if not row.keys().isdisjoint(SOURCE_KEYS):
            return _with_sources(row, number, extra_keys, src_lang)
        if all(key in row for key in TRANSLATION_KEYS):
            return _with_translations(row, number, extra_keys, src_lang)
        if row.keys() <= _PLAIN_KEYS:
            return _plain(row, number, extra_keys, src_lang)
    return _with_cues(row, number, extra_keys, src_lang)


def _plain(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ProbingExample:
    """Return a source without anything to disambiguate, for metrics that look at the whole text."""
    return ProbingExample(
        **_common(row, number, src_lang),
        source=text_cell(row, "source", required=True),
        gold="complete",
        extra={key: as_string(row[key]) for key in extra_keys if key in row},
    )


def _with_sources(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ContrastiveSourceExample:
    """Return an example whose contrastive sources are given as they are."""
    source, focus = text_cell(row, "source", required=True), row.get("focus")
    if isinstance(focus, Mapping):
        row = {**row, "focus": focus.get("text"), "position": focus.get("start")}
    gold = text_cell(row, "gold")
    if gold.strip().lower() in _GENDERS:
        gold = gender_of(gold)
    correct, incorrect = (texts_cell(row, key) for key in SOURCE_KEYS)
    if shared := set(correct) & set(incorrect):
        raise InputError(f"the same source is both correct and incorrect: {sorted(shared)[0]!r}")
    return ContrastiveSourceExample(
        id=str(row.get("id", number)),
        src_lang=language_cell(row, "src_lang") or src_lang,
        tgt_lang=language_cell(row, "tgt_lang"),
        source=source,
        focus=focus_cell(row, source) if row.get("focus") or "position" in row else Focus("", 0),
        correct_sources=correct,
        incorrect_sources=incorrect,
        category=category_cell(row) or "all",
        gold=gold,
        extra={k: as_string(row.get(k, "")) for k in extra_keys if k not in SOURCE_KEYS},
    )


def _with_translations(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ContrastiveTranslationExample:
    if not language_cell(row, "tgt_lang"):
        raise InputError(
            "tgt_lang is empty; expected the language of the translations, such as 'de', in each"
            " row, or a language pair for all"
        )
    return ContrastiveTranslationExample(
        **_common(row, number, src_lang),
        source=text_cell(row, "source"),
        correct_translation=text_cell(row, "correct_translation", required=True).replace(
            f"\\{CELL_SEPARATOR}", CELL_SEPARATOR
        ),
        contrastive_translations=texts_cell(row, "contrastive_translations"),
        extra={k: as_string(row.get(k, "")) for k in extra_keys if k not in TRANSLATION_KEYS},
    )


def _with_senses(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ProbingExample:
    source = text_cell(row, "source", required=True)
    focus = focus_cell(row, source)
    senses, cluster = (
        parse_senses(row["senses"], "senses"),
        text_cell(row, "cluster", required=True),
    )
    if cluster not in senses:
        raise InputError(
            f"cluster: expected one of the clusters in senses, {', '.join(senses)}, got {cluster!r}"
        )
    extra = {key: as_string(row.get(key, "")) for key in extra_keys}
    return ProbingExample(
        **_common(row, number, src_lang),
        source=source,
        gold=cluster,
        focus=focus,
        extra={
            **extra,
            "homograph": text_cell(row, "homograph") or focus.text,
            "cluster": cluster,
            "senses": senses_text(senses),
        },
    )


def _with_cues(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ContrastiveSourceExample:
    source = text_cell(row, "source", required=True)
    focus = focus_cell(row, source)
    language, gold = language_cell(row, "src_lang") or src_lang, text_cell(row, "gold")
    if row.keys().isdisjoint(CUE_KEYS):
        gold = gender_of(gold) or gold
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    if gold in _GENDERS and row.keys().isdisjoint(CUE_KEYS):
        sides = gender_bracket_sources(source, focus, gold, src_lang=language)
    else:
        placement = text_cell(row, "placement") or "before"
        correct, incorrect = (
            tuple(apply_cue(source, focus, cue, placement) for cue in _cues(row, key))
            for key in CUE_KEYS
        )
        sides = correct, incorrect
    if shared := set(sides[0]) & set(sides[1]):
        raise InputError(
            f"the same cue is both correct and incorrect: it makes {sorted(shared)[0]!r}"
        )
    return ContrastiveSourceExample(
        id=str(row.get("id", number)),
        src_lang=language,
        tgt_lang=language_cell(row, "tgt_lang"),
        source=source,
        focus=focus,
        correct_sources=sides[0],
        incorrect_sources=sides[1],
        category=category_cell(row) or (gold if gold in _GENDERS else "all"),
        gold=gold,
        extra={key: as_string(row.get(key, "")) for key in extra_keys},
    )


def _cues(row: Mapping[str, Any], key: str) -> list[str]:
    cues = row.get(key, [])
    if isinstance(cues, str):
        cues = split_cell(cues)
    if not isinstance(cues, list) or not cues or not all(isinstance(cue, str) for cue in cues):
        if not any(name in row for name in CUE_KEYS):
            building = (
                "; `cc-hf cues build` finds cues for words with gold and reference"
                if "reference" in row
                else ""
            )
            if "gold" not in row and (advice := column_advice(row, "gold")):
                columns = ", ".join(key for key in row if key != "line")
                raise InputError(
                    f"expected a column gold, with {' or '.join(_GENDERS)}, got {columns}{advice}"
                )
            raise InputError(
                f"gold: expected {' or '.join(_GENDERS)}, for gender brackets, got"
                f" {text_cell(row, 'gold')!r}; or give {' and '.join(CUE_KEYS)}, or"
                f" {' and '.join(SOURCE_KEYS)}{building}"
            )
        raise InputError(
            f'{key}: expected at least one cue, in a list or separated by "{CELL_SEPARATOR}", got'
            f" {cues!r}"
        )
    return cues
