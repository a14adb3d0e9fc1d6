"""The transformer with lexical shortcuts, as a configuration and model of transformers."""

from __future__ import annotations

from transformers import AutoConfig, AutoModelForSeq2SeqLM

from cc_hf_studies.lexical_shortcuts.model.configuration import LexicalShortcutConfig
from cc_hf_studies.lexical_shortcuts.model.modeling import LexicalShortcutForConditionalGeneration

__all__ = ["LexicalShortcutConfig", "LexicalShortcutForConditionalGeneration"]

AutoConfig.register(LexicalShortcutConfig.model_type, LexicalShortcutConfig, exist_ok=True)
AutoModelForSeq2SeqLM.register(
    LexicalShortcutConfig, LexicalShortcutForConditionalGeneration, exist_ok=True
)
# Saved models carry both files, so that the Hub can load them without cc_hf.
LexicalShortcutConfig.register_for_auto_class()
LexicalShortcutForConditionalGeneration.register_for_auto_class("AutoModelForSeq2SeqLM")
