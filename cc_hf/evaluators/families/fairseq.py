"""Models converted from fairseq (`cc-hf convert-fairseq`), of the four classes of transformers that
compute the same: labels start behind </s>.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from cc_hf.errors import InputError
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.models.fairseq.tokenizer import SPECIAL, FairseqTokenizer

__all__ = ["FairseqEvaluator"]


class FairseqEvaluator(Seq2SeqEvaluator):
    """An FSMT, M2M100, mBART or BART model with fairseq's own tokenisation; options as in
    `Evaluator`. Its languages are those of the checkpoint.
    """

    def __init__(self, model: Any, tokenizer: FairseqTokenizer, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self.decoder_start = (int(model.config.eos_token_id),)

    @property
    def projection(self) -> torch.nn.Linear:
        """FSMT keeps it in the decoder."""
        found: torch.nn.Linear = (
            self.model.model.decoder.output_projection
            if self.model.config.model_type == "fsmt"
            else self.model.lm_head
        )
        return found

    def check_language(self, side: str, lang: str) -> None:
        """Only the direction of the checkpoint, by its own codes."""
        if lang and lang != self.own_languages[side]:
            directions = " to ".join(repr(language) for language in self.own_languages.values())
            raise InputError(
                f"{self.name} does not support the {side} language {lang!r}: it translates from"
                f" {directions}"
            )

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the source dictionary, with EOS."""
        found: list[list[int]] = self.tokenizer.encode_sources(texts)
        return found

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the target dictionary, with EOS."""
        found: list[list[int]] = self.tokenizer.encode_targets(texts)
        return found

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """By the source dictionary."""
        return [self.tokenizer.symbols[0][number] for number in ids]

    def target_pieces(self, ids: Sequence[int]) -> list[str]:
        """By the target dictionary."""
        return [self.tokenizer.symbols[1][number] for number in ids]

    @property
    def mark_ids(self) -> frozenset[int]:
        """<s>, <pad> and </s>, first in every dictionary."""
        return frozenset(number for number, symbol in enumerate(SPECIAL) if symbol != "<unk>")
