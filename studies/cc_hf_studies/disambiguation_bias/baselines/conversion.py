"""Conversion of fairseq's LSTM (`lstm*`) and convolutional models (`fconv*`).

Sizes are read from the weights. Only the residual connections of convolutions leave no trace there.
"""

from __future__ import annotations

import re
from typing import Any

import torch

from cc_hf.errors import shown
from cc_hf.plugins.conversion.architectures import Architecture, size_option
from cc_hf.plugins.conversion.checkpoint import EMBEDDINGS, PROJECTION, FairseqCheckpoint
from cc_hf_studies.disambiguation_bias.baselines import (
    ConvS2SConfig,
    ConvS2SForConditionalGeneration,
    LSTMConfig,
    LSTMForConditionalGeneration,
)

__all__ = ["CONVS2S", "LSTM"]

#: Projection to the vocabulary in fairseq.
_LSTM_PROJECTION, _CONV_PROJECTION = "decoder.fc_out", "decoder.fc3"
# A part of `encoder_layers` without spaces, such as [(512,3)]*20 or [(512,3,2),(512,3)].
_CONVOLUTIONS = re.compile(
    r"\[((?:\(\d{1,6},\d{1,6}(?:,\d{1,6})?\),?)+)\](?:\*(\d{1,3}))?", re.ASCII
)
_TABLE_ROWS = 2  # rows of a table of positions that no token has: those of <s> and <pad>


def _is_lstm(checkpoint: FairseqCheckpoint) -> bool:
    return {"encoder.lstm.weight_hh_l0", "decoder.layers.0.weight_hh"} <= checkpoint.weights.keys()


def _is_convolutional(checkpoint: FairseqCheckpoint) -> bool:
    sides = {f"{side}.convolutions.0.bias" for side in ("encoder", "decoder")}
    return sides <= checkpoint.weights.keys()


def _size(checkpoint: FairseqCheckpoint, name: str, dim: int) -> int:
    """Return a dimension of a weight that every model of the architecture has."""
    weight = checkpoint.weights.get(name)
    if weight is None or weight.dim() <= max(dim, 0) or not weight.shape[dim]:
        shape = "none" if weight is None else f"one of the shape {tuple(weight.shape)}"
        raise checkpoint.refusal(f"expected the weight {name}, got {shape}; the file is damaged")
    return int(weight.shape[dim])


def _lstm_settings(
    checkpoint: FairseqCheckpoint, vocabulary_sizes: tuple[int, int]
) -> dict[str, Any]:
    """Return the settings of `LSTMConfig`."""
    weights = checkpoint.weights
    hidden_size = _size(checkpoint, "decoder.layers.0.weight_hh", 1)
    out_width = hidden_size
    if "decoder.additional_fc.weight" in weights:
        out_width = _size(checkpoint, "decoder.additional_fc.weight", 0)
    return {
        "vocab_size": vocabulary_sizes[1],
        "src_vocab_size": vocabulary_sizes[0],
        "num_hidden_layers": sum(
            bool(re.fullmatch(r"decoder\.layers\.\d+\.weight_hh", name)) for name in weights
        ),
        "encoder_embed_dim": _size(checkpoint, EMBEDDINGS[0], 1),
        "encoder_hidden_size": _size(checkpoint, "encoder.lstm.weight_hh_l0", 1),
        "encoder_bidirectional": "encoder.lstm.weight_hh_l0_reverse" in weights,
        "decoder_embed_dim": _size(checkpoint, EMBEDDINGS[1], 1),
        "decoder_hidden_size": hidden_size,
        "decoder_attention": "decoder.attention.input_proj.weight" in weights,
        "decoder_out_embed_dim": out_width,
        "share_embeddings": checkpoint.shares(*EMBEDDINGS),
        "tie_word_embeddings": f"{_LSTM_PROJECTION}.weight" not in weights,
        "max_position_embeddings": min(
            size_option(checkpoint, f"max_{side}_positions", 1024) for side in ("source", "target")
        ),
    }


def _convs2s_settings(
    checkpoint: FairseqCheckpoint, vocabulary_sizes: tuple[int, int]
) -> dict[str, Any]:
    """Return the settings of `ConvS2SConfig`."""
    layers = {side: _convolutions(checkpoint, side) for side in ("encoder", "decoder")}
    positions = {
        f"max_{name}_positions": _size(checkpoint, f"{side}.embed_positions.weight", 0)
        - _TABLE_ROWS
        for side, name in (("encoder", "source"), ("decoder", "target"))
    }
    return {
        "vocab_size": vocabulary_sizes[1],
        "src_vocab_size": vocabulary_sizes[0],
        "d_model": _size(checkpoint, EMBEDDINGS[0], 1),
        "encoder_convolutions": layers["encoder"],
        "decoder_convolutions": layers["decoder"],
        "decoder_attention": [
            f"decoder.attention.{number}.in_projection.bias" in checkpoint.weights
            for number in range(len(layers["decoder"]))
        ],
        "decoder_out_embed_dim": _size(checkpoint, "decoder.fc2.bias", 0),
        **positions,
        "share_embeddings": checkpoint.shares(*EMBEDDINGS),
        "tie_word_embeddings": checkpoint.shares(EMBEDDINGS[1], f"{_CONV_PROJECTION}.weight"),
    }


