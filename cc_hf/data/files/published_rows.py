"""Rows of published contrastive test sets that a user brings, in the format of their authors: ACES
(Amrhein et al. 2022), ContraPro (Müller et al. 2018), GeNTE and mGeNTE (Savoldi et al. 2025), and
EuroGEST (Rowe et al. 2025).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cc_hf.errors import InputError
from cc_hf.languages import pair_in
from cc_hf.reading import whole_number
from cc_hf.records import WORD, read_value

__all__ = ["own_columns"]

_ACES = dict.fromkeys(
    ("source", "good-translation", "incorrect-translation", "phenomena", "langpair"), WORD
)
_CONTRAPRO = {
    **dict.fromkeys(("src segment", "ref segment", "src pronoun", "ref pronoun"), WORD),
    "ante distance": float,
    "errors": [{"contrastive": WORD}],
}
_GENTE = dict.fromkeys(("SET", "SRC", "REF-G", "REF-N"), WORD)
_EUROGEST = {**dict.fromkeys(("Source", "Masculine", "Feminine"), WORD), "Stereotype_ID": None}
_SETS = ("set-g", "set-n")  # gendered, gender-neutral


def own_columns(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the columns that `cc_hf.data.files.custom.read_custom` reads.

    Examples:
        >>> row = {"source": "Yes.", "good-translation": "Ja.", "incorrect-translation": "Nein."}
        >>> own_columns(row | {"phenomena": "antonym", "langpair": "en-de"})["category"]
        'antonym'
    """
    for key, (form, convert) in _FORMATS.items():
        if key in row:
            read_value(form, row)
            name_of_id = next((name for name in _IDS if name in row), "")
            read = {*form, name_of_id}
            kept = {name: value for name, value in row.items() if name not in read}
            named = {"id": row[name_of_id]} if name_of_id else {}
            return {**kept, **named, **convert(row)}
    return row


def _aces(row: Mapping[str, Any]) -> dict[str, Any]:
    if (pair := pair_in(row["langpair"])) is None:
        raise InputError(f"langpair: expected a pair such as en-de, got {row['langpair']!r}")
    return {
        **{"src_lang": pair[0], "tgt_lang": pair[1], "category": row["phenomena"]},
        "source": row["source"],
        "correct_translation": row["good-translation"],
        "contrastive_translations": [row["incorrect-translation"]],
    }


def _contrapro(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{"src_lang": "en", "tgt_lang": "de", "source": row["src segment"]},
        "category": f"{row['src pronoun']}:{row['ref pronoun']}".lower(),
        "distance": row["ante distance"],
        "correct_translation": row["ref segment"],
        "contrastive_translations": [error["contrastive"] for error in row["errors"]],
    }


def _gente(row: Mapping[str, Any]) -> dict[str, Any]:
    if row["SET"].lower() not in _SETS:
        raise InputError(f"SET: expected Set-G or Set-N, got {row['SET']!r}")
    is_neutral = row["SET"].lower() == _SETS[1]
    translations = (row["REF-G"], row["REF-N"])
    return {
        "source": row["SRC"],
        "category": "neutral" if is_neutral else "gendered",
        "correct_translation": translations[is_neutral],
        "contrastive_translations": [translations[not is_neutral]],
    }


def _eurogest(row: Mapping[str, Any]) -> dict[str, Any]:
    number = whole_number(row["Stereotype_ID"])
    if number is None:
        raise InputError(f"Stereotype_ID: expected a whole number, got {row['Stereotype_ID']!r}")
    return {
        "source": row["Source"],
        "category": f"stereotype_{number:02}",
        "correct_translation": row["Masculine"],
        "contrastive_translations": [row["Feminine"]],
        "open_share": "masculine_preference",
    }


_IDS = ("ID", "GEST_ID")
#: A column that only rows of a format have -> their columns, and what makes them ours.
_FORMATS: dict[str, tuple[dict[str, Any], Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "good-translation": (_ACES, _aces),
    "src segment": (_CONTRAPRO, _contrapro),
    "REF-G": (_GENTE, _gente),
    "Stereotype_ID": (_EUROGEST, _eurogest),
}
