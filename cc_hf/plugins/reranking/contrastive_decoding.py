"""Cue-contrastive decoding: translate a source with the right cue, and away from the same source
with the wrong one.

From contrastive decoding for translation (Sennrich, Vamvas & Mohammadshahi 2024) come the contrast
between sources at each step of one decoder, and its weight. Here the sources differ in their cue
alone, the logarithms are subtracted and not the probabilities, and, as Li et al. (2023) do, only
tokens that are plausible under the source with the right cue are considered.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from transformers import LogitsProcessor
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from cc_hf.errors import InputError
from cc_hf.models.cache_name import CACHE
from cc_hf.rules import AtLeast

__all__ = ["CueContrast"]

_PLAUSIBLE = 0.1  # part of the largest probability, as in Li et al. 2023


class CueContrast(LogitsProcessor):  # type: ignore[misc]
    """A logits processor for `generate` of any encoder-decoder of transformers.

    At each step, the score of a token is `log P(token | source) - weight * log P(token | other)`,
    for tokens whose probability under the source is at least a tenth of the largest one. With
    weight 0 the scores stay as they are, so that the output is that of plain `generate`, token by
    token. The decoder keeps a cache for the other source, which follows the beams.

    Args:
        model: the model that generates.
        input_ids: the other sources, (n, length), in the order of those that are translated.
        attention_mask: (n, length), 0 at padding.
        weight: 0 or more.

    Raises:
        InputError: for a negative weight, or when the number of sources differs.

    Examples:
        >>> from cc_hf import load_evaluator
        >>> system = load_evaluator("cc-tiny-en-de")
        >>> cued, other = (
        ...     system.tokenizer(f"The [{gender}] doctor left.", return_tensors="pt")
        ...     for gender in ("female", "male")
        ... )
        >>> contrast = CueContrast(system.model, **other, weight=0.5)
        >>> output = system.model.generate(**cued, logits_processor=[contrast], max_length=20)
        >>> system.tokenizer.batch_decode(output, skip_special_tokens=True)
        ['Die Ärztin ging weg.']
    """

    def __init__(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        *,
        weight: float,
    ) -> None:
        AtLeast(0.0).check("weight", float(weight))
        self._model, self._weight = model, weight
        self._input_ids, self._mask = input_ids, attention_mask
        self._states: torch.Tensor | None = None
        self._cache: EncoderDecoderCache | None = None
        self._seen = torch.empty((0, 0), dtype=torch.long)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores of the next tokens, (n times beams, vocabulary)."""
        if self._weight == 0:
            return scores
        others = self._other_logprobs(input_ids).to(scores.device)
        logprobs = scores.float().log_softmax(dim=-1)
        contrast = logprobs - self._weight * others
        best = logprobs.max(dim=-1, keepdim=True).values
        # The model never writes some tokens, such as padding, whatever the source.
        is_out = (logprobs < best + math.log(_PLAUSIBLE)) | (others == -math.inf)
        contrast = contrast.masked_fill(is_out, -math.inf)
        # A token that is forced has no rival, and no contrast.
        is_forced = (scores > -math.inf).sum(dim=-1, keepdim=True) == 1
        return torch.where(is_forced, scores.float(), contrast).to(scores.dtype)

    @torch.no_grad()
    def _other_logprobs(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities of the next tokens under the other sources."""
        step = self._continued(input_ids)
        n_rows = input_ids.shape[0]
        if self._states is None or self._states.shape[0] != n_rows:
            n_sources = self._input_ids.shape[0]
            if n_rows % n_sources:
                raise InputError(
                    f"input_ids: expected other sources for each of the sources, got {n_sources}"
                    f" for {n_rows} rows"
                )
            encoder = self._model.get_encoder()
            states = encoder(input_ids=self._input_ids, attention_mask=self._mask)[0]
            self._states = states.repeat_interleave(n_rows // n_sources, dim=0)
        output = self._model.forward(
            encoder_outputs=BaseModelOutput(last_hidden_state=self._states),
            attention_mask=self._mask.repeat_interleave(n_rows // self._mask.shape[0], dim=0),
            decoder_input_ids=step,
            use_cache=True,
            **{CACHE: self._cache},
        )
        self._seen = input_ids
        logprobs: torch.Tensor = output.logits[:, -1].float().log_softmax(dim=-1)
        return logprobs

    def _continued(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Return the tokens that the cache does not hold, after its rows are in the new order."""
        n_rows, length = input_ids.shape
        if self._cache is not None and self._seen.shape == (n_rows, length - 1):
            n_sources = self._input_ids.shape[0]
            before, now = (
                ids.view(n_sources, -1, length - 1) for ids in (self._seen, input_ids[:, :-1])
            )
            # A beam may continue any beam of the same source. Rows with the same tokens have the
            # same cache, so that the order follows from the tokens alone.
            is_same = (now.unsqueeze(2) == before.unsqueeze(1)).all(dim=-1)
            if bool(is_same.any(dim=-1).all()):
                n_beams = n_rows // n_sources
                first = torch.arange(0, n_rows, n_beams, device=input_ids.device)
                order = (is_same.int().argmax(dim=-1) + first[:, None]).flatten()
                self._cache.reorder_cache(order)
                return input_ids[:, -1:]
        self._cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        return input_ids
