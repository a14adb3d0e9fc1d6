"""Users' own phenomena: a table or JSON of sources, positions and cues becomes a dataset
in contrastive format.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.cues.templates import apply_cue
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
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
from cc_hf.data.files.published_rows import own_columns
from cc_hf.data.files.sense_rows import parse_senses, senses_text
from cc_hf.errors import DataError, FileError, InputError, in_file, shown
from cc_hf.files import file_sha256, file_slug
from cc_hf.languages import LANGUAGES, language_tag
from cc_hf.reading import Place, opened
from cc_hf.schema import (
    CUSTOM,
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    Focus,
    ProbingExample,
)
from cc_hf.tables.rows import PARQUET, SHEETS, SUFFIXES, TABLES, folded, read_rows

__all__ = [
    "CUE_KEYS",
    "custom_declaration",
    "custom_example",
    "custom_rows",
    "is_custom",
    "read_custom",
    "read_words",
]

#: Columns with the cues of a row.
CUE_KEYS = ("correct_cues", "incorrect_cues")
_OWN_KEYS = (
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
    *(*_OWN_KEYS, *SOURCE_KEYS, *TRANSLATION_KEYS, "ambiguous_word", "cluster", "homograph"),
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
_FORMS: dict[type[Example], tuple[str, str]] = {
    ContrastiveSourceExample: ("Contrastive sources", "vamvas-sennrich-2021"),
    ContrastiveTranslationExample: ("Contrastive translations", "sennrich-2017"),
    ProbingExample: ("Homographs", "emelin-2020"),
}


def is_custom(name: str | Path) -> bool:
    """Return whether a dataset's name is a user's file: by its ending, such as .csv or .jsonl.

    Args:
        name: the file need not exist.

    Examples:
        >>> is_custom("rows.jsonl"), is_custom("mucow")
        (True, False)
    """
    return Path(name).suffix.lower() in SUFFIXES


def custom_declaration(
    path: str | Path, *, src_lang: str = "en", tgt_lang: str | None = None
) -> DatasetDeclaration:
    """Return the declaration of a user's file.

    Args:
        path: see `read_custom`.
        src_lang, tgt_lang: languages of rows that name none, see `read_custom`.

    Returns:
        A declaration with one configuration, which is named after the file
        (`cc_hf.files.file_slug`). Its revision is the sha256 of the file. Its cues are
        gender_brackets if every row gets these, else own.

    Raises:
        DataError: for a row that is not as expected, or for more than one source or target
            language.
        InputError: when the file does not exist, is not UTF-8 or has no rows.
    """
    path = Path(path)
    src_lang, tgt_lang = _languages(src_lang, tgt_lang)
    with opened(path):  # raises if the file itself is missing
        pass
    return _declared(path, file_sha256(path), src_lang, tgt_lang)


@lru_cache(maxsize=4)
def _declared(path: Path, sha256: str, src_lang: str, tgt_lang: str | None) -> DatasetDeclaration:
    """Return the declaration for this content, cached since one run asks for it several times."""
    gets_brackets = []

    def make(
        row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
    ) -> Example:
        example = _of_any_kind(row, number, extra_keys, src_lang)
        has_own = any(key in row for key in (*CUE_KEYS, *SOURCE_KEYS))
        gets_brackets.append(isinstance(example, ContrastiveSourceExample) and not has_own)
        return example

    examples = list(_examples(path, src_lang, make, tgt_lang))
    if len(forms := {type(example) for example in examples}) > 1:
        raise DataError(
            f"{path}: expected rows of one kind (with cues, with senses and cluster, or with"
            " contrastive translations), got several; make one file each"
        )
    languages = {example.tgt_lang for example in examples}
    if len({example.src_lang for example in examples}) > 1 or len(languages) > 1:
        raise DataError(
            f"{path}: expected one source and one target language in a file, got"
            f" {sorted({(e.src_lang, e.tgt_lang) for e in examples})}; make one file each"
        )
    targets = tuple(LANGUAGES) if languages == {""} else tuple(languages)
    config = ConfigDeclaration(
        file_slug(path.stem),
        f"made from {path.name}",
        targets,
        {"test": len(examples)},
        form=forms.pop(),
        src_lang=examples[0].src_lang,
        extra_keys=tuple(examples[0].extra),
    )
    about, citation = _FORMS[config.form]
    return DatasetDeclaration(
        name=CUSTOM,
        description=f"{about} made from {path.name}.",
        licence="unknown",
        homepage="",
        citation_keys=(citation,),
        revision=sha256,
        cues="gender_brackets" if all(gets_brackets) else "own",
        files=(),
        configs=(config,),
        default_config=config.name,
        extra_keys=config.extra_keys or (),
        read=lambda paths, config, split: iter(examples),
    )


def read_custom(
    path: str | Path, *, src_lang: str = "en", tgt_lang: str | None = None
) -> Iterator[Example]:
    """Yield the examples of a file, one per row.

    The columns of a table, or the keys of JSON objects, are:

    - `source`: the sentence.
    - `focus` and `position`: the words to be disambiguated and their 0-based first character. One
      of them may be missing. Without `position`, the focus must occur exactly once as written.
      Without `focus`, the word at the position is used.
    - `correct_cues` and `incorrect_cues`: lists in JSONL, texts separated by "|" in a table. See
      `cc_hf.cues.templates.apply_cue` for what a cue can be. A row without both whose `gold` is
      "male" or "female" gets gender brackets in the source language (`cc_hf.cues.gender_brackets`).
    - `placement` (optional): "before", "after" or "replace".
    - `id` (optional): the 0-based row by default.
    - `category` (optional): the gender by default, or "all".
    - `gold`, `src_lang` and `tgt_lang` (optional): any target language by default.

    A row may have `senses` and `cluster` in place of cues, for the metric `homograph_accuracy`:

    - `senses`: the clusters of senses of the focus, each with the words of the target language
      that show it (`cc_hf.data.files.sense_rows.parse_senses`), as an object or its JSON.
    - `cluster`: the cluster of the right sense. It becomes `gold`.
    - `homograph` (optional): the lemma of the focus; the focus by default.

    Rows in a contrastive format (`cc_hf.schema`), as `cc_hf.load_dataset` gives them, have other
    columns, with lists in JSONL and texts separated by "|" in a table, where "\\|" is a bar within
    a text:

    - `source`, `correct_sources` and `incorrect_sources`; optional are `focus`, a text or an object
      with `text` and `start`, and all columns above.
    - `correct_translation`, `contrastive_translations` and `tgt_lang`; optional are `source`,
      `category`, `id` and `src_lang`.

    Rows of ACES, ContraPro and GeNTE are read in the format of their authors
    (`cc_hf.data.files.published_rows`).

    All other columns are kept as strings in `extra`, together with `line`, the number of the line
    in the file. The first line of a .csv, .tsv or .xlsx file is its header. See
    `cc_hf.tables.rows.read_rows` for the formats.

    Args:
        src_lang: source language of rows that name none, ISO 639-1.
        tgt_lang: target language of rows with contrastive translations that name none; None if
            they must name it.

    Yields:
        Examples with at least one contrastive source on each side; for rows with senses, probing
        examples; for rows with contrastive translations, examples of these.

    Raises:
        FileError: when the file does not exist, is not UTF-8 or has no rows, or for a row that is
            not as expected. The message names the line.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "rows.tsv")
        ...     lines = "source\\tfocus\\tgold", "The nurse left.\\tnurse\\tmale"
        ...     _ = path.write_text("\\n".join(lines), encoding="utf-8")
        ...     next(read_custom(path)).incorrect_sources
        ('The [female] nurse left.',)
    """
    source, target = _languages(src_lang, tgt_lang)
    yield from _examples(Path(path), source, _of_any_kind, target)


def custom_example(row: Mapping[str, Any], *, src_lang: str = "en") -> ContrastiveSourceExample:
    """Return one example from the columns of a row.

    Args:
        row: the columns of `read_custom`.
        src_lang: source language of a row that names none, ISO 639-1.

    Raises:
        InputError: for a row that is not as expected.

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
    row = _with_known_keys(row)
    _check_keys(tuple(row))
    source = language_tag(src_lang, "src_lang")
    return _with_cues(row, 0, sorted(set(row) - set(_OWN_KEYS)), source)


