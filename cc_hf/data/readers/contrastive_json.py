"""The JSON format of contrastive test sets for word senses (ContraWSD, Rios et al. 2017; the
scoring suite of MuCoW, Raganato et al. 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from cc_hf.data.files.json_rows import JsonRow, json_items, text_of
from cc_hf.errors import DataError, InputError
from cc_hf.schema import ContrastiveTranslationExample

__all__ = ["EXTRA_KEYS", "read_contrastive_json"]

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
    """Yield the items of a list of objects, in file order.

    The objects have the keys "source", "reference", "ambig word", "sense", "original translation"
    and "errors".

    Ids are 0-based positions in the list. An item without errors has no contrastive translations. A
    contrastive translation that equals the reference is left out, since the reference cannot beat
    it; `n_equal_to_reference` counts these.

    Args:
        src_lang: source language, which the files do not state; ISO 639-1.
        tgt_lang: target language, ISO 639-1.
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
    for number, (where, item) in enumerate(json_items(path)):
        reference = text_of(item, "reference", where)
        contrasts = list(_contrasts(item, where))
        beatable = [(text, replacement) for text, replacement in contrasts if text != reference]
        value = text_of(item, category, where)
        try:
            category_name = to_category(value)
        except InputError as error:
            raise DataError(f"{where}: {category}: {error}") from None
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


def _contrasts(item: JsonRow, where: str) -> Iterator[tuple[str, str]]:
    """Yield the contrastive translations, each with the word that replaces the original translation
    ("" if it is not stated).
    """
    errors = item.get("errors")
    if not isinstance(errors, list):
        raise DataError(
            f"{where}: errors: expected a list, empty for an item without contrastive translations,"
            f" got {errors!r}"
        )
    for number, error in enumerate(errors):
        error_where = f"{where}: error {number}"
        if not isinstance(error, dict):
            raise DataError(f"{error_where}: expected an object, got {error!r}")
        yield (
            text_of(error, "contrastive", error_where),
            text_of(error, "replacement", error_where, default=""),
        )
