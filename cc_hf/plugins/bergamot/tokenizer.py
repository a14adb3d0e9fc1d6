"""The tokenizer of a student: one SentencePiece model per side, or one for both."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import sentencepiece

from cc_hf.errors import DataError, EvaluatorError, shown
from cc_hf.models.location import model_file
from cc_hf.plugins.bergamot.marian_file import read_bytes
from cc_hf.records import parse_json

__all__ = ["SETTINGS_FILE", "VOCABULARY_FILES", "BergamotTokenizer"]

SETTINGS_FILE = "cc_hf_tokenizer.json"
VOCABULARY_FILES = ("source.spm", "target.spm")
_EOS = 0  # Marian's vocabularies have </s> and <unk> first
_FORMAT = 1
_SETTINGS = {"source_lang": str, "target_lang": str, "format": None}


class BergamotTokenizer:
    """The tokenisation of both sides, with EOS at the end; languages are "" if unknown."""

    def __init__(self, serialized: tuple[bytes, bytes], languages: tuple[str, str]) -> None:
        self._serialized = serialized
        self.source_lang, self.target_lang = languages
        self.model_max_length = sys.maxsize
        self._source, self._target = (_processor(content) for content in serialized)
        self.unk_token_id = int(self._target.unk_id())
        self.set_padding(max(self.vocabulary_sizes))

    @classmethod
    def from_files(
        cls, paths: tuple[Path, Path], *, languages: tuple[str, str] = ("", "")
    ) -> BergamotTokenizer:
        """Load the tokenizer from its vocabularies, also compressed by gzip."""
        source = read_bytes(paths[0])
        serialized = (source, source if paths[0] == paths[1] else read_bytes(paths[1]))
        try:
            return cls(serialized, languages)
        except DataError as error:
            raise DataError(f"{' or '.join(sorted({str(p) for p in paths}))}: {error}") from error

    @classmethod
    def from_pretrained(
        cls, folder: str | Path, *, revision: str | None = None
    ) -> BergamotTokenizer:
        """Load the tokenizer of a converted student."""
        path = _located(str(folder), SETTINGS_FILE, revision)
        try:
            settings = parse_json(path.read_text(encoding="utf-8"), "settings", _SETTINGS)
        except (OSError, ValueError) as error:
            raise EvaluatorError(
                f"{folder}: {SETTINGS_FILE} is malformed ({error}); convert the student again"
            ) from error
        if settings["format"] != _FORMAT:
            raise EvaluatorError(
                f"{folder}: {SETTINGS_FILE}: expected format {_FORMAT}, got"
                f" {shown(settings['format'])}; convert the student again, or update cc_hf"
            )
        languages = settings["source_lang"], settings["target_lang"]
        source, target = (_located(str(folder), name, revision) for name in VOCABULARY_FILES)
        return cls.from_files((source, target), languages=languages)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write settings and vocabularies, as `from_pretrained` reads them."""
        settings = {
            "source_lang": self.source_lang,
            "target_lang": self.target_lang,
            "format": _FORMAT,
        }
        text = json.dumps(settings, indent=2) + "\n"
        Path(folder, SETTINGS_FILE).write_text(text, encoding="utf-8", newline="\n")
        for name, content in zip(VOCABULARY_FILES, self._serialized, strict=True):
            Path(folder, name).write_bytes(content)

    @property
    def serialized_models(self) -> tuple[bytes, bytes]:
        """The SentencePiece models of source and target."""
        return self._serialized

    def set_padding(self, number: int) -> None:
        """Set the id of padding, which the vocabularies do not have."""
        self.pad_token_id = number
        self.all_special_ids = [_EOS, self.unk_token_id, number]

    @property
    def vocabulary_sizes(self) -> tuple[int, int]:
        """The number of tokens of the source and of the target side."""
        return int(self._source.get_piece_size()), int(self._target.get_piece_size())

    def __call__(
        self,
        texts: Sequence[str] | None = None,
        *,
        text_target: Sequence[str] | None = None,
        truncation: bool = False,
        verbose: bool = False,
    ) -> dict[str, list[list[int]]]:
        """Return ids with EOS under "input_ids", as transformers does; never truncate."""
        processor, rows = (
            (self._source, texts) if text_target is None else (self._target, text_target)
        )
        return {"input_ids": [[*ids, _EOS] for ids in processor.encode(list(rows or []))]}

    def batch_decode(
        self, rows: Iterable[Iterable[int]], *, skip_special_tokens: bool = True
    ) -> list[str]:
        """Return the texts of target ids, without EOS and padding."""
        n_pieces = self.vocabulary_sizes[1]
        kept = [[int(i) for i in row if i != _EOS and i < n_pieces] for row in rows]
        return [str(text) for text in self._target.decode(kept)] if kept else []

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the tokens of target ids."""
        return [str(self._target.id_to_piece(int(i))) for i in ids]

    def source_tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the tokens of source ids."""
        return [str(self._source.id_to_piece(int(i))) for i in ids]


def _processor(content: bytes) -> Any:
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(content)
    except (RuntimeError, ValueError, TypeError) as error:
        raise DataError(f"expected a SentencePiece model ({error})") from error
    if processor.get_piece_size() < 2 or processor.eos_id() != _EOS:
        raise DataError(
            f"expected a SentencePiece model with </s> as token {_EOS}, as Marian has it, got"
            f" {processor.get_piece_size()} tokens with </s> at {processor.eos_id()}"
        )
    return processor


def _located(folder: str, name: str, revision: str | None) -> Path:
    return model_file(folder, name, revision, writer="cc-hf convert")
