"""Cases of the study for the contracts of all studies."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from cc_hf_studies.speed import average_attention
from cc_hf_studies.speed.points import ACCURACIES, SpeedPoint, mean_point
from transformers import AutoModelForSeq2SeqLM, MarianTokenizer

from tests.helpers.contract_cases import ContractCases, FamilyCase, MeanCase
from tests.helpers.models import N_POSITIONS, SIZES, save_tiny_marian


def save_tiny_average_attention(folder: Path) -> Path:
    """A Marian model whose decoder averages, with the tokenizer of Marian."""
    save_tiny_marian(folder, max_positions=N_POSITIONS)
    marks = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    names = ("vocab_size", "pad_token_id", "eos_token_id", "decoder_start_token_id")
    fields: dict[str, Any] = {**SIZES, **{name: marks[name] for name in names}}
    torch.manual_seed(8)
    config = average_attention.AverageAttentionConfig(init_std=0.3, **fields)
    average_attention.AverageAttentionForConditionalGeneration(config).save_pretrained(folder)
    return folder


def plain_logprobs(folder: Path, source: str, translation: str) -> torch.Tensor:
    """Score position by position, with the formulas of Zhang et al. (2018) over plain sums."""
    tokenizer = MarianTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval().double()
    labels = tokenizer(text_target=translation)["input_ids"]
    inputs = [tokenizer.pad_token_id, *labels[:-1]]
    decoder = model.get_decoder()
    with torch.inference_mode():
        states = model.get_encoder()(torch.tensor([tokenizer(source)["input_ids"]]))[0]
        hidden = decoder.embed_tokens(torch.tensor([inputs])) * decoder.embed_scale
        hidden = hidden + decoder.embed_positions.weight[: len(inputs)]
        for layer in decoder.layers:
            average = layer.self_attn
            outputs = []
            for j in range(len(inputs)):
                y = hidden[0, j]
                mean = hidden[0, : j + 1].sum(0) / (j + 1)
                g = average.fc2(torch.nn.functional.gelu(average.fc1(mean)))
                gates = torch.sigmoid(average.gates.weight @ torch.cat([y, g]) + average.gates.bias)
                i, f = gates[: len(y)], gates[len(y) :]
                outputs.append(layer.self_attn_layer_norm(y + i * y + f * g))
            hidden = torch.stack(outputs)[None]
            attended, _ = layer.encoder_attn(hidden, key_value_states=states)
            hidden = layer.encoder_attn_layer_norm(hidden + attended)
            inner = layer.fc2(layer.activation_fn(layer.fc1(hidden)))
            hidden = layer.final_layer_norm(hidden + inner)
        logits: torch.Tensor = model.lm_head(hidden[0]) + model.final_logits_bias
        logprobs = logits.log_softmax(-1)
    return logprobs[range(len(labels)), labels]


def _point(draw: random.Random) -> SpeedPoint:
    accuracies = {name: draw.random() for name in ACCURACIES}
    return SpeedPoint("x", draw.random(), draw.random(), accuracies)


CASES = ContractCases(
    means={"points": MeanCase(_point, lambda points: replace(mean_point(points), model="x"))},
    tables=(("drops",), ("published",)),
    families={"average_attention": FamilyCase(save_tiny_average_attention, plain_logprobs)},
    torch_modules=("average_attention",),
)
