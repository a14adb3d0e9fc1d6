"""Marian folders that transformers saved, read without importing transformers, which takes seconds.

A light model has the weights and layers that the packed pass reads, and a light tokenizer gives the
same ids and texts. Whatever is not exactly as expected is left to transformers, which also says
what is wrong with damaged files.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import sentencepiece
import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from cc_hf import registry
from cc_hf.errors import CCError
from cc_hf.models.finite_weights import check_finite_weights
from cc_hf.models.location import check_declared_sizes, model_files

__all__ = ["LightMarian", "LightMarianTokenizer", "light_marian"]

_WEIGHTS = "model.safetensors"
_NEEDED = {
    "config.json",
    _WEIGHTS,
    "source.spm",
    "target.spm",
    "tokenizer_config.json",
    "vocab.json",
}
_ALLOWED = {*_NEEDED, "generation_config.json", "target_vocab.json"}
_SIZES = (
    "vocab_size",
    "max_position_embeddings",
    "encoder_layers",
    "encoder_ffn_dim",
    "encoder_attention_heads",
    "decoder_layers",
    "decoder_ffn_dim",
    "decoder_attention_heads",
    "d_model",
)
_IDS = ("decoder_start_token_id", "pad_token_id", "eos_token_id")
_FLAGS = ("scale_embedding", "share_encoder_decoder_embeddings", "tie_word_embeddings")
_RATES = (
    "dropout",
    "attention_dropout",
    "activation_dropout",
    "encoder_layerdrop",
    "decoder_layerdrop",
    "init_std",
)
# The settings that OPUS-MT has besides. The class of transformers reads none of them in scoring.
_UNREAD = {
    "_name_or_path": (str,),
    "add_bias_logits": (bool,),
    "add_final_layer_norm": (bool,),
    "bad_words_ids": (list, type(None)),
    "classifier_dropout": (int, float),
    "converted_from": (dict,),
    "dtype": (str,),
    "extra_pos_embeddings": (int,),
    "forced_eos_token_id": (int, type(None)),
    "bos_token_id": (int, type(None)),
    "gradient_checkpointing": (bool,),
    "max_length": (int, type(None)),
    "normalize_before": (bool,),
    "normalize_embedding": (bool,),
    "num_beams": (int, type(None)),
    "static_position_embeddings": (bool,),
    "torch_dtype": (str,),
    "transformers_version": (str,),
    "use_cache": (bool,),
}
_GENERATION = {
    "_from_model_config": (bool,),
    "bad_words_ids": (list,),
    "decoder_start_token_id": (int,),
    "eos_token_id": (int,),
    "forced_eos_token_id": (int,),
    "max_length": (int,),
    "num_beams": (int,),
    "output_attentions": (bool,),
    "output_hidden_states": (bool,),
    "pad_token_id": (int,),
    "renormalize_logits": (bool,),
    "transformers_version": (str,),
    "use_cache": (bool,),
}
_TOKENIZER = {
    "added_tokens_decoder": (dict,),
    "backend": (str,),
    "eos_token": (str,),
    "is_local": (bool,),
    "local_files_only": (bool,),
    "model_max_length": (int,),
    "pad_token": (str,),
    "separate_vocabs": (bool,),
    "source_lang": (str, type(None)),
    "sp_model_kwargs": (dict,),
    "target_lang": (str, type(None)),
    "target_vocab_file": (str, type(None)),
    "tokenizer_class": (str,),
    "unk_token": (str,),
}
_ACTIVATIONS = ("gelu", "relu", "silu", "swish")
_DTYPES = (torch.float32, torch.bfloat16, torch.float16)


class _UnusualError(Exception):
    """Something is not as expected, and is left to transformers."""


# To draw random weights that are replaced anyway would import the compiler of torch, which takes
# longer than all the rest.
class _Linear(nn.Linear):
    def reset_parameters(self) -> None:
        """Leave the weights as they are."""


class _Embedding(nn.Embedding):
    def reset_parameters(self) -> None:
        """Leave the weights as they are."""


class LightMarian(nn.Module):
    """The weights of a `MarianMTModel` in its layers, on the CPU in fp32; no forward pass."""

    def __init__(self, config: SimpleNamespace, load_whole: Callable[[], Any]) -> None:
        super().__init__()
        self.config = config
        self.load_whole = load_whole
        self.model = nn.ModuleDict()
        n_target = config.vocab_size
        if config.share_encoder_decoder_embeddings:
            source = target = self.model["shared"] = _embedding(n_target, config)
        else:
            n_target = config.decoder_vocab_size
            source, target = _embedding(config.vocab_size, config), _embedding(n_target, config)
        self.model["encoder"] = _Stack(config, "encoder", source)
        self.model["decoder"] = _Stack(config, "decoder", target)
        self.register_buffer("final_logits_bias", torch.empty(1, n_target, device="meta"))
        self.lm_head = _Linear(config.d_model, n_target, bias=False, device="meta")

    @functools.cached_property
    def whole(self) -> Any:
        """The model of transformers."""
        return self.load_whole()

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the weights."""
        return self.lm_head.weight.dtype

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.lm_head.weight.device

    def get_encoder(self) -> Any:
        """Return the encoder."""
        return self.model["encoder"]

    def get_decoder(self) -> Any:
        """Return the decoder."""
        return self.model["decoder"]


