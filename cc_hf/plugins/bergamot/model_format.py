"""What cc_hf asks of the students as a format of models. Torch is imported where it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from cc_hf.models.model_format import ModelFormat
from cc_hf.plugins.bergamot.files import files_of, student_files, student_identity
from cc_hf.plugins.bergamot.published import (
    LICENCE,
    STUDENTS,
    fetched_student,
    student_name,
)

if TYPE_CHECKING:
    from cc_hf.plugins.bergamot.modeling import BergamotForConditionalGeneration
    from cc_hf.plugins.bergamot.tokenizer import BergamotTokenizer

__all__ = ["STUDENTS_OF_BERGAMOT", "StudentFormat"]


class StudentFormat(ModelFormat):
    """The files that Mozilla publishes, and the names of published students."""

    name: ClassVar[str] = "bergamot"
    noun: ClassVar[str] = "student"
    project: ClassVar[str] = "Bergamot"
    expected: ClassVar[str] = (
        "a name such as bergamot:en-pt, a folder with model*.bin or model*.npz and vocab*.spm (or"
        " srcvocab*.spm and trgvocab*.spm)"
    )

    def located(self, name: str) -> tuple[str, tuple[str, str]]:
        """Return the folder of a published student, and its languages."""
        folder = fetched_student(name)
        return str(folder), (STUDENTS[name].src_lang, STUDENTS[name].tgt_lang)

    def suggestion(self, src_lang: str, tgt_lang: str) -> str:
        """Return the student of a language pair with its size, "" if none is published."""
        name = student_name(src_lang, tgt_lang)
        return f"{name!r}, a student of {STUDENTS[name].size / 1e6:.0f} MB" if name else ""

    def about(self) -> str:
        """Return what the students are, and the pairs that have one."""
        pairs = ", ".join(
            f"{student.src_lang}-{student.tgt_lang}{'' if student.stage == 'prod' else '*'}"
            for student in STUDENTS.values()
        )
        sizes = sorted({round(student.size / 1e6) for student in STUDENTS.values()})
        return (
            "a student of Bergamot, which Firefox translates with; downloaded once and verified,"
            f" {sizes[0]} to {sizes[-1]} MB, {LICENCE}. Pairs: {pairs} (* a model that Mozilla does"
            " not call finished). Brackets suit few of them as cues, so compare the wordings first"
            " (`cc-hf cues calibrate`)"
        )

    def is_in(self, folder: str | Path) -> bool:
        """Return whether a folder has a model and vocabularies as Mozilla names them."""
        return student_files(folder) is not None

    def load(
        self, folder: str | Path
    ) -> tuple[BergamotForConditionalGeneration, BergamotTokenizer]:
        """Return the student of a folder, dequantised, and its tokenizer."""
        from cc_hf.plugins.bergamot.student import load_student

        return load_student(files_of(folder))

    def identity(self, folder: str | Path) -> str:
        """Return the identity of a student: a hash over the model and its vocabularies."""
        # Scoring uses no shortlist, so the identity is the same beside one.
        return student_identity(files_of(folder))

    def convert(self, source: str, *, output: str | Path) -> Path:
        """Write a student as a folder that transformers loads."""
        from cc_hf.plugins.bergamot.conversion import convert_student

        return convert_student(source, output=output)


#: The format that the registry names.
STUDENTS_OF_BERGAMOT = StudentFormat()
