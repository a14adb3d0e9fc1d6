"""Users' own phenomena: a CSV, TSV or JSONL file of sources, positions and cues becomes a dataset
in contrastive format.
"""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from cc_hf.cues.gender_brackets import gender_bracket_sources
from cc_hf.cues.templates import apply_cue
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.files.sense_rows import parse_senses, senses_text
from cc_hf.errors import DataError, FileError, InputError, in_file
from cc_hf.files import file_sha256, file_slug
from cc_hf.languages import LANGUAGES
from cc_hf.normalization import is_blank
from cc_hf.reading import SUFFIXES, TABLES, Place, read_rows, read_text
from cc_hf.schema import UNCOUNTED_CATEGORY, ContrastiveSourceExample, Focus, ProbingExample

__all__ = [
    "custom_declaration",
    "custom_example",
    "custom_rows",
    "focus_positions",
    "is_custom",
    "read_custom",
    "read_words",
]

_CUE_KEYS = ("correct_cues", "incorrect_cues")
_OWN_KEYS = (
    "id",
    "source",
    "focus",
    "position",
    *_CUE_KEYS,
    "placement",
    "category",
    "gold",
    "src_lang",
    "tgt_lang",
)
_GENDERS = ("male", "female")
#: separates the cues of one cell
_CELL_SEPARATOR = "|"
_MAX_DIGITS = 18


def is_custom(name: str | Path) -> bool:
    """Return whether a dataset's name is a user's file: whether it ends in .csv, .tsv or .jsonl.

    Args:
        name: the file need not exist.

    Examples:
        >>> is_custom("rows.jsonl"), is_custom("mucow")
        (True, False)
    """
    return Path(name).suffix.lower() in SUFFIXES


def custom_declaration(path: str | Path, *, src_lang: str = "en") -> DatasetDeclaration:
    """Return the declaration of a user's file.

    Args:
        path: see `read_custom`.
        src_lang: source language of rows that name none, ISO 639-1.

    Returns:
        A declaration with one configuration, which is named after the file
        (`cc_hf.files.file_slug`). Its revision is the sha256 of the file.

    Raises:
        DataError: for a row that is not as expected, or for more than one source or target
            language.
        InputError: when the file does not exist, is not UTF-8 or has no rows.
    """
    path = Path(path)
    read_text(path)  # raises if the file itself is missing or not UTF-8
    return _declared(path, file_sha256(path), src_lang)