class _Stack(nn.Module):
    def __init__(self, config: SimpleNamespace, side: str, embedding: nn.Embedding) -> None:
        super().__init__()
        self.embed_scale = math.sqrt(config.d_model) if config.scale_embedding else 1.0
        self.embed_tokens = embedding
        self.embed_positions = _Embedding(
            config.max_position_embeddings, config.d_model, device="meta"
        )
        inner = getattr(config, f"{side}_ffn_dim")
        self.layers = nn.ModuleList(
            _layer(config.d_model, inner, has_source=side == "decoder")
            for _ in range(getattr(config, f"{side}_layers"))
        )


def _embedding(n: int, config: SimpleNamespace) -> nn.Embedding:
    return _Embedding(n, config.d_model, config.pad_token_id, device="meta")


def _layer(width: int, inner: int, *, has_source: bool) -> nn.Module:
    layer = nn.Module()
    for name in ("self_attn", "encoder_attn") if has_source else ("self_attn",):
        attention = nn.Module()
        for part in ("k_proj", "v_proj", "q_proj", "out_proj"):
            attention.add_module(part, _Linear(width, width, device="meta"))
        layer.add_module(name, attention)
        layer.add_module(f"{name}_layer_norm", nn.LayerNorm(width, device="meta"))
    layer.add_module("fc1", _Linear(width, inner, device="meta"))
    layer.add_module("fc2", _Linear(inner, width, device="meta"))
    layer.add_module("final_layer_norm", nn.LayerNorm(width, device="meta"))
    return layer


