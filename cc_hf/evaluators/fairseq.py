"""Models converted from fairseq (`cc-hf convert-fairseq`), of the four classes of transformers that compute the same: labels start behind </s>."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator, TokenScores
from cc_hf.evaluators.batching import plan_batches
from cc_hf.evaluators.fairseq_tokenizer import FairseqTokenizer
from cc_hf.evaluators.teacher_forcing import pad_ids

__all__ = ["FairseqEvaluator"]


class FairseqEvaluator(Evaluator):
    """An FSMT, M2M100, mBART or BART model with fairseq's own tokenisation; options as in `Evaluator`.

    `src_lang` and `tgt_lang` are the model's own.
    """

    def __init__(self, model: Any, tokenizer: FairseqTokenizer, *, src_lang: str, tgt_lang: str, **options: Any) -> None:
        super().__init__(**options)
        self.model = model
        self.tokenizer = tokenizer
        self.src_lang = src_lang
        self.tgt_lang = tgt_lang

    def check_languages(self, src_lang: str, tgt_lang: str) -> None:
        """Only the direction of the model."""
        for side, wanted, own in (("source", src_lang, self.src_lang), ("target", tgt_lang, self.tgt_lang)):
            if wanted and wanted != own:
                raise InputError(f"{self.name} does not support the {side} language {wanted!r}: it translates from {self.src_lang!r} to {self.tgt_lang!r}")

    def encode_sources(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the source dictionary, with EOS."""
        return self.tokenizer.encode_sources(texts)

    def encode_targets(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> list[list[int]]:
        """By the target dictionary, with EOS."""
        return self.tokenizer.encode_targets(texts)

    def token_logprobs(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float64]]:
        """Natural-log probability of each target token, EOS included, by pair: what fairseq's sequence scorer calls positional scores.

        Args:
            sources: ids with EOS, as `encode_sources` gives them.
            targets: ids with EOS, as `encode_targets` gives them; as many as sources.
        """
        found: list[npt.NDArray[np.float64]] = [np.empty(0)] * len(sources)
        for batch in plan_batches([len(s) for s in sources], [len(t) for t in targets], batch_tokens=self.batch_tokens):
            scored = self._score_tokens([sources[i] for i in batch], [targets[i] for i in batch])
            for i, logprobs in zip(batch, scored, strict=True):
                found[i] = logprobs
        return found

    def score_batch(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> TokenScores:
        """Sums of the log-probabilities of one batch."""
        found = self._score_tokens(sources, targets)
        return TokenScores(
            np.array([logprobs.sum() for logprobs in found]),
            np.array([len(logprobs) for logprobs in found], dtype=np.int64),
            np.array([np.exp(logprobs).mean() for logprobs in found]),
        )

    @torch.inference_mode()
    def _score_tokens(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float64]]:
        config, device = self.model.config, self.model.device
        source_ids, source_mask = pad_ids(sources, pad=config.pad_token_id, device=device)
        labels, label_mask = pad_ids(targets, pad=config.pad_token_id, device=device)
        inputs = torch.cat([labels.new_full((len(labels), 1), config.eos_token_id), labels[:, :-1]], dim=1)
        # use_cache: FSMT drops the causal mask with it
        states = self.model.model(input_ids=source_ids, attention_mask=source_mask, decoder_input_ids=inputs, use_cache=False).last_hidden_state
        real = label_mask.bool()
        logits = self._project(states[real]).float()
        chosen = logits.gather(-1, labels[real][:, None]).squeeze(-1)
        logprobs = (chosen - logits.logsumexp(-1)).double().cpu().numpy()
        return np.split(logprobs, np.cumsum([len(target) for target in targets])[:-1])

    def _project(self, states: torch.Tensor) -> torch.Tensor:
        """Logits; FSMT's decoder has projected already."""
        if self.model.config.model_type == "fsmt":
            return states
        logits: torch.Tensor = self.model.lm_head(states)
        return logits + self.model.final_logits_bias if hasattr(self.model, "final_logits_bias") else logits
