"""Checks of rows that all metrics share: ordered lists, one reference per translation, and a valid
value for each key.

A metric declares the keys of its references as `Fields`. The checks return plain lists and dicts,
for any container that was given.
"""

from __future__ import annotations

import hashlib
import json
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from cc_hf.errors import InputError, shown
from cc_hf.languages import LANGUAGES
from cc_hf.lists import check_text, listed, listed_rows
from cc_hf.normalization import is_blank

__all__ = [
    "Fields",
    "any_text",
    "check_ids",
    "check_languages",
    "check_references",
    "check_rows",
    "check_spaced_language",
    "check_twins",
    "flag",
    "index",
    "listed",
    "one_of",
    "optional_text",
    "optional_texts",
    "own_data",
    "text",
    "texts",
]

#: A mapping from each key of a reference to the reader of its value: a function (value, position as
#: messages say it) that returns a plain str, int or list, or raises InputError.
Fields: TypeAlias = Mapping[str, Callable[[Any, str], Any]]

#: Languages without spaces between words, whose words cannot be found by splitting.
_UNSPACED = frozenset({"bo", "ja", "km", "lo", "my", "th", "zh"})

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def check_rows(
    predictions: Any, references: Any, fields: Fields, *, is_blank_allowed: bool = True
) -> tuple[list[str], list[dict[str, Any]]]:
    """Check the rows of a metric that judges translations.

    Args:
        predictions: translations, in any container that `listed` accepts.
        references: mappings, in any container that `listed` accepts.

    Returns:
        The translations, and the references with exactly the keys of `fields`.

    Raises:
        InputError: for no rows, different lengths, or the first row that is not as expected.

    Examples:
        >>> check_rows(
        ...     ["Ja."], [{"source": "Yes.", "remark": 3}], {"source": text, "pair": optional_text}
        ... )
        (['Ja.'], [{'source': 'Yes.', 'pair': ''}])
    """
    translations, rows = listed("predictions", predictions), listed_rows("references", references)
    if len(translations) != len(rows):
        raise InputError(
            f"expected as many references as predictions, got {len(translations)} predictions and"
            f" {len(rows)} references"
        )
    if not translations:
        raise InputError("nothing to judge: expected at least one prediction, got none")
    checked = []
    for row, translation in enumerate(translations):
        if not isinstance(translation, str) or (is_blank(translation) and not is_blank_allowed):
            raise InputError(
                f"row {row}: expected a translation, got {shown(translation)};"
                " fix the system's output, leave the row out of predictions and references, or give"
                " `on_blank` incorrect, so that a blank translation counts as incorrect"
            )
        checked.append(check_text(translation, f"row {row}: the translation"))
    return checked, _checked_references(rows, fields)


def check_references(references: Any, fields: Fields) -> list[dict[str, Any]]:
    """Check the rows of a metric that judges no translations, as `check_rows` does.

    Raises:
        InputError: for no rows, or the first row that is not as expected.
    """
    rows = listed_rows("references", references)
    if not rows:
        raise InputError("nothing to judge: expected at least one reference, got none")
    return _checked_references(rows, fields)


def _checked_references(rows: Sequence[Any], fields: Fields) -> list[dict[str, Any]]:
    required = [key for key, read in fields.items() if read is not optional_text]
    checked = []
    for row, reference in enumerate(rows):
        if not isinstance(reference, Mapping):
            raise InputError(
                f"row {row}: expected a reference with the keys {', '.join(required)}, got"
                f" {type(reference).__name__}"
            )
        if missing := [key for key in required if key not in reference]:
            keys = ", ".join(map(str, reference)) or "none"
            raise InputError(
                f"row {row}: the reference lacks {', '.join(missing)}; expected the keys"
                f" {', '.join(required)}, got {keys}"
            )
        checked.append(
            {key: read(reference.get(key), f"row {row}: {key}") for key, read in fields.items()}
        )
    return checked


def text(value: Any, where: str) -> str:
    """Read a text that is not blank; raise an InputError for another value, or a lone surrogate."""
    if not isinstance(value, str) or is_blank(value):
        raise InputError(f"{where}: expected a text that is not blank, got {shown(value)}")
    return check_text(value, where)


def any_text(value: Any, where: str) -> str:
    """Read a text, which may be blank; raise an InputError for anything else."""
    if not isinstance(value, str):
        raise InputError(f"{where}: expected a string, got {shown(value)}")
    return check_text(value, where)


def optional_text(value: Any, where: str) -> str:
    """Read a text whose key may be absent: None stands for "".

    Raises:
        InputError: for any other value, or a lone surrogate.

    Examples:
        >>> optional_text(None, "row 0: pair")
        ''
    """
    if value is not None and not isinstance(value, str):
        raise InputError(f"{where}: expected a string or nothing, got {shown(value)}")
    return check_text(value or "", where)


def texts(value: Any, where: str) -> list[str]:
    """Read a list of at least one text, none of which is blank."""
    members = optional_texts(value, where)
    if not members:
        raise InputError(f"{where}: expected a list with at least one text, got an empty one")
    return members


