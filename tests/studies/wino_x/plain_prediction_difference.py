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
    unused = next(
        number for number in range(5, encoder.embed_tokens.weight.shape[0]) if number not in source
    )
    with torch.no_grad():
        encoder.embed_tokens.weight[unused] = 0
    whole = torch.tensor([list(source)])
    decoder_ids = torch.tensor([[*evaluator.decoder_start, *target][:-1]])
    found = []
    for place in (None, *range(len(source))):
        ids = whole.clone()
        if place is not None:
            ids[0, place] = unused
        mask = torch.ones_like(ids)
        with torch.no_grad():
            states = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
            logits = model(
                input_ids=whole if model.config.model_type == "fsmt" else None,
                attention_mask=mask,
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                decoder_input_ids=decoder_ids,
                use_cache=False,
            ).logits
        behind = len(evaluator.decoder_start) - 1  # logits[behind + i] give target[i]
        probability = 1.0
        for at in pronoun:
            probability *= float(logits[0, behind + at].double().softmax(-1)[target[at]])
        found.append(probability)
    return found
