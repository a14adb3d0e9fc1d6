"""Translation of plain files of any length: block by block, so that a run that was killed
continues where it stopped and ends with the file of an undisturbed one.

A distilled corpus is such a translation of the source side of training data (Kim & Rush 2016). Each
line of the file is translated or left blank, and every blank one is counted.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cc_hf._version import __version__
from cc_hf.data.corpora.parallel import LineIndex
from cc_hf.errors import InputError, ResultWarning, TooLongError, check_choice, in_file
from cc_hf.evaluators.base import Evaluator
from cc_hf.files import exists, file_sha256, is_file, resolved, sole_writer
from cc_hf.normalization import is_blank
from cc_hf.progress import Progress
from cc_hf.reading import Place
from cc_hf.records import parse_object, read_json, read_value
from cc_hf.signature import build
from cc_hf.systems.backends import prepare
from cc_hf.systems.system import DEFAULT_BEAMS, System
from cc_hf.systems.translate import cut_note, translate_rows

__all__ = ["ON_TOO_LONG", "FileTranslation", "summary_path", "translate_file"]

#: What happens at a source that is too long for the model: an error, or a blank translation.
ON_TOO_LONG = ("error", "blank")
_NAMED = 1000  # lines that a summary names; all are counted


@dataclass(frozen=True)
class FileTranslation:
    """The outcome of the translation of a file.

    Attributes:
        n_blank: number of lines without text, whose translation is blank.
        n_too_long: number of lines that are too long for the model, whose translation is blank.
        too_long: 1-based numbers of the first 1000 of these.
        n_empty: number of other lines for which the model wrote nothing.
    """

    signature: str
    source: str
    n_lines: int
    n_blank: int
    n_too_long: int
    too_long: tuple[int, ...]
    n_empty: int

    @property
    def n_translated(self) -> int:
        """The number of lines with a translation."""
        return self.n_lines - self.n_blank - self.n_too_long - self.n_empty

    def to_json(self) -> str:
        """Return the summary as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def summary_path(output: str | Path) -> Path:
    """Return where the summary of a file of translations lies."""
    return Path(f"{output}.summary.json")


def translate_file(
    model: Evaluator,
    source: str | Path,
    output: str | Path,
    *,
    num_beams: int = DEFAULT_BEAMS,
    batch_tokens: int = 2048,
    block_lines: int = 1000,
    on_too_long: str = "error",
    precision: str = "fp32",
    backend: str = "torch",
    progress: bool = False,
) -> FileTranslation:
    """Translate each line of a text file.

    While this runs, the translations are in a file that ends in .part beside `output`. A call with
    the same arguments continues with the first block that is missing there. Processes that torchrun
    started share the batches of each block if the model was loaded with `distributed`; the main one
    writes. Translations of this call that were cut at the limit of tokens are counted in a warning
    (`ResultWarning`).

    Args:
        output: file of the translations, one per line; with the ending .jsonl, objects with the
            0-based number of the line as `id`, `source` and `translation`. A summary is written
            beside it.
        batch_tokens: limit of a batch, see `cc_hf.systems.translate.translate`.
    """
    check_choice("on_too_long", on_too_long, ON_TOO_LONG)
    for name, value in (("block_lines", block_lines), ("batch_tokens", batch_tokens)):
        if type(value) is not int or value < 1:
            raise InputError(f"{name}: expected a whole number from 1, got {value!r}")
    index = LineIndex.of(Path(source), block_lines)
    if not index.n_lines:
        raise InputError(f"{source}: expected sentences, one per line, got an empty file")
    digest = file_sha256(Path(source))
    fields: dict[str, str | int] = {
        "sys": System(model.name, num_beams, None, precision, backend).signature(
            str(model.signature_fields()["eval"])
        ),
        "langs": f"{model.src_lang or 'own'}-{model.tgt_lang or 'own'}",
        "source": digest[:7],
        "batch": f"{batch_tokens}.{block_lines}lines",
        "n": index.n_lines,
    }
    identity = {**fields, "source": digest, "v": __version__}
    part = _Part(resolved(output), identity, is_main=model.sharing.team.is_main)
    with contextlib.ExitStack() as stack:
        model.sharing.team.from_main(lambda: stack.enter_context(sole_writer(output)))
        done = model.sharing.team.from_main(lambda: part.prepare(block_lines, index.n_lines))
        model = prepare(model, precision=precision, backend=backend)
        blocks = _Blocks(model, index, num_beams, batch_tokens, on_too_long, part.is_jsonl)
        first = done // block_lines if done < index.n_lines else len(index.offsets) - 1
        with Progress(
            total=index.n_lines,
            initial=done,
            desc="translating",
            unit="line",
            disable=not (progress and model.sharing.team.is_main),
            delay=1,
        ) as bar:
            for number in range(first, len(index.offsets) - 1):
                lines = blocks.translated(number)
                part.append(lines)
                bar.update(len(lines))
        if blocks.cut_lines and model.sharing.team.is_main:
            note = cut_note(blocks.cut_lines, index.n_lines - done, unit="line")
            warnings.warn(f"{source}: {note}", ResultWarning, stacklevel=2)
        return model.sharing.team.from_main(
            lambda: part.finish(build("translation", fields), digest, index, blocks.are_too_long)
        )