def optional_texts(value: Any, where: str) -> list[str]:
    """Read a list of texts, none of which is blank; the list may be empty."""
    return [text(member, where) for member in listed(where, value)]


def index(value: Any, where: str) -> int:
    """Read an integer of any sign, which may be one of numpy but not a bool.

    Raises:
        InputError: for any other value.

    Examples:
        >>> index(True, "row 3: occupation_index")
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: row 3: occupation_index: expected an integer, got True
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise InputError(f"{where}: expected an integer, got {shown(value)}")
    return int(value)


def flag(name: str, value: bool | str) -> bool:
    """Read a truth value, which the command line gives as text.

    Args:
        value: a bool; or a text such as true, false, yes, no, 1 or 0.

    Raises:
        InputError: for any other value.

    Examples:
        >>> flag("parity", "yes")
        True
    """
    choice = value if isinstance(value, bool) else _FLAGS.get(str(value).lower())
    if choice is None:
        raise InputError(f"{name}: expected true or false, got {shown(value)}")
    return choice


def one_of(known: Sequence[str]) -> Callable[[Any, str], str]:
    """Return a reader that accepts only the given texts.

    Args:
        known: allowed texts; "" is among them if the value may be empty.

    Returns:
        A reader for `Fields`, which raises InputError for any other value.

    Examples:
        >>> one_of(("pro", "anti"))("other", "row 0: stereotype")
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: row 0: stereotype: expected one of pro, anti, got 'other'
    """
    names = ", ".join(name or "nothing" for name in known)

    def read(value: Any, where: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise InputError(f"{where}: expected one of {names}, got {shown(value)}")
        return str.__str__(value)

    return read


def check_ids(ids: Any, n: int) -> list[str]:
    """Return one name per example.

    Args:
        ids: names in any container that `listed` accepts; None for row numbers.

    Raises:
        InputError: for another number of names, one that is not a text, or one that occurs twice.

    Examples:
        >>> check_ids(None, 2)
        ['0', '1']
    """
    if ids is None:
        return [str(row) for row in range(n)]
    names = listed("ids", ids)
    if len(names) != n:
        raise InputError(f"ids: expected one per row, {n} in all, got {len(names)}")
    rows: dict[str, int] = {}
    for row, name in enumerate(names):
        if (earlier := rows.setdefault(text(name, f"ids: row {row}"), row)) != row:
            raise InputError(
                f"ids: row {row}: expected an id that no other row has, got {name!r}, as in row"
                f" {earlier}"
            )
    return list(rows)


def own_data(references: Sequence[Mapping[str, Any]]) -> str:
    """Return the signature field of data without a name: a digest of what the metric reads of them.

    Results with the same digest have the same rows in the same order, and can be joined by row
    number.

    Args:
        references: references as `check_rows` returns them.

    Examples:
        >>> own_data([{"source": "Yes.", "pair": ""}])
        'own@cd5fb696b5af'
    """
    written = json.dumps(references, ensure_ascii=False, sort_keys=True)
    return f"own@{hashlib.sha256(written.encode('utf-8')).hexdigest()[:12]}"


def check_languages(src_lang: object, tgt_lang: object) -> None:
    """Check that languages are given as texts: ISO 639-1 codes, or "" for one that is not named."""
    for name, value in (("src_lang", src_lang), ("tgt_lang", tgt_lang)):
        if not isinstance(value, str):
            raise InputError(f"{name}: expected the code of a language, got {shown(value)}")
        check_text(value, name)


def check_spaced_language(lang: str, metric: str) -> None:
    """Refuse a language that is unknown, or that has no spaces between words.

    Args:
        lang: ISO 639-1 code; "" stands for a language that is not named, and is accepted.

    Raises:
        InputError: for such a language; the message lists the possible ones.

    Examples:
        >>> check_spaced_language("ja", "gender_accuracy")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: tgt_lang: gender_accuracy reads words between spaces, which 'ja' does not write; expected one of af, am, ar, ...
    """  # noqa: E501
    if lang == "" or (lang in LANGUAGES and lang not in _UNSPACED):
        return
    why = (
        f"reads words between spaces, which {lang!r} does not write"
        if lang in _UNSPACED
        else f"does not know the language {lang!r}"
    )
    known = ", ".join(sorted(set(LANGUAGES) - _UNSPACED))
    raise InputError(f"tgt_lang: {metric} {why}; expected one of {known}")


def check_twins(pairs: Sequence[str]) -> None:
    """Refuse a pair of more than two rows; a row may have no twin.

    Args:
        pairs: name of the pair of each row, "" for none.
    """
    rows: dict[str, list[int]] = {}
    for row, pair in enumerate(pairs):
        if pair:
            rows.setdefault(pair, []).append(row)
    for pair, members in rows.items():
        if len(members) > 2:
            raise InputError(
                f"row {members[2]}: pair {pair!r}: expected two rows at most, the twins of a"
                f" schema, got {len(members)} (rows {', '.join(map(str, members[:5]))})"
            )