def _positions(n: int, width: int) -> torch.Tensor:
    """Return the table of sinusoids as transformers computes it, to the bit."""
    # One power for each column by the scalar function, as there: the function of arrays may round
    # differently. Quotients are the same in any shape.
    periods = np.array([np.power(10000, 2 * (j // 2) / width) for j in range(width)])
    angles = np.arange(n)[:, None] / periods
    table = torch.empty(n, width)
    half = (width + 1) // 2
    table[:, :half] = torch.FloatTensor(np.sin(angles[:, 0::2]))
    table[:, half:] = torch.FloatTensor(np.cos(angles[:, 1::2]))
    return table


class LightMarianTokenizer:
    """The vocabularies of a `MarianTokenizer`; all else comes from the one of transformers."""

    def __init__(self, folder: Path, load_whole: Callable[[], Any]) -> None:
        settings = _settings(folder / "tokenizer_config.json", _TOKENIZER)
        added = {
            token["content"]: int(number)
            for number, token in settings["added_tokens_decoder"].items()
        }
        special = [settings["eos_token"], settings["unk_token"], settings["pad_token"]]
        self.encoder = _vocabulary(folder / "vocab.json")
        self.separate_vocabs = settings["separate_vocabs"]
        self.target_encoder = self.encoder
        if self.separate_vocabs:
            self.target_encoder = _vocabulary(folder / "target_vocab.json")
        _expect(
            settings["tokenizer_class"] == "MarianTokenizer"
            and settings["sp_model_kwargs"] == {}
            and len(added) == len(settings["added_tokens_decoder"]) == 3
            and set(added) == set(special)
            and all(self.encoder[token] == number for token, number in added.items())
            and settings["unk_token"] in self.target_encoder
            # A text of nothing but such tokens could not be told from one that has them.
            and all(token.strip() for token in added)
        )
        self._added = added
        self._load_whole = load_whole
        self.unk_token = settings["unk_token"]
        self.eos_token_id, self.unk_token_id, self.pad_token_id = (added[t] for t in special)
        self.all_special_ids = [added[token] for token in special]
        self.model_max_length = settings["model_max_length"]
        self.source_lang, self.target_lang = (
            settings.get(name) for name in ("source_lang", "target_lang")
        )
        self.supported_language_codes = (
            []
            if self.separate_vocabs
            else [t for t in self.encoder if t.startswith(">>") and t.endswith("<<")]
        )
        self.spm_source, self.spm_target = (
            sentencepiece.SentencePieceProcessor(model_file=str(folder / name))
            for name in ("source.spm", "target.spm")
        )

    @functools.cached_property
    def whole(self) -> Any:
        """The tokenizer of transformers."""
        return self._load_whole()

    def __getattr__(self, name: str) -> Any:
        """Return what only the tokenizer of transformers has."""
        # Copying asks for such names, and must load nothing.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.whole, name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Tokenise by the tokenizer of transformers."""
        return self.whole(*arguments, **options)

    def get_added_vocab(self) -> dict[str, int]:
        """Return the ids of the special tokens."""
        return dict(self._added)

    @functools.cached_property
    def _tokens(self) -> dict[int, str]:
        return {number: token for token, number in self.target_encoder.items()}

    def batch_decode(
        self, rows: Iterable[Sequence[int]], *, skip_special_tokens: bool = False
    ) -> list[str]:
        """Return the texts of target ids."""
        rows = list(rows)
        # A piece of no vocabulary, and special tokens that are kept, are rare.
        if not skip_special_tokens or any(i not in self._tokens for row in rows for i in row):
            return list(self.whole.batch_decode(rows, skip_special_tokens=skip_special_tokens))
        # As there, a joint vocabulary is decoded by the model of the source side.
        model = self.spm_target if self.separate_vocabs else self.spm_source
        left_out = {*self.all_special_ids}
        return [
            model.decode_pieces([self._tokens[i] for i in row if i not in left_out])
            .replace("▁", " ")
            .strip()
            for row in rows
        ]


def light_marian(
    path: str | Path, load_whole: Callable[[], tuple[Any, Any]]
) -> tuple[LightMarian, LightMarianTokenizer] | None:
    """Return a light model and tokenizer of a folder; None for what transformers must read."""
    folder = Path(path)
    try:
        names = {name for name, _ in model_files(folder)}
        _expect(names >= _NEEDED and names <= _ALLOWED)
        config = _configuration(folder)
        if "generation_config.json" in names:
            _settings(folder / "generation_config.json", _GENERATION)
        check_declared_sizes(folder.name, str(folder))
        tokenizer = LightMarianTokenizer(folder, lambda: load_whole()[1])
        _expect(tokenizer.separate_vocabs == ("target_vocab.json" in names))
        for vocabulary, n in (
            (tokenizer.encoder, config.vocab_size),
            (tokenizer.target_encoder, config.decoder_vocab_size),
        ):
            _expect(min(vocabulary.values()) >= 0 and max(vocabulary.values()) < n)
        model = LightMarian(config, lambda: load_whole()[0])
        model.load_state_dict(_weights(folder / _WEIGHTS, config), strict=True, assign=True)
        if config.tie_word_embeddings:
            model.lm_head.weight = model.get_decoder().embed_tokens.weight
        check_finite_weights(model, folder.name)
    # Transformers says what is wrong, or knows what to do with it.
    except (
        _UnusualError,
        CCError,
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RuntimeError,
        SafetensorError,
    ):
        return None
    return model.eval(), tokenizer


def _expect(condition: bool) -> None:
    if not condition:
        raise _UnusualError


def _vocabulary(path: Path) -> dict[str, int]:
    content = json.loads(path.read_text(encoding="utf-8"))
    _expect(
        isinstance(content, dict) and bool(content) and {type(i) for i in content.values()} == {int}
    )
    return dict(content)


def _settings(path: Path, types: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """Return the settings of a file, all of which must be known."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    _expect(all(type(value) in types[name] for name, value in settings.items()))
    return dict(settings)


def _configuration(folder: Path) -> SimpleNamespace:
    types: dict[str, tuple[type, ...]] = {
        **_UNREAD,
        **dict.fromkeys((*_SIZES, *_IDS, "decoder_vocab_size", "num_hidden_layers"), (int,)),
        **dict.fromkeys((*_FLAGS, "is_encoder_decoder", "is_decoder"), (bool,)),
        **dict.fromkeys(_RATES, (int, float)),
        "activation_function": (str,),
        "architectures": (list,),
        "model_type": (str,),
    }
    settings = _settings(folder / "config.json", types)
    sizes = [settings[name] for name in _SIZES]
    n_source, width = settings["vocab_size"], settings["d_model"]
    n_target = settings.setdefault("decoder_vocab_size", n_source)
    heads = [settings[f"{side}_attention_heads"] for side in ("encoder", "decoder")]
    is_shared, is_tied = (settings[name] for name in _FLAGS[1:])
    _expect(
        settings["architectures"] == ["MarianMTModel"]
        and settings["model_type"] == "marian"
        and "marian" not in registry.names("model type")
        and settings["is_encoder_decoder"]
        and not settings.get("is_decoder", False)
        and settings["activation_function"] in _ACTIVATIONS
        and settings.get("num_hidden_layers", settings["encoder_layers"])
        == settings["encoder_layers"]
        and min(*sizes, n_target) > 0
        and not any(width % n for n in heads)
        and all(0 <= settings[name] < min(n_source, n_target) for name in _IDS)
        and (not is_shared or (is_tied and n_source == n_target))
    )
    names = (*_SIZES, *_IDS, *_FLAGS, "decoder_vocab_size", "activation_function", "model_type")
    return SimpleNamespace(
        **{name: settings[name] for name in names}, hidden_size=width, is_encoder_decoder=True
    )


def _weights(path: Path, config: SimpleNamespace) -> dict[str, torch.Tensor]:
    """Return the weights by their names in the model: tied ones by all of them, and positions."""
    with safe_open(path, "pt") as file:
        stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    _expect(all(tensor.dtype in _DTYPES for tensor in stored.values()))
    weights = {name: tensor.float() for name, tensor in stored.items()}
    embeddings = {side: f"model.{side}.embed_tokens.weight" for side in ("encoder", "decoder")}
    if config.share_encoder_decoder_embeddings:
        _expect(not {*embeddings.values(), "lm_head.weight"} & weights.keys())
        weights |= dict.fromkeys(embeddings.values(), weights["model.shared.weight"])
    if config.tie_word_embeddings:
        _expect("lm_head.weight" not in weights)
        weights["lm_head.weight"] = weights[embeddings["decoder"]]
    table = _positions(config.max_position_embeddings, config.d_model)
    for side in embeddings:
        name = f"model.{side}.embed_positions.weight"
        _expect(name not in weights)
        weights[name] = table
    return weights
