"""Folders that `cc-hf build` and `cc-hf study disambiguation_bias build-challenge` write, read
again as datasets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.errors import DataError, InputError
from cc_hf.files import is_folder
from cc_hf.languages import LANGUAGES
from cc_hf.records import read_values
from cc_hf.schema import (
    ContrastiveSourceExample,
    ContrastiveTranslationExample,
    Example,
    ProbingExample,
)

__all__ = ["CHOICES", "examples_of_rows", "folder_declaration", "is_dataset_folder"]

_Example = TypeVar("_Example", bound=Example)

#: What the name of a configuration ends in that repeats another one as choices, for programs that
#: read columns (`cc_hf.choice_rows`). It holds no examples and is not read here.
CHOICES = ".choices"

# A column that only one class of examples has -> the class.
_FORMS: dict[str, type[Example]] = {
    "correct_sources": ContrastiveSourceExample,
    "correct_translation": ContrastiveTranslationExample,
    "gold": ProbingExample,
}


def is_dataset_folder(name: str | Path) -> bool:
    """Return whether a dataset's name is a folder with CONFIG/SPLIT-00000-of-00001.parquet.

    Examples:
        >>> is_dataset_folder("mucow")
        False
    """
    return is_folder(Path(name)) and any(Path(name).glob("*/*.parquet"))


def folder_declaration(path: str | Path) -> DatasetDeclaration:
    """Return the declaration of a folder of Parquet files."""
    folder = Path(path)
    # Sorted by parts, because Windows would sort paths without regard to case.
    paths = sorted(folder.glob("*/*.parquet"), key=lambda path: path.parts)
    files = [path for path in paths if not _repeats(path.parent)]
    digest = hashlib.sha256(
        b"".join(
            file.relative_to(folder).as_posix().encode()
            + b"\0"
            + hashlib.sha256(file.read_bytes()).digest()
            for file in files
        )
    ).hexdigest()
    return _declared(folder, tuple(files), digest)


def _repeats(folder: Path) -> bool:
    """Return whether a configuration is that of another one's choices."""
    name = folder.name.removesuffix(CHOICES)
    return name != folder.name and is_folder(folder.with_name(name))


@lru_cache(maxsize=4)
def _declared(folder: Path, files: tuple[Path, ...], digest: str) -> DatasetDeclaration:
    """Return the declaration for this content, cached since one run asks for it several times."""
    examples = {(file.parent.name, file.name.partition("-")[0]): _examples(file) for file in files}
    names = list(dict.fromkeys(name for name, _ in examples))
    configs = tuple(
        _config(
            folder,
            name,
            {split: rows for (config, split), rows in examples.items() if config == name},
        )
        for name in names
    )

    def read(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
        return iter(examples[config, split])

    return DatasetDeclaration(
        name="custom",
        description=f"Examples from the folder {folder.name}.",
        licence="unknown",
        homepage="",
        citation_keys=("vamvas-sennrich-2021",),
        revision=digest,
        cues="own",
        files=(),
        configs=configs,
        default_config=names[0],
        extra_keys=(),
        read=read,
    )


def _config(folder: Path, name: str, splits: Mapping[str, list[Example]]) -> ConfigDeclaration:
    examples = [example for rows in splits.values() for example in rows]
    sources = sorted({example.src_lang for example in examples})
    targets = {example.tgt_lang for example in examples}
    if len(sources) != 1:
        raise DataError(
            f"{folder / name}: expected examples with one source language, got"
            f" {', '.join(sources) or 'no examples'}"
        )
    return ConfigDeclaration(
        name,
        f"made from {folder.name}",
        tuple(LANGUAGES) if targets == {""} else tuple(sorted(targets)),
        {split: len(rows) for split, rows in splits.items()},
        form=type(examples[0]),
        src_lang=sources[0],
        extra_keys=tuple(examples[0].extra),
    )


def _examples(file: Path) -> list[Example]:
    import pyarrow
    import pyarrow.parquet

    try:
        rows = pyarrow.parquet.read_table(file).to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(f"{file}: expected a Parquet file of a dataset, got {error}") from None
    form = next((_FORMS[key] for key in _FORMS if rows and key in rows[0]), None)
    if form is None:
        raise DataError(
            f"{file}: expected examples as `cc-hf build` writes them, got"
            f" {'the columns ' + ', '.join(rows[0]) if rows else 'no rows'}"
        )
    try:
        return examples_of_rows(form, rows)
    except InputError as error:
        raise DataError(f"{file}: {error}") from None


def examples_of_rows(form: type[_Example], rows: Iterable[Mapping[str, Any]]) -> list[_Example]:
    """Return the examples of rows of a dataset, which may have further columns.

    Examples:
        >>> row = dict(id="0", src_lang="de", tgt_lang="en", source="Das Schloss.", category="all")
        >>> row |= {"gold": "castle", "focus": {"text": None, "start": None}, "number": 7}
        >>> examples_of_rows(ProbingExample, [row])[0].focus is None
        True
    """
    names = [field.name for field in fields(form)]
    plain = [_without_nulls({name: row[name] for name in names if name in row}) for row in rows]
    return [*read_values(form, plain, lambda number: f"row {number}: ")]


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without the nulls for what an example lacks."""
    extra = {name: text for name, text in (row.get("extra") or {}).items() if text is not None}
    has_focus = (row.get("focus") or {}).get("text") is not None
    return {**row, "extra": extra, **({"focus": None} if "focus" in row and not has_focus else {})}
