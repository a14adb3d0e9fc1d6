"""Language models in GGUF, the format of llama.cpp, as folders of transformers.

transformers reads the file with the package `gguf`, which undoes the quantisation; what is new here
is that what was written is read again and must give the same log-probabilities.
"""

from __future__ import annotations

import contextlib
import io
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import ModelCard, ModelCardData
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from cc_hf.errors import EvaluatorError, MissingDependencyError
from cc_hf.folders import new_folder
from cc_hf.models.weights import reported_loading

__all__ = ["convert_gguf"]

_LICENCE = ("license", "license_name", "license_link")
_TEXT = "The doctor asked the nurse to help her."


def convert_gguf(file: Path, *, output: str | Path) -> str:
    """Write the model of a file as a folder in float32, whole or not at all, and return its
    model_type.

    Raises:
        MissingDependencyError: if the package gguf is not installed.
        EvaluatorError: for a damaged file, an architecture that transformers does not read, or a
            folder that does not give the file's log-probabilities.
    """
    if find_spec("gguf") is None:
        raise MissingDependencyError("gguf", "gguf")
    with new_folder(Path(output)) as built:
        # A bar of transformers cannot be switched off.
        loading = reported_loading(str(file), path=str(file.parent))
        with loading, contextlib.redirect_stderr(io.StringIO()):
            model, tokenizer = _read(file)
            tokenizer.save_pretrained(built)
            model.save_pretrained(built)
        _card(file).save(built / "README.md")
        with reported_loading(str(built)):
            written = (
                AutoTokenizer.from_pretrained(built),
                AutoModelForCausalLM.from_pretrained(built, dtype=torch.float32),
            )
        if not torch.equal(_logprobs(tokenizer, model), _logprobs(*written)):
            raise EvaluatorError(
                f"{file}: expected the converted model to give the file's log-probabilities, got"
                f" others; its architecture, {model.config.model_type}, cannot be converted here"
            )
    return str(model.config.model_type)


def _read(file: Path) -> tuple[Any, Any]:
    """Return the model, without the mark of a quantised one, which is not saved; and tokenizer."""
    named: dict[str, Any] = {"gguf_file": file.name}
    quantized = AutoModelForCausalLM.from_pretrained(file.parent, **named, dtype=torch.float32)
    config = AutoConfig.from_pretrained(file.parent, **named, dtype=torch.float32)
    model = AutoModelForCausalLM.from_config(config)
    model.load_state_dict(quantized.state_dict())
    return model, AutoTokenizer.from_pretrained(file.parent, **named)


def _card(file: Path) -> ModelCard:
    """Return a card with the licence that the file names, under which its weights still are."""
    from gguf import GGUFReader

    fields = GGUFReader(file).fields
    keys = {name: f"general.{name.replace('_', '.')}" for name in _LICENCE}
    named: dict[str, Any] = {
        name: str(fields[key].contents()) for name, key in keys.items() if key in fields
    }
    data = ModelCardData(library_name="transformers", **named)
    return ModelCard(
        f"---\n{data.to_yaml()}\n---\n# {file.name}, converted from GGUF\n\n"
        "The weights in float32, converted by `cc-hf convert`.\n"
    )


@torch.inference_mode()
def _logprobs(tokenizer: Any, model: Any) -> torch.Tensor:
    ids = torch.tensor([tokenizer(_TEXT)["input_ids"]])
    logprobs: torch.Tensor = model.eval()(input_ids=ids).logits.log_softmax(-1)
    return logprobs
