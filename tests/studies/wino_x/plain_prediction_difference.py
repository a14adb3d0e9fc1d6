"""Prediction difference by a plain loop: one forward pass for each token, whose embedding is
replaced by zero, as in the program of Wino-X.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from transformers.modeling_outputs import BaseModelOutput

from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator


def plain_probabilities(
    evaluator: Seq2SeqEvaluator,
    source: Sequence[int],
    target: Sequence[int],
    pronoun: Sequence[int],
) -> list[float]:
    """Return the probability of the target tokens at the positions `pronoun`, with the whole
    source, then without each of its tokens.
    """
    model = evaluator.model
    encoder = copy.deepcopy(model.get_encoder())
    unused = next(i for i in range(5, encoder.embed_tokens.weight.shape[0]) if i not in source)
    with torch.no_grad():
        encoder.embed_tokens.weight[unused] = 0
    whole = torch.tensor([list(source)])
    mask = torch.ones_like(whole)
    ids = whole if model.config.model_type == "fsmt" else None
    decoder_ids = torch.tensor([[*evaluator.decoder_start, *target][:-1]])
    behind = len(evaluator.decoder_start) - 1  # logits[behind + i] give target[i]
    found = []
    for place in (None, *range(len(source))):
        without = whole.clone()
        if place is not None:
            without[0, place] = unused
        with torch.no_grad():
            states = encoder(input_ids=without, attention_mask=mask).last_hidden_state
            outputs = BaseModelOutput(last_hidden_state=states)
            given = {"input_ids": ids, "attention_mask": mask, "encoder_outputs": outputs}
            logits = model(**given, decoder_input_ids=decoder_ids, use_cache=False).logits[0]
            logprobs = logits.double().log_softmax(-1)
        found.append(float(sum(logprobs[behind + at, target[at]] for at in pronoun).exp()))
    return found
