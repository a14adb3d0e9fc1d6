"""Gender-fair German (Lardelli et al. 2024, "Building Bridges"): English passages about groups of
people whose gender is open, with translations by two systems and what people read in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.errors import FileError
from cc_hf.records import WORD
from cc_hf.rules import OneOf
from cc_hf.schema import ProbingExample
from cc_hf.tables.rows import read_rows

__all__ = ["DECLARATION", "read_gender_fair_german"]

_REPOSITORY = "g8a9/building-bridges-gender-fair-german-mt"
_COMMIT = "7f627e4aa457809287a1d382971e23cf8212d0d8"
_DICTIONARY = SourceFile(
    _REPOSITORY,
    _COMMIT,
    "data/dictionary_plural_v1.csv",
    "d3b3976936e1b64acb786b2066732bb3785bd836bf4db244b9d887ca7f671540",
    13737,
)
#: Configuration -> sha256, size in bytes and number of rows of its file.
_FILES = {
    "deepl.common": (
        "fc131eb0f1ce62bd087722d692ba3910d49c83356a6b6636201cb341bc787e64",
        255447,
        145,
    ),
    "deepl.valid": (
        "df3583ec9bbec196aee00ebf15d1a50644e5112e593195fdbf83addeb6203b26",
        281579,
        158,
    ),
    "deepl.all": ("8fb8b3bbbb54fd0bbc9e0a4a11fddb6ffde291b75fd290e248e10ee0c0a5586e", 345637, 218),
    "gpt.common": (
        "c59a43d100578a5c4329c0a3d2840fc622e59bdb12337878f7115a47923410da",
        255941,
        145,
    ),
    "gpt.valid": ("515e15856a6a945f6314a94adba1568fb186c272571d66c80cce5593e90f3c61", 291975, 160),
    "gpt.all": ("1c623c10828bd17f41c9aab75533a17508f4d1387d16f9b0019361b6342076d3", 355597, 217),
}
_LABELS = {"M": "masculine", "F": "feminine", "Neutral": "neutral", "Inclusive": "inclusive"}
_PASSAGES = {
    **dict.fromkeys(("rid", "seed", "source", "translation"), WORD),
    "annot_tgt_gender": OneOf(*_LABELS),
}
#: Reading -> its column in the dictionary.
_FORMS = {"masculine": "German_MP", "feminine": "German_FP", "neutral": "Gender-Neutral"}
_ENTRY = {"English": WORD, **dict.fromkeys(_FORMS.values())}
_ARTICLE = re.compile(r"(?:die|der|das|den)\s+", re.IGNORECASE)
_SYSTEMS = {"deepl": "DeepL", "gpt": "GPT-3.5"}
_ROWS = {
    "common": "passages that people labelled for both systems",
    "valid": "passages of four sentences, the noun in the third",
    "all": "all passages",
}


def read_gender_fair_german(
    paths: Mapping[str, Path], config: str, split: str
) -> Iterator[ProbingExample]:
    """Yield the passages of one file in its order; ids are upstream's (`rid`)."""
    forms = _dictionary(paths[_DICTIONARY.path])
    for where, row in read_rows(paths[_path(config)], form=_PASSAGES):
        noun = row["seed"].strip().lower()
        if noun not in forms:
            raise FileError(where, f"seed: expected a noun of the dictionary, got {row['seed']!r}")
        yield ProbingExample(
            row["rid"],
            "en",
            "de",
            row["source"],
            "open",
            "open",
            extra={
                "noun": noun,
                **{reading: "; ".join(forms[noun][reading]) for reading in _FORMS},
                "label": _LABELS[row["annot_tgt_gender"]],
                "labelled_translation": row["translation"],
            },
        )


def _dictionary(path: Path) -> dict[str, dict[str, list[str]]]:
    """Return the German forms of each English plural noun, by reading and without articles."""
    forms: dict[str, dict[str, list[str]]] = {}
    for _, row in read_rows(path, form=_ENTRY):
        for name in filter(None, map(str.strip, row["English"].lower().split(";"))):
            of_noun = forms.setdefault(name.removeprefix("the "), {r: [] for r in _FORMS})
            for reading, column in _FORMS.items():
                texts = filter(None, map(str.strip, row[column].split(";")))
                of_noun[reading] += [_ARTICLE.sub("", text, count=1) for text in texts]
    return forms


def _path(config: str) -> str:
    return f"data/wikipedia/annot_{config.replace('.', '_')}_v1.tsv"


def _config(name: str) -> ConfigDeclaration:
    sha256, size, n_rows = _FILES[name]
    system, _, rows = name.partition(".")
    return ConfigDeclaration(
        name,
        f"labels of translations by {_SYSTEMS[system]}; {_ROWS[rows]}",
        ("de",),
        {"test": n_rows},
        (SourceFile(_REPOSITORY, _COMMIT, _path(name), sha256, size),),
        ProbingExample,
    )


DECLARATION = DatasetDeclaration(
    name="gender_fair_german",
    title="Gender-fair German",
    phenomenon="gender",
    description=(
        "Gender-fair German: English-German; masculine, feminine, neutral or inclusive: how does a"
        " translation name people whose gender is open?"
    ),
    licence="cc-by-4.0",
    homepage="https://github.com/g8a9/building-bridges-gender-fair-german-mt",
    citation_keys=("lardelli-2024",),
    revision=_COMMIT,
    cues="none",
    files=(_DICTIONARY,),
    configs=tuple(map(_config, _FILES)),
    default_config="deepl.common",
    extra_keys=("noun", *_FORMS, "label", "labelled_translation"),
    read=read_gender_fair_german,
)
