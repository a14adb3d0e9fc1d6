"""The transformer with an average attention network: configuration and model."""

from __future__ import annotations

from transformers import AutoConfig, AutoModelForSeq2SeqLM

from cc_hf_studies.speed.average_attention.configuration import AverageAttentionConfig
from cc_hf_studies.speed.average_attention.modeling import AverageAttentionForConditionalGeneration

__all__ = ["AverageAttentionConfig", "AverageAttentionForConditionalGeneration"]

AutoConfig.register(AverageAttentionConfig.model_type, AverageAttentionConfig, exist_ok=True)
AutoModelForSeq2SeqLM.register(
    AverageAttentionConfig, AverageAttentionForConditionalGeneration, exist_ok=True
)
# Saved models carry both files, so that the Hub can load them without cc_hf.
AverageAttentionConfig.register_for_auto_class()
AverageAttentionForConditionalGeneration.register_for_auto_class("AutoModelForSeq2SeqLM")
