"""Genders that a dictionary reads in translations of WinoMT: labels where nobody labelled.

They are those of Google Translate that Stanovsky et al. 2019 archived.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf.data.declaration import SourceFile
from cc_hf.data.labelled import LabelledTranslation, LabelSet
from cc_hf.errors import FileError
from cc_hf.plugins.gender_reading.persons import person
from cc_hf.plugins.gender_reading.rules import open_gender_rule
from cc_hf.reading import text_lines
from cc_hf.text.alignment import find_aligner
from cc_hf.text.morphology import FEMININE, MASCULINE

__all__ = ["LABELS"]

_GENDERS = {MASCULINE: "male", FEMININE: "female"}
#: Language pair -> sha256 and size of its file.
_PINNED = {
    "en-es": ("be3334bddabc54b2a9e22a9b6177d964062efb5c9a41310025b1398c758667f8", 632637),
    "en-fr": ("e8c957c1d6e8f9581f3f0f4871892f5d5b8b4788af62282f93e4f576545eab7b", 660461),
    "en-it": ("d59fe4a3c3a456ad39da721e711ac21ecbe044695282c3bda27acde3ccecd301", 638691),
}


def _file(pair: str) -> SourceFile:
    return SourceFile(
        "gabrielStanovsky/mt_gender",
        "586292861cf2efdda2dec03c69c3408995a8b293",
        f"translations/google/{pair}.txt",
        *_PINNED[pair],
    )


def _read(
    paths: Mapping[str, Path], pair: str, examples: Sequence[Any]
) -> Iterator[LabelledTranslation]:
    """Yield the translations that show one gender, of all examples together."""
    (path,) = paths.values()
    lines = [line.split(" ||| ") for line in text_lines(path)]
    rows = [lines[int(example.id)] for example in examples]
    for example, row in zip(examples, rows, strict=True):
        if len(row) != 2 or row[0].strip() != example.source.strip():
            line = f"{path}: line {int(example.id) + 1}"
            raise FileError(line, f"expected a translation of {example.source!r}, got {row[0]!r}")
    texts = [row[1] for row in rows]
    links = find_aligner("fast_align").align([example.source for example in examples], texts)
    persons = [
        person(example.source, example.focus.text, example.focus.start, text, alignment)
        for example, text, alignment in zip(examples, texts, links, strict=True)
    ]
    read = open_gender_rule(pair.partition("-")[2]).read_all(persons)
    for example, text, gender in zip(examples, texts, read, strict=True):
        if gender in _GENDERS:
            yield LabelledTranslation(example.id, text, "google", _GENDERS[gender])


LABELS = LabelSet(
    name="winomt_read",
    about="genders that a dictionary reads in translations by Google",
    dataset="winomt",
    configs=dict.fromkeys(_PINNED, "default"),
    files={pair: (_file(pair),) for pair in _PINNED},
    by="analyser",
    n_people=0,
    read=_read,
)
