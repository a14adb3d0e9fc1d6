"""Adversarial sentences and their seeds as sentences that a language model is asked to translate
(Emelin 2023, section 3.5).
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from cc_hf.errors import InputError
from cc_hf.reading import JSONL
from cc_hf.schema import ProbingExample
from cc_hf.tables.rows import read_rows
from cc_hf_studies.disambiguation_bias.attacks.samples import read_samples

__all__ = ["read_translations", "sentences_of"]

_KEYS = {"seed_source", "seed_cluster", "adv_cluster"}


def sentences_of(
    path: str | Path, languages: tuple[str | None, str | None]
) -> list[ProbingExample] | None:
    """Return the sentences of a file of adversarial samples, each distinct text once: every seed
    before its first sample; None if the file is another one.

    Categories are "seed" and the kinds of change. Only seeds have a reference, and ids that begin
    with "seed:".
    """
    path = Path(path)
    if path.suffix.lower() not in JSONL:
        return None
    first = next((row for _, row in islice(read_rows(path, JSONL, {}), 1)), {})
    if not first.keys() >= _KEYS:
        return None
    src_lang, tgt_lang = languages
    if src_lang is None or tgt_lang is None:
        raise InputError(
            f"language_pair: expected the languages of the sentences in {path}, such as en-de,"
            " since the file does not name them, got none"
        )
    examples: dict[str, ProbingExample] = {}
    for sample in read_samples(path):
        for name, text, category, reference in (
            (f"seed:{sample.seed_id}", sample.seed_source, "seed", sample.seed_reference),
            (sample.id, sample.source, sample.kind, ""),
        ):
            extra, gold = {"reference": reference}, sample.seed_cluster
            example = ProbingExample(name, src_lang, tgt_lang, text, category, gold, extra=extra)
            examples.setdefault(text, example)
    return list(examples.values())


def read_translations(path: Path) -> dict[str, str]:
    """Return source -> translation, "" where a model gave none that is valid."""
    form = {"source": str, "translation": str | None}
    remedy = "write the file with `cc-hf ask SAMPLES --output`"
    rows = read_rows(path, JSONL, form, remedy=remedy)
    return {row["source"]: row["translation"] or "" for _, row in rows}
