"""A training part from WinoGrande in place of Wino-X (thesis, section 4.4.3 and Table 4.16). Wino-X
was made from WinoGrande, so samples of the development and test part are excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cc_hf.errors import InputError
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf_studies.wino_x.splits import WinoXSplits, schema_of
from cc_hf_studies.wino_x.winogrande import same_context

__all__ = ["Exclusions", "trained_on_winogrande"]


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Numbers of sentences of WinoGrande: all, samples of both parts, and further twins of them."""

    n: int
    n_test: int
    n_dev: int
    n_twins: int


def trained_on_winogrande(
    splits: WinoXSplits, sentences: Sequence[ContrastiveTranslationExample]
) -> tuple[WinoXSplits, Exclusions]:
    """Return splits with WinoGrande as training part."""
    held_out = {"test": splits.test, "dev": splits.dev}
    for example in (*splits.test, *splits.dev):
        if example.tgt_lang != "en":
            raise InputError(
                f"train_on: expected the English side of LM-Wino-X, such as lm_en_de.english, to"
                f" train on WinoGrande, got samples in {example.tgt_lang!r}"
            )
    # A sentence is a sample of Wino-X if it has the id of its schema, or its context.
    contexts = {
        same_context(example.extra["context"]): part
        for part, examples in held_out.items()
        for example in examples
    }
    schemas = {schema_of(example): part for part, es in held_out.items() for example in es}
    parts = [
        contexts.get(same_context(sentence.extra["context"])) or schemas.get(schema_of(sentence))
        for sentence in sentences
    ]
    excluded = {schema_of(s) for s, part in zip(sentences, parts, strict=True) if part}
    left = tuple(sentence for sentence in sentences if schema_of(sentence) not in excluded)
    if not left:
        raise InputError(
            f"train_on: expected sentences that are not in the development or test part, got none"
            f" in {len(sentences)}"
        )
    exclusions = Exclusions(
        len(sentences),
        parts.count("test"),
        parts.count("dev"),
        len(sentences) - len(left) - len([part for part in parts if part]),
    )
    return replace(splits, train=left), exclusions
