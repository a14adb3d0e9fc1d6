"""The JSON format of contrastive test sets for word senses (ContraWSD, Rios et al. 2017; the
scoring suite of MuCoW, Raganato et al. 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cc_hf.errors import in_file
from cc_hf.reading import text_of
from cc_hf.records import read_json, read_value
from cc_hf.rules import Kind
from cc_hf.schema import ContrastiveTranslationExample

__all__ = ["EXTRA_KEYS", "read_contrastive_json"]

_ERRORS = Kind(
    "a list, empty for an item without contrastive translations",
    lambda value: isinstance(value, list),
)
#: The columns in `extra` of every example.
EXTRA_KEYS = (
    "ambiguous_word",
    "sense",
    "original_translation",
    "corpus",
    "replacements",
    "n_equal_to_reference",
)


def read_contrastive_json(
    path: Path,
    *,
    src_lang: str,
    tgt_lang: str,
    category: str,
    to_category: Callable[[str], str] = str,
    more: Mapping[str, str] | None = None,
) -> Iterator[ContrastiveTranslationExample]:
    """Yield the items of a list of objects, in file order, with 0-based positions as ids.

    The objects have the keys "source", "reference", "ambig word", "sense", "original translation"
    and "errors".

    Args:
        src_lang, tgt_lang: the languages, which the files do not state; ISO 639-1.
        category: the key whose text gives the category.
        to_category: a function from this text to the category. An InputError that it raises becomes
            a DataError that names the item.
        more: further columns in `extra`: column -> key. The column is "" where an item lacks the
            key.

    Yields:
        Examples whose `extra` has EXTRA_KEYS and the columns of `more`.

    Raises:
        DataError: for a file that is not such a list, or an item that is not as expected.
    """
    for number, item in enumerate(read_json(path, "a list of objects", [None])):
        where = f"{path}: item {number}"
        with in_file(where):
            read_value({"errors": _ERRORS}, item)
        reference = text_of(item, "reference", where)
        contrasts = list(_contrasts(item, where))
        # The reference cannot beat a translation that equals it.
        beatable = [(text, replacement) for text, replacement in contrasts if text != reference]
        value = text_of(item, category, where)
        with in_file(f"{where}: {category}"):
            category_name = to_category(value)
        extra = {
            "ambiguous_word": text_of(item, "ambig word", where),
            "sense": text_of(item, "sense", where),
            "original_translation": text_of(item, "original translation", where),
            "corpus": text_of(item, "origin", where, default=""),
            "replacements": "; ".join(replacement for _, replacement in beatable),
            "n_equal_to_reference": str(len(contrasts) - len(beatable)),
        }
        yield ContrastiveTranslationExample(
            id=str(number),
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            source=text_of(item, "source", where),
            correct_translation=reference,
            contrastive_translations=tuple(text for text, _ in beatable),
            category=category_name,
            extra={
                **extra,
                **{
                    column: text_of(item, key, where, default="")
                    for column, key in (more or {}).items()
                },
            },
        )


def _contrasts(item: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    """Yield the contrastive translations, each with the word that replaces the original, or ""."""
    for number, error in enumerate(item["errors"]):
        error_where = f"{where}: error {number}"
        with in_file(error_where):
            read_value({}, error)
        yield (
            text_of(error, "contrastive", error_where),
            text_of(error, "replacement", error_where, default=""),
        )
