"""Models that `cc-hf convert` converted from fairseq; labels start after </s>.

They are of the four classes of transformers that compute the same as fairseq's, or of those in
the registry as "fairseq architecture".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from cc_hf.errors import InputError
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.languages import same_language
from cc_hf.plugins.conversion.tokenizer import FairseqTokenizer

__all__ = ["FairseqEvaluator"]


class FairseqEvaluator(Seq2SeqEvaluator):
    """A model that was converted from fairseq, with fairseq's own tokenisation and languages."""

    tokenizer_class: ClassVar[str] = "Fairseq"

    @classmethod
    def load_tokenizer(
        cls, path: str, *, revision: str | None = None, **options: Any
    ) -> FairseqTokenizer:
        """Return the tokenizer that the conversion wrote; other options are ignored."""
        return FairseqTokenizer.from_pretrained(path, revision=revision)

    def __init__(self, model: Any, tokenizer: FairseqTokenizer, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self.decoder_start = (int(model.config.eos_token_id),)

    @property
    def projection(self) -> torch.nn.Linear:
        """The linear layer that makes logits; FSMT keeps it in the decoder."""
        projection: torch.nn.Linear = (
            self.model.model.decoder.output_projection
            if self.model.config.model_type == "fsmt"
            else self.model.lm_head
        )
        return projection

    def check_language(self, side: str, lang: str) -> None:
        """Raise an InputError for a language that is not that of the checkpoint."""
        if lang and not same_language(lang, self.own_languages[side]):
            directions = " to ".join(repr(language) for language in self.own_languages.values())
            raise InputError(
                f"{self.name} does not support the {side} language {lang!r}: it translates from"
                f" {directions}"
            )

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return ids of the source dictionary, with EOS."""
        ids: list[list[int]] = self.tokenizer.encode_sources(texts)
        return ids

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return ids of the target dictionary, with EOS."""
        ids: list[list[int]] = self.tokenizer.encode_targets(texts)
        return ids

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the symbols of ids by the source dictionary."""
        return [self.tokenizer.symbols[0][number] for number in ids]

    def target_pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the symbols of ids by the target dictionary."""
        return [self.tokenizer.symbols[1][number] for number in ids]

    @property
    def mark_ids(self) -> frozenset[int]:
        """The ids of <s>, <pad> and </s>, which come first in every dictionary."""
        return frozenset(
            number for number, symbol in enumerate(FairseqTokenizer.special) if symbol != "<unk>"
        )
