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

_CHUNK_ELEMENTS = 2**25  # logits held at a time


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
        real = label_mask.bool()
        states = self._decoder_states(source_ids, source_mask, labels)[real]
        wanted = labels[real]
        logprobs = torch.empty(len(wanted), dtype=torch.float64)
        size = max(1, _CHUNK_ELEMENTS // self._projection.out_features)
        for start in range(0, len(wanted), size):
            chunk = slice(start, start + size)
            logits = self._project(states[chunk]).float()
            logprobs[chunk] = (logits.gather(-1, wanted[chunk, None]).squeeze(-1) - logits.logsumexp(-1)).double().cpu()
        return np.split(logprobs.numpy(), np.cumsum([len(target) for target in targets])[:-1])

    def _decoder_states(self, source_ids: torch.Tensor, source_mask: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """(n, length, width), those of FSMT too, whose decoder would project every position, padding as well."""
        start = labels.new_full((len(labels), 1), self.model.config.eos_token_id)
        inputs = {"input_ids": source_ids, "attention_mask": source_mask, "decoder_input_ids": torch.cat([start, labels[:, :-1]], dim=1)}
        found: list[torch.Tensor] = []

        def keep(module: torch.nn.Module, arguments: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
            found.append(arguments[0])
            return (arguments[0][:0],)

        hook = self._projection.register_forward_pre_hook(keep)
        try:
            last = self.model.model(**inputs, use_cache=False).last_hidden_state  # with its default, FSMT drops the causal mask
        finally:
            hook.remove()
        return found[0] if found else last

    @property
    def _projection(self) -> Any:
        return self.model.model.decoder.output_projection if self.model.config.model_type == "fsmt" else self.model.lm_head

    def _project(self, states: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self._projection(states)
        return logits + self.model.final_logits_bias if hasattr(self.model, "final_logits_bias") else logits
