"""Wino-X of one's own as a dataset, with the configurations of Wino-X."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.errors import InputError
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Example
from cc_hf.test_sets.wino_x.reader import LM_KEYS, MT_KEYS, examples_of
from cc_hf_studies.wino_x.make import MadeWinoX

__all__ = ["made_declaration"]


def made_declaration(made: MadeWinoX, *, name: str) -> DatasetDeclaration:
    """Return the rows as a dataset: mt_en_X, mt_en_X.translations, lm_en_X and lm_en_X.english."""
    lang = made.lang
    sides = {"mt": made.mt, "lm": made.lm}
    configs = tuple(
        ConfigDeclaration(
            f"{part}_en_{lang}{variant}",
            what,
            ("en",) if variant == ".english" else (lang,),
            {"test": len(sides[part])},
            form=(
                ContrastiveSourceExample
                if (part, variant) == ("mt", "")
                else ContrastiveTranslationExample
            ),
            extra_keys=(
                LM_KEYS if part == "lm" else MT_KEYS if variant else (*MT_KEYS, "reference")
            ),
        )
        for part, variant, what in (
            ("mt", "", '"it" replaced by its referent, or by the other noun'),
            ("mt", ".translations", "the right pronoun against the wrong one"),
            (
                "lm",
                "",
                f"the gap of the {lang} sentence filled with the right or the wrong noun",
            ),
            ("lm", ".english", "the same with the gap of the English sentence"),
        )
        if sides[part]
    )
    if not configs:
        raise InputError(
            f"expected at least one sample, got none: the filters removed all"
            f" {made.n_candidates:,} sentences after translation"
            f" (MT: {_named(made.removed_mt)}; LM: {_named(made.removed_lm)})"
        )

    def read(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
        rows = sides[config.partition("_")[0]]
        return examples_of(((f"{row['qID']}", row) for row in rows), config)

    return DatasetDeclaration(
        name="custom",
        description=(
            f"Made from WinoGrande, translated by {name}; made automatically, and not checked by"
            " a person."
        ),
        licence="unknown",
        homepage="",
        citation_keys=("emelin-sennrich-2021", "sakaguchi-2020"),
        revision=hashlib.sha256(made.signature.encode()).hexdigest(),
        cues="own",
        files=(),
        configs=configs,
        default_config=configs[0].name,
        extra_keys=(),
        read=read,
    )


def _named(removed: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in removed.items() if n)
