"""Pairs that evaluators of every family can score, and a reference for one of them."""

from typing import Any

EN_DE: dict[str, Any] = {"src_lang": "en", "tgt_lang": "de"}
PAIRS = [
    ("The doctor asked the nurse.", "Der Arzt bat die Krankenschwester."),
    ("", "Ja."),
    ("مرحبا 🎉", "Hallo, «Welt»."),
    ("The nurse.", " Die Pflegerin."),
    ("The doctor asked the nurse.", "ihm"),
]
SOURCES, TRANSLATIONS = [s for s, _ in PAIRS], [t for _, t in PAIRS]
_CUES = {
    f"{side}_sources": [f"The [{cue}] doctor left."]
    for side, cue in (("correct", "female"), ("incorrect", "male"))
}
GENDER: dict[str, Any] = {**_CUES, "category": "female"}
