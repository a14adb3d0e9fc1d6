"""Reading of fairseq checkpoints without running anything in them: weights and options, under the
names of fairseq 0.9 and later.

Weights and archives that declare much more than the size of the file are refused before memory is
allocated for them. Nothing is registered with torch permanently. The classes that a checkpoint may
hold beyond tensors and plain values are allowed only while it is read.
"""

from __future__ import annotations

import argparse
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Only the exception is imported: unpickling is left to torch with weights_only=True.
from pickle import UnpicklingError
from typing import Any

import numpy as np

from cc_hf.errors import EvaluatorError, MissingDependencyError, shown

try:
    import torch
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "fairseq") from error

__all__ = ["EMBEDDINGS", "PROJECTION", "FairseqCheckpoint", "read_checkpoint"]

#: Names of the weights that a model may share: embeddings of both sides, and the projection to the
#: target vocabulary.
EMBEDDINGS = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
PROJECTION = "decoder.output_projection.weight"
_METERS = ("AverageMeter", "StopwatchMeter", "TimeMeter")  # fairseq 0.8.0 saves them as objects
# torch does not compress, but weights in half precision double in float32, and three tables of
# embeddings may share their numbers.
_MAX_INFLATION = 8
_PLAIN = (str, int, float, type(None))
#: Markers, and sinusoidal tables that the class computes.
_MARKERS = (".version", "._float_tensor", ".embed_positions.weights")
_REFUSED_GLOBAL = re.compile(r"GLOBAL (\S+)")
# The file is from outside: junk makes torch, pickle and zipfile raise any of these.
_MALFORMED = (
    UnpicklingError,
    zipfile.BadZipFile,
    RuntimeError,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
)
_NORMS = {
    "encoder": {"0": "self_attn_layer_norm", "1": "final_layer_norm"},
    "decoder": {
        "0": "self_attn_layer_norm",
        "1": "encoder_attn_layer_norm",
        "2": "final_layer_norm",
    },
}


@dataclass(frozen=True)
class FairseqCheckpoint:
    """The parts of a checkpoint that a conversion needs.

    `weights` are float32, with the names of fairseq 0.9 and later: q_proj, k_proj and v_proj are
    separate, and decoder.output_projection is always present.
    """

    path: Path
    options: Mapping[str, Any]
    weights: Mapping[str, torch.Tensor]

    @property
    def architecture(self) -> str:
        """The name of the architecture, from fairseq's option `arch`."""
        # `_name` is what Hydra's configurations have for `arch`, since fairseq 0.10. Messages quote
        # it, and a file may hold a text of any length.
        return str(self.options.get("arch") or self.options.get("_name") or "unknown")[:80]

    def shares(self, *names: str) -> bool:
        """Return whether some weights are all there and equal."""
        # By values, since copies in float32 of weights in half precision share no memory.
        first, *others = (self.weights.get(name) for name in names)
        return first is not None and all(
            weight is not None and torch.equal(first, weight) for weight in others
        )

    def refusal(self, reason: str) -> EvaluatorError:
        """Return the error for a checkpoint that cannot be converted."""
        return EvaluatorError(
            f"{self.path.name}: the architecture {self.architecture!r} cannot be converted:"
            f" {reason}"
        )


def read_checkpoint(path: str | Path) -> FairseqCheckpoint:
    """Read a checkpoint of fairseq 0.8 to 0.12, in torch's zip format or the older one."""
    file = Path(path)
    content = _load(file)
    weights = content.get("model") if isinstance(content, dict) else None
    if (
        not isinstance(weights, dict)
        or not weights
        or not all(
            isinstance(name, str) and isinstance(w, torch.Tensor) for name, w in weights.items()
        )
    ):
        raise EvaluatorError(
            f"{file}: expected a checkpoint of fairseq, a dictionary with weights by name under"
            " 'model'; this file holds something else"
        )
    weights = {name: weight for name, weight in weights.items() if not name.endswith(_MARKERS)}
    _check_weights(file, weights)
    return FairseqCheckpoint(file, _options(file, content), _with_current_names(weights))


def _check_weights(file: Path, weights: Mapping[str, torch.Tensor]) -> None:
    """Refuse weights that are not real numbers, or are more than the file holds."""
    for name, weight in weights.items():
        if (
            weight.layout != torch.strided
            or weight.device.type != "cpu"
            or not weight.is_floating_point()
            # A weight without dimensions has no length, which the renaming below divides by three.
            or not weight.dim()
        ):
            kind = str(weight.dtype if weight.layout == torch.strided else weight.layout)
            raise EvaluatorError(
                f"{file}: the weight {shown(name)}: expected a dense array of real numbers, got"
                f" {kind.removeprefix('torch.')} of {weight.dim()} dimensions on {weight.device};"
                " save the model in float32"
            )
    # A weight may be a view that repeats a few numbers: 10 ** 12 of them in a file of 1 kB.
    _check_inflation(file, "weights", 4 * sum(weight.numel() for weight in weights.values()))


