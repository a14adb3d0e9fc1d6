"""Checks that weights and tokenizers of transformers are complete and fit each other.

Every part of cc_hf that loads a model of transformers calls `load_weights`.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf import registry
from cc_hf.errors import CCError, EvaluatorError, InputError
from cc_hf.models.finite_weights import check_finite_weights
from cc_hf.models.location import (
    check_declared_sizes,
    check_generation_config,
    check_shards,
)

__all__ = ["check_tokenizer", "choose_family", "load_weights", "reported_loading"]

# Families by the ending of an architecture's name.
_KINDS = {"ForMaskedLM": "masked_lm", "ForCausalLM": "causal_lm", "LMHeadModel": "causal_lm"}
# Other families that fit, by the one that the files name: a SMaLL-100 that was saved with the
# tokenizer of M2M100 looks like an M2M100, and the kinds of T5 are scored alike.
_ALIKE = {
    "m2m_100": ["small100"],
    "mt5": ["t5", "umt5"],
    "t5": ["mt5", "umt5"],
    "umt5": ["mt5", "t5"],
}
# Parts of pretraining that neither a translation model nor a language model uses, and what fairseq
# leaves in its files. Every BERT has a pooler and a next-sentence head.
_UNUSED_PARTS = re.compile(
    r"(^|\.)(pooler|seq_relationship|sop_classifier|discriminator_predictions)\.|(^|\.)(version|_float_tensor)$"
)
_N_LISTED = 3  # number of weights that a message names


@contextlib.contextmanager
def reported_loading(name: str, *, path: str = "", alternative: str = "") -> Iterator[None]:
    """Turn what `from_pretrained` raises into an EvaluatorError, and show no progress bars.

    Args:
        path: its folder, or its name on the Hub; decides what the message advises.
        alternative: what else the user can do, at the end of the message.

    Raises:
        EvaluatorError: when the model cannot be loaded.
        CCError: an error of this package, unchanged.
    """
    # Who loads by transformers has imported it before; a light model does without it.
    logging: Any = sys.modules.get("transformers.utils.logging")
    bars = logging is not None and logging.is_progress_bar_enabled()
    if bars:
        logging.disable_progress_bar()  # a global setting: from_pretrained has no argument for it
    try:
        yield
    except CCError:
        raise
    # This cannot be narrower: on damaged files tokenizers raises Exception itself, safetensors a
    # direct subclass of it, and transformers any error.
    except Exception as error:
        lines = str(error).strip().splitlines()
        problem = f"{type(error).__name__}: {lines[0]}" if lines else repr(error)
        if Path(path or name).is_dir():
            remedy = "Check that its files are complete and undamaged: save or download it again"
        else:
            remedy = "Check the name. Without network, save the model to a folder and give its path"
        raise EvaluatorError(
            f"{name}: the model could not be loaded ({problem}). {remedy}{alternative}"
        ) from error
    finally:
        if bars:
            logging.enable_progress_bar()


def load_weights(model_class: Any, name: str, path: str, **options: Any) -> Any:
    """Load a model whose files hold exactly the weights that it needs, on the CPU in eval mode.

    Args:
        model_class: one of the Auto classes of transformers.
        options: further options of `from_pretrained`.

    Raises:
        EvaluatorError: when the model cannot be loaded, its configuration declares far more than
            its files hold, or weights are missing, left over, of another shape than the
            configuration says, or not finite; the message names them.
    """
    with reported_loading(name, path=path):
        check_shards(name, path)
        check_declared_sizes(name, path)
        check_generation_config(name, path)
        model, report = model_class.from_pretrained(
            path,
            trust_remote_code=False,
            weights_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # so that they are reported instead of raising
            **options,
        )
        if getattr(model, "_hf_peft_config_loaded", False):
            raise EvaluatorError(
                f"{name}: expected a complete model, got an adapter (adapter_config.json), whose"
                " base model is elsewhere; merge it into its base model and save that"
            )
        # Some weights may be missing: those that are tied to others, those that transformers
        # declares as not needed for the class, and tables of sinusoids, which are computed. Some
        # may be left over: non-persistent buffers of earlier versions, and parts of pretraining
        # that no head here uses.
        modules = dict(model.named_modules())
        computed = {
            key
            for key in report["missing_keys"]
            if "Sinusoidal" in type(modules.get(key.rpartition(".")[0])).__name__
        }
        buffers = {key for key, _ in model.named_buffers()} - set(model.state_dict())
        unexpected = [
            key
            for key in report["unexpected_keys"]
            if not _UNUSED_PARTS.search(key)
            and not any(key == buffer or buffer.endswith(f".{key}") for buffer in buffers)
        ]
        problems = [
            *_listed("lack", set(report["missing_keys"]) - computed),
            *_listed("hold, and the configuration has no place for,", unexpected),
            *_listed(
                "hold in another shape than the configuration says",
                [
                    f"{key} {list(shape)}, expected {list(expected)}"
                    for key, shape, expected in report["mismatched_keys"]
                ],
            ),
        ]
    if problems:
        raise EvaluatorError(
            f"{name}: expected the weights of a {type(model).__name__}; its files"
            f" {'; they '.join(problems)}. Such a model would be judged by with random or missing"
            " parts: check that all of its files are there and belong together, and save or"
            " download it again"
        )
    check_finite_weights(model, name)
    return model.eval()


def _listed(verb: str, keys: Sequence[str] | set[str]) -> list[str]:
    """Return one phrase about these weights; none for no weights."""
    names = sorted(keys)
    first = ", ".join(names[:_N_LISTED]) + (", ..." if len(names) > _N_LISTED else "")
    return [f"{verb} {len(names)} of the weights: {first}"] if names else []


def choose_family(
    name: str, config: Any, tokenizer_config: Mapping[str, Any], kind: str | None = None
) -> str:
    """Return `kind`, or without one the evaluator family that the configuration names."""
    if kind is not None:
        registry.resolve("evaluator family", kind)
    fitting = _fitting_families(config, tokenizer_config)
    architectures = ", ".join(map(str, config.architectures or ())) or "no architecture named"
    what = f"a model of type {config.model_type!r} ({architectures})"
    if not fitting:
        raise EvaluatorError(
            f"{name}: expected a sequence-to-sequence model or a language model of one of the"
            f" families {', '.join(registry.names('evaluator family'))}, got {what}"
        )
    if kind is not None and kind not in fitting:
        raise InputError(
            f"kind: {name} is {what}, which {kind!r} does not fit; expected"
            f" {' or '.join(map(repr, fitting))}, or none, so that it is chosen by the model's"
            " files"
        )
    return kind or fitting[0]


def _fitting_families(config: Any, tokenizer_config: Mapping[str, Any]) -> list[str]:
    """Return the families that score this model correctly, the default first."""
    fitting = _shipped_families(config, tokenizer_config)
    # A family of another package is for models that none of cc_hf fits.
    return fitting or [
        name for name in registry.names("evaluator family") if name == config.model_type
    ]


def _shipped_families(config: Any, tokenizer_config: Mapping[str, Any]) -> list[str]:
    # Models that cc_hf converted from fairseq are marked in their configuration.
    if getattr(config, "cc_hf_tokenizer", None):
        return ["fairseq"]
    family: str = config.model_type
    # M2M100, NLLB and SMaLL-100 share a model_type, and differ in the class of their tokenizer.
    if family == "m2m_100":
        tokenizer_class = str(tokenizer_config.get("tokenizer_class", "")).lower()
        family = next(
            (other for other in ("nllb", "small100") if tokenizer_class.startswith(other)), family
        )
    if family in registry.EVALUATOR_FAMILIES:
        return [family, *_ALIKE.get(family, [])]
    if config.architectures:
        names = [str(architecture) for architecture in config.architectures]
        return list(
            dict.fromkeys(
                kind for ending, kind in _KINDS.items() if any(n.endswith(ending) for n in names)
            )
        )
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    is_masked = family in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not getattr(
        config, "is_decoder", False
    )
    is_causal = family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return ["masked_lm"] if is_masked else ["causal_lm"] if is_causal else []


def check_tokenizer(name: str, family: str, model: Any, tokenizer: Any) -> None:
    """Check that a tokenizer is of the family's class, works, and has no ids beyond the embeddings.

    Raises:
        EvaluatorError: when it does not. A tokenizer that does not work may raise any error, which
            `reported_loading` turns into an EvaluatorError.
    """
    expected = registry.resolve("evaluator family", family).tokenizer_class
    if not type(tokenizer).__name__.startswith(expected):
        raise EvaluatorError(
            f"{name}: expected a tokenizer of a class {expected}..., which models of the family"
            f" {family} have, got {type(tokenizer).__name__}; save the model with the tokenizer"
            " that it was trained with"
        )
    tokenizer(["a"])
    if sizes := getattr(tokenizer, "vocabulary_sizes", None):  # a tokenizer of cc_hf
        largest = [n - 1 for n in sizes]
    else:
        ids = [
            *tokenizer.get_vocab().values(),
            *getattr(tokenizer, "lang_token_to_id", {}).values(),
        ]
        if min(ids) < 0:
            raise EvaluatorError(
                f"{name}: expected token ids of at least 0, its vocabulary has {min(ids)}"
            )
        # A second vocabulary is by token in Marian's tokenizer, by id in that of FSMT.
        second = getattr(tokenizer, "target_encoder", {}).values()
        targets = tokenizer.decoder if family == "fsmt" else second
        largest = [max(ids), max(targets, default=max(ids))]
    n_embeddings = _n_embeddings(model)
    for setting in ("pad_token_id", "eos_token_id", "decoder_start_token_id"):
        number = getattr(model.config, setting, None)
        if isinstance(number, int) and number >= n_embeddings[1]:
            raise EvaluatorError(
                f"{name}: expected a {setting} below {n_embeddings[1]}, the number of target"
                f" embeddings, its configuration says {number}"
            )
    for side, number, n_rows in zip(("source", "target"), largest, n_embeddings, strict=True):
        if number >= n_rows:
            raise EvaluatorError(
                f"{name}: expected a tokenizer with ids below {n_rows}, the number of {side}"
                f" embeddings, it has the id {number}; its files belong to another model, or tokens"
                " were added without embeddings"
            )


def _n_embeddings(model: Any) -> tuple[int, int]:
    """Return the number of embeddings on the source side and on the target side."""
    sides = (
        (model.get_encoder(), model.get_decoder())
        if model.config.is_encoder_decoder
        else (model, model)
    )
    tables: list[Any] = [
        getattr(side, "embed_tokens", None) or side.get_input_embeddings() for side in sides
    ]
    n_source, n_target = (len(table.weight) for table in tables)
    return n_source, n_target
