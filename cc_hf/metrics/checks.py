"""What every metric checks of its rows, once: lists in their order, one reference per translation,
each key with a value of its kind.

A metric declares the keys of its references as `Fields`; what comes back are plain lists and dicts,
whatever container came in.
"""

from __future__ import annotations

import hashlib
import json
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from cc_hf.errors import InputError, shown
from cc_hf.languages import LANGUAGES

__all__ = [
    "Fields",
    "any_text",
    "check_ids",
    "check_languages",
    "check_references",
    "check_rows",
    "check_spaced_language",
    "check_text",
    "check_twins",
    "index",
    "listed",
    "one_of",
    "optional_text",
    "optional_texts",
    "own_data",
    "text",
    "texts",
]

#: keys of a reference -> what reads a value: (value, where it stands) -> the value as a plain str,
#: int or list, or an InputError
Fields: TypeAlias = Mapping[str, Callable[[Any, str], Any]]

#: written without spaces between words, so that words cannot be told by splitting
_UNSPACED = frozenset({"bo", "ja", "km", "lo", "my", "th", "zh"})


def listed(name: str, values: Any) -> list[Any]:
    """The values of a list, tuple, generator, array, column of `datasets` or pandas, by position:
    an index of pandas is no order.

    Args:
        name: of the values, for the message.
        values: of one dimension.

    Raises:
        InputError: for a text, a mapping, a table, what has no order (a set) or is no collection.

    >>> listed("predictions", (text for text in ("a", "b")))
    ['a', 'b']
    """
    if isinstance(values, (set, frozenset)):
        raise InputError(
            f"{name}: expected a list, got {type(values).__name__}, which has no order"
        )
    if (
        isinstance(values, (str, bytes, Mapping))
        or not isinstance(values, Iterable)
        or getattr(values, "ndim", 1) != 1
    ):
        raise InputError(f"{name}: expected a list, got {type(values).__name__}")
    return list(values)


def check_rows(
    predictions: Any, references: Any, fields: Fields, *, is_blank_allowed: bool = True
) -> tuple[list[str], list[dict[str, Any]]]:
    """Check the rows of a metric that judges translations.

    Args:
        predictions, references: of the host, in any container that `listed` takes.
        fields: of each reference.
        is_blank_allowed: whether a blank translation is judged.

    Returns:
        The translations, and the references with exactly the keys of `fields`.

    Raises:
        InputError: for no rows, different lengths, or with the first row that is not as expected.

    >>> check_rows(
    ...     ["Ja."], [{"source": "Yes.", "remark": 3}], {"source": text, "pair": optional_text}
    ... )
    (['Ja.'], [{'source': 'Yes.', 'pair': ''}])
    """
    translations, rows = listed("predictions", predictions), listed("references", references)
    if len(translations) != len(rows):
        raise InputError(
            f"expected as many references as predictions, got {len(translations)} predictions and"
            f" {len(rows)} references"
        )
    if not translations:
        raise InputError("nothing to judge: expected at least one prediction, got none")
    checked = []
    for row, translation in enumerate(translations):
        if not isinstance(translation, str) or not (is_blank_allowed or translation.strip()):
            raise InputError(
                f"row {row}: expected a translation, got {shown(translation)}; fix the system's"
                " output or leave the row out of predictions and references"
            )
        checked.append(check_text(translation, f"row {row}: the translation"))
    return checked, _checked_references(rows, fields)


def check_references(references: Any, fields: Fields) -> list[dict[str, Any]]:
    """Check the rows of a metric that judges no translations; otherwise as `check_rows`.

    Raises:
        InputError: for no rows, or with the first row that is not as expected.
    """
    rows = listed("references", references)
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
    """Read a text that is not blank.

    Raises:
        InputError: for anything else, beginning with `where`; so do all readers.
    """
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: expected a text that is not blank, got {shown(value)}")
    return check_text(value, where)


def any_text(value: Any, where: str) -> str:
    """Read a text, which may be blank.

    Raises:
        InputError: as `text`.
    """
    if not isinstance(value, str):
        raise InputError(f"{where}: expected a string, got {shown(value)}")
    return check_text(value, where)


def optional_text(value: Any, where: str) -> str:
    """Read a text, "" for None; the key may be absent.

    Raises:
        InputError: as `text`.
    """
    if value is not None and not isinstance(value, str):
        raise InputError(f"{where}: expected a string or nothing, got {shown(value)}")
    return check_text(value or "", where)


def texts(value: Any, where: str) -> list[str]:
    """Read a list of at least one text; none is blank.

    Raises:
        InputError: as `text`.
    """
    found = optional_texts(value, where)
    if not found:
        raise InputError(f"{where}: expected a list with at least one text, got an empty one")
    return found


def optional_texts(value: Any, where: str) -> list[str]:
    """Read a list of texts, which may be empty; none of them is blank.

    Raises:
        InputError: as `text`.
    """
    return [text(member, where) for member in listed(where, value)]


def index(value: Any, where: str) -> int:
    """Read an integer, also one of numpy; a bool is none.

    Raises:
        InputError: as `text`.
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise InputError(f"{where}: expected an integer, got {shown(value)}")
    return int(value)


def one_of(known: Sequence[str]) -> Callable[[Any, str], str]:
    """Make the reader of one of these texts.

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


def check_text(text: str, where: str) -> str:
    """Refuse what cannot be written as UTF-8, a lone surrogate.

    Returns:
        The text as a plain str, also that of a subclass such as numpy's.

    Raises:
        InputError: with `where` and the character.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} is not valid Unicode: a lone surrogate at character {error.start}; fix the"
            " encoding of the file it came from"
        ) from None
    return str.__str__(text)


def check_ids(ids: Any, n: int) -> list[str]:
    """One name per example; None for row numbers.

    Raises:
        InputError: for another number of names than examples, one that is no text, or one that
            occurs twice.

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
    """The signature field of data that have no name: a digest of what the metric reads of them, in
    their order.

    Results with the same digest are of the same rows, and can be joined by their numbers.

    Args:
        references: as `check_rows` returns them.

    >>> own_data([{"source": "Yes.", "pair": ""}])
    'own@cd5fb696b5af'
    """
    written = json.dumps(references, ensure_ascii=False, sort_keys=True)
    return f"own@{hashlib.sha256(written.encode('utf-8')).hexdigest()[:12]}"


def check_languages(src_lang: object, tgt_lang: object) -> None:
    """Check that languages are named by texts; "" stands for one that is not named.

    Raises:
        InputError: for anything else.

    >>> check_languages("en", "")
    """
    for name, value in (("src_lang", src_lang), ("tgt_lang", tgt_lang)):
        if not isinstance(value, str):
            raise InputError(f"{name}: expected the code of a language, got {shown(value)}")
        check_text(value, name)


def check_spaced_language(lang: str, metric: str) -> None:
    """Refuse a language that is unknown, or that has no spaces between words; "" stands for one
    that is not named.

    Raises:
        InputError: with the languages that are possible.

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
            raise InputError(
                f"row {members[2]}: pair {pair!r}: expected two rows at most, the twins of a"
                f" schema, got {len(members)} (rows {', '.join(map(str, members[:5]))})"
            )
