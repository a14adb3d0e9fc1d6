"""The files of a student: which they are, and the identity that they have. No torch here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import DataError, InputError
from cc_hf.files import is_folder
from cc_hf.languages import LANGUAGES
from cc_hf.plugins.bergamot.marian_file import read_bytes
from cc_hf.plugins.bergamot.published import STUDENTS

__all__ = ["StudentFiles", "files_of", "student_files", "student_identity"]

_DIGITS = 12


@dataclass(frozen=True)
class StudentFiles:
    """The files of a student in a folder."""

    model: Path  # `*.bin` or `*.npz`
    vocabularies: tuple[Path, Path]  # of source and target, often one for both
    languages: tuple[str, str]  # "" where the names of files do not say them


def student_files(path: str | Path) -> StudentFiles | None:
    """Find the files of a student as Mozilla publishes them; None if the folder has none."""
    folder = Path(path)
    if not is_folder(folder):
        return None
    models = _matching(folder, "model*.bin", "model*.npz")
    shared = _matching(folder, "vocab*.spm")
    source, target = _matching(folder, "srcvocab*.spm"), _matching(folder, "trgvocab*.spm")
    if not models or not (shared or (source and target)):
        return None
    vocabularies = (source, target) if source and target else (shared, shared)
    for kind, paths in (("model", models), *(("vocabulary", paths) for paths in vocabularies)):
        if len(paths) > 1:
            raise DataError(
                f"{folder}: expected one {kind}, found {', '.join(path.name for path in paths)};"
                " keep one in the folder"
            )
    names = [path.name for paths in (models, *vocabularies) for path in paths]
    return StudentFiles(
        models[0], (vocabularies[0][0], vocabularies[1][0]), _languages(folder.name, names)
    )


def files_of(path: str | Path, name: str | Path = "") -> StudentFiles:
    """Return the files of the student in a folder."""
    files = student_files(path)
    if files is None:
        raise InputError(
            f"{name or path}: expected a folder with model*.bin or model*.npz and vocab*.spm (or"
            " srcvocab*.spm and trgvocab*.spm), or a name such as bergamot:en-pt"
        )
    return files


def student_identity(files: StudentFiles) -> str:
    """Return the identity of a student in the files that Mozilla publishes."""
    paths = sorted({files.model, *files.vocabularies})
    contents = [read_bytes(path) for path in paths]
    hashes = [hashlib.sha256(content).hexdigest() for content in contents]
    # Published files are hashed under their published names, so that renamed or compressed copies
    # have the same identity.
    for student in STUDENTS.values():
        names = {file.sha256: Path(file.path).name for file in student.files}
        if names.keys() == set(hashes):
            named = {names[key]: content for key, content in zip(hashes, contents, strict=True)}
            return _hashed(sorted(named.items()))
    return _hashed(sorted((path.name, path.read_bytes()) for path in paths))


def _matching(folder: Path, *patterns: str) -> list[Path]:
    """Return the files of these patterns, also with `.gz` after them."""
    return sorted(
        {path for pattern in patterns for end in ("", ".gz") for path in folder.glob(pattern + end)}
    )


def _languages(folder: str, names: list[str]) -> tuple[str, str]:
    """Return the languages that names of files such as model.enpt.bin say; "" if they say none."""
    parts = [part for name in names for part in name.split(".")]
    parts += folder.split("-")
    for part in parts:
        pair = part[:2], part[2:]
        if len(part) == 4 and all(lang in LANGUAGES for lang in pair):
            return pair
    return "", ""


def _hashed(contents: Iterable[tuple[str, bytes]]) -> str:
    """Hash names and contents as those of any model are hashed."""
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(name.encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:_DIGITS]
