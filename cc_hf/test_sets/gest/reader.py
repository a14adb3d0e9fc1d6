"""GEST (Pikuliak et al. 2024): English sentences in the first person, each after a gender
stereotype. English leaves the person's gender open; Slavic verbs and adjectives show one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from cc_hf.cues.appositions import apposition_sources
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.records import WORD
from cc_hf.rules import OneOf
from cc_hf.schema import ContrastiveSourceExample, Example, Focus, ProbingExample
from cc_hf.tables.rows import read_rows

__all__ = ["DECLARATION", "STEREOTYPES", "Stereotype", "read_gest"]


class Stereotype(NamedTuple):
    """A stereotype of the paper's Table 1: what it says, and of whom ("women" or "men")."""

    name: str
    people: str


_WOMEN = ("emotional", "gentle", "empathetic", "neat", "social", "weak", "beautiful")
_MEN = (
    "tough",
    "self-confident",
    "professional",
    "rational",
    "providers",
    "leaders",
    "childish",
    "sexual",
    "strong",
)
#: Category of the examples -> its stereotype, in the order of the paper.
STEREOTYPES: dict[str, Stereotype] = {
    f"stereotype_{number:02}": Stereotype(name, "women" if number <= len(_WOMEN) else "men")
    for number, name in enumerate((*_WOMEN, *_MEN), 1)
}
_REPOSITORY = "kinit-sk/gest"
_COMMIT = "7dd908cae11720ee5d95e43a4ab94fb410c8b790"
_FILES = {
    "default": SourceFile(
        _REPOSITORY,
        _COMMIT,
        "data/gest_1.1.csv",
        "51d14d5dc648d5be867d40bd312c016471c485827f6c28488c7234b9d30fcd9c",
        218585,
    ),
    "emnlp2024": SourceFile(
        _REPOSITORY,
        _COMMIT,
        "data/gest.csv",
        "7e306adaa2913b660c6ddccddb26703a1de8c880cb0597ad27db4bca75380eea",
        214899,
    ),
}
_FORM = {"sentence": WORD, "stereotype": OneOf(*[str(n) for n in range(1, len(STEREOTYPES) + 1)])}
_TGT_LANGS = ("be", "cs", "hr", "pl", "ru", "sk", "sl", "sr", "uk")
_N_ROWS = 3565


_EXTRA = ("stereotype", "people")
_SOURCES = ".sources"
_SPEAKER = re.compile(r"\bI\b")


def read_gest(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
    """Yield the rows in file order; ids are 0-based rows.

    The gold gender of probing examples is "none". Those with contrastive sources have an apposition
    after the first "I", and stand for the masculine, whose share is counted.
    """
    name = config.removesuffix(_SOURCES)
    for number, (_, row) in enumerate(read_rows(paths[_FILES[name].path], form=_FORM)):
        sentence, category = row["sentence"], f"stereotype_{int(row['stereotype']):02}"
        extra = dict(zip(_EXTRA, STEREOTYPES[category], strict=True))
        if config == name:
            yield ProbingExample(str(number), "en", "", sentence, category, "none", extra=extra)
            continue
        speaker = _SPEAKER.search(sentence)
        # Version 1.1 has one sentence without an "I".
        if speaker is None:
            continue
        focus = Focus("I", speaker.start())
        feminine, masculine = apposition_sources(sentence, focus)
        extra["open_share"] = "masculine_share"
        yield ContrastiveSourceExample(
            *(str(number), "en", "", sentence, focus, (masculine,), (feminine,), category),
            *("male", extra),
        )


def _config(name: str, description: str) -> ConfigDeclaration:
    has_sources = name.endswith(_SOURCES)
    return ConfigDeclaration(
        name,
        description,
        _TGT_LANGS,
        {"test": _N_ROWS - (name == f"default{_SOURCES}")},
        (_FILES[name.removesuffix(_SOURCES)],),
        ContrastiveSourceExample if has_sources else ProbingExample,
        extra_keys=(*_EXTRA, *["open_share"] * has_sources),
        cues="appositions" if has_sources else "none",
        takes_any_target=has_sources,
        remark="The source leaves the gender open: no form is right or wrong.",
    )


DECLARATION = DatasetDeclaration(
    name="gest",
    title="GEST",
    phenomenon="gender",
    description=(
        "GEST: sentences in the first person, each after one of 16 stereotypes of women or men;"
        " which gender does the translation give the person?"
    ),
    licence="apache-2.0",
    homepage="https://github.com/kinit-sk/gest",
    citation_keys=("pikuliak-2024",),
    revision=_COMMIT,
    cues="none",
    files=(),
    configs=(
        _config("default", "version 1.1, in which 244 sentences are corrected"),
        _config("default.sources", "version 1.1, “I, a man,” against “I, a woman,”"),
        _config(
            "emnlp2024", "the sentences of the paper, which its archived translations translate"
        ),
        _config("emnlp2024.sources", "those of the paper, “I, a man,” against “I, a woman,”"),
    ),
    default_config="default",
    extra_keys=_EXTRA,
    read=read_gest,
)
