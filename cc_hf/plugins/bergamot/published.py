"""The students that Mozilla publishes, pinned by SHA-256. No torch here.

Names, sizes and hashes are those of the registry of Firefox Translations, in the repository
mozilla/firefox-translations: version 0.3.4 at commit db4abc4; for en-pt and pt-en version 0.2.12 at
commit 03146fc, the students with which the project's own figures were measured. The files are under
the Mozilla Public License 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cc_hf.data.declaration import SourceFile
from cc_hf.data.download import fetch, is_here
from cc_hf.errors import UnknownNameError
from cc_hf.tables.rows import read_rows

__all__ = [
    "LICENCE",
    "PREFIX",
    "STUDENTS",
    "PublishedStudent",
    "fetched_student",
    "student_name",
    "students_here",
]

#: Beginning of the names of students, as in "bergamot:en-pt".
PREFIX = "bergamot:"
LICENCE = "MPL-2.0"
_REPOSITORY = "mozilla/bergamot-models"
# The "commit" of its files is a version of the registry.
_HOST = "https://storage.googleapis.com/bergamot-models-sandbox"
_TABLE = Path(__file__).parent / "students.tsv"


@dataclass(frozen=True, slots=True)
class PublishedStudent:
    """A student that is downloaded when it is first used."""

    src_lang: str
    tgt_lang: str
    stage: str  # "prod", or "dev" for a model that Mozilla does not call finished
    # Without the shortlist, which only translation uses.
    files: tuple[SourceFile, ...]

    @property
    def name(self) -> str:
        """The name by which it is loaded."""
        return f"{PREFIX}{self.src_lang}-{self.tgt_lang}"

    @property
    def size(self) -> int:
        """The size of its files in bytes."""
        return sum(file.size for file in self.files)


def _listed() -> dict[str, PublishedStudent]:
    """Return the students of the table, in its order; the model of each comes first."""
    files: dict[tuple[str, str], list[SourceFile]] = {}
    for _, row in read_rows(_TABLE):
        path = f"{row['pair'].replace('-', '')}/{row['file']}"
        file = SourceFile(_REPOSITORY, row["version"], path, row["sha256"], int(row["size"]), _HOST)
        files.setdefault((row["pair"], row["stage"]), []).append(file)
    students = []
    for (pair, stage), group in files.items():
        source, target = pair.split("-")
        students.append(PublishedStudent(source, target, stage, tuple(group)))
    return {student.name: student for student in students}


#: The published students by the names that load them.
STUDENTS: Mapping[str, PublishedStudent] = _listed()


def student_name(src_lang: str, tgt_lang: str) -> str:
    """Return the name of the student of a language pair, "" if none is published.

    Examples:
        >>> student_name("en", "pt"), student_name("en", "xx")
        ('bergamot:en-pt', '')
    """
    name = f"{PREFIX}{src_lang}-{tgt_lang}"
    return name if name in STUDENTS else ""


def fetched_student(name: str) -> Path:
    """Return the folder of a published student; its files are downloaded once and verified."""
    if name not in STUDENTS:
        raise UnknownNameError("student of Bergamot", name, STUDENTS)
    paths = [fetch(file) for file in STUDENTS[name].files]
    return paths[0].parent


def students_here() -> list[str]:
    """Return the names of the published students whose files need no download."""
    return [name for name, student in STUDENTS.items() if all(map(is_here, student.files))]
