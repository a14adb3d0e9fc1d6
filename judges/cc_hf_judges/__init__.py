"""Evaluator models that cc_hf finds by the entry points of this package."""

from __future__ import annotations

from pathlib import Path

from cc_hf.models.location import EmbeddedModel

__all__ = ["TINY_EN_ES", "TINY_EN_FR"]

_HERE = Path(__file__).parent

TINY_EN_ES = EmbeddedModel(
    name="cc-tiny-en-es",
    path=_HERE / "cc-tiny-en-es",
    card=_HERE / "cc-tiny-en-es.md",
    identity="a9ec6ee867c9",
    src_lang="en",
    tgt_lang="es",
    made_for="the gender of people by the cues [male] and [female] before a noun",
    cues=("gender_brackets",),
    agreements=(),
    false_alarms={},
    characters="!\"%'()+,-.0123456789:;?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz¡¿Éáéíñóú",
    evidence=_HERE / "evidence.jsonl",
)

TINY_EN_FR = EmbeddedModel(
    name="cc-tiny-en-fr",
    path=_HERE / "cc-tiny-en-fr",
    card=_HERE / "cc-tiny-en-fr.md",
    identity="cf498795c8af",
    src_lang="en",
    tgt_lang="fr",
    made_for="the gender of people by the cues [male] and [female] before a noun",
    cues=("gender_brackets",),
    agreements=(),
    false_alarms={},
    characters="!\"'(),-.0123459:;?ABCDEFGHIJKLMNOPQRSTUVWY[]abcdefghijklmnopqrstuvwxyz«»ÀÇÉÊàâçèéêîïôùûœ",
    evidence=_HERE / "evidence.jsonl",
)
