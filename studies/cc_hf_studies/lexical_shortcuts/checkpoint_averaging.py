"""The mean of several checkpoints of one model, as translation models are usually tested
(Vaswani et al. 2017). Weights are read from safetensors and written as safetensors.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.files import is_file, is_folder
from cc_hf.folders import new_folder
from cc_hf.models.location import check_shards

try:
    import torch
    from safetensors import SafetensorError, safe_open
    from safetensors.torch import save_file
except ModuleNotFoundError as error:
    raise MissingDependencyError(str(error.name), "models") from error

__all__ = ["AveragedCheckpoints", "average_checkpoints", "last_checkpoints"]

_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"
#: A folder that the Trainer writes.
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
#: Files beside the weights that belong to the training and not to the model.
_STATE = re.compile(
    r"optimizer|scheduler|scaler|rng_state|trainer_state|training_args|.*\.(bin|pt|pth|ckpt)$"
)


@dataclass(frozen=True)
class AveragedCheckpoints:
    """What was averaged.

    Attributes:
        n_weights, n_parameters: number of tensors, and of values in them.
    """

    folder: Path
    checkpoints: tuple[Path, ...]
    n_weights: int
    n_parameters: int
    files: tuple[str, ...]


def last_checkpoints(folder: str | Path, n: int) -> list[Path]:
    """Return the last checkpoints of a training, by the number of their step."""
    if n < 1:
        raise InputError(f"last: expected 1 or more, got {n}")
    paths = Path(folder).iterdir() if is_folder(folder) else ()
    by_step = {
        int(match[1]): path
        for path in paths
        if (match := _CHECKPOINT.fullmatch(path.name)) and path.is_dir()
    }
    if len(by_step) < n:
        raise InputError(
            f"{folder}: expected {n} or more folders checkpoint-STEP, as the Trainer writes them,"
            f" got {len(by_step)}; name a smaller number, or raise save_total_limit of the training"
        )
    return [by_step[step] for step in sorted(by_step)[-n:]]


def average_checkpoints(
    checkpoints: Sequence[str | Path], output: str | Path
) -> AveragedCheckpoints:
    """Write the mean of the weights of two or more checkpoints of one model.

    Each weight is summed in float64 and written in its own dtype. Weights that are no numbers with
    a fraction, such as counters, must be the same in all checkpoints. Shards, configuration and
    tokenizer are those of the last checkpoint; the state of the training and pickles are not
    copied.

    Args:
        checkpoints: folders as `save_pretrained` writes them, or .safetensors files.
    """
    paths = [Path(checkpoint) for checkpoint in checkpoints]
    if len(paths) < 2:
        raise InputError(f"checkpoints: expected two or more to average, got {len(paths)}")
    real = [path.resolve() for path in paths]
    if repeated := next((path for path in real if real.count(path) > 1), None):
        raise InputError(f"checkpoints: {repeated} is named twice; name each checkpoint once")
    with ExitStack() as stack, new_folder(output) as folder:
        opened = [_Checkpoint.open(path, stack) for path in paths]
        last = opened[-1]
        for other in opened[:-1]:
            _check_same_weights(last, other)
        n_parameters = 0
        for name, keys in last.by_file().items():
            tensors = {key: _mean(key, opened) for key in keys}
            n_parameters += sum(tensor.numel() for tensor in tensors.values())
            save_file(tensors, folder / name, metadata={"format": "pt"})
        for path in last.other_files():
            shutil.copy2(path, folder / path.name)
    return AveragedCheckpoints(
        Path(output), tuple(paths), len(last.files), n_parameters, tuple(last.by_file())
    )


@dataclass(frozen=True)
class _Checkpoint:
    """An opened checkpoint; `files` says which file has a weight."""

    path: Path
    files: Mapping[str, Path]
    handles: Mapping[Path, Any]

    @classmethod
    def open(cls, path: Path, stack: ExitStack) -> _Checkpoint:
        """Open the files of a checkpoint; nothing of the weights is read yet."""
        files: dict[str, Path] = {}
        handles: dict[Path, Any] = {}
        for file in _weight_files(path):
            try:
                handles[file] = stack.enter_context(safe_open(file, "pt"))
            except (SafetensorError, OSError) as error:
                raise InputError(
                    f"{file}: expected safetensors, got a file that cannot be read ({error}); save"
                    " the checkpoint again"
                ) from error
            for key in handles[file].keys():  # noqa: SIM118  # no mapping
                if key in files:
                    raise InputError(f"{file}: the weight {key} is also in {files[key]}")
                files[key] = file
        if not files:
            raise InputError(f"{path}: expected a checkpoint with weights, got none")
        return cls(path, files, handles)

    def by_file(self) -> dict[str, list[str]]:
        """Return the weights of each file, by the file's name in a folder."""
        names = {
            file: file.name if is_folder(self.path) else _WEIGHTS for file in self.files.values()
        }
        by_file: dict[str, list[str]] = {name: [] for name in names.values()}
        for key, file in self.files.items():
            by_file[names[file]].append(key)
        return by_file

    def slice_of(self, key: str) -> tuple[list[int], str]:
        """Return shape and dtype of a weight, without reading it."""
        part = self.handles[self.files[key]].get_slice(key)
        return list(part.get_shape()), str(part.get_dtype())

    def tensor(self, key: str) -> torch.Tensor:
        tensor: torch.Tensor = self.handles[self.files[key]].get_tensor(key)
        return tensor

    def other_files(self) -> Iterator[Path]:
        """Yield the files of configuration and tokenizer, and the index of the shards."""
        if not is_folder(self.path):
            return
        for path in sorted(self.path.iterdir()):
            is_weights = path.suffix == ".safetensors" or _STATE.match(path.name)
            if path.is_file() and not is_weights and not path.name.startswith("."):
                yield path


