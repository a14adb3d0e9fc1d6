"""Models converted from fairseq (`cc-hf convert-fairseq`), of the four classes of transformers that compute the same: labels start behind </s>."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from cc_hf.errors import InputError
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.fairseq_tokenizer import FairseqTokenizer
from cc_hf.evaluators.seq2seq import Seq2SeqEvaluator

__all__ = ["FairseqEvaluator"]


class FairseqEvaluator(Seq2SeqEvaluator):
    """An FSMT, M2M100, mBART or BART model with fairseq's own tokenisation; options as in `Evaluator`. Its languages are those of the checkpoint."""

    def __init__(self, model: Any, tokenizer: FairseqTokenizer, **options: Any) -> None:
        super().__init__(model, tokenizer, **options)
        self.decoder_start = (int(model.config.eos_token_id),)

    @property
    def projection(self) -> torch.nn.Linear:
        """FSMT keeps it in the decoder."""
        found: torch.nn.Linear = self.model.model.decoder.output_projection if self.model.config.model_type == "fsmt" else self.model.lm_head
        return found

    def check_language(self, side: str, lang: str) -> None:
        """Only the direction of the checkpoint, by its own codes."""
        if lang and lang != self.own_languages[side]:
            directions = " to ".join(repr(language) for language in self.own_languages.values())
            raise InputError(f"{self.name} does not support the {side} language {lang!r}: it translates from {directions}")

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the source dictionary, with EOS."""
        found: list[list[int]] = self.tokenizer.encode_sources(texts)
        return found

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the target dictionary, with EOS."""
        found: list[list[int]] = self.tokenizer.encode_targets(texts)
        return found

    def id_logprobs(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float64]]:
        """Natural-log probability of each target token, EOS included, by pair: what fairseq's sequence scorer calls positional scores.

        Args:
            sources: ids with EOS, as `encode_sources` gives them.
            targets: ids with EOS, as `encode_targets` gives them; as many as sources.
        """
        found: list[npt.NDArray[np.float64]] = [np.empty(0)] * len(sources)
        for batch in plan_batches([len(s) for s in sources], [len(t) for t in targets], batch_tokens=self.batch_tokens):
            for i, logprobs in zip(batch, self.logprobs_batch([sources[i] for i in batch], [targets[i] for i in batch]), strict=True):
                found[i] = logprobs
        return found
