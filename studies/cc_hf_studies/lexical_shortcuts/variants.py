"""Variants of lexical shortcuts (Emelin 2023, section 5.4.3, Table 5.5 and Figure 5.4)."""

from __future__ import annotations

from typing import Any

__all__ = ["VARIANTS", "WARMUP"]

#: Variant -> fields of `LexicalShortcutConfig`. Of Table 5.5: self is "transformer + self-attention
#: shortcuts", cross "dec-to-enc", both, and non-lexical; of Figure 5.4: encoder and decoder.
VARIANTS: dict[str, dict[str, Any]] = {
    "self": {},
    "encoder": {"shortcut_decoder": False},
    "decoder": {"shortcut_encoder": False},
    "cross": {"shortcut_encoder": False, "shortcut_decoder": False, "shortcut_cross": True},
    "both": {"shortcut_cross": True},
    "non-lexical": {"shortcut_source": "non_lexical"},
}
#: Steps of warm-up by form of the shortcuts (section 5.3.1, which has none for "residual").
WARMUP = {"none": 4000, "lexical": 6000, "fusion": 8000, "residual": 6000}
