"""How a system computes when it translates: in fp32 or int8, by torch or CTranslate2.

Weights are converted when a model is prepared, and nothing is kept on disk.
"""

from __future__ import annotations

import contextlib
import copy
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError, check_choice
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.ensemble import EnsembleEvaluator
from cc_hf.evaluators.families.seq2seq import Seq2SeqEvaluator
from cc_hf.systems.ensemble_generation import translating_members
from cc_hf.systems.system import BACKENDS, PRECISIONS

__all__ = ["CONVERTIBLE", "ConvertedModel", "prepare"]

#: transformers' model_type of models that CTranslate2 runs here.
CONVERTIBLE = ("marian", "m2m_100")


def prepare(model: Evaluator, *, precision: str = "fp32", backend: str = "torch") -> Evaluator:
    """Return a system that translates with another precision or by another library.

    In int8, torch quantises the weights of all linear layers when they are converted, and their
    inputs at each product (dynamic quantisation); embeddings, norms and softmax stay in fp32. With
    CTranslate2 embeddings are in int8, too.

    Args:
        model: a sequence-to-sequence model that is loaded on the CPU, or an ensemble of such.
        precision: one of `cc_hf.systems.system.PRECISIONS`.
        backend: one of `cc_hf.systems.system.BACKENDS`.

    Returns:
        The model itself for fp32 by torch; otherwise a copy that translates and cannot score.

    Raises:
        InputError: for another precision or backend, a model that does not translate, is not on the
            CPU or not in fp32, or that CTranslate2 cannot run.
        EvaluatorError: for a model that CTranslate2 fails to convert.
        MissingDependencyError: for a package that is not installed.

    Examples:
        >>> from cc_hf import load_evaluator
        >>> from cc_hf.systems.translate import translate_with
        >>> int8 = prepare(load_evaluator("cc-tiny-en-de"), precision="int8")
        >>> translate_with(int8, ["The doctor is here."])
        ['Der Arzt ist hier.']
    """
    check_choice("precision", precision, PRECISIONS)
    check_choice("backend", backend, BACKENDS)
    if (precision, backend) == ("fp32", "torch"):
        return model
    members = [_on_cpu(member, precision, backend) for member in translating_members(model)]
    if backend == "ctranslate2":
        if len(members) > 1:
            raise InputError(
                f"backend: {model.name}: CTranslate2 runs no ensembles; use torch, or one model"
            )
        return _with(members[0], ConvertedModel(members[0], precision=precision))
    variants = [_with(member, _quantised(member.model)) for member in members]
    if not isinstance(model, EnsembleEvaluator):
        return variants[0]
    ensemble = copy.copy(model)
    ensemble.members = tuple(variants)
    return ensemble


class ConvertedModel:
    """A model that CTranslate2 runs, with as much of transformers' `generate` as is used here."""

    def __init__(self, system: Seq2SeqEvaluator, *, precision: str) -> None:
        try:
            import ctranslate2
            from ctranslate2.converters import TransformersConverter
        except ModuleNotFoundError as error:
            raise MissingDependencyError(
                str(error.name), install="pip install ctranslate2"
            ) from error
        config = system.model.config
        if config.model_type not in CONVERTIBLE:
            raise InputError(
                f"backend: {system.name}: expected a model of the type"
                f" {' or '.join(CONVERTIBLE)}, which CTranslate2 runs, got {config.model_type};"
                " use torch"
            )
        self.config, self.generation_config = config, system.model.generation_config
        self.device = torch.device("cpu")
        self._n_start = len(system.decoder_start)
        self._pieces = system.target_pieces(range(system.n_vocabulary))
        self._sources = system.source_pieces
        self._ids = {piece: i for i, piece in enumerate(self._pieces)}
        kind = {"fp32": "float32"}.get(precision, precision)
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "model", Path(folder) / "converted"
            system.model.save_pretrained(source)
            system.tokenizer.save_pretrained(source)
            with _reported(system.name):
                TransformersConverter(str(source)).convert(str(target), quantization=kind)
            self._translator = ctranslate2.Translator(
                str(target),
                compute_type=kind,
                inter_threads=1,
                intra_threads=torch.get_num_threads(),
            )

    def generate(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        *,
        num_beams: int,
        max_length: int | None = None,
        max_new_tokens: int | None = None,
        forced_bos_token_id: int | None = None,
        **_options: Any,
    ) -> torch.Tensor:
        """Translate by beam search, and return ids, (n, longest), padded on the right."""
        rows = [
            self._sources(ids[mask != 0].tolist())
            for ids, mask in zip(input_ids, attention_mask, strict=True)
        ]
        prefix = [] if forced_bos_token_id is None else [self._pieces[forced_bos_token_id]]
        longest = max_new_tokens if max_length is None else max_length - 1
        if longest is not None and self.generation_config.forced_eos_token_id is not None:
            longest -= 1  # EOS, which transformers forces in the last place and counts
        results = self._translator.translate_batch(
            rows,
            target_prefix=[prefix] * len(rows) if prefix else None,
            beam_size=num_beams,
            max_decoding_length=longest,
            max_batch_size=0,  # the batch as it is
        )
        start = [self.config.decoder_start_token_id] * self._n_start
        ids = [
            torch.tensor([*start, *(self._ids[piece] for piece in result.hypotheses[0])])
            for result in results
        ]
        padded: torch.Tensor = torch.nn.utils.rnn.pad_sequence(
            ids, batch_first=True, padding_value=self.config.pad_token_id
        )
        return padded


@contextlib.contextmanager
def _reported(name: str) -> Iterator[None]:
    """Turn what the converter of CTranslate2 raises into an EvaluatorError."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise EvaluatorError(
            f"{name}: CTranslate2 could not convert the model ({error}); use torch, or other"
            " versions of ctranslate2 and transformers"
        ) from error


def _on_cpu(member: Seq2SeqEvaluator, precision: str, backend: str) -> Seq2SeqEvaluator:
    """Return a member, checked to be on the CPU and in fp32."""
    model = member.model
    if model.device.type != "cpu" or model.dtype != torch.float32:
        raise InputError(
            f"{member.name}: expected a model on the CPU in float32 for {precision} by {backend},"
            f" got {str(model.dtype).rpartition('.')[2]} on {model.device}; load it with the"
            " `device` cpu"
        )
    return member


def _with(system: Seq2SeqEvaluator, model: Any) -> Seq2SeqEvaluator:
    """Return a copy of a system that translates with another model."""
    variant = copy.copy(system)
    for name in ("packed", "fast"):  # cached properties of the first model
        vars(variant).pop(name, None)
    variant.model = model
    return variant


def _quantised(model: Any) -> Any:
    """Return a copy of a model with linear layers in int8."""
    if torch.backends.quantized.engine == "none":
        raise InputError(
            "precision: this torch has no products in int8; use fp32, or the `backend` ctranslate2"
        )
    with warnings.catch_warnings():
        # torch announces that torchao will replace this; it is still the only part of torch itself
        # that converts whole models.
        warnings.simplefilter("ignore")
        quantise: Any = torch.ao.quantization.quantize_dynamic
        return quantise(model, {torch.nn.Linear}, dtype=torch.qint8, inplace=False)
