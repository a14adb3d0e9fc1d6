"""Beam search over several models of one tokenisation: at each step the probabilities of a token
are averaged, not their logarithms, as fairseq does.

`generate` of the first model runs the search. A hook on its forward pass runs the others and puts
the logarithms of the mean probabilities in place of its logits.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.ensemble import EnsembleEvaluator
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.models.cache_name import CACHE

__all__ = ["averaging", "translating_members"]


def translating_members(model: Evaluator) -> tuple[Seq2SeqEvaluator, ...]:
    """Return the models that translate together.

    Raises:
        InputError: for a model that does not translate, or members that split texts into different
            tokens.
    """
    if isinstance(model, EnsembleEvaluator) and model.combination != "token":
        raise InputError(
            f"{model.name}: expected members with the same tokenizer and vocabulary, because the"
            " probabilities of a token are averaged, got others; translate with each of them"
        )
    members = model.members if isinstance(model, EnsembleEvaluator) else (model,)
    for member in members:
        if not isinstance(member, Seq2SeqEvaluator):
            raise InputError(
                f"{member.name} does not translate: expected a sequence-to-sequence model, got"
                f" {type(member).__name__}"
            )
    # A model alone may have no projection (`cc_hf.systems.backends.ConvertedModel`).
    sizes = {m.projection.out_features: m.name for m in members if len(members) > 1}  # type: ignore[attr-defined]
    if len(sizes) > 1:
        raise InputError(
            f"{model.name}: expected members with the same vocabulary of the target, got"
            f" {' and '.join(f'{size:,} tokens ({name})' for size, name in sizes.items())}"
        )
    return members  # type: ignore[return-value]


class _JointCache(EncoderDecoderCache):  # type: ignore[misc]
    """The cache of the first model, which reorders those of the others together with itself."""

    def __init__(self, n_others: int) -> None:
        super().__init__(DynamicCache(), DynamicCache())
        self.others = [EncoderDecoderCache(DynamicCache(), DynamicCache()) for _ in range(n_others)]

    def reorder_cache(self, beam_idx: torch.LongTensor) -> None:
        super().reorder_cache(beam_idx)
        for cache in self.others:
            cache.reorder_cache(beam_idx)


@contextlib.contextmanager
def averaging(
    models: Sequence[Any], ids: torch.Tensor, mask: torch.Tensor, *, num_beams: int
) -> Iterator[Mapping[str, Any]]:
    """Let the first model generate with the mean probabilities of all models."""
    first, *others = models
    if not others:
        yield {}
        return
    states = [_expanded_states(model, ids, mask, num_beams) for model in others]

    def average(_: Any, __: Any, given: Mapping[str, Any], output: Any) -> Any:
        caches = given[CACHE].others
        logprobs = [_logprobs(output.logits)]
        for model, encoded, cache in zip(others, states, caches, strict=True):
            # `forward` runs no hooks, so that a model may be a member twice.
            step = model.forward(
                encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
                attention_mask=_on(given["attention_mask"], encoded),
                decoder_input_ids=_on(given["decoder_input_ids"], encoded),
                use_cache=True,
                **{CACHE: cache},
            )
            logprobs.append(_logprobs(step.logits).to(output.logits.device))
        output.logits = torch.logsumexp(torch.stack(logprobs), dim=0) - math.log(len(models))
        return output

    hook = first.register_forward_hook(average, with_kwargs=True)
    try:
        yield {CACHE: _JointCache(len(others))}
    finally:
        hook.remove()


def _expanded_states(
    model: Any, ids: torch.Tensor, mask: torch.Tensor, num_beams: int
) -> torch.Tensor:
    """Return the states of the encoder, one row for each beam of each source."""
    device = next(model.parameters()).device
    output = model.get_encoder()(
        input_ids=ids.to(device), attention_mask=mask.to(device), return_dict=True
    )
    states: torch.Tensor = output.last_hidden_state
    # Beams of one source share the states, so that they need no reordering.
    return states.repeat_interleave(num_beams, dim=0)


def _logprobs(logits: torch.Tensor) -> torch.Tensor:
    return logits.float().log_softmax(dim=-1)


def _on(tensor: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return tensor.to(other.device)
