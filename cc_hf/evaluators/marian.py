"""Marian models of transformers (OPUS-MT and the embedded evaluator): languages are fixed by the model, labels start behind <pad>."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator, TokenScores
from cc_hf.evaluators.teacher_forcing import pad_ids, token_scores

__all__ = ["MarianEvaluator"]


class MarianEvaluator(Evaluator):
    """A `MarianMTModel` with its `MarianTokenizer`; options as in `Evaluator`.

    `src_lang` and `tgt_lang` are the model's own; where they are "" (the tokenizer does not say) every language is accepted.
    """

    def __init__(self, model: Any, tokenizer: Any, *, src_lang: str, tgt_lang: str, **options: Any) -> None:
        super().__init__(**options)
        self.model = model
        self.tokenizer = tokenizer
        self.src_lang = src_lang
        self.tgt_lang = tgt_lang

    def check_languages(self, src_lang: str, tgt_lang: str) -> None:
        """Only the direction of the model."""
        for side, wanted, own in (("source", src_lang, self.src_lang), ("target", tgt_lang, self.tgt_lang)):
            if wanted and own and wanted != own:
                raise InputError(f"{self.name} does not support the {side} language {wanted!r}: it translates from {self.src_lang!r} to {self.tgt_lang!r}")
        if self.tokenizer.supported_language_codes:
            raise InputError(
                f"{self.name} has several target languages ({', '.join(self.tokenizer.supported_language_codes[:5])}, ...); only Marian models of one direction are supported"
            )

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the source model, with EOS."""
        return list(self.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"])

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the target model, with EOS."""
        return list(self.tokenizer(text_target=list(texts), truncation=False, verbose=False)["input_ids"])

    @torch.inference_mode()
    def score_batch(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> TokenScores:
        """Teacher forcing behind <pad>; the decoder's states are projected at real positions only."""
        config, device = self.model.config, self.model.device
        source_ids, source_mask = pad_ids(sources, pad=config.pad_token_id, device=device)
        labels, label_mask = pad_ids(targets, pad=config.pad_token_id, device=device)
        start = labels.new_full((len(labels), 1), config.decoder_start_token_id)
        hidden = self.model.model(
            input_ids=source_ids,
            attention_mask=source_mask,
            decoder_input_ids=torch.cat([start, labels[:, :-1]], dim=1),
            use_cache=False,
        ).last_hidden_state
        return token_scores(hidden, labels, label_mask, self._project, n_vocabulary=self.model.lm_head.out_features)

    def _project(self, states: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model.lm_head(states) + self.model.final_logits_bias
        return logits
