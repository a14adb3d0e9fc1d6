"""Checkpoints in fairseq's format with random weights, and a plain version of fairseq's transformer
to compare conversions with.
"""

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

import cc_hf
from cc_hf.systems.translate import translate_with
from tests.helpers.command_line import read_json
from tests.helpers.lines import write_lines

WIDTH = 16
_LETTERS = [f"{letter}{mark}" for letter in "abcdefghijklmnopqrstuvwxyz" for mark in ("", "@@")]
_CODES = "t h 9\nth e</w> 8\na t</w> 7\n"


def options(**changes: Any) -> dict[str, Any]:
    """Return the options of a small transformer as fairseq saves them: post-norm with sinusoidal
    positions unless changed.
    """
    sides = both(**_SIDE)
    names = {"arch": "transformer", "task": "translation"}
    languages = {"source_lang": "en", "target_lang": "de"}
    return {**names, **languages, "share_all_embeddings": True, **sides, **changes}


#: attention that has shortcuts in the authors' fairseq
SHORTCUTS = ("encoder.self_attn", "decoder.self_attn")
_SIDE = {
    **{"layers": 2, "embed_dim": WIDTH, "ffn_embed_dim": 24, "attention_heads": 2},
    **{"normalize_before": False, "learned_pos": False},
}


def both(**changes: Any) -> dict[str, Any]:
    """Return the changes as options of both encoder and decoder."""
    return {f"{side}_{name}": v for side in ("encoder", "decoder") for name, v in changes.items()}


def random_weights(
    chosen: Mapping[str, Any], *, n_source: int, n_target: int, positions: int = 34, seed: int = 0
) -> dict[str, torch.Tensor]:
    """Return weights under fairseq's names, as the options require them.

    With `use_feature_fusion` among the options, there are lexical shortcuts in self-attention, or
    in the attention that the option `shortcuts` of this function's tests names.
    """
    shortcuts = chosen.get("shortcuts", SHORTCUTS) if "use_feature_fusion" in chosen else ()
    torch.manual_seed(seed)
    weights: dict[str, torch.Tensor] = {}

    def add(name: str, *shape: int) -> None:
        weights[f"{name}.weight"] = torch.randn(*shape) * (0.3 if len(shape) == 2 else 1.0)
        if "embed_" not in name and "projection" not in name:
            weights[f"{name}.bias"] = torch.randn(shape[0])

    for side, size in (("encoder", n_source), ("decoder", n_target)):
        add(f"{side}.embed_tokens", size, WIDTH)
        weights[f"{side}.embed_tokens.weight"][1] = 0
        weights[f"{side}.version"] = torch.tensor([3.0])
        if chosen[f"{side}_learned_pos"]:
            add(f"{side}.embed_positions", positions, WIDTH)
        if chosen.get("layernorm_embedding"):
            add(f"{side}.layernorm_embedding", WIDTH)
        if chosen[f"{side}_normalize_before"]:
            add(f"{side}.layer_norm", WIDTH)
        for layer in range(chosen[f"{side}_layers"]):
            prefix = f"{side}.layers.{layer}"
            for attention in ("self_attn", "encoder_attn")[: 1 if side == "encoder" else 2]:
                has_shortcuts = f"{side}.{attention}" in shortcuts
                fused = 2 if has_shortcuts and chosen["use_feature_fusion"] else 1
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    width = WIDTH * (fused if part in ("k_proj", "v_proj") else 1)
                    add(f"{prefix}.{attention}.{part}", width, width)
                if has_shortcuts:
                    for part in ("key", "value"):
                        if fused == 1:
                            add(f"{prefix}.{attention}.sc_{part[0]}_proj", WIDTH, WIDTH)
                        weights[f"{prefix}.{attention}.{part}_gate_bias"] = torch.randn(1, 1, WIDTH)
                add(f"{prefix}.{attention}_layer_norm", WIDTH)
            add(f"{prefix}.fc1", chosen[f"{side}_ffn_embed_dim"], WIDTH)
            add(f"{prefix}.fc2", WIDTH, chosen[f"{side}_ffn_embed_dim"])
            add(f"{prefix}.final_layer_norm", WIDTH)
    if chosen["share_all_embeddings"]:
        weights["decoder.embed_tokens.weight"] = weights["encoder.embed_tokens.weight"]
    if chosen.get("share_decoder_input_output_embed", True):
        weights["decoder.output_projection.weight"] = weights["decoder.embed_tokens.weight"]
    else:
        add("decoder.output_projection", n_target, WIDTH)
    return weights


