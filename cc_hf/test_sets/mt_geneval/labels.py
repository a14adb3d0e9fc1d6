"""References of MT-GenEval in both genders, and what three people read in Spanish translations
(Lee, Koh, Kim & Jung 2024).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf.data.declaration import SourceFile
from cc_hf.data.labelled import RIGHT, WRONG, LabelledTranslation, LabelSet
from cc_hf.tables.rows import TABLES, read_rows
from cc_hf.test_sets.mt_geneval.reader import DECLARATION

__all__ = ["FINE_GRAINED", "REFERENCES"]

_COUNTERFACTUAL = "counterfactual_"
_OTHER = {"male": "female", "female": "male"}
_FINE_GRAINED = SourceFile(
    repository="minwhoo/fine-grained-gender-control-mt",
    commit="ee4d3bf82fcf1a80cbb2c2745dbb657c28863e0b",
    path="human_annotations/mtgeneval_es_scores_majority_vote.csv",
    sha256="29255e4b7d4c36ed3b16f39fbe5d370d8bb97b3e5cf96cf0ba644bb3512a2799",
    size=139597,
)
# Whether words for the person have the person's gender. False also stands for words without gender.
_SHOWS = {"True": RIGHT, "False": WRONG}
_SYSTEM = "unnamed"  # upstream does not say what translated
_END = re.compile(r"(?<=[.!?])\s+")


def _references(
    paths: Mapping[str, Path], pair: str, examples: Sequence[Any]
) -> Iterator[LabelledTranslation]:
    """Yield both references of each sentence for a woman, unless they are the same text."""
    for example in examples:
        # The sentence for a man has the same references and sources, so it says no more.
        if example.gold != "female":
            continue
        texts = example.extra["reference"], example.extra["contrastive_reference"]
        if texts[0] != texts[1]:
            for text, shows in zip(texts, (example.gold, _OTHER[example.gold]), strict=True):
                yield LabelledTranslation(example.id, text, "people", shows)


def _fine_grained(
    paths: Mapping[str, Path], pair: str, examples: Sequence[Any]
) -> Iterator[LabelledTranslation]:
    """Yield translations of sentences that were translated after their context."""
    ids = {_key(example.source): example.id for example in examples}
    columns = dict.fromkeys(("src_sent1", "src_sent2", "pred", "human_score"))
    for _, row in read_rows(paths[_FINE_GRAINED.path], TABLES, columns):
        name = ids.get(_key(row["src_sent2"]))
        # The second sentence is taken where context, sentence and translation can be told apart,
        # since examples have their context apart too.
        counts = [len(_END.split(row[column])) for column in columns if column != "human_score"]
        if name is not None and counts == [1, 1, 2]:
            _, sentence = _END.split(row["pred"])
            yield LabelledTranslation(name, sentence, _SYSTEM, _SHOWS[row["human_score"]])


def _key(source: str) -> str:
    # The authors added a full stop to sentences that end in a colon or an exclamation mark.
    return source.rstrip(".")


_CONFIGS = {
    f"en-{config.name.removeprefix(_COUNTERFACTUAL)}": config.name
    for config in DECLARATION.configs
    if config.name.startswith(_COUNTERFACTUAL) and "." not in config.name
}
REFERENCES = LabelSet(
    name="mt_geneval",
    about="references by people for either gender",
    dataset="mt_geneval",
    configs=_CONFIGS,
    files=dict.fromkeys(_CONFIGS, ()),
    by="pairs",
    n_people=0,
    read=_references,
)
FINE_GRAINED = LabelSet(
    name="fine_grained",
    about="the majority of three people, on Spanish translations after a context",
    dataset="mt_geneval",
    configs={"en-es": "contextual_es.sources"},
    files={"en-es": (_FINE_GRAINED,)},
    by="people",
    n_people=3,
    read=_fine_grained,
)
