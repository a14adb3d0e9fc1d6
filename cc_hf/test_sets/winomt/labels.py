"""What two people read in translations of WinoMT (Vamvas & Sennrich 2021, appendix E): German ones
by Amazon Translate and Russian ones by Google Translate, of Stanovsky et al. 2019.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.data.declaration import SourceFile
from cc_hf.data.labelled import WRONG, LabelledTranslation, LabelSet, agreed
from cc_hf.schema import NEITHER
from cc_hf.test_sets.winomt.reader import DECLARATION

__all__ = ["LABELS"]

_SHOWS = {
    "Male": "male",
    "Female": "female",
    "Both / Neutral / Ambiguous": NEITHER,
    "Translation too bad to tell": WRONG,
}
_SYSTEMS = {"en-de": "aws", "en-ru": "google"}
#: Language pair -> sha256 and size of the file of each person.
_FILES = {
    "en-de": (
        ("896660c07e0e0b214adfadfee9605e9459fbb8b92ce338a07a47c3b29927b478", 100612),
        ("f735a469c2d25c7104d49d96114d4a2478e3a393209b0ea2c99196be45a87df2", 110674),
    ),
    "en-ru": (
        ("9a2f75f5dc886271cab6e0832db1bf592cd828c0004dbb86d52eb2d333ffbc40", 174416),
        ("456418fb69be83072acb911d6585fcd95dbcc09226ec224d82ce7bf134dcf25d", 176010),
    ),
}


def _path(pair: str, person: int) -> str:
    return f"human_validation/winomt/data/{pair}.annotator{person}.jsonl"


def _file(pair: str, person: int, sha256: str, size: int) -> SourceFile:
    repository, commit = DECLARATION.files[0].repository, DECLARATION.revision
    return SourceFile(repository, commit, _path(pair, person), sha256, size)


def _read(
    paths: Mapping[str, Path], pair: str, examples: Sequence[Any]
) -> Iterator[LabelledTranslation]:
    ids = {example.id for example in examples}
    # The file of the second person is read from beside it.
    for row in read_annotations(paths[_path(pair, 1)]):
        if row.example_id in ids:
            labels = tuple(_SHOWS[label] for label in row.raw)
            shows = agreed(labels, row.gold)
            yield LabelledTranslation(
                row.example_id, row.translation, _SYSTEMS[pair], shows, labels
            )


LABELS = LabelSet(
    name="winomt",
    about="labels of two people, on translations by Amazon (German) and Google (Russian)",
    dataset="winomt",
    configs=dict.fromkeys(_FILES, "default"),
    files={
        pair: tuple(_file(pair, person, *pinned) for person, pinned in enumerate(of_pair, 1))
        for pair, of_pair in _FILES.items()
    },
    by="people",
    n_people=2,
    read=_read,
)
