"""An independent forward pass of a Bergamot student in float64, by numpy alone, one pair at a time.

It reads Marian's binary format by itself, so that it shares no code with the package.
"""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

Floats = npt.NDArray[np.float64]


class ReferenceStudent:
    """A student, read from Marian's binary format.

    Args:
        path: the `.bin` file.
    """

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        n_tensors = struct.unpack_from("<Q", content, 8)[0]
        headers = [struct.unpack_from("<4Q", content, 16 + 32 * n) for n in range(n_tensors)]
        position, names = 16 + 32 * n_tensors, []
        for length, *_ in headers:
            names.append(content[position : position + length - 1].decode())
            position += length
        shapes = []
        for _, _, n_dimensions, _ in headers:
            shapes.append(struct.unpack_from(f"<{n_dimensions}i", content, position))
            position += 4 * n_dimensions
        position += 8 + struct.unpack_from("<Q", content, position)[0]
        self.weights: dict[str, Floats] = {}
        self.settings: dict[str, Any] = {}
        for name, shape, (_, kind, _, n_bytes) in zip(names, shapes, headers, strict=True):
            n = int(np.prod(shape))
            if name == "special:model.yml":
                self.settings = yaml.safe_load(content[position : position + n_bytes].rstrip(b"\0"))
            elif kind == 0x404:
                stored = np.frombuffer(content, "<f4", n, position).reshape(shape)
                self.weights[name] = stored.astype(np.float64)
            elif not name.endswith("QuantMultA"):
                multiplier = np.float64(struct.unpack_from("<f", content, position + n)[0])
                stored = np.frombuffer(content, np.int8, n, position).astype(np.float64)
                is_table = name.endswith("Wemb")
                stored = stored.reshape(shape) if is_table else stored.reshape(shape[::-1]).T
                self.weights[name] = stored / multiplier
            position += n_bytes

    def logprobs(self, source: Sequence[int], target: Sequence[int]) -> Floats:
        """Return the log-probability of each target token.

        Args:
            source: source ids, with EOS.
            target: target ids, with EOS.
        """
        settings, width = self.settings, int(self.settings["dim-emb"])
        source_table = self.weights.get("Wemb", self.weights.get("encoder_Wemb"))
        target_table = self.weights.get("Wemb", self.weights.get("decoder_Wemb"))
        assert source_table is not None
        assert target_table is not None
        states = source_table[list(source)] * np.sqrt(width) + _positions(len(source), width)
        for number in range(1, settings["enc-depth"] + 1):
            name = f"encoder_l{number}"
            states = self._attention(f"{name}_self", states, states)
            states = self._feed_forward(f"{name}_ffn", states)
        shifted = np.zeros((len(target), width))
        shifted[1:] = target_table[list(target[:-1])] * np.sqrt(width)
        hidden = shifted + _positions(len(target), width)
        for number in range(1, settings["dec-depth"] + 1):
            name = f"decoder_l{number}"
            if settings["transformer-decoder-autoreg"] == "rnn":
                hidden = self._recurrence(f"{name}_rnn", hidden)
            else:
                hidden = self._attention(f"{name}_self", hidden, hidden, is_causal=True)
            hidden = self._attention(f"{name}_context", hidden, states)
            hidden = self._feed_forward(f"{name}_ffn", hidden)
        head = self.weights.get("decoder_ff_logit_out_W", target_table.T)
        logits = hidden @ head + self.weights["decoder_ff_logit_out_b"]
        logits -= logits.max(-1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(-1, keepdims=True))
        chosen: Floats = logits[np.arange(len(target)), list(target)]
        return chosen

    def _attention(
        self, name: str, hidden: Floats, states: Floats, *, is_causal: bool = False
    ) -> Floats:
        weights, n_heads = self.weights, int(self.settings["transformer-heads"])
        queries, keys, values = (
            (rows @ weights[f"{name}_W{letter}"] + weights[f"{name}_b{letter}"])
            .reshape(len(rows), n_heads, -1)
            .transpose(1, 0, 2)
            for letter, rows in (("q", hidden), ("k", states), ("v", states))
        )
        logits = queries @ keys.transpose(0, 2, 1) / np.sqrt(queries.shape[-1])
        if is_causal:
            logits = np.where(np.tri(len(hidden), dtype=bool), logits, -np.inf)
        shares = np.exp(logits - logits.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        attended = (shares @ values).transpose(1, 0, 2).reshape(hidden.shape)
        change = attended @ weights[f"{name}_Wo"] + weights[f"{name}_bo"]
        return self._norm(f"{name}_Wo", hidden + change)

    def _feed_forward(self, name: str, hidden: Floats) -> Floats:
        weights = self.weights
        inner = hidden @ weights[f"{name}_W1"] + weights[f"{name}_b1"]
        is_relu = self.settings["transformer-ffn-activation"] == "relu"
        inner = np.maximum(inner, 0) if is_relu else inner / (1 + np.exp(-inner))
        return self._norm(
            f"{name}_ffn", hidden + inner @ weights[f"{name}_W2"] + weights[f"{name}_b2"]
        )

    def _recurrence(self, name: str, hidden: Floats) -> Floats:
        weights = self.weights
        gates = 1 / (1 + np.exp(-(hidden @ weights[f"{name}_Wf"] + weights[f"{name}_bf"])))
        candidates = hidden @ weights[f"{name}_W"]
        state, states = np.zeros(hidden.shape[1]), []
        for gate, candidate in zip(gates, candidates, strict=True):
            state = gate * state + (1 - gate) * candidate
            states.append(state)
        return self._norm(f"{name}_ffn", hidden + np.maximum(states, 0))

    def _norm(self, name: str, states: Floats) -> Floats:
        centred = states - states.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-9)
        normed: Floats = scaled * self.weights[f"{name}_ln_scale"] + self.weights[f"{name}_ln_bias"]
        return normed


def _positions(n: int, width: int) -> Floats:
    half = width // 2
    angles = np.arange(n)[:, None] * 10_000.0 ** (-np.arange(half) / (half - 1))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
