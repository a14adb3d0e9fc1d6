"""Students of Bergamot, the models of Firefox Translations.

Labels start after padding, whose embedding is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.known_weights import is_new_identity
from cc_hf.plugins.bergamot.published import PREFIX
from cc_hf.plugins.bergamot.tokenizer import BergamotTokenizer

__all__ = ["BergamotEvaluator"]


class BergamotEvaluator(Seq2SeqEvaluator):
    """A `BergamotForConditionalGeneration` with its `BergamotTokenizer`.

    The weights are computed with in float32, not in the int8 of the translation engine, and without
    a shortlist of the vocabulary, which would change probabilities.
    """

    tokenizer_class: ClassVar[str] = "Bergamot"

    @classmethod
    def load_tokenizer(
        cls, path: str, *, revision: str | None = None, **options: Any
    ) -> BergamotTokenizer:
        """Return the tokenizer that the conversion wrote; other options are ignored."""
        return BergamotTokenizer.from_pretrained(path, revision=revision)

    def signature_fields(self) -> dict[str, str]:
        """Return the fields of any evaluator, and `students` if nothing else names a student."""
        fields = super().signature_fields()
        if self.name.startswith(PREFIX) or not is_new_identity(self.identity):
            return fields
        return {**fields, "students": self.identity}

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the tokens of ids by the source vocabulary."""
        return list(self.tokenizer.source_tokens(ids))
