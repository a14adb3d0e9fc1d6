"""Checkpoints of fairseq's LSTM and convolutional models with weights from a seed, and both models
written out position by position in float64.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from tests.helpers.fairseq_models import save_fairseq

Array = npt.NDArray[Any]
Weights = Mapping[str, Array]
Ids = Sequence[int]
Layers = Sequence[tuple[int, int, int]]

N_SYMBOLS, N_SEPARATE = 56, 44  # of the dictionaries of `save_fairseq`
N_POSITIONS = 60
_HALF = 0.5**0.5


@dataclass(frozen=True)
class Baseline:
    """A checkpoint as fairseq 0.12.2 saves it.

    Attributes:
        options: options of the training that matter for the model.
        shapes: shapes of the weights under fairseq's names.
        layers: convolutions of encoder and decoder; none for an LSTM.
        tied: weight -> weight that is the same.
    """

    options: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    layers: tuple[Layers, Layers] = ((), ())
    tied: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_target(self) -> int:
        """The number of symbols of the target dictionary."""
        return self.shapes["decoder.embed_tokens.weight"][0]

    def weights(self) -> dict[str, Array]:
        """Return weights of about the size that training gives them, in float32."""
        draw = np.random.default_rng(7)
        weights: dict[str, Array] = {}
        for name, shape in sorted(self.shapes.items()):
            values = draw.random(shape) - 0.5
            # lengths of weight normalisation are above 0
            values = values + 0.8 if name.endswith("_g") else 1.4 * values
            weights[name] = values.astype(np.float32)
            if "embed" in name:
                weights[name][1] = 0
            if name in ("decoder.fc_out.bias", "decoder.fc3.bias"):
                weights[name][2] += 1.5  # so that translations end
        return weights | {name: weights[other] for name, other in self.tied.items()}

    def save(self, folder: Path, **changes: Any) -> dict[str, Array]:
        """Write a folder to convert, as `save_fairseq`, and return the weights."""
        weights = self.weights()
        tensors = {name: torch.from_numpy(weight) for name, weight in weights.items()}
        tensors |= changes.pop("weights", {})
        shared = {"share_all_embeddings": self.n_target == N_SYMBOLS}
        save_fairseq(folder, weights=tensors, **{**shared, **self.options, **changes})
        return weights


def lstm(
    *,
    embed: tuple[int, int] = (12, 12),
    hidden: tuple[int, int] = (12, 12),
    n_layers: int = 1,
    bidirectional: bool = False,
    attention: bool = True,
    out_embed: int | None = None,
    tied: str = "",
) -> Baseline:
    """Return an LSTM. `tied` is "all", "decoder" or "" for separate embeddings and projection."""
    n_target = N_SYMBOLS if tied == "all" else N_SEPARATE
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.embed_tokens.weight": (N_SYMBOLS, embed[0]),
        "decoder.embed_tokens.weight": (n_target, embed[1]),
    }

    def cell(prefix: str, ending: str, n_in: int, n_out: int) -> None:
        for name, width in (("ih", n_in), ("hh", n_out)):
            shapes[f"{prefix}.weight_{name}{ending}"] = (4 * n_out, width)
            shapes[f"{prefix}.bias_{name}{ending}"] = (4 * n_out,)

    n_source = hidden[0] * (1 + bidirectional)
    for layer in range(n_layers):
        for ending in ("", "_reverse")[: 1 + bidirectional]:
            cell("encoder.lstm", f"_l{layer}{ending}", n_source if layer else embed[0], hidden[0])
        cell(f"decoder.layers.{layer}", "", hidden[1] + (0 if layer else embed[1]), hidden[1])
    if n_source != hidden[1]:
        for name in ("hidden", "cell"):
            shapes[f"decoder.encoder_{name}_proj.weight"] = (hidden[1], n_source)
            shapes[f"decoder.encoder_{name}_proj.bias"] = (hidden[1],)
    if attention:
        shapes["decoder.attention.input_proj.weight"] = (n_source, hidden[1])
        shapes["decoder.attention.output_proj.weight"] = (hidden[1], hidden[1] + n_source)
    if out_embed not in (None, hidden[1]):
        shapes["decoder.additional_fc.weight"] = (out_embed, hidden[1])
        shapes["decoder.additional_fc.bias"] = (out_embed,)
    if not tied:
        shapes["decoder.fc_out.weight"] = (n_target, out_embed or hidden[1])
        shapes["decoder.fc_out.bias"] = (n_target,)
    both = {"decoder.embed_tokens.weight": "encoder.embed_tokens.weight"}
    # fairseq keeps the default of an option that has an effect under another criterion only
    options = {"arch": "lstm", "adaptive_softmax_cutoff": "10000,50000,200000"}
    return Baseline(options, shapes, tied=both if tied == "all" else {})


def convs2s(
    *,
    width: int = 12,
    encoder: str = "[(12, 3)] * 2",
    decoder: str = "[(12, 3)] * 2",
    layers: tuple[Layers, Layers] = (((12, 3, 1),) * 2, ((12, 3, 1),) * 2),
    without_attention: Sequence[int] = (),
    out_embed: int = 12,
    tied: bool = False,
    first_norm: bool = False,
) -> Baseline:
    """Return a convolutional model; `encoder` and `decoder` are the options that `layers` are of.

    With `first_norm`, the decoder has one length for each position of a kernel, as the first models
    have, whose `decoder.version` is 1.
    """
    shapes: dict[str, tuple[int, ...]] = {}

    def linear(name: str, n_in: int, n_out: int) -> None:
        normalised = {"weight_v": (n_out, n_in), "weight_g": (n_out, 1), "bias": (n_out,)}
        shapes.update({f"{name}.{kind}": shape for kind, shape in normalised.items()})

    n_target = N_SEPARATE
    sides = (("encoder", N_SYMBOLS), ("decoder", n_target))
    for (side, symbols), of_side in zip(sides, layers, strict=True):
        shapes[f"{side}.embed_tokens.weight"] = (symbols, width)
        shapes[f"{side}.embed_positions.weight"] = (N_POSITIONS, width)
        channels = [of_side[0][0], *(layer[0] for layer in of_side)]
        linear(f"{side}.fc1", width, channels[0])
        for i, (n_out, kernel, residual) in enumerate(of_side):
            name = f"{side}.convolutions.{i}"
            shapes[f"{name}.weight_v"] = (kernel, channels[i], 2 * n_out)
            is_first = first_norm and side == "decoder"
            shapes[f"{name}.weight_g"] = (kernel, 1, 1) if is_first else (1, 1, 2 * n_out)
            shapes[f"{name}.bias"] = (2 * n_out,)
            if residual and (n_residual := channels[i + 1 - residual]) != n_out:
                linear(f"{side}.projections.{i}", n_residual, n_out)
            if side == "decoder" and i not in without_attention:
                linear(f"decoder.attention.{i}.in_projection", n_out, width)
                linear(f"decoder.attention.{i}.out_projection", width, n_out)
        linear(f"{side}.fc2", channels[-1], width if side == "encoder" else out_embed)
    linear("decoder.fc3", out_embed, n_target)
    shared = {}
    if tied:
        del shapes["decoder.fc3.weight_v"], shapes["decoder.fc3.weight_g"]
        shared = {"decoder.fc3.weight": "decoder.embed_tokens.weight"}
    options = {"arch": "fconv", "encoder_layers": encoder, "decoder_layers": decoder}
    return Baseline(options, shapes, layers, shared)


def logprobs(baseline: Baseline, weights: Weights, source: Ids, target: Ids) -> Array:
    """Return the log-probability of each target token by the model written out, for one pair."""
    compute = convs2s_logprobs if baseline.layers[0] else lstm_logprobs
    return compute(weights, source, target, layers=baseline.layers)


def lstm_logprobs(weights: Weights, source: Ids, target: Ids, *, start: int = 2, **_: Any) -> Array:
    """Luong et al. 2015 with input feeding, as fairseq has it."""
    w = _double(weights)
    rows = list(w["encoder.embed_tokens.weight"][list(source)])
    states: list[list[Array]] = []
    while f"encoder.lstm.weight_hh_l{len(states)}" in w:
        sides, ends = [], []
        for ending, order in (("", 1), ("_reverse", -1)):
            name = f"_l{len(states)}{ending}"
            if f"encoder.lstm.weight_hh{name}" in w:
                steps = _lstm(w, "encoder.lstm", name, rows[::order])
                sides.append([h for h, _ in steps][::order])
                ends.append(steps[-1])
        rows = [np.concatenate(row) for row in zip(*sides, strict=True)]
        states.append([np.concatenate(parts) for parts in zip(*ends, strict=True)])
    memory = np.stack(rows)
    if "decoder.encoder_hidden_proj.weight" in w:
        names = ("decoder.encoder_hidden_proj", "decoder.encoder_cell_proj")
        states = [[_linear(w, n, x) for n, x in zip(names, s, strict=True)] for s in states]
    fed = np.zeros_like(states[0][0])
    actual = []
    for previous, label in zip([start, *target[:-1]], target, strict=True):
        x = np.concatenate([w["decoder.embed_tokens.weight"][previous], fed])
        for i, (h, c) in enumerate(states):
            states[i] = list(_cell(w, f"decoder.layers.{i}", "", x, h, c))
            x = states[i][0]
        if "decoder.attention.input_proj.weight" in w:
            shares = _softmax(memory @ (w["decoder.attention.input_proj.weight"] @ x))
            both = np.concatenate([shares @ memory, x])
            x = np.tanh(w["decoder.attention.output_proj.weight"] @ both)
        fed = x
        if "decoder.additional_fc.weight" in w:
            x = _linear(w, "decoder.additional_fc", x)
        tied = "decoder.fc_out.weight" not in w
        logits = w["decoder.embed_tokens.weight"] @ x if tied else _linear(w, "decoder.fc_out", x)
        actual.append(np.log(_softmax(logits)[label]))
    return np.array(actual)


def convs2s_logprobs(
    weights: Weights, source: Ids, target: Ids, *, layers: tuple[Layers, Layers], start: int = 2
) -> Array:
    """Gehring et al. 2017, as fairseq has it."""
    w = _double(weights)

    def stack(side: str, ids: Ids, of_side: Layers, attend: Any) -> tuple[Array, Array]:
        positions = w[f"{side}.embed_positions.weight"][2 : 2 + len(ids)]
        embedded = w[f"{side}.embed_tokens.weight"][list(ids)] + positions
        inputs = [_linear(w, f"{side}.fc1", embedded)]
        for i, (n_out, kernel, residual) in enumerate(of_side):
            # the decoder sees no later tokens, the encoder as many as earlier ones
            before = kernel - 1 if side == "decoder" else (kernel - 1) // 2
            name = f"{side}.convolutions.{i}"
            matrices, x = _weight(w, name), np.zeros((len(ids), n_out))
            for t in range(len(ids)):
                total = w[f"{name}.bias"].copy()
                for k in range(kernel):
                    if 0 <= t + k - before < len(ids):
                        total += inputs[-1][t + k - before] @ matrices[k]
                x[t] = total[:n_out] / (1 + np.exp(-total[n_out:]))
            x = attend(i, x, embedded)
            if residual:
                kept = inputs[-residual]
                if f"{side}.projections.{i}.bias" in w:
                    kept = _linear(w, f"{side}.projections.{i}", kept)
                x = (x + kept) * _HALF
            inputs.append(x)
        return _linear(w, f"{side}.fc2", inputs[-1]), embedded

    keys, embedded = stack("encoder", source, layers[0], lambda i, x, e: x)
    values = (keys + embedded) * _HALF

    def attend(i: int, x: Array, target_embedded: Array) -> Any:
        name = f"decoder.attention.{i}"
        if f"{name}.in_projection.bias" not in w:
            return x
        queries = (_linear(w, f"{name}.in_projection", x) + target_embedded) * _HALF
        context = _softmax(queries @ keys.T) @ values * len(source) ** 0.5
        return (_linear(w, f"{name}.out_projection", context) + x) * _HALF

    states, _ = stack("decoder", [start, *target[:-1]], layers[1], attend)
    shares: Array = _softmax(_linear(w, "decoder.fc3", states))
    return np.log(shares)[range(len(target)), list(target)]


def _double(weights: Weights) -> dict[str, Array]:
    return {name: weight.astype(np.float64) for name, weight in weights.items()}


def _weight(w: Weights, name: str) -> Array:
    """Return a weight after weight normalisation, if it is a normalised one."""
    if f"{name}.weight_g" not in w:
        weight = w[f"{name}.weight"]
        return weight if weight.ndim == 2 else weight.transpose(2, 1, 0)  # as torch has them
    lengths, directions = w[f"{name}.weight_g"], w[f"{name}.weight_v"]
    dims = tuple(dim for dim, size in enumerate(lengths.shape) if size == 1)
    norms: Array = np.sqrt((directions**2).sum(dims, keepdims=True))
    return lengths * directions / norms


def _linear(w: Weights, name: str, x: Array) -> Any:
    return x @ _weight(w, name).T + w[f"{name}.bias"]


def _softmax(scores: Array) -> Any:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _lstm(w: Weights, prefix: str, ending: str, rows: Sequence[Array]) -> list[tuple[Array, Array]]:
    h = c = np.zeros(w[f"{prefix}.weight_hh{ending}"].shape[1])
    states = []
    for row in rows:
        h, c = _cell(w, prefix, ending, row, h, c)
        states.append((h, c))
    return states


def _cell(w: Weights, prefix: str, end: str, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
    total = w[f"{prefix}.weight_ih{end}"] @ x + w[f"{prefix}.weight_hh{end}"] @ h
    total = total + w[f"{prefix}.bias_ih{end}"] + w[f"{prefix}.bias_hh{end}"]
    i, f, g, o = np.split(total, 4)
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
    c = f * c + i * np.tanh(g)
    return o * np.tanh(c), c
