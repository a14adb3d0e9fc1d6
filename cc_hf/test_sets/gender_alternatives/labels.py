"""The two versions of each translation, one of either gender, by people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf.data.labelled import LabelledTranslation, LabelSet
from cc_hf.schema import ContrastiveSourceExample
from cc_hf.test_sets.gender_alternatives.reader import DECLARATION

__all__ = ["LABELS"]


def _read(
    paths: Mapping[str, Path], pair: str, examples: Sequence[Any]
) -> Iterator[LabelledTranslation]:
    for example in examples:
        for column, shows in (("masculine", "male"), ("feminine", "female")):
            yield LabelledTranslation(example.id, example.extra[column], "people", shows)


_CONFIGS = {
    f"en-{config.name}": config.name
    for config in DECLARATION.configs
    if config.form is ContrastiveSourceExample
}
LABELS = LabelSet(
    name="gender_alternatives",
    about="a masculine and a feminine version by people",
    dataset="gender_alternatives",
    configs=_CONFIGS,
    files=dict.fromkeys(_CONFIGS, ()),
    by="pairs",
    n_people=0,
    read=_read,
)
