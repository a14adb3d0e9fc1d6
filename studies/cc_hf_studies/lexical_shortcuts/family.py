"""Transformers with lexical shortcuts, with any tokenizer that ends both sides with EOS."""

from __future__ import annotations

from typing import Any

from cc_hf.errors import EvaluatorError
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator

__all__ = ["LexicalShortcutEvaluator"]

# Caches hold scores under the name that the class had first.
_CACHED_AS = "cc_hf.evaluators.families.lexical_shortcut.LexicalShortcutEvaluator"


class LexicalShortcutEvaluator(Seq2SeqEvaluator):
    """A `LexicalShortcutForConditionalGeneration` with a tokenizer of transformers.

    Checkpoints that `cc-hf convert` converted are of the family `fairseq`.
    """

    def __init__(self, model: Any, tokenizer: Any, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        eos = model.config.eos_token_id
        for side, encode in (("source", self.encode_sources), ("target", self.encode_targets)):
            ids = encode(["a"], "", "")[0]
            if list(ids[-1:]) != [eos]:
                raise EvaluatorError(
                    f"{self.name}: expected a tokenizer that ends every {side} with EOS, the id"
                    f" {eos}, got the ids {list(ids)} for 'a'; add EOS in its post-processor, so"
                    " that the end of a sentence is scored"
                )

    def cache_identity(self) -> dict[str, str]:
        return {**super().cache_identity(), "class": _CACHED_AS}
