"""What two people read in translations of MuCoW by the ensembles of Ng et al. 2019 (Vamvas &
Sennrich 2021, appendix E). All are translations that MuCoW's word lists could not decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf.data.declaration import SourceFile
from cc_hf.data.labelled import RIGHT, WRONG, LabelledTranslation, LabelSet, agreed
from cc_hf.reading import JSONL
from cc_hf.schema import NEITHER
from cc_hf.tables.rows import read_rows
from cc_hf.test_sets.mucow.files import WITH_CUES_FILES

__all__ = ["LABELS"]

_BAD_SAMPLE = ""
_SHOWS = {
    "Correct Sense": RIGHT,
    "Wrong Sense": WRONG,
    "Both / Neutral / Ambiguous": NEITHER,
    "Translation too bad to tell / Third sense": WRONG,
    "Bad sample / Ill-defined senses": _BAD_SAMPLE,
}
#: Language pair -> sha256 and size of the file of each person.
_FILES = {
    "en-de": (
        ("257aaf4528ca1b3b0c459509ebac6495a4d4af2da6ecfb5461a43997ba8b6eee", 155365),
        ("a6349479a4952217163cb7c535a87fce508ea5cf6343bff0e094ee0a7747ffed", 158474),
    ),
    "en-ru": (
        ("3c7171c0a01168a52c361683a74e2b0149e51f6642e90898995b2ef732a118d8", 152810),
        ("6bb8054ae07cd7344056a5d31562addff739eb1e03a1d115d57ce9e234af5cd8", 152390),
    ),
}
_SYSTEM = "wmt19-ensemble"


def _path(pair: str, person: int) -> str:
    return f"human_validation/mucow/data/{pair}.annotator{person}.jsonl"


def _file(pair: str, person: int, sha256: str, size: int) -> SourceFile:
    first = WITH_CUES_FILES[pair][0]
    return SourceFile(first.repository, first.commit, _path(pair, person), sha256, size)


def _key(source: str, word: str) -> tuple[str, str]:
    # Sources of some labels have lost the quotation mark at their start.
    return source.lstrip("'"), word


def _read(
    paths: Mapping[str, Path], pair: str, examples: Sequence[Any]
) -> Iterator[LabelledTranslation]:
    """Yield the translations that both people labelled, and neither called a bad sample."""
    # The files name no examples: a translation is of the first one with its source and word.
    ids: dict[tuple[str, str], str] = {}
    for example in examples:
        ids.setdefault(_key(example.source, example.extra["ambiguous_word"]), example.id)
    first, second = (
        {row["Sample ID"]: row for _, row in read_rows(paths[_path(pair, person)], JSONL)}
        for person in (1, 2)
    )
    for sample, row in first.items():
        name = ids.get(_key(row["Source Sentence"], row["Word"]))
        if name is None or sample not in second:
            continue
        labels = tuple(_SHOWS[of_person[sample]["label"][0]] for of_person in (first, second))
        if _BAD_SAMPLE not in labels:
            shows = agreed(labels, RIGHT)
            yield LabelledTranslation(name, row["Translation"], _SYSTEM, shows, labels)


LABELS = LabelSet(
    name="mucow",
    about="labels of two people, on translations that lists of words cannot decide",
    dataset="mucow",
    configs={pair: pair for pair in _FILES},
    files={
        pair: tuple(_file(pair, person, *pinned) for person, pinned in enumerate(of_pair, 1))
        for pair, of_pair in _FILES.items()
    },
    by="people",
    n_people=2,
    read=_read,
)
