"""The results in a folder. A file that cannot be read is recorded with the reason, and does not
prevent the others from being shown.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cc_hf import signature
from cc_hf.data.result_files import read_result_file, system_names
from cc_hf.errors import InputError
from cc_hf.files import is_folder
from cc_hf.results import EvaluationResult

__all__ = ["Store", "StoredResult", "read_folder"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoredResult:
    """One result.

    Attributes:
        system: the name of the system: in the result, else in its signature, else that of the file.
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
    """

    entries: tuple[StoredResult, ...]
    broken: Mapping[str, str] = field(default_factory=dict)


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
    read: list[tuple[Path, EvaluationResult]] = []
    broken: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            contents = read_result_file(path)
            read += [(path, replace(result, judgements=())) for result in contents.results]
        except InputError as error:
            broken[path.name] = str(error).replace(str(path), path.name)
            _LOG.warning("%s is not shown: %s", path.name, broken[path.name])
    names = system_names(read)
    entries = [_entry(name, *of_file) for name, of_file in zip(names, read, strict=True)]
    return Store(tuple(entries), broken)


def _entry(name: str, path: Path, result: EvaluationResult) -> StoredResult:
    """Return a result under the name of its system. Results of older versions hold no name, but
    some have one in their signature.
    """
    in_signature = signature.parse(result.signature)[1].get("sys", "") if result.signature else ""
    if not result.system and in_signature:
        name = in_signature
    return StoredResult(name, path.name, result)
