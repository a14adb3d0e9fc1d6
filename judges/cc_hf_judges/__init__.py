"""Evaluator models that cc_hf finds by the entry points of this package."""

from __future__ import annotations

from pathlib import Path

from cc_hf.models.location import EmbeddedModel

__all__ = ["TINY_EN_ES", "TINY_EN_FR"]

_HERE = Path(__file__).parent


def _judge(tgt_lang: str, *, identity: str, characters: str) -> EmbeddedModel:
    name = f"cc-tiny-en-{tgt_lang}"
    return EmbeddedModel(
        name=name,
        path=_HERE / name,
        card=_HERE / f"{name}.md",
        identity=identity,
        src_lang="en",
        tgt_lang=tgt_lang,
        made_for="the gender of people by the cues [male] and [female] before a noun",
        cues=("gender_brackets",),
        agreements=(),
        false_alarms={},
        characters=characters,
        evidence=_HERE / "evidence.jsonl",
    )


TINY_EN_ES = _judge(
    "es",
    identity="a9ec6ee867c9",
    characters="!\"%'()+,-.0123456789:;?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz¡¿Éáéíñóú",
)
TINY_EN_FR = _judge(
    "fr",
    identity="cf498795c8af",
    characters="!\"'(),-.0123459:;?ABCDEFGHIJKLMNOPQRSTUVWY[]abcdefghijklmnopqrstuvwxyz«»ÀÇÉÊàâçèéêîïôùûœ",
)