def _weight_files(path: Path) -> list[Path]:
    if is_file(path):
        return [path]
    if is_file(path / _WEIGHTS):
        return [path / _WEIGHTS]
    if is_file(path / _INDEX):
        check_shards(str(path), str(path))
        index = json.loads((path / _INDEX).read_text(encoding="utf-8"))
        return [path / name for name in sorted(set(index["weight_map"].values()))]
    raise InputError(
        f"{path}: expected a .safetensors file, or a folder with {_WEIGHTS} or {_INDEX}; a"
        " checkpoint of pickles (.bin, .pt) must be saved as safetensors first"
    )


def _check_same_weights(last: _Checkpoint, other: _Checkpoint) -> None:
    for left, right in ((last, other), (other, last)):
        if missing := next((key for key in left.files if key not in right.files), None):
            raise InputError(
                f"{right.path}: expected the weights of {left.path}, has no weight {missing}, which"
                f" is in {left.files[missing]}; average checkpoints of one model"
            )
    for key, file in other.files.items():
        (shape, dtype), (expected, expected_dtype) = other.slice_of(key), last.slice_of(key)
        if (shape, dtype) != (expected, expected_dtype):
            raise InputError(
                f"{file}: the weight {key} is {dtype} {shape}, expected {expected_dtype}"
                f" {expected} as in {last.files[key]}; average checkpoints of one model"
            )


def _mean(key: str, checkpoints: Sequence[_Checkpoint]) -> torch.Tensor:
    """Return the mean of a weight; refuse one that is not finite, or a counter that differs."""
    first = checkpoints[0].tensor(key)
    if not first.is_floating_point():
        for other in checkpoints[1:]:
            if not torch.equal(first, other.tensor(key)):
                raise InputError(
                    f"{other.files[key]}: the weight {key} is {first.dtype}, which has no mean, and"
                    f" differs from that in {checkpoints[0].files[key]}"
                )
        return first
    total = torch.zeros(first.shape, dtype=torch.float64)
    for checkpoint in checkpoints:
        tensor = checkpoint.tensor(key)
        if not bool(torch.isfinite(tensor).all()):
            raise InputError(
                f"{checkpoint.files[key]}: the weight {key} has values that are not finite; leave"
                " this checkpoint out"
            )
        total += tensor
    return (total / len(checkpoints)).to(first.dtype)
