"""Which gender people read in translations of GENDEROUS by DeepL and GPT-4o."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf.data.declaration import SourceFile
from cc_hf.data.labelled import LabelledTranslation, LabelSet
from cc_hf.errors import FileError
from cc_hf.schema import NEITHER
from cc_hf.tables.rows import TABLES, read_rows
from cc_hf.test_sets.genderous.reader import DECLARATION

__all__ = ["LABELS"]

# The other labels, "error [incorrect]" and "error [mixed]", are left out: they say that the
# translation has another person, a group or another adjective, or words of both genders, not what
# it shows. Nothing is wrong by its gender here.
_SHOWS = {"M": "male", "F": "female", "N": NEITHER}
_NAME = re.compile(r"annotations_([^_]+)_(base|their|adjectives)_sentences\.tsv")
#: Endings of the columns of a language that hold no translations.
_NO_TEXTS = ("_annotation", "_agreement")
_FOLDERS = {"DeepL": "MT", "GPT-4o": "LLM/prompt1"}
#: System, part, sha256 and size of each file, which has the labels of all languages.
_PINNED = (
    ("DeepL", "base", "d260a01e57800899810b6253727333848c54c31031804a8ce60b0bda3fc88bca", 7869),
    ("DeepL", "their", "e23677beb0b957f71aeb77e4ea2afe95951c300ecdcc220d07267605de759927", 8484),
    (
        "DeepL",
        "adjectives",
        "ab0634b1b93bac0aefb5a8d27cdcae0220462ce57c115d0877a073b6aced942d",
        138678,
    ),
    ("GPT-4o", "base", "be5b472c25df5685263660521c77e2e455ef5eb9ef02239397400c40678405e5", 8072),
    ("GPT-4o", "their", "ed87e47ef8d6bc9c71151a385b3522681f4cfebcda80bbe1cbc6f753f8ff1a5e", 8483),
    (
        "GPT-4o",
        "adjectives",
        "85c39189ef4eee89b84af3025eb210071a685b0c8010eb102e89af9d1229d5f1",
        140630,
    ),
)


def _path(system: str, part: str) -> str:
    return f"annotations/{_FOLDERS[system]}/annotations_{system}_{part}_sentences.tsv"


def _file(system: str, part: str, sha256: str, size: int) -> SourceFile:
    repository, commit = DECLARATION.files[0].repository, DECLARATION.revision
    return SourceFile(repository, commit, _path(system, part), sha256, size)


def _read(
    paths: Mapping[str, Path], pair: str, examples: Sequence[Any]
) -> Iterator[LabelledTranslation]:
    """Yield the translations with a gender or without any."""
    ids = {example.source: example.id for example in examples}
    lang = pair.removeprefix("en-").upper()
    label = f"{lang}_annotation"
    for path in _files(paths):
        system, part = _NAME.fullmatch(path.name).groups()  # type: ignore[union-attr]
        source = "adj5_sentences" if part == "adjectives" else "sentences"
        for where, row in read_rows(path, TABLES, dict.fromkeys((source, label))):
            columns = [c for c in row if c.startswith(f"{lang}_") and not c.endswith(_NO_TEXTS)]
            if len(columns) != 1:
                raise FileError(where, f"expected one column of translations {lang}_SYSTEM")
            column = columns[0]
            name, shows = ids.get(row[source]), _SHOWS.get(row[label])
            if name is not None and shows is not None and row[column]:
                yield LabelledTranslation(name, row[column], system, shows)


def _files(paths: Mapping[str, Path]) -> list[Path]:
    """Return the pinned files, and those of other systems that a local copy has beside them."""
    pinned = [paths[_path(system, part)] for system, part, *_ in _PINNED]
    folders = dict.fromkeys(path.parent for path in pinned)
    beside = {p for folder in folders for p in folder.iterdir() if _NAME.fullmatch(p.name)}
    return [*pinned, *sorted(beside - {*pinned})]


_PAIRS = tuple(f"en-{lang}" for lang in DECLARATION.config(None).tgt_langs)

LABELS = LabelSet(
    name="genderous",
    about="labels of one person, on translations by DeepL and GPT-4o",
    dataset="genderous",
    configs=dict.fromkeys(_PAIRS, DECLARATION.default_config),
    files=dict.fromkeys(_PAIRS, tuple(_file(*pinned) for pinned in _PINNED)),
    by="people",
    n_people=1,
    read=_read,
)
