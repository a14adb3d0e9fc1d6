"""From the files of a student to a model of transformers with its tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cc_hf.errors import DataError, shown
from cc_hf.plugins.bergamot.configuration import BergamotConfig, generation_settings
from cc_hf.plugins.bergamot.files import StudentFiles
from cc_hf.plugins.bergamot.marian_file import MarianFile, read_marian_file
from cc_hf.plugins.bergamot.modeling import BergamotForConditionalGeneration
from cc_hf.plugins.bergamot.tokenizer import BergamotTokenizer

__all__ = ["load_student"]

# Settings of Marian that a student must have; a file may lack them, as older versions did.
_REQUIRED: dict[str, tuple[Any, ...]] = {
    "type": ("transformer",),
    "input-types": ([],),
    "lemma-dim-emb": (0,),
    "right-left": (False,),
    "skip": (False,),
    "tied-embeddings-src": (False,),
    "transformer-depth-scaling": (False, True),  # of the initial weights only
    "transformer-decoder-autoreg": ("rnn", "self-attention"),
    "transformer-ffn-depth": (2,),
    "transformer-decoder-ffn-depth": (0, 2),
    "transformer-ffn-activation": ("relu", "swish"),  # Marian's gelu is an approximation of its own
    "transformer-no-projection": (False,),
    "transformer-pool": (False,),
    "transformer-postprocess": ("dan",),
    "transformer-postprocess-emb": ("d", ""),
    "transformer-postprocess-top": ("",),
    "transformer-preprocess": ("", "d"),  # "n" is a norm before each block, in some teachers
    "transformer-tied-layers": ([],),
    "transformer-train-position-embeddings": (False,),
    "ulr": (False,),
}
_NEEDED = ("dim-emb", "dec-depth", "enc-depth", "dim-vocabs", "transformer-heads")


def load_student(files: StudentFiles) -> tuple[BergamotForConditionalGeneration, BergamotTokenizer]:
    """Load a student, dequantised to float32, in eval mode."""
    content = read_marian_file(files.model)
    tokenizer = BergamotTokenizer.from_files(files.vocabularies, languages=files.languages)
    try:
        config = _config(content)
        sizes = tokenizer.vocabulary_sizes
        declared = tuple(content.configuration["dim-vocabs"])
        if any(size > rows for size, rows in zip(sizes, declared, strict=True)):
            raise DataError(
                f"expected vocabularies of at most {declared} tokens, the SentencePiece models"
                f" have {sizes}; they belong to another model"
            )
        state = _Weights(content, config, declared).state()
    except DataError as error:
        raise DataError(f"{files.model}: {error}") from error
    model = BergamotForConditionalGeneration(config)
    model.load_state_dict(state)
    model.generation_config = generation_settings(config)
    tokenizer.set_padding(config.pad_token_id)
    return model.eval(), tokenizer


def _config(content: MarianFile) -> BergamotConfig:
    """Return the configuration of the model; refuse what it would compute differently."""
    settings = content.configuration
    for name, accepted in _REQUIRED.items():
        value = settings.get(name, accepted[0])
        if value not in accepted or isinstance(value, bool) != isinstance(accepted[0], bool):
            raise DataError(
                f"expected {name} to be {' or '.join(map(repr, accepted))}, the configuration says"
                f" {shown(value)}; such a model is not supported"
            )
    missing = [name for name in _NEEDED if name not in settings]
    if missing:
        raise DataError(f"the configuration lacks {', '.join(missing)}")
    recurrent = settings.get("transformer-decoder-autoreg", "self-attention") == "rnn"
    if recurrent and settings.get("dec-cell") != "ssru":
        raise DataError(
            "expected the decoder cell 'ssru', the configuration says"
            f" {shown(settings.get('dec-cell'))}; models with a GRU or another cell are not"
            " supported"
        )
    sizes = settings["dim-vocabs"]
    inner = settings.get("transformer-dim-ffn", 2048)
    decoder_inner = settings.get("transformer-decoder-dim-ffn") or inner
    numbers = [settings[name] for name in _NEEDED if name != "dim-vocabs"]
    numbers += [inner, decoder_inner]
    if (
        not isinstance(sizes, list)
        or len(sizes) != 2
        or not all(type(number) is int and 0 < number < 2**20 for number in [*numbers, *sizes])
    ):
        raise DataError(
            "expected positive sizes below 2**20 (dim-emb, enc-depth, dec-depth,"
            " transformer-heads, transformer-dim-ffn, transformer-decoder-dim-ffn, two dim-vocabs),"
            f" got {shown(numbers)} and {shown(sizes)}"
        )
    width, n_heads = settings["dim-emb"], settings["transformer-heads"]
    if width % n_heads or width % 2:
        raise DataError(
            f"expected an even dim-emb that is divisible by transformer-heads, got {width}"
            f" and {n_heads}"
        )
    is_shared = bool(settings.get("tied-embeddings-all"))
    return BergamotConfig(
        vocab_size=max(sizes) + 1,
        d_model=width,
        encoder_layers=settings["enc-depth"],
        decoder_layers=settings["dec-depth"],
        encoder_attention_heads=n_heads,
        decoder_attention_heads=n_heads,
        encoder_ffn_dim=inner,
        decoder_ffn_dim=decoder_inner,
        activation_function=settings.get("transformer-ffn-activation", "relu"),
        decoder_recurrence=recurrent,
        share_encoder_decoder_embeddings=is_shared,
        tie_word_embeddings=is_shared or bool(settings.get("tied-embeddings")),
    )


class _Weights:
    """Translates Marian's tensors to names and layouts of the model; uses each exactly once."""

    def __init__(
        self, content: MarianFile, config: BergamotConfig, vocabulary_sizes: tuple[int, int]
    ) -> None:
        self.tensors = dict(content.tensors)
        self.config = config
        self.vocabulary_sizes = vocabulary_sizes
        self.weights: dict[str, torch.Tensor] = {}

    def state(self) -> Mapping[str, torch.Tensor]:
        """Return the weights by the names of the model."""
        config = self.config
        self._embeddings()
        for side, n_layers in (
            ("encoder", config.encoder_layers),
            ("decoder", config.decoder_layers),
        ):
            for number in range(n_layers):
                self._layer(side, number)
        if self.tensors:
            names = sorted(self.tensors)
            raise DataError(
                f"expected only the tensors of a {config.encoder_layers}-layer encoder and a"
                f" {config.decoder_layers}-layer decoder, the file has {len(names)} more:"
                f" {', '.join(names[:3])}; such a model is not supported"
            )
        return self.weights

    def _layer(self, side: str, number: int) -> None:
        config, name = self.config, f"{side}_l{number + 1}"
        target = f"model.{side}.layers.{number}"
        width, inner = config.d_model, getattr(config, f"{side}_ffn_dim")
        if side == "decoder" and config.decoder_recurrence:
            self._linear(
                f"{target}.recurrence.forget", f"{name}_rnn_Wf", width, width, f"{name}_rnn_bf"
            )
            self._linear(f"{target}.recurrence.candidate", f"{name}_rnn_W", width, width)
            self._norm(f"{target}.self_attn_layer_norm", f"{name}_rnn_ffn")
        else:
            self._attention(f"{target}.self_attn", f"{name}_self")
        if side == "decoder":
            self._attention(f"{target}.encoder_attn", f"{name}_context")
        self._linear(f"{target}.fc1", f"{name}_ffn_W1", width, inner, f"{name}_ffn_b1")
        self._linear(f"{target}.fc2", f"{name}_ffn_W2", inner, width, f"{name}_ffn_b2")
        self._norm(f"{target}.final_layer_norm", f"{name}_ffn_ffn")

    def _attention(self, target: str, name: str) -> None:
        width = self.config.d_model
        for letter, part in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj"), strict=True):
            self._linear(f"{target}.{part}", f"{name}_W{letter}", width, width, f"{name}_b{letter}")
        self._norm(f"{target}_layer_norm", f"{name}_Wo")

    def _embeddings(self) -> None:
        config = self.config
        n, width = config.vocab_size - 1, config.d_model
        sizes = dict(zip(("encoder", "decoder"), self.vocabulary_sizes, strict=True))
        names = {"encoder": "encoder_Wemb", "decoder": "decoder_Wemb"}
        if config.share_encoder_decoder_embeddings:
            names = dict.fromkeys(names, "Wemb")
            sizes = dict.fromkeys(sizes, n)
        for side, name in names.items():
            target = f"model.{side}.embed_tokens.weight"
            if side == "decoder" and config.share_encoder_decoder_embeddings:
                self.weights[target] = self.weights["model.encoder.embed_tokens.weight"]
                continue
            tensor = self._pop(name)
            if tensor.shape != (sizes[side], width):
                raise DataError(
                    f"the tensor {name!r}: expected {sizes[side]} rows of {width}, got"
                    f" {tensor.shape}"
                )
            table = torch.zeros(n + 1, width)  # rows of unused ids and of padding are zero
            table[: len(tensor)] = torch.from_numpy(tensor)
            self.weights[target] = table
        bias = torch.full((1, n + 1), -torch.inf)  # ids that the target side does not have
        n_target = sizes["decoder"]
        bias[0, :n_target] = self._vector("decoder_ff_logit_out_b", n_target)
        self.weights["final_logits_bias"] = bias
        if config.tie_word_embeddings:
            self.weights["lm_head.weight"] = self.weights["model.decoder.embed_tokens.weight"]
        else:
            head = torch.zeros(n + 1, width)
            head[:n_target] = self._matrix("decoder_ff_logit_out_W", width, n_target)
            self.weights["lm_head.weight"] = head

    def _linear(
        self, target: str, name: str, n_in: int, n_out: int, bias: str | None = None
    ) -> None:
        self.weights[f"{target}.weight"] = self._matrix(name, n_in, n_out)
        if bias is not None:
            self.weights[f"{target}.bias"] = self._vector(bias, n_out)

    def _norm(self, target: str, name: str) -> None:
        width = self.config.d_model
        self.weights[f"{target}.weight"] = self._vector(f"{name}_ln_scale", width)
        self.weights[f"{target}.bias"] = self._vector(f"{name}_ln_bias", width)

    def _matrix(self, name: str, n_in: int, n_out: int) -> torch.Tensor:
        """Return a weight as (out, in), from either layout."""
        is_by_column = name in self.tensors and self.tensors[name].multiplier is not None
        values = self._pop(name)
        values = values if is_by_column else values.T
        if values.shape != (n_out, n_in):
            raise DataError(
                f"the tensor {name!r}: expected the shape {(n_in, n_out)}, got"
                f" {tuple(reversed(values.shape))}"
            )
        return torch.from_numpy(np.ascontiguousarray(values))

    def _vector(self, name: str, n: int) -> torch.Tensor:
        values = self._pop(name)
        if values.size != n:
            raise DataError(f"the tensor {name!r}: expected {n} numbers, got {values.shape}")
        return torch.from_numpy(values.reshape(n))

    def _pop(self, name: str) -> Any:
        if name not in self.tensors:
            raise DataError(
                f"expected a tensor {name!r}, as the configuration says; the file has none"
            )
        values = self.tensors.pop(name).values()
        if n_odd := int((~np.isfinite(values)).sum()):
            raise DataError(
                f"the tensor {name!r}: expected finite numbers, got NaN or infinities in {n_odd} of"
                f" {values.size}; the file is damaged, or the training of the model diverged"
            )
        return values
