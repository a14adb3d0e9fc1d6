"""What transformers calls the cache of a decoder, as an option of models and a field of outputs."""

from __future__ import annotations

from typing import Final

from transformers.modeling_outputs import Seq2SeqLMOutput

__all__ = ["CACHE"]

#: "cache" since transformers 5.24, "past_key_values" before.
CACHE: Final = "cache" if "cache" in Seq2SeqLMOutput.__dataclass_fields__ else "past_key_values"
