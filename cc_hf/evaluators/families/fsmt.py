"""FSMT, the models of fairseq for WMT19: Moses and BPE, one vocabulary per side.

Labels start after EOS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator

__all__ = ["FSMTEvaluator"]


class FSMTEvaluator(Seq2SeqEvaluator):
    """An `FSMTForConditionalGeneration` with its `FSMTTokenizer`."""

    tokenizer_class: ClassVar[str] = "FSMT"
    language_attributes: ClassVar[tuple[str, str]] = ("src_lang", "tgt_lang")

    def __init__(self, model: Any, tokenizer: Any, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self._target_vocabulary: dict[str, int] = {
            token: number for number, token in tokenizer.decoder.items()
        }

    @property
    def projection(self) -> torch.nn.Linear:
        """The linear layer that makes logits; FSMT keeps it in the decoder."""
        projection: torch.nn.Linear = self.model.model.decoder.output_projection
        return projection

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """Return ids by the tokenizer's own steps, with the target's language and vocabulary."""
        # `text_target` of the tokenizer knows only the vocabulary and language of the source.
        return [
            [
                *(self._target_id(token) for token in self._target_tokens(text)),
                self.model.config.eos_token_id,
            ]
            for text in texts
        ]

    def source_pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the tokens of ids by the source vocabulary."""
        pieces = {number: piece for piece, number in self.tokenizer.encoder.items()}
        return [pieces[number] for number in ids]

    def _target_tokens(self, text: str) -> list[str]:
        tokenizer = self.tokenizer
        text = tokenizer.moses_pipeline(
            text.lower() if tokenizer.do_lower_case else text, lang=tokenizer.tgt_lang
        )
        return [
            piece
            for token in tokenizer.moses_tokenize(text, lang=tokenizer.tgt_lang)
            if token
            for piece in tokenizer.bpe(token).split(" ")
        ]

    def _target_id(self, token: str) -> int:
        return self._target_vocabulary.get(token, self._target_vocabulary[self.tokenizer.unk_token])
