"""What metrics that read words refuse of their input, with the row that is wrong. Blank translations are texts like others here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cc_hf.errors import InputError
from cc_hf.languages import LANGUAGES

__all__ = ["check_ids", "check_rows", "check_spaced_language", "check_text", "check_twins"]

#: written without spaces between words, so that words cannot be told by splitting
_UNSPACED = frozenset({"bo", "ja", "km", "lo", "my", "th", "zh"})


def check_rows(predictions: Sequence[str], references: Sequence[Mapping[str, Any]], *, required: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Lists of the same length, at least one row, translations that are texts, references with string values.

    Args:
        predictions, references: of the host; a blank translation passes.
        required: keys of each reference, texts that are not blank.
        optional: keys that may be absent, None or "".

    Raises:
        InputError: with the first row that is not so.
    """
    for name, rows in (("predictions", predictions), ("references", references)):
        if isinstance(rows, (str, bytes)) or not hasattr(rows, "__len__"):
            raise InputError(f"{name}: expected a list, got {type(rows).__name__}")
    if len(predictions) != len(references):
        raise InputError(f"expected as many references as predictions, got {len(predictions)} predictions and {len(references)} references")
    if len(predictions) == 0:
        raise InputError("nothing to judge: expected at least one prediction, got none")
    for row, (translation, reference) in enumerate(zip(predictions, references, strict=True)):
        if not isinstance(translation, str):
            raise InputError(f"row {row}: expected a translation, got {translation!r}; mend the system's output or leave the row out of predictions and references")
        check_text(translation, f"row {row}: the translation")
        _check_reference(reference, row, required, optional)


def _check_reference(reference: Any, row: int, required: Sequence[str], optional: Sequence[str]) -> None:
    if not isinstance(reference, Mapping):
        raise InputError(f"row {row}: expected a reference with the keys {', '.join(required)}, got {type(reference).__name__}")
    if missing := [key for key in required if key not in reference]:
        raise InputError(f"row {row}: the reference lacks {', '.join(missing)}; expected the keys {', '.join(required)}, got {', '.join(map(str, reference)) or 'none'}")
    for key in required:
        if not isinstance(reference[key], str) or not reference[key].strip():
            raise InputError(f"row {row}: {key}: expected a text that is not blank, got {reference[key]!r}")
    for key in optional:
        if reference.get(key) is not None and not isinstance(reference[key], str):
            raise InputError(f"row {row}: {key}: expected a string or nothing, got {reference[key]!r}")
    for key in (*required, *optional):
        check_text(reference.get(key) or "", f"row {row}: {key}")


def check_text(text: str, where: str) -> None:
    """Refuse what cannot be written as UTF-8, a lone surrogate.

    Raises:
        InputError: with `where` and the character.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{where} is not valid Unicode: a lone surrogate at character {error.start}; mend the encoding of the file it came from") from None


def check_ids(ids: Sequence[str] | None, n: int) -> list[str]:
    """One name per example; None for row numbers.

    Raises:
        InputError: for another number of names than examples.

    >>> check_ids(None, 2)
    ['0', '1']
    """
    if ids is not None and len(ids) != n:
        raise InputError(f"ids: expected one per prediction, {n} in all, got {len(ids)}")
    return [str(row) for row in range(n)] if ids is None else list(ids)


def check_spaced_language(lang: str, metric: str) -> None:
    """Refuse a language that is unknown, or that has no spaces between words; "" stands for one that is not named.

    Raises:
        InputError: with the languages that are possible.

    >>> check_spaced_language("ja", "gender_accuracy")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cc_hf.errors.InputError: tgt_lang: gender_accuracy reads words between spaces, which 'ja' does not write; expected one of af, am, ar, ...
    """
    if lang == "" or (lang in LANGUAGES and lang not in _UNSPACED):
        return
    why = f"reads words between spaces, which {lang!r} does not write" if lang in _UNSPACED else f"does not know the language {lang!r}"
    known = ", ".join(sorted(set(LANGUAGES) - _UNSPACED))
    raise InputError(f"tgt_lang: {metric} {why}; expected one of {known}")


def check_twins(pairs: Sequence[str]) -> None:
    """Refuse a pair of more than two rows; a row may have no twin, or no name of a pair, "".

    Raises:
        InputError: with the rows.

    >>> check_twins(["a", "a", "b", "", "", ""])
    """
    rows: dict[str, list[int]] = {}
    for row, pair in enumerate(pairs):
        if pair:
            rows.setdefault(pair, []).append(row)
    for pair, members in rows.items():
        if len(members) > 2:
            raise InputError(f"row {members[2]}: pair {pair!r}: expected two rows at most, the twins of a schema, got {len(members)} (rows {', '.join(map(str, members[:5]))})")