def read_words(
    path: str | Path, *, src_lang: str = "en", tgt_lang: str | None = None
) -> Iterator[ProbingExample]:
    """Yield ambiguous words with references, one per row. `cc_hf.cue_building.build.build_cues`
    finds cues for them.

    The columns are those of `read_custom` without cues: `source`; `focus` or `position` or both;
    `gold` (the sense); `reference` (a correct translation); `tgt_lang`. Optional columns are
    `ambiguous_word` (the focus by default), `id`, `category` and `src_lang`.

    Args:
        src_lang: source language of rows that name none, ISO 639-1.
        tgt_lang: target language of rows that name none; None if they must name it.

    Yields:
        Examples whose `extra` has `ambiguous_word` and `reference`.

    Raises:
        FileError: when the file does not exist, is not UTF-8 or has no rows, or for a row that is
            not as expected. The message names the line.
    """
    source, target = _languages(src_lang, tgt_lang)
    yield from _examples(Path(path), source, _word, target)


def custom_rows(path: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the rows of a file without empty cells and nulls; a table must have a column `source`.

    Names of known columns may have other capitals and outer blanks.

    Raises:
        FileError: for a file that cannot be read, or a row that cannot.
    """
    suffix = path.suffix.lower()
    is_table = suffix in (*TABLES, *SHEETS)
    blank = "" if is_table and suffix != PARQUET else None
    for where, row in read_rows(path):
        with in_file(where):
            own_row = _with_known_keys(own_columns(row))
        if is_table and "source" not in own_row:
            raise FileError(
                Place(path, 1),
                f"expected columns named source, got {shown(list(row))}{_advice(row, 'source')}",
            )
        yield where, {key: cell for key, cell in own_row.items() if cell != blank}


def _with_known_keys(row: Mapping[str, Any]) -> Mapping[str, Any]:
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


def _advice(row: Mapping[str, Any], name: str) -> str:
    """Return which column of a row may be meant, for messages."""
    near = [key for key in row if folded(key) in _OTHER_NAMES[name]]
    if name == "gold":
        near = [key for key, cell in row.items() if gender_of(cell)] or near
    return f"; did you mean {near[0]!r}? Rename it to {name}" if near else ""


_E = TypeVar("_E", bound=Example)


def _examples(
    path: Path,
    src_lang: str,
    make: Callable[[Mapping[str, Any], int, Sequence[str], str], _E],
    tgt_lang: str | None = None,
) -> Iterator[_E]:
    rows = [(where, {"line": str(where.line), **_flat(row)}) for where, row in custom_rows(path)]
    if not rows:
        raise InputError(
            f"{path}: expected at least one row with source, focus or position, and what belongs to"
            " them, got none"
        )
    extra_keys = sorted({key for _, row in rows for key in row} - set(_OWN_KEYS))
    seen: dict[str, int] = {}
    for number, (where, row) in enumerate(rows):
        if tgt_lang and (make is _word or all(key in row for key in TRANSLATION_KEYS)):
            row = {"tgt_lang": tgt_lang, **row}
        with in_file(where):
            _check_keys(tuple(row))
            example = make(row, number, extra_keys, src_lang)
        if example.id in seen:
            raise FileError(
                where,
                f"the id {example.id!r} is that of line {seen[example.id]} too; expected ids that"
                " are unique",
            )
        seen[example.id] = where.line
        yield example


def _languages(src_lang: str, tgt_lang: str | None) -> tuple[str, str | None]:
    target = None if tgt_lang is None else language_tag(tgt_lang, "tgt_lang")
    return language_tag(src_lang, "src_lang"), target


def _flat(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row in a contrastive format with its `extra` as columns of their own."""
    is_contrastive = any(key in row for key in (*SOURCE_KEYS, *TRANSLATION_KEYS))
    if not is_contrastive or not isinstance(extra := row.get("extra"), dict):
        return row
    return {**extra, **{key: value for key, value in row.items() if key != "extra"}}


@lru_cache(maxsize=1024)
def _check_keys(keys: tuple[str, ...]) -> None:
    """Refuse misspelt columns, which would be kept in `extra` and otherwise ignored."""
    for key in keys:
        near = difflib.get_close_matches(key.strip().lower(), _OWN_KEYS, n=1, cutoff=0.9)
        if key not in _OWN_KEYS and near:
            raise InputError(
                f"column {key!r}: did you mean {near[0]!r}? Rename it, also if it is something else"
            )


def _word(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ProbingExample:
    source = text_cell(row, "source", required=True)
    focus = focus_cell(row, source)
    extra = {key: as_string(row.get(key, "")) for key in extra_keys}
    tgt_lang = language_cell(row, "tgt_lang")
    if not tgt_lang:
        raise InputError(
            "tgt_lang is empty; expected the language of the reference, such as 'de', in each row,"
            " or a language pair for all"
        )
    return ProbingExample(
        id=str(row.get("id", number)),
        src_lang=language_cell(row, "src_lang") or src_lang,
        tgt_lang=tgt_lang,
        source=source,
        category=category_cell(row) or "all",
        gold=text_cell(row, "gold", required=True),
        focus=focus,
        extra={
            **extra,
            "ambiguous_word": extra.get("ambiguous_word") or focus.text,
            "reference": text_cell(row, "reference", required=True),
        },
    )


def _of_any_kind(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> Example:
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
        id=str(row.get("id", number)),
        src_lang=language_cell(row, "src_lang") or src_lang,
        tgt_lang=language_cell(row, "tgt_lang"),
        source=text_cell(row, "source", required=True),
        category=category_cell(row) or "all",
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
    """Return an example with contrastive translations."""
    tgt_lang = language_cell(row, "tgt_lang")
    if not tgt_lang:
        raise InputError(
            "tgt_lang is empty; expected the language of the translations, such as 'de', in each"
            " row, or a language pair for all"
        )
    return ContrastiveTranslationExample(
        id=str(row.get("id", number)),
        src_lang=language_cell(row, "src_lang") or src_lang,
        tgt_lang=tgt_lang,
        source=text_cell(row, "source"),
        correct_translation=text_cell(row, "correct_translation", required=True).replace(
            f"\\{CELL_SEPARATOR}", CELL_SEPARATOR
        ),
        contrastive_translations=texts_cell(row, "contrastive_translations"),
        category=category_cell(row) or "all",
        extra={k: as_string(row.get(k, "")) for k in extra_keys if k not in TRANSLATION_KEYS},
    )


def _with_senses(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ProbingExample:
    """Return an example of a homograph."""
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
        id=str(row.get("id", number)),
        src_lang=language_cell(row, "src_lang") or src_lang,
        tgt_lang=language_cell(row, "tgt_lang"),
        source=source,
        category=category_cell(row) or "all",
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
            if "gold" not in row and (advice := _advice(row, "gold")):
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
