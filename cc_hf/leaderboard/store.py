"""The results in a folder. A file that cannot be read is recorded with the reason, and does not
prevent the others from being shown.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cc_hf import signature
from cc_hf.data.result_files import read_result_file
from cc_hf.errors import InputError
from cc_hf.files import is_folder
from cc_hf.results import EvaluationResult

__all__ = ["Store", "StoredResult", "read_folder"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoredResult:
    """One result.

    Attributes:
        system: the name of the system in the signature; the name of the file if there is none.
        file: the name of the file.
        result: the result, without its judgements.
    """

    system: str
    file: str
    result: EvaluationResult


@dataclass(frozen=True)
class Store:
    """The results of a folder.

    Attributes:
        entries: the results, in the order of file names.
        broken: file name -> why it could not be read.
        not_run: file name -> {metric: why it was not run}.
    """

    entries: tuple[StoredResult, ...]
    broken: Mapping[str, str] = field(default_factory=dict)
    not_run: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_folder(folder: str | Path) -> Store:
    """Read all results of a folder: its files that end in .json, without subfolders.

    A file that cannot be read is named in `Store.broken` and logged; it raises no error.

    Args:
        folder: a folder with results that `cc-hf evaluate` wrote.

    Returns:
        The results in the order of file names, and what could not be read.

    Raises:
        InputError: if the folder does not exist.
    """
    folder = Path(folder)
    if not is_folder(folder):
        raise InputError(
            f"results: expected a folder with results that `cc-hf evaluate` wrote, {folder} is not"
            " a folder"
        )
    entries: list[StoredResult] = []
    broken: dict[str, str] = {}
    not_run: dict[str, Mapping[str, str]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            contents = read_result_file(path)
            entries += [_entry(path, result) for result in contents.results]
        except InputError as error:
            broken[path.name] = str(error).replace(str(path), path.name)
            _LOG.warning("%s is not shown: %s", path.name, broken[path.name])
            continue
        if contents.not_run:
            not_run[path.name] = {
                str(name): str(reason) for name, reason in contents.not_run.items()
            }
    return Store(tuple(entries), broken, not_run)


def _entry(path: Path, result: EvaluationResult) -> StoredResult:
    """Return the result without its judgements.

    Raises:
        InputError: for a result on the first examples of a dataset, which must not pass for the
            whole.
    """
    _, limit = signature.split_and_limit(result.signature, result.dataset, result.config)
    if limit is not None:
        raise InputError(
            f"expected results on all examples, got a first look at {limit}; evaluate without a"
            " limit"
        )
    system = signature.parse(result.signature)[1].get("sys", "") if result.signature else ""
    return StoredResult(system or path.stem, path.name, replace(result, judgements=()))
