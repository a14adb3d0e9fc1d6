"""Wino-X (Emelin & Sennrich 2021): which noun does "it" refer to? MT-Wino-X with the referent as
cue, and as translations; LM-Wino-X as filled gaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.cues.placement import replace_at
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.errors import DataError, in_file
from cc_hf.languages import language_name
from cc_hf.reading import JSONL, text_of
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample, Example
from cc_hf.tables.rows import read_rows
from cc_hf.test_sets.wino_x.referents import ambiguous_it, referent_position, referent_source
from cc_hf.text.pronouns import pronoun_gender

__all__ = ["DECLARATION", "LM_KEYS", "MT_KEYS", "examples_of", "read_wino_x"]

_REPOSITORY, _COMMIT = "demelin/wino_x", "4f1d42204c52fb271cec0b5ab8a9f4334eb574e3"
_PATH = "data/{}/en_{}_test.jsonl"
_GAP = "_"
MT_KEYS = (
    "pair",
    "answer",
    "correct_pronoun",
    "incorrect_pronoun",
    "correct_gender",
    "incorrect_gender",
    "correct_referent",
    "incorrect_referent",
    "correct_referent_tgt",
    "incorrect_referent_tgt",
    "correct_referent_contrastive",
    "incorrect_referent_contrastive",
    "referent_position",
)
LM_KEYS = (
    "pair",
    "answer",
    "sentence",
    "context",
    "correct_filler",
    "incorrect_filler",
    "correct_referent",
    "incorrect_referent",
)


@dataclass(frozen=True)
class _Sample:
    """A row, and which of its two answers is correct."""

    row: Mapping[str, Any]
    where: object
    id: str
    answer: int

    def pick(self, key: str, *, default: str | None = None) -> tuple[str, str]:
        """Return the correct and the incorrect text under a key with {} for 1 or 2."""
        # Stripped, since some rows have a blank in place of a determiner.
        correct, incorrect = (
            text_of(self.row, key.format(number), self.where, default=default).strip()
            for number in (self.answer, 3 - self.answer)
        )
        if default is None and correct == incorrect:
            raise DataError(
                f"{self.where}: expected {key.format(1)} and {key.format(2)} to differ, got"
                f" {correct!r} twice"
            )
        return correct, incorrect

    def extra(self) -> dict[str, str]:
        return {"pair": re.sub(r"-[12]$", "", self.id), "answer": str(self.answer)}


def read_wino_x(paths: Mapping[str, Path], config: str, split: str) -> Iterator[Example]:
    """Yield all rows in file order, both rows of a schema together; ids are upstream's qID."""
    part, _, lang = config.partition(".")[0].split("_")
    yield from examples_of(read_rows(paths[_PATH.format(part, lang)], JSONL), config)


def examples_of(rows: Iterable[tuple[object, Mapping[str, Any]]], config: str) -> Iterator[Example]:
    """Yield the examples of rows in the format of Wino-X.

    Rows of MT-Wino-X may state the genders of their pronouns as `gender1` and `gender2`; those of
    upstream do not, and the forms of de, fr and ru are known.
    """
    name, _, variant = config.partition(".")
    part, _, lang = name.split("_")
    seen: dict[str, object] = {}
    for where, row in rows:
        sample = _Sample(row, where, text_of(row, "qID", where), _answer(row, where))
        if sample.id in seen:
            raise DataError(
                f"{where}: expected every qID once, got {sample.id!r} again, as in"
                f" {seen[sample.id]}"
            )
        seen[sample.id] = where
        if part == "lm":
            yield _filled(sample, "en" if variant else lang)
        else:
            yield _translations(sample, lang) if variant else _sources(sample, lang)


def _answer(row: Mapping[str, Any], where: object) -> int:
    value = row.get("answer")
    if isinstance(value, bool) or str(value) not in ("1", "2"):
        raise DataError(f"{where}: answer: expected 1 or 2, got {value!r}")
    return int(str(value))


def _sources(sample: _Sample, lang: str) -> ContrastiveSourceExample:
    source = text_of(sample.row, "sentence", sample.where)
    correct, incorrect = sample.pick("referent{}_en")
    with in_file(f"{sample.where}: sentence"):
        focus = ambiguous_it(source)
    extra = _mt_extra(sample, lang)
    return ContrastiveSourceExample(
        id=sample.id,
        src_lang="en",
        tgt_lang=lang,
        source=source,
        focus=focus,
        correct_sources=(referent_source(source, focus, correct),),
        incorrect_sources=(referent_source(source, focus, incorrect),),
        category=extra["correct_gender"],
        gold=correct,
        extra={**extra, "reference": sample.pick("translation{}")[0]},
    )