def _convolutions(checkpoint: FairseqCheckpoint, side: str) -> list[tuple[int, ...]]:
    """Return channels, width of the kernel and residual connection of each layer of a side."""
    text = checkpoint.options.get(f"{side}_layers")
    # fairseq evaluates the option as a program; here only lists of tuples, times a number, added to
    # each other are read, as in all of its architectures.
    parts = [_CONVOLUTIONS.fullmatch(part) for part in str(text).replace(" ", "").split("+")]
    layers = [
        (*(int(number) for number in layer.split(",")), 1)[:3]
        for part in parts
        if part
        for layer in re.findall(r"\(([\d,]+)\)", part[1]) * int(part[2] or 1)
    ]
    if not all(parts) or any(layer[2] > number for number, layer in enumerate(layers, start=1)):
        raise checkpoint.refusal(
            f"{side}_layers={shown(text)}, expected channels and widths of convolutions such as"
            " '[(512, 3)] * 8', with residual connections to layers before"
        )
    return layers


def _lstm_weights(checkpoint: FairseqCheckpoint) -> dict[str, torch.Tensor]:
    """Return the weights under the names of `LSTMForConditionalGeneration`."""
    return _renamed(dict(checkpoint.weights), _LSTM_PROJECTION)


def _convs2s_weights(checkpoint: FairseqCheckpoint) -> dict[str, torch.Tensor]:
    """Return the weights under the names of the model, after weight normalisation."""
    weights: dict[str, torch.Tensor] = {}
    for name, weight in checkpoint.weights.items():
        stem, _, kind = name.rpartition("_")
        if kind == "g" and f"{stem}_v" in checkpoint.weights:
            weights[stem] = _normalised(checkpoint, stem)
        elif kind != "v" or f"{stem}_g" not in checkpoint.weights:
            weights[name] = weight
    for name, weight in weights.items():
        if re.fullmatch(r"(en|de)coder\.convolutions\.\d+\.weight", name) and weight.dim() == 3:
            # (width, input, output) in fairseq, whose convolutions run over time first
            weights[name] = weight.permute(2, 1, 0).contiguous()
    return _renamed(weights, _CONV_PROJECTION)


def _normalised(checkpoint: FairseqCheckpoint, name: str) -> torch.Tensor:
    """Return a weight from its lengths, "_g", and its directions, "_v" (Salimans & Kingma 2016)."""
    lengths, directions = (checkpoint.weights[f"{name}_{kind}"] for kind in "gv")
    # The shape of the lengths says over which dimensions a direction extends: convolutions of the
    # first models have one length for each position of the kernel, later ones for each output.
    dims = [dim for dim, size in enumerate(lengths.shape) if size == 1]
    if lengths.dim() != directions.dim() or any(
        size not in (1, directions.shape[dim]) for dim, size in enumerate(lengths.shape)
    ):
        raise checkpoint.refusal(
            f"the weight {name}_g has the shape {tuple(lengths.shape)}, which does not fit that of"
            f" {name}_v, {tuple(directions.shape)}"
        )
    norms: torch.Tensor = torch.linalg.vector_norm(directions, dim=dims, keepdim=True)
    return directions * (lengths / norms)


def _renamed(weights: dict[str, torch.Tensor], projection: str) -> dict[str, torch.Tensor]:
    """Return the weights under the names of a `TranslationModel`."""
    # The reader puts the embeddings of the decoder under the name that transformers have for it.
    shared = weights.pop(PROJECTION, None)
    if f"{projection}.weight" not in weights and shared is not None:
        weights[f"{projection}.weight"] = shared
    return {
        f"lm_head.{name.removeprefix(f'{projection}.')}"
        if name.startswith(f"{projection}.")
        else f"model.{name}": weight
        for name, weight in weights.items()
    }


# fairseq-generate produces no <pad>, and no empty text (min_len 1).
_GENERATION = {"suppress_tokens": [1], "min_new_tokens": 1}
_SCORING = (
    "Score with `decoder_input_ids` = `</s>` (2) + target without its last token;\npad on the"
    " right. The class is one of cc_hf, with which `import"
    " cc_hf_studies.disambiguation_bias.baselines` makes it known to the Auto classes;\nwithout"
    " cc_hf, this folder carries its code, for `trust_remote_code`."
)
LSTM = Architecture(
    LSTMConfig,
    LSTMForConditionalGeneration,
    fits=_is_lstm,
    settings=_lstm_settings,
    generation=_GENERATION,
    scoring=_SCORING,
    weights=_lstm_weights,
)
CONVS2S = Architecture(
    ConvS2SConfig,
    ConvS2SForConditionalGeneration,
    fits=_is_convolutional,
    settings=_convs2s_settings,
    generation=_GENERATION,
    scoring=_SCORING,
    weights=_convs2s_weights,
)
