"""The identity of a model in a folder: a hash of its files, or that of known weights which they
hold. Converting or saving a model again does not change what it says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from cc_hf.files import is_file
from cc_hf.known_weights import IDENTITY, STUDENTS, known_weights
from cc_hf.models.bergamot.marian_file import read_bytes
from cc_hf.models.bergamot.published import STUDENTS as PUBLISHED
from cc_hf.models.bergamot.student import StudentFiles
from cc_hf.models.location import hash_files, model_files

__all__ = ["conversion_settings", "folder_identity", "student_identity", "weights_digest"]

#: Key of a configuration: identity of the files that a folder was converted from, and the hash of
#: the weights that were written, which those of the folder must have still.
_CONVERTED_FROM = "converted_from"
_LARGEST = 2**28  # bytes of the known models, which are all small
_DIGITS = 12
# Settings that do not decide what the tensors compute. All others may.
_ASIDE = {"architectures", "dtype", "torch_dtype", "transformers_version", _CONVERTED_FROM}


def student_identity(files: StudentFiles) -> str:
    """Return the identity of a student in the files that Mozilla publishes.

    Published files have the identity of their published names, compressed by gzip or not, and
    whatever they are called. Of others, names and contents are hashed as they are.
    """
    paths = sorted({files.model, *files.vocabularies})
    contents = [read_bytes(path) for path in paths]
    hashes = [hashlib.sha256(content).hexdigest() for content in contents]
    for student in PUBLISHED.values():
        names = {file.sha256: Path(file.path).name for file in student.files}
        if names.keys() == set(hashes):
            named = {names[key]: content for key, content in zip(hashes, contents, strict=True)}
            return _hashed(sorted(named.items()))
    return hash_files(sorted((path.name, path) for path in paths))


def conversion_settings(files: StudentFiles, folder: Path) -> dict[str, Any]:
    """Return the settings of a configuration that tell which student a folder was made from."""
    source = {"identity": student_identity(files), "weights": weights_digest(folder)}
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
    if settings["model_type"] == STUDENTS and isinstance(source, dict):
        identity = str(source.get("identity"))
        # What the package knows is told by its weights alone.
        is_new = IDENTITY.fullmatch(identity) is not None and identity not in known_weights()
        if is_new and source.get("weights") == digest:
            return identity
    return hashed


def weights_digest(folder: Path) -> str | None:
    """Return a hash of the tensors, vocabularies and settings of a folder.

    Neither the precision of the file nor its parts and the names of tensors count, so that it is
    the same after transformers has saved the model again.

    Returns:
        Twelve hexadecimal digits; None for files that cannot be read, which loading will report.
    """
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


def _hashed(contents: Iterable[tuple[str, bytes]]) -> str:
    """Hash names and contents as `hash_files` does."""
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(name.encode())
        digest.update(content)
    return digest.hexdigest()[:_DIGITS]


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