def _translations(sample: _Sample, lang: str) -> ContrastiveTranslationExample:
    correct, incorrect = sample.pick("translation{}")
    extra = _mt_extra(sample, lang)
    return ContrastiveTranslationExample(
        id=sample.id,
        src_lang="en",
        tgt_lang=lang,
        source=text_of(sample.row, "sentence", sample.where),
        correct_translation=correct,
        contrastive_translations=(incorrect,),
        category=extra["correct_gender"],
        extra=extra,
    )


def _mt_extra(sample: _Sample, lang: str) -> dict[str, str]:
    pronouns = sample.pick("pronoun{}")
    genders = tuple(
        stated or pronoun_gender(pronoun, lang)
        for pronoun, stated in zip(pronouns, sample.pick("gender{}", default=""), strict=True)
    )
    referents = sample.pick("referent{}_en")
    translated_referents = sample.pick(
        f"true_translation_referent_of_pronoun{{}}_{lang}", default=""
    )
    contrastive_referents = sample.pick(
        f"false_translation_referent_of_pronoun{{}}_{lang}", default=""
    )
    position = referent_position(text_of(sample.row, "sentence", sample.where), *referents)
    values = (
        *pronouns,
        *genders,
        *referents,
        *translated_referents,
        *contrastive_referents,
        position,
    )
    return {**sample.extra(), **dict(zip(MT_KEYS[2:], values, strict=True))}


def _filled(sample: _Sample, lang: str) -> ContrastiveTranslationExample:
    """Return the context with each filler in the gap, "_", and no source."""
    context = text_of(sample.row, f"context_{lang}", sample.where)
    fillers = sample.pick(f"option{{}}_{lang}")
    # The referents may be null in a row, the fillers may not.
    referents = sample.pick(f"context_referent_of_option{{}}_{lang}", default="")
    correct, incorrect = (_fill(context, filler, sample.where) for filler in fillers)
    nouns = [referent or filler for referent, filler in zip(referents, fillers, strict=True)]
    return ContrastiveTranslationExample(
        id=sample.id,
        src_lang="en",
        tgt_lang=lang,
        source="",
        correct_translation=correct,
        contrastive_translations=(incorrect,),
        category=referent_position(context, *nouns),
        extra={
            **sample.extra(),
            "sentence": text_of(sample.row, "sentence", sample.where),
            "context": context,
            **dict(zip(LM_KEYS[4:], (*fillers, *referents), strict=True)),
        },
    )


def _fill(context: str, filler: str, where: object) -> str:
    gaps = [number for number, character in enumerate(context) if character == _GAP]
    if not gaps:
        raise DataError(f'{where}: expected a gap, "{_GAP}", in the context, got {context!r}')
    for gap in reversed(gaps):
        context = replace_at(context, gap, len(_GAP), filler)
    return context


_SIZES = {"mt": {"de": 3774, "fr": 2988, "ru": 2238}, "lm": {"de": 5834, "fr": 2792, "ru": 1486}}


def _configs() -> Iterator[ConfigDeclaration]:
    forms = (
        ("mt", "", '"it" replaced by its referent, or by the other noun'),
        ("mt", "translations", "the right pronoun against the wrong one"),
        (
            "lm",
            "",
            (
                "no source; the gap of the {} sentence filled with the right noun against the"
                " wrong one"
            ),
        ),
        ("lm", "english", "the same with the gap of the English sentence"),
    )
    for part, variant, what in forms:
        for lang, n in _SIZES[part].items():
            yield ConfigDeclaration(
                name=f"{part}_en_{lang}{variant and '.'}{variant}",
                description=(
                    f"{part.upper()}-Wino-X English-{language_name(lang)}:"
                    f" {what.format(language_name(lang))}"
                ),
                tgt_langs=("en",) if variant == "english" else (lang,),
                splits={"test": n},
                files=(SourceFile(_REPOSITORY, _COMMIT, _PATH.format(part, lang), host="hub"),),
                form=(
                    ContrastiveTranslationExample
                    if variant or part == "lm"
                    else ContrastiveSourceExample
                ),
                extra_keys=(
                    LM_KEYS if part == "lm" else MT_KEYS if variant else (*MT_KEYS, "reference")
                ),
            )


DECLARATION = DatasetDeclaration(
    name="wino_x",
    title="Wino-X",
    phenomenon="pronouns",
    description=(
        'Wino-X: sentences in which "it" can stand for two nouns, and only common sense tells'
        " which; does the pronoun agree with the right one?"
    ),
    licence="mit",
    homepage="https://huggingface.co/datasets/demelin/wino_x",
    citation_keys=("emelin-sennrich-2021",),
    revision=_COMMIT,
    cues="referents",
    files=(),
    configs=tuple(_configs()),
    default_config="mt_en_de",
    extra_keys=(*MT_KEYS, "reference"),
    read=read_wino_x,
)