@dataclass(frozen=True)
class _Blocks:
    """The blocks of a file, translated one after the other."""

    model: Evaluator
    index: LineIndex
    num_beams: int
    batch_tokens: int
    on_too_long: str
    is_jsonl: bool
    cut_lines: list[int] = field(default_factory=list)

    def are_too_long(self, texts: Sequence[str]) -> list[bool]:
        """Return which texts are too long for the model."""
        ids = self.model.encode_sources(texts, self.model.src_lang, self.model.tgt_lang)
        return [len(row) > self.model.max_tokens for row in ids]

    def translated(self, number: int) -> list[str]:
        """Return the lines to write for a block."""
        sources = list(_texts(self.index, number))
        first = number * self.index.block_lines + 1
        rows = [row for row, text in enumerate(sources) if not is_blank(text)]
        flags = self.are_too_long([sources[row] for row in rows]) if rows else []
        too_long = [row for row, flag in zip(rows, flags, strict=True) if flag]
        if too_long and self.on_too_long == "error":
            row = too_long[0]
            raise TooLongError(
                f"{self.index.path}: line {first + row}: {self.model.name} takes at most"
                f" {self.model.max_tokens} tokens, got more: {sources[row][:80]!r}...; shorten it,"
                ' or choose `on_too_long` "blank", which leaves the translation blank and counts it'
            )
        kept = [row for row in rows if row not in set(too_long)]
        translations = [""] * len(sources)
        if kept:
            texts, cut = translate_rows(
                self.model,
                [sources[row] for row in kept],
                num_beams=self.num_beams,
                batch_tokens=self.batch_tokens,
                team=self.model.sharing.team,
            )
            self.cut_lines.extend(first + kept[i] for i in cut)
            for row, text in zip(kept, texts, strict=True):
                translations[row] = text
        if not self.is_jsonl:
            return translations
        return [
            json.dumps(
                {"id": str(first - 1 + row), "source": source, "translation": translation},
                ensure_ascii=False,
            )
            for row, (source, translation) in enumerate(zip(sources, translations, strict=True))
        ]


def _texts(index: LineIndex, number: int) -> Iterator[str]:
    lines, damaged = index.read(number)
    for row, reason in damaged.items():
        raise InputError(
            f"{index.path}: line {number * index.block_lines + row + 1}: {reason}; convert the"
            " file, for example with iconv -t UTF-8"
        )
    yield from lines


@dataclass(frozen=True)
class _Part:
    """The file of translations that is not complete, and a file that says which run it is of."""

    output: Path
    identity: dict[str, Any]
    is_main: bool

    @property
    def is_jsonl(self) -> bool:
        return self.output.suffix == ".jsonl"

    @property
    def path(self) -> Path:
        return self.output.with_name(f"{self.output.name}.part")

    @property
    def options(self) -> Path:
        return self.output.with_name(f"{self.output.name}.part.json")

    def prepare(self, block_lines: int, n_lines: int) -> int:
        """Return the number of lines that are there, after an incomplete block is cut off."""
        if not (exists(self.path) and is_file(self.options)):
            self.options.write_text(json.dumps(self.identity), encoding="utf-8", newline="\n")
            self.path.write_bytes(b"")
            return 0
        try:
            before = read_json(self.options, "JSON", {})
        except InputError:
            before = {}
        if before != self.identity:
            differing = [key for key in self.identity if before.get(key) != self.identity[key]]
            raise InputError(
                f"{self.path}: expected a part of the same run, got one with another"
                f" {', '.join(differing)}; use the same options to go on with it, or delete it to"
                " start again"
            )
        n_kept, n_bytes, n_read, position = 0, 0, 0, 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                n_read, position = n_read + 1, position + len(line)
                if n_read % block_lines == 0 or n_read == n_lines:
                    n_kept, n_bytes = n_read, position
        os.truncate(self.path, n_bytes)
        return n_kept

    def append(self, lines: Sequence[str]) -> None:
        """Append lines, on the main process."""
        if not self.is_main:
            return
        with self.path.open("ab") as file:
            file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())

    def _translation(self, line: str, number: int) -> str:
        where, remedy = Place(self.path, number), "delete the file to start again"
        row = parse_object(line, where, remedy=remedy)
        with in_file(where, remedy):
            read_value({"translation": str}, row)
        return str(row["translation"])

    def finish(
        self, signature: str, digest: str, index: LineIndex, are_too_long: Any
    ) -> FileTranslation:
        """Return the summary, after it and the file have their names."""
        n_blank = n_too_long = n_empty = 0
        too_long: list[int] = []
        written = LineIndex.of(self.path, index.block_lines)
        for number in range(len(index.offsets) - 1):
            first = number * index.block_lines + 1
            lines, _ = written.read(number)
            if self.is_jsonl:
                lines = [self._translation(line, first + row) for row, line in enumerate(lines)]
            sources = list(_texts(index, number))
            without = [row for row, line in enumerate(lines) if not line]
            blank = [row for row in without if is_blank(sources[row])]
            others = [row for row in without if not is_blank(sources[row])]
            flags = are_too_long([sources[row] for row in others]) if others else []
            n_blank += len(blank)
            n_too_long += sum(flags)
            n_empty += len(others) - sum(flags)
            too_long += [first + row for row, flag in zip(others, flags, strict=True) if flag]
            del too_long[_NAMED:]
        summary = FileTranslation(
            signature, digest, index.n_lines, n_blank, n_too_long, tuple(too_long), n_empty
        )
        summary_path(self.output).write_text(summary.to_json(), encoding="utf-8", newline="\n")
        os.replace(self.path, self.output)
        self.options.unlink()
        return summary
