"""The identity of a model in a folder: a hash of its files, or that of known weights which they
hold. Converting or saving a model again does not change what it says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from cc_hf import registry
from cc_hf.files import is_file
from cc_hf.known_weights import is_new_identity, known_weights
from cc_hf.models.location import hash_files, model_files

__all__ = ["conversion_settings", "folder_identity", "weights_digest"]

#: Key of a configuration: identity of the files that a folder was converted from, and the hash of
#: the weights that were written, which those of the folder must have still.
_CONVERTED_FROM = "converted_from"
_LARGEST = 2**28  # bytes of the known models, which are all small
_DIGITS = 12
# Settings that do not decide what the tensors compute. All others may.
_ASIDE = {"architectures", "dtype", "torch_dtype", "transformers_version", _CONVERTED_FROM}


def conversion_settings(identity: str, folder: Path) -> dict[str, Any]:
    """Return the settings of a configuration that tell which model a folder was made from."""
    source = {"identity": identity, "weights": weights_digest(folder)}
    return {_CONVERTED_FROM: source}


def folder_identity(folder: Path) -> str:
    """Return the identity of a folder that transformers loads.

    It is that of known weights, or of the files that the folder was converted from, if the folder
    has their weights; else a hash of its files.
    """
    hashed = hash_files(model_files(folder))
    settings = _settings(folder)
    families = {known.family for known in known_weights().values()}
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    if hashed in known_weights() or settings.get("model_type") not in families:
        return hashed
    if not 0 < size <= _LARGEST or (digest := weights_digest(folder)) is None:
        return hashed
    for known in known_weights().values():
        if known.weights == digest:
            return known.identity
    source = settings.get(_CONVERTED_FROM)
    if settings["model_type"] in registry.names("model format") and isinstance(source, dict):
        identity = str(source.get("identity"))
        # What the package knows is told by its weights alone.
        if is_new_identity(identity) and source.get("weights") == digest:
            return identity
    return hashed


def weights_digest(folder: Path) -> str | None:
    """Return a hash of a folder's tensors, vocabularies and settings; None if it is unreadable."""
    # Neither the precision of the files nor the names of tensors count, so that the hash is the
    # same after transformers has saved the model again. Loading will report files that cannot be
    # read.
    tensors = set()
    try:
        for path in sorted(folder.glob("*.safetensors")):
            with safe_open(path, "pt") as file:
                tensors |= {_tensor_hash(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError):
        return None
    texts = {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.spm")}
    settings = {
        name: value
        for name, value in _settings(folder).items()
        if name not in _ASIDE and value is not None
    }
    written = json.dumps([settings, _json(folder / "vocab.json")], sort_keys=True)
    parts = [*sorted(tensors), *sorted(texts), written]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:_DIGITS]


def _tensor_hash(tensor: torch.Tensor) -> str:
    values = tensor.to(torch.float32).contiguous().numpy()
    digest = hashlib.sha256(repr(values.shape).encode())
    digest.update(values.astype("<f4", copy=False).tobytes())
    return digest.hexdigest()


def _settings(folder: Path) -> Mapping[str, Any]:
    return _json(folder / "config.json")


def _json(path: Path) -> Mapping[str, Any]:
    """Return the object of a JSON file; {} for another one, which loading will report."""
    if not is_file(path):
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