def save_fairseq(
    folder: Path,
    *,
    weights: Mapping[str, torch.Tensor] | None = None,
    without: Sequence[str] = (),
    **changes: Any,
) -> dict[str, torch.Tensor]:
    """Write a folder with model1.pt, dictionaries and BPE codes, and return the weights. `without`
    names options to omit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chosen = options(**changes)
    symbols = {"en": _LETTERS, "de": _LETTERS if chosen["share_all_embeddings"] else _LETTERS[:40]}
    for language, of_language in symbols.items():
        write_lines(folder / f"dict.{language}.txt", (f"{symbol} 1" for symbol in of_language))
    (folder / "bpecodes").write_text(_CODES, encoding="utf-8")
    n_source, n_target = (len(symbols[language]) + 4 for language in ("en", "de"))
    saved = dict(weights or random_weights(chosen, n_source=n_source, n_target=n_target))
    args = argparse.Namespace(**{k: v for k, v in chosen.items() if k not in without})
    torch.save({"args": args, "model": saved, "extra_state": {"epoch": 1}}, folder / "model1.pt")
    return saved


def reference_logprobs(
    weights: Mapping[str, torch.Tensor],
    chosen: Mapping[str, Any],
    source: Sequence[int],
    target: Sequence[int],
    *,
    start: int = 2,
) -> npt.NDArray[np.float64]:
    """Return the log-probability of each target token in float64, for one pair alone, as fairseq's
    transformer computes it. `start` is the first input of the decoder.
    """
    named = {name: weight.double() for name, weight in weights.items()}
    encoded = _stack(named, chosen, "encoder", list(source), None)
    states, _ = _stack(named, chosen, "decoder", [start, *target[:-1]], encoded)
    logprobs = F.linear(states, named["decoder.output_projection.weight"]).log_softmax(-1)
    actual: npt.NDArray[np.float64] = logprobs[range(len(target)), list(target)].numpy()
    return actual


def _stack(
    w: Mapping[str, torch.Tensor],
    chosen: Mapping[str, Any],
    side: str,
    ids: list[int],
    encoded: tuple[torch.Tensor, torch.Tensor] | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the last states and the embeddings; `encoded` has those of the encoder."""
    pre_norm = chosen[f"{side}_normalize_before"]

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, x.shape[-1:], w[f"{name}.weight"], w[f"{name}.bias"])

    def block(x: torch.Tensor, part: str, compute: Any) -> torch.Tensor:
        name = f"{part}_layer_norm"
        return x + compute(norm(x, name), part) if pre_norm else norm(x + compute(x, part), name)

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def mixed(memory: torch.Tensor, lexical: torch.Tensor, name: str, p: str) -> torch.Tensor:
        """Return keys or values, with lexical shortcuts where there are gates."""
        gate_bias = w.get(f"{name}.{'key' if p == 'k' else 'value'}_gate_bias")
        if gate_bias is None:
            return linear(memory, f"{name}.{p}_proj")
        if f"{name}.sc_{p}_proj.weight" in w:
            shortcut = linear(lexical, f"{name}.sc_{p}_proj")
            plain = linear(memory, f"{name}.{p}_proj")
        else:
            both = linear(torch.cat([lexical, memory], dim=1), f"{name}.{p}_proj")
            shortcut, plain = both[:, : both.shape[1] // 2], both[:, both.shape[1] // 2 :]
        gate = torch.sigmoid(shortcut + plain + gate_bias[0])
        return gate * shortcut + (1 - gate) * plain

    def attend(
        x: torch.Tensor, memory: torch.Tensor, lexical: torch.Tensor, name: str
    ) -> torch.Tensor:
        heads = chosen[f"{side}_attention_heads"]
        sides = (linear(x, f"{name}.q_proj"), *(mixed(memory, lexical, name, p) for p in "kv"))
        q, k, v = (y.view(len(y), heads, -1).transpose(0, 1) for y in sides)
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        if encoded is not None and name.endswith("self_attn"):
            scores = scores + torch.full(scores.shape[1:], -math.inf, dtype=scores.dtype).triu(1)
        return linear((scores.softmax(-1) @ v).transpose(0, 1).flatten(1), f"{name}.out_proj")

    x = w[f"{side}.embed_tokens.weight"][ids]
    width = x.shape[-1]
    x = x * (1.0 if chosen.get("no_scale_embedding") else math.sqrt(width))
    places = torch.arange(2, 2 + len(ids))
    learned = w.get(f"{side}.embed_positions.weight")
    x = x + (_sinusoids(places, width) if learned is None else learned[places])
    if chosen.get("layernorm_embedding"):
        x = norm(x, f"{side}.layernorm_embedding")
    embedded = x  # what the shortcuts read
    activate: Any = {"relu": F.relu, "gelu": F.gelu}[chosen.get("activation_fn", "relu")]
    for layer in range(chosen[f"{side}_layers"]):
        p = f"{side}.layers.{layer}"
        x = block(x, f"{p}.self_attn", lambda y, name: attend(y, y, embedded, name))
        if encoded is not None:
            x = block(x, f"{p}.encoder_attn", lambda y, name: attend(y, *encoded, name))
        x = block(
            x, f"{p}.final", lambda y, _, p=p: linear(activate(linear(y, f"{p}.fc1")), f"{p}.fc2")
        )
    return (norm(x, f"{side}.layer_norm") if pre_norm else x), embedded


def _sinusoids(places: torch.Tensor, width: int) -> torch.Tensor:
    """Return the table in float32, as fairseq has it: far positions are rounded there."""
    half = width // 2
    rates = torch.exp(torch.arange(half).float() * (-math.log(10000) / (half - 1)))
    angles = places[:, None].float() * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1).double()


def check_translates_and_carries_its_code(folder: Path, module: str, name: str, *more: str) -> None:
    """Check a converted model: that it translates, and that its folder has its classes and modules.

    Args:
        folder: the folder.
        module: the module of the model; that of the configuration is "configuration".
        name: what the names of its classes begin with.
        more: further modules.
    """
    evaluator = cc_hf.load_evaluator(folder)
    assert len(translate_with(evaluator, ["the cat", "a b"], num_beams=3, max_new_tokens=5)) == 2
    model = f"{name}ForConditionalGeneration"
    assert model in (folder / "README.md").read_text(encoding="utf-8")
    classes = {"AutoConfig": f"configuration.{name}Config"}
    classes["AutoModelForSeq2SeqLM"] = f"{module}.{model}"
    assert read_json(folder / "config.json")["auto_map"] == classes
    files = {f"{file}.py" for file in ("configuration", module, *more)}
    assert files <= {path.name for path in folder.iterdir()}
