"""Choice of the class that computes the same as a model of fairseq, and construction of the model
with its weights. The classes are those of transformers, and those that studies register.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# This import comes first, since its error names the extra that installs torch.
from cc_hf.plugins.conversion.checkpoint import EMBEDDINGS, PROJECTION, FairseqCheckpoint

# isort: split
import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    FSMTConfig,
    FSMTForConditionalGeneration,
    GenerationConfig,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MBartConfig,
    MBartForConditionalGeneration,
)

from cc_hf import registry
from cc_hf.errors import shown
from cc_hf.models.finite_weights import check_finite_weights

__all__ = ["Architecture", "build_model", "registered_architecture", "size_option", "target_class"]

_CLASSES: dict[str, tuple[Any, Any]] = {
    "fsmt": (FSMTConfig, FSMTForConditionalGeneration),
    "m2m_100": (M2M100Config, M2M100ForConditionalGeneration),
    "mbart": (MBartConfig, MBartForConditionalGeneration),
    "bart": (BartConfig, BartForConditionalGeneration),
}
#: (normalize_before, learned_pos, layernorm_embedding) -> the class. Only FSMT supports separate
#: vocabularies.
_FITTING = {
    (False, False, False): "fsmt",
    (True, False, False): "m2m_100",
    (True, True, True): "mbart",
    (False, True, True): "bart",
}
_SUPPORTED = (
    "supported are transformers with sinusoidal positions, post-norm (any vocabularies) or pre-norm"
    " (all embeddings shared), and with learned positions, layernorm_embedding and all embeddings"
    " shared"
)
#: Options that change the computation in a way that no class supports.
_REFUSED = (
    "adaptive_softmax_cutoff",
    "adaptive_input",
    "no_token_positional_embeddings",
    "no_cross_attention",
    "cross_self_attention",
    "merge_src_tgt_embed",
    "no_decoder_final_norm",
    "encoder_layers_to_keep",
    "decoder_layers_to_keep",
)
#: Sizes of each side: name in transformers, name in fairseq.
_SIZES = (
    ("layers", "layers"),
    ("attention_heads", "attention_heads"),
    ("ffn_dim", "ffn_embed_dim"),
)
_ACTIVATIONS = ("relu", "gelu")
_MAX_SIZE = 2**24
# Positions times width of a computed table of sinusoids: 65,536 positions of a width of 1024.
_MAX_TABLE = 2**26
_TASKS = ("translation",)
_PAD, _BOS, _EOS = 1, 0, 2


@dataclass(frozen=True)
class Architecture:
    """How a model of fairseq is converted for which transformers has no class.

    The registry has it as a "fairseq architecture". Unless it has `weights`, its options and
    weights are those of fairseq's transformer, and others beside them.

    Attributes:
        config_class, model_class: configuration and model. The model names its weights as those of
            transformers do: `model.` and the name in fairseq, `lm_head.weight` for the projection.
        fits: returns whether a checkpoint is of this architecture. It raises an EvaluatorError, see
            `FairseqCheckpoint.refusal`, for one that contradicts itself or is not supported.
        settings: returns the settings of `config_class`, for a transformer beyond the sizes of the
            layers, from a checkpoint that fits and the numbers of symbols of source and target.
        generation: settings of generation beside the defaults of fairseq-generate.
        scoring: sentences for the README of a converted model: how to score with it in plain
            transformers.
        weights: returns the weights of a checkpoint that fits under the names of the model; None
            for a transformer.
    """

    config_class: Any
    model_class: Any
    fits: Callable[[FairseqCheckpoint], bool]
    settings: Callable[[FairseqCheckpoint, tuple[int, int]], dict[str, Any]]
    generation: Mapping[str, Any]
    scoring: str
    weights: Callable[[FairseqCheckpoint], dict[str, torch.Tensor]] | None = None


def registered_architecture(model_type: str) -> Architecture | None:
    """Return how a registered architecture is converted; None for a model_type of transformers."""
    if model_type not in registry.names("fairseq architecture"):
        return None
    architecture: Architecture = registry.resolve("fairseq architecture", model_type)
    return architecture


def target_class(checkpoint: FairseqCheckpoint) -> str:
    """Return the model_type, of transformers or registered, that computes the same."""
    options = checkpoint.options
    if options.get("task", "translation") not in _TASKS:
        raise checkpoint.refusal(
            f"task={shown(options['task'])}, only the task 'translation' of fairseq is supported"
        )
    registered = registry.load_all("fairseq architecture")
    for name, architecture in registered.items():
        if architecture.weights is not None and architecture.fits(checkpoint):
            return name
    width = size_option(checkpoint, "encoder_embed_dim")
    for name in _REFUSED:
        if options.get(name):
            raise checkpoint.refusal(f"{name}={shown(options[name])}; {_SUPPORTED}")
    for name in ("decoder_embed_dim", "decoder_input_dim", "decoder_output_dim"):
        if options.get(name, width) != width:
            raise checkpoint.refusal(
                f"{name}={shown(options[name])} differs from encoder_embed_dim={width}"
            )
    if options.get("activation_fn", "relu") not in _ACTIVATIONS:
        raise checkpoint.refusal(
            f"activation_fn={shown(options['activation_fn'])}, expected one of"
            f" {', '.join(_ACTIVATIONS)}"
        )
    pre_norm, learned = (_of_both(checkpoint, name) for name in ("normalize_before", "learned_pos"))
    embedding_norm = bool(options.get("layernorm_embedding"))
    for name, architecture in registered.items():
        if architecture.weights is None and architecture.fits(checkpoint):
            return name
    fitting = _FITTING.get((pre_norm, learned, embedding_norm))
    if fitting is None:
        kind = f"{'pre' if pre_norm else 'post'}-norm with encoder_learned_pos={learned}"
        raise checkpoint.refusal(
            f"layernorm_embedding={embedding_norm} in a model that is {kind}; {_SUPPORTED}"
        )
    if fitting != "fsmt" and not _all_shared(checkpoint):
        kind = "encoder_normalize_before=True" if pre_norm else "encoder_learned_pos=True"
        raise checkpoint.refusal(
            f"share_all_embeddings=False (separate embeddings) with {kind}; {_SUPPORTED}"
        )
    return fitting


def build_model(
    checkpoint: FairseqCheckpoint, *, langs: tuple[str, str], vocabulary_sizes: tuple[int, int]
) -> Any:
    """Return the model of transformers with the weights of the checkpoint, in eval mode."""
    family = target_class(checkpoint)
    for side, size in zip(("encoder", "decoder"), vocabulary_sizes, strict=True):
        rows = len(checkpoint.weights.get(f"{side}.embed_tokens.weight", ()))
        if rows != size:
            raise checkpoint.refusal(
                f"{side}.embed_tokens.weight has {rows} rows, the dictionary has {size} symbols (4"
                " special ones included); these are not the model's dictionaries"
            )
    registered = registered_architecture(family)
    config_class, model_class = (
        (registered.config_class, registered.model_class) if registered else _CLASSES[family]
    )
    sizes: dict[str, Any] = {"vocab_size": vocabulary_sizes[0]}
    if family == "fsmt":
        sizes = {
            "langs": list(langs),
            "src_vocab_size": vocabulary_sizes[0],
            "tgt_vocab_size": vocabulary_sizes[1],
        }
    if registered:
        sizes = registered.settings(checkpoint, vocabulary_sizes)
    if registered is None or registered.weights is None:
        sizes = {**_settings(checkpoint, learned=family in ("mbart", "bart")), **sizes}
        weights = _transformer_weights(checkpoint, family)
    else:
        weights = registered.weights(checkpoint)
    config = config_class(**sizes)
    with torch.device("meta"):  # nothing is allocated for a model that its weights do not fill
        _load_weights(model_class(config), family, checkpoint, weights)
    _load_weights(model := model_class(config), family, checkpoint, weights)
    check_finite_weights(model, str(checkpoint.path))
    # Defaults of fairseq-generate: beam 5, max_len_b 200, stop after `beam` finished hypotheses.
    model.generation_config = GenerationConfig(
        decoder_start_token_id=_EOS,
        bos_token_id=_BOS,
        eos_token_id=_EOS,
        pad_token_id=_PAD,
        num_beams=5,
        early_stopping=True,
        max_new_tokens=200,
        **(registered.generation if registered else {}),
    )
    return model.eval()


def _transformer_weights(checkpoint: FairseqCheckpoint, family: str) -> dict[str, torch.Tensor]:
    """Return the weights of a transformer under the names of transformers."""
    return {
        (
            "lm_head.weight"
            if family != "fsmt" and "output_projection" in name
            else f"model.{name}"
        ): weight
        for name, weight in checkpoint.weights.items()
    }


def _load_weights(
    model: Any, family: str, checkpoint: FairseqCheckpoint, named: Mapping[str, torch.Tensor]
) -> None:
    """Load weights under the names of the model; refuse missing and superfluous ones."""
    device = next(model.parameters()).device
    weights = {name: weight.to(device) for name, weight in named.items()}
    if hasattr(model.model, "shared"):
        weights["model.shared.weight"] = weights["model.encoder.embed_tokens.weight"]
    try:
        missing, left_over = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:  # the message lists each weight of a wrong shape
        raise checkpoint.refusal(
            f"its weights do not fit its options: {str(error).splitlines()[-1].strip()}"
        ) from error
    # The class computes these itself.
    computed = (
        "final_logits_bias",
        *(
            f"model.{side}.embed_positions.weight"
            for side in ("encoder", "decoder")
            if family == "fsmt"
        ),
    )
    for kind, names in (
        ("is missing", [name for name in missing if name not in computed]),
        ("has no place in it", left_over),
    ):
        if names:
            raise checkpoint.refusal(
                f"the weight {names[0].removeprefix('model.')} {kind} ({len(names)} in all), going"
                " by its options"
            )


def _settings(checkpoint: FairseqCheckpoint, *, learned: bool) -> dict[str, Any]:
    options = checkpoint.options
    sizes = {
        f"{side}_{ours}": size_option(checkpoint, f"{side}_{theirs}")
        for side in ("encoder", "decoder")
        for ours, theirs in _SIZES
    }
    width = size_option(checkpoint, "encoder_embed_dim")
    for side in ("encoder", "decoder"):
        beginning = f"{side}.layers."
        numbers = {w.split(".")[2] for w in checkpoint.weights if w.startswith(beginning)}
        shape = tuple(checkpoint.weights[f"{side}.embed_tokens.weight"].shape)
        if shape[1:] != (width,):
            raise checkpoint.refusal(
                f"encoder_embed_dim={width}, {side}.embed_tokens.weight has the shape {shape}"
            )
        if sizes[f"{side}_layers"] != len(numbers):
            raise checkpoint.refusal(
                f"{side}_layers={shown(sizes[f'{side}_layers'])}, its weights have {len(numbers)}"
                " layers there; the options or the weights are those of another model"
            )
        if width % sizes[f"{side}_attention_heads"]:
            raise checkpoint.refusal(
                f"encoder_embed_dim={width} is no multiple of {side}_attention_heads="
                f"{shown(sizes[f'{side}_attention_heads'])}"
            )
    return {
        **sizes,
        "d_model": width,
        "max_position_embeddings": _positions(checkpoint, learned=learned),
        "activation_function": options.get("activation_fn", "relu"),
        "scale_embedding": not options.get("no_scale_embedding", False),
        "dropout": _share(checkpoint, "dropout", 0.1),
        "attention_dropout": _share(checkpoint, "attention_dropout", 0.0),
        "activation_dropout": _share(checkpoint, "activation_dropout", 0.0),
        "tie_word_embeddings": _all_shared(checkpoint),
        "pad_token_id": _PAD,
        "bos_token_id": _BOS,
        "eos_token_id": _EOS,
        "decoder_start_token_id": _EOS,
    }


def _positions(checkpoint: FairseqCheckpoint, *, learned: bool) -> int:
    """Return the maximum length of a text, in tokens, that both sides accept."""
    longest = [
        size_option(checkpoint, f"max_{side}_positions", 1024) for side in ("source", "target")
    ]
    if not learned:
        if min(longest) * size_option(checkpoint, "encoder_embed_dim") > _MAX_TABLE:
            raise checkpoint.refusal(
                f"max_source_positions={shown(longest[0])} and max_target_positions="
                f"{shown(longest[1])}, expected positions whose number times the width is at most"
                f" {_MAX_TABLE}, for which a table is made"
            )
        return min(longest)
    # Tables of learned positions have two more rows, at the ids of <s> and <pad>.
    rows = [
        len(checkpoint.weights.get(f"{side}.embed_positions.weight", ()))
        for side in ("encoder", "decoder")
    ]
    if rows[0] != rows[1]:
        raise checkpoint.refusal(
            f"max_source_positions={longest[0]} and max_target_positions={longest[1]} differ, with"
            " learned positions"
        )
    return rows[0] - _PAD - 1


def size_option(checkpoint: FairseqCheckpoint, name: str, default: int | None = None) -> int:
    """Return a positive integer among the options."""
    if default is not None and checkpoint.options.get(name) is None:
        return default
    if name not in checkpoint.options:
        raise checkpoint.refusal(
            f"{name} is not among its options, so that it is no transformer encoder-decoder"
        )
    value = checkpoint.options[name]
    if type(value) is not int or not 0 < value <= _MAX_SIZE:
        raise checkpoint.refusal(f"{name}={shown(value)}, expected a number from 1 to {_MAX_SIZE}")
    return value


def _share(checkpoint: FairseqCheckpoint, name: str, default: float) -> float:
    value = checkpoint.options.get(name, default)
    if not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise checkpoint.refusal(f"{name}={shown(value)}, expected a number from 0 to 1")
    return value


def _of_both(checkpoint: FairseqCheckpoint, name: str) -> bool:
    encoder, decoder = (
        bool(checkpoint.options.get(f"{side}_{name}")) for side in ("encoder", "decoder")
    )
    if encoder != decoder:
        raise checkpoint.refusal(f"encoder_{name}={encoder} and decoder_{name}={decoder} differ")
    return encoder


def _all_shared(checkpoint: FairseqCheckpoint) -> bool:
    return checkpoint.shares(*EMBEDDINGS, PROJECTION)