def _check_inflation(file: Path, what: str, n_bytes: int) -> None:
    if n_bytes > _MAX_INFLATION * (size := file.stat().st_size):
        raise EvaluatorError(
            f"{file}: expected {what} of at most {_MAX_INFLATION} times the size of the file"
            f" ({size} bytes), it declares {n_bytes}; the file is damaged, or not from fairseq"
        )


def _load(file: Path) -> Any:
    if tuple(int(n) for n in torch.__version__.split(".")[:2]) < (2, 6):
        raise EvaluatorError(
            f"checkpoints are read with torch 2.6 or later, this is {torch.__version__}: earlier"
            " ones could be made to run code by a file (CVE-2025-32434)"
        )
    if not file.is_file():
        raise EvaluatorError(f"no checkpoint at {str(file)!r}")
    try:
        if zipfile.is_zipfile(file):
            # torch reads archives that were compressed afterwards, too, and would allocate what
            # they say.
            with zipfile.ZipFile(file) as archive:
                _check_inflation(file, "parts", sum(e.file_size for e in archive.infolist()))
        with torch.serialization.safe_globals(_allowed()):
            # On the CPU, since a checkpoint remembers its GPU, which this machine may lack.
            return torch.load(file, map_location="cpu", weights_only=True)
    except _MALFORMED as error:
        refused_class = _REFUSED_GLOBAL.search(str(error))
        if refused_class:
            raise EvaluatorError(
                f"{file}: refused, it holds {refused_class[1]}, which no checkpoint needs and which"
                " could run a program. Nothing of it was run. If the file is yours, save it again"
                " with only its 'model' and its 'args' or 'cfg'"
            ) from error
        # torch begins with the advice to run what a file says; its reason comes after that.
        said = str(error).rpartition("WeightsUnpickler error:")[2].strip() or type(error).__name__
        raise EvaluatorError(
            f"{file}: expected a checkpoint of fairseq saved by torch, the file cannot be read"
            f" ({said.splitlines()[0]})"
        ) from error


def _allowed() -> list[Any]:
    # Trainings with --eval-bleu leave arrays of numpy. The module of this function differs between
    # its versions, and files have both names.
    reconstruct = np.empty(0).__reduce__()[0]
    return [
        argparse.Namespace,
        np.ndarray,
        np.dtype,
        type(np.dtype(np.int64)),
        (reconstruct, "numpy._core.multiarray._reconstruct"),
        (reconstruct, "numpy.core.multiarray._reconstruct"),
        # Empty classes in place of fairseq's: it need not be installed, and none of its code is
        # run.
        *(type(name, (), {"__module__": "fairseq.meters"}) for name in _METERS),
    ]


def _options(file: Path, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of the training."""
    # Newer checkpoints have both, and `args` is None.
    options = content.get("args")
    # `args` up to fairseq 0.9, `cfg` from 0.10, whose model is again a Namespace or a dictionary.
    if options is None and isinstance(content.get("cfg"), dict):
        options = content["cfg"].get("model")
    options = vars(options) if isinstance(options, argparse.Namespace) else options
    if not isinstance(options, dict):
        raise EvaluatorError(
            f"{file}: expected the options of the training under 'args' or 'cfg', there are none;"
            " so the model cannot be built"
        )
    return {name: _plain(value) for name, value in options.items()}


def _plain(value: Any) -> Any:
    """Return plain values and lists of them; of another that is not empty, its class's name."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (list, tuple, dict)) and not value:
        return None
    if isinstance(value, (list, tuple)) and all(isinstance(item, _PLAIN) for item in value):
        return value
    # A text, since an option is compared and quoted: `==` of numpy's arrays has no truth value.
    return f"a value of class {type(value).__name__}"


def _with_current_names(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the weights in float32, renamed as fairseq's own upgrade_state_dict does."""
    renamed: dict[str, torch.Tensor] = {}
    for name, weight in weights.items():
        for number, norm in _NORMS.get(name.partition(".")[0], {}).items():
            name = name.replace(f".layer_norms.{number}.", f".{norm}.")  # fairseq before 0.6
        # Up to fairseq 0.8, the three projections are stacked in one weight.
        # One that cannot be divided keeps its name, by which the model refuses it as superfluous.
        if re.search(r"\.in_proj_(weight|bias)$", name) and len(weight) % 3 == 0:
            for part, third in zip("qkv", weight.chunk(3), strict=True):
                renamed[name.replace("in_proj_", f"{part}_proj.")] = third.float()
        else:
            # A parameter and not a Linear where it is not shared, hence without ".weight".
            renamed["decoder.output_projection.weight" if name == "decoder.embed_out" else name] = (
                weight.float()
            )
    # Up to fairseq 0.8, a projection that is shared with the embeddings is saved with these alone.
    if "decoder.embed_tokens.weight" in renamed:
        renamed.setdefault(
            "decoder.output_projection.weight", renamed["decoder.embed_tokens.weight"]
        )
    return renamed