@lru_cache(maxsize=4)
def _declared(path: Path, sha256: str, src_lang: str) -> DatasetDeclaration:
    """Return the declaration for this content, cached since one run asks for it several times."""
    examples = list(read_custom(path, src_lang=src_lang))
    if len(forms := {type(example) for example in examples}) > 1:
        raise DataError(
            f"{path}: expected rows with cues, or rows with senses and cluster, got both; make one"
            " file each"
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
    has_cues = config.form is ContrastiveSourceExample
    return DatasetDeclaration(
        name="custom",
        description=f"{'Contrastive sources' if has_cues else 'Homographs'} made from {path.name}.",
        licence="unknown",
        homepage="",
        citation_keys=("vamvas-sennrich-2021" if has_cues else "emelin-2020",),
        revision=sha256,
        cues="own",
        files=(),
        configs=(config,),
        default_config=config.name,
        extra_keys=config.extra_keys or (),
        read=lambda paths, config, split: iter(examples),
    )


def read_custom(
    path: str | Path, *, src_lang: str = "en"
) -> Iterator[ContrastiveSourceExample | ProbingExample]:
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

    All other columns are kept as strings in `extra`, together with `line`, the number of the line
    in the file. The first line of a .csv or .tsv file is its header.

    Args:
        src_lang: source language of rows that name none, ISO 639-1.

    Yields:
        Examples with at least one contrastive source on each side; for rows with senses, probing
        examples.

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
    yield from _examples(Path(path), src_lang, _with_cues_or_senses)


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
    _check_keys(row)
    return _with_cues(row, 0, sorted(set(row) - set(_OWN_KEYS)), src_lang)


def focus_positions(text: str, source: str) -> list[int]:
    """Return the 0-based positions, ascending, at which words occur in the source as whole words.

    Args:
        text: the words, matched with case. Empty text occurs nowhere.

    Examples:
        >>> focus_positions("the nurse", "Ask the nurse if the nurses know the nurse.")
        [4, 33]
    """
    return (
        [
            match.start()
            for match in re.finditer(re.escape(text), source)
            if _is_whole(source, match.start(), match.end())
        ]
        if text
        else []
    )


def read_words(path: str | Path, *, src_lang: str = "en") -> Iterator[ProbingExample]:
    """Yield ambiguous words with references, one per row. `cc_hf.cue_building.build.build_cues`
    finds cues for them.

    The columns are those of `read_custom` without cues: `source`; `focus` or `position` or both;
    `gold` (the sense); `reference` (a correct translation); `tgt_lang`. Optional columns are
    `ambiguous_word` (the focus by default), `id`, `category` and `src_lang`.

    Args:
        src_lang: source language of rows that name none, ISO 639-1.

    Yields:
        Examples whose `extra` has `ambiguous_word` and `reference`.

    Raises:
        FileError: when the file does not exist, is not UTF-8 or has no rows, or for a row that is
            not as expected. The message names the line.
    """
    yield from _examples(Path(path), src_lang, _word)


def custom_rows(path: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the rows of a file without empty cells and nulls; a table must have a column `source`.

    Raises:
        FileError: for a file that cannot be read, or a row that cannot.
    """
    is_table = path.suffix.lower() in TABLES
    for where, row in read_rows(path, form={"source": None} if is_table else None):
        yield where, {key: cell for key, cell in row.items() if cell != ("" if is_table else None)}


_E = TypeVar("_E", bound=ContrastiveSourceExample | ProbingExample)


def _examples(
    path: Path, src_lang: str, make: Callable[[Mapping[str, Any], int, Sequence[str], str], _E]
) -> Iterator[_E]:
    rows = [(where, {"line": str(where.line), **row}) for where, row in custom_rows(path)]
    if not rows:
        raise InputError(
            f"{path}: expected at least one row with source, focus or position, and what belongs to"
            " them, got none"
        )
    extra_keys = sorted({key for _, row in rows for key in row} - set(_OWN_KEYS))
    seen: dict[str, int] = {}
    for number, (where, row) in enumerate(rows):
        with in_file(where):
            _check_keys(row)
            example = make(row, number, extra_keys, src_lang)
        if example.id in seen:
            raise FileError(
                where,
                f"the id {example.id!r} is that of line {seen[example.id]} too; expected ids that"
                " are unique",
            )
        seen[example.id] = where.line
        yield example


def _check_keys(row: Mapping[str, Any]) -> None:
    """Refuse misspelt columns, which would be kept in `extra` and otherwise ignored."""
    for key in row:
        near = difflib.get_close_matches(key.strip().lower(), _OWN_KEYS, n=1, cutoff=0.9)
        if key not in _OWN_KEYS and near:
            raise InputError(
                f"column {key!r}: did you mean {near[0]!r}? Rename it, also if it is something else"
            )


def _word(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ProbingExample:
    source = _text(row, "source", required=True)
    focus = _focus(row, source)
    extra = {key: _as_string(row.get(key, "")) for key in extra_keys}
    tgt_lang = _language(row, "tgt_lang")
    if not tgt_lang:
        raise InputError("tgt_lang is empty; expected the language of the reference, e.g. 'de'")
    return ProbingExample(
        id=str(row.get("id", number)),
        src_lang=_language(row, "src_lang") or src_lang,
        tgt_lang=tgt_lang,
        source=source,
        category=_category(row) or "all",
        gold=_text(row, "gold", required=True),
        focus=focus,
        extra={
            **extra,
            "ambiguous_word": extra.get("ambiguous_word") or focus.text,
            "reference": _text(row, "reference", required=True),
        },
    )


def _with_cues_or_senses(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ContrastiveSourceExample | ProbingExample:
    has_senses = "senses" in row and "cluster" in row and not any(key in row for key in _CUE_KEYS)
    return (_with_senses if has_senses else _with_cues)(row, number, extra_keys, src_lang)


def _with_senses(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ProbingExample:
    """Return an example of a homograph."""
    source = _text(row, "source", required=True)
    focus = _focus(row, source)
    senses, cluster = parse_senses(row["senses"], "senses"), _text(row, "cluster", required=True)
    if cluster not in senses:
        raise InputError(
            f"cluster: expected one of the clusters in senses, {', '.join(senses)}, got {cluster!r}"
        )
    extra = {key: _as_string(row.get(key, "")) for key in extra_keys}
    return ProbingExample(
        id=str(row.get("id", number)),
        src_lang=_language(row, "src_lang") or src_lang,
        tgt_lang=_language(row, "tgt_lang"),
        source=source,
        category=_category(row) or "all",
        gold=cluster,
        focus=focus,
        extra={
            **extra,
            "homograph": _text(row, "homograph") or focus.text,
            "cluster": cluster,
            "senses": senses_text(senses),
        },
    )


def _with_cues(
    row: Mapping[str, Any], number: int, extra_keys: Sequence[str], src_lang: str
) -> ContrastiveSourceExample:
    source = _text(row, "source", required=True)
    focus = _focus(row, source)
    language, gold = _language(row, "src_lang") or src_lang, _text(row, "gold")
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    if gold in _GENDERS and not any(key in row for key in _CUE_KEYS):
        sides = gender_bracket_sources(source, focus, gold, src_lang=language)
    else:
        placement = _text(row, "placement") or "before"
        correct, incorrect = (
            tuple(apply_cue(source, focus, cue, placement) for cue in _cues(row, key))
            for key in _CUE_KEYS
        )
        sides = correct, incorrect
    if shared := set(sides[0]) & set(sides[1]):
        raise InputError(
            f"the same cue is both correct and incorrect: it makes {sorted(shared)[0]!r}"
        )
    return ContrastiveSourceExample(
        id=str(row.get("id", number)),
        src_lang=language,
        tgt_lang=_language(row, "tgt_lang"),
        source=source,
        focus=focus,
        correct_sources=sides[0],
        incorrect_sources=sides[1],
        category=_category(row) or (gold if gold in _GENDERS else "all"),
        gold=gold,
        extra={key: _as_string(row.get(key, "")) for key in extra_keys},
    )


def _text(row: Mapping[str, Any], key: str, *, required: bool = False) -> str:
    text = row.get(key, "")
    if not isinstance(text, str) or (required and is_blank(text)):
        raise InputError(f"{key}: expected a text, got {text!r}")
    return text


def _category(row: Mapping[str, Any]) -> str:
    category = _text(row, "category")
    if category == UNCOUNTED_CATEGORY:
        raise InputError(
            f"category: expected any name but {UNCOUNTED_CATEGORY!r}, which minimum accuracies"
            " leave out; rename the category, such as 'other'"
        )
    return category


def _as_string(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _language(row: Mapping[str, Any], key: str) -> str:
    code = _text(row, key)
    if code and code not in LANGUAGES:
        raise InputError(
            f"{key}: expected an ISO 639-1 code that is known ({', '.join(LANGUAGES)}), got"
            f" {code!r}"
        )
    return code


def _cues(row: Mapping[str, Any], key: str) -> list[str]:
    cues = row.get(key, [])
    if isinstance(cues, str):
        cues = [cue.strip() for cue in cues.split(_CELL_SEPARATOR)]
    if not isinstance(cues, list) or not cues or not all(isinstance(cue, str) for cue in cues):
        if not any(name in row for name in _CUE_KEYS):
            building = (
                "; `cc-hf cues build` finds cues for words with gold and reference"
                if "reference" in row
                else ""
            )
            raise InputError(
                f"gold: expected {' or '.join(_GENDERS)}, for gender brackets, got"
                f" {_text(row, 'gold')!r}; or give {' and '.join(_CUE_KEYS)}{building}"
            )
        raise InputError(
            f'{key}: expected at least one cue, in a list or separated by "{_CELL_SEPARATOR}", got'
            f" {cues!r}"
        )
    return cues


def _focus(row: Mapping[str, Any], source: str) -> Focus:
    text = _text(row, "focus")
    if "position" not in row:
        if not text:
            raise InputError('expected "focus", "position" or both, got neither')
        positions = focus_positions(text, source)
        if not positions:
            raise InputError(
                f"focus: {text!r} does not occur as a whole word in {source!r}; write it exactly as"
                " in the source, with its capitals"
            )
        if len(positions) > 1:
            raise InputError(
                f"focus: {text!r} occurs {len(positions)} times as a whole word in {source!r}; give"
                ' its "position", the 0-based number of its first character'
            )
        return Focus(text, positions[0])
    position = row["position"]
    if (
        isinstance(position, str)
        and position.isascii()
        and position.isdecimal()
        and len(position) <= _MAX_DIGITS
    ):
        position = int(position)
    if (
        isinstance(position, bool)
        or not isinstance(position, int)
        or not 0 <= position < len(source)
    ):
        raise InputError(
            "position: expected the 0-based number of a character of the source, 0 to"
            f" {len(source) - 1}, got {repr(row['position'])[:80]}"
        )
    if not text:
        text = (
            source[position:].split()[0].rstrip(".,;:!?…»”\"'")
            if not source[position].isspace()
            else ""
        )
        if not text:
            raise InputError(f"position: no word begins at character {position} of {source!r}")
    if source[position : position + len(text)] != text:
        raise InputError(
            f"focus: {text!r} is not at character {position} of {source!r}, which has"
            f" {source[position : position + len(text)]!r} there"
        )
    if not _is_whole(source, position, position + len(text)):
        raise InputError(
            f"position: {text!r} at character {position} of {source!r} begins or ends within a word"
        )
    return Focus(text, position)


def _is_whole(source: str, start: int, end: int) -> bool:
    """Return whether no letter, mark or digit continues the text on either side."""
    return not any(
        0 < boundary < len(source)
        and all(
            unicodedata.category(character)[0] in "LMN"
            for character in source[boundary - 1 : boundary + 1]
        )
        for boundary in (start, end)
    )
