"""The tokenizer of a converted fairseq model, which follows fairseq's own pipeline.

Texts are split by Moses, then by the BPE of subword-nmt; ids are the lines of the dictionary.
FSMTTokenizer gives other ids: it normalises punctuation first and has one set of codes for both
sides.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import EvaluatorError, InputError, MissingDependencyError, check_choice
from cc_hf.models.location import model_file
from cc_hf.records import parse_json

__all__ = [
    "TOKENIZERS",
    "FairseqTokenizer",
    "Settings",
    "read_codes",
    "read_dictionary",
]

TOKENIZERS = ("moses", "space")
_EOS, _UNK = 2, 3
_FORMAT = 1
_OVERWRITE = "#fairseq:overwrite"


@dataclass(frozen=True)
class Settings:
    """The contents of cc_hf_tokenizer.json.

    Attributes:
        source_lang, target_lang: names of the dictionaries, mostly ISO 639-1.
        tokenizer: "moses" for raw text; "space" for text that is tokenised already.
        moses_dash_splits: whether "a-b" becomes "a @-@ b", as by default in fairseq.
        moses_escape: whether "'" becomes "&apos;" and so on, as by default in fairseq.
    """

    source_lang: str
    target_lang: str
    tokenizer: str = "moses"
    moses_dash_splits: bool = True
    moses_escape: bool = True
    format: int = _FORMAT

    def __post_init__(self) -> None:
        check_choice("tokenizer", self.tokenizer, TOKENIZERS)
        if self.format != _FORMAT:
            raise EvaluatorError(
                f"{FairseqTokenizer.settings_file}: expected format {_FORMAT}, got {self.format!r};"
                " a later version of cc_hf wrote it, update cc_hf"
            )

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(asdict(self), indent=2) + "\n"


class FairseqTokenizer:
    """The tokenisation of both sides of a model; `special` symbols precede the dictionaries."""

    settings_file = "cc_hf_tokenizer.json"
    special = ("<s>", "<pad>", "</s>", "<unk>")

    def __init__(
        self, settings: Settings, *, dictionaries: tuple[str, str], codes: tuple[str, str]
    ) -> None:
        """Read dictionaries and codes."""
        self.settings = settings
        self.source_lang, self.target_lang = settings.source_lang, settings.target_lang
        self.model_max_length = sys.maxsize
        self._source = _Side(settings.source_lang, settings, dictionaries[0], codes[0])
        self._target = _Side(settings.target_lang, settings, dictionaries[1], codes[1])

    @classmethod
    def from_pretrained(cls, path: str | Path, *, revision: str | None = None) -> FairseqTokenizer:
        """Load the tokenizer of a model that `cc-hf convert` wrote."""
        names = (
            cls.settings_file,
            *(f"{kind}.{side}.txt" for kind in ("dict", "codes") for side in ("source", "target")),
        )
        settings_text, *texts = (_read(str(path), name, revision) for name in names)
        try:
            settings = parse_json(settings_text, "settings", Settings)
        except InputError as error:
            raise EvaluatorError(f"{path}: {cls.settings_file} is malformed: {error}") from error
        return cls(settings, dictionaries=(texts[0], texts[1]), codes=(texts[2], texts[3]))

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the files that `from_pretrained` reads."""
        texts = {self.settings_file: self.settings.to_json()}
        for name, side in (("source", self._source), ("target", self._target)):
            texts |= {f"dict.{name}.txt": side.dictionary, f"codes.{name}.txt": side.codes}
        for name, text in texts.items():
            Path(folder, name).write_text(text, encoding="utf-8", newline="\n")

    @property
    def codes(self) -> tuple[str, str]:
        """The BPE codes of source and target, as `read_codes` returns them."""
        return self._source.codes, self._target.codes

    @property
    def symbols(self) -> tuple[list[str], list[str]]:
        """The symbols of source and target dictionary by id, including the four special ones."""
        return self._source.symbols, self._target.symbols

    @property
    def vocabulary_sizes(self) -> tuple[int, int]:
        """The sizes of the source and the target dictionary, the four special symbols included."""
        return len(self._source.symbols), len(self._target.symbols)

    def encode_sources(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of sources, with EOS at the end."""
        return [self._source.encode(text) for text in texts]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of translations, with EOS at the end."""
        return [self._target.encode(text) for text in texts]

    def __call__(
        self, texts: Sequence[str], *, truncation: bool = False, verbose: bool = False
    ) -> dict[str, list[list[int]]]:
        """Return ids of sources under "input_ids", as transformers does; never truncate."""
        return {"input_ids": self.encode_sources(texts)}

    def batch_decode(
        self, rows: Iterable[Iterable[int]], *, skip_special_tokens: bool = True
    ) -> list[str]:
        """Return the texts of target ids, with BPE joined and Moses undone."""
        return [
            self._target.decode([int(i) for i in row], skip_special_tokens=skip_special_tokens)
            for row in rows
        ]


class _Side:
    """The tokenisation of one side."""

    def __init__(self, lang: str, settings: Settings, dictionary: str, codes: str) -> None:
        from sacremoses import MosesDetokenizer, MosesTokenizer  # see cc_hf.text.tokenization

        self.dictionary = dictionary
        self.symbols = [*FairseqTokenizer.special, *read_dictionary(dictionary)]
        # A symbol that occurs twice has its last id, as in fairseq.
        self.ids = {symbol: i for i, symbol in enumerate(self.symbols)}
        self.settings = settings
        self.codes = read_codes(codes)
        self.bpe = _bpe(self.codes)
        self.moses = MosesTokenizer(lang=lang)
        self.unmoses = MosesDetokenizer(lang=lang)

    def encode(self, text: str) -> list[int]:
        if self.settings.tokenizer == "moses":
            text = self.moses.tokenize(
                text,
                aggressive_dash_splits=self.settings.moses_dash_splits,
                return_str=True,
                escape=self.settings.moses_escape,
            )
        words = self.bpe.process_line(" ".join(text.split())).split()
        return [*(self.ids.get(word, _UNK) for word in words), _EOS]

    def decode(self, row: list[int], *, skip_special_tokens: bool) -> str:
        symbols = [
            self.symbols[i]
            for i in row
            if not (skip_special_tokens and i < len(FairseqTokenizer.special) and i != _UNK)
        ]
        text = f"{' '.join(symbols)} ".replace("@@ ", "").rstrip()
        return (
            str(self.unmoses.detokenize(text.split()))
            if self.settings.tokenizer == "moses"
            else text
        )


def read_dictionary(text: str) -> list[str]:
    """Return the symbols of a dict.XX.txt, where line n (from 0) has the id n + 4.

    The special symbols that fairseq puts before them are not in the file.

    Examples:
        >>> read_dictionary("the 12\\nThe 3\\n")
        ['the', 'The']
    """
    symbols: list[str] = []
    seen = set(FairseqTokenizer.special)
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        fields = line.rstrip().rsplit(" ", 1)
        overwrite = fields[-1] == _OVERWRITE
        if overwrite:
            fields = fields[0].rsplit(" ", 1)
        if len(fields) != 2 or not re.fullmatch(r"-?\d+", fields[1]):
            raise EvaluatorError(
                f'dictionary, line {number}: expected "symbol count", got {line[:80]!r}'
            )
        if fields[0] in seen and not overwrite:
            raise EvaluatorError(
                f"dictionary, line {number}: {fields[0]!r} occurs twice; fairseq refuses that too,"
                f" unless the line ends in {_OVERWRITE}"
            )
        seen.add(fields[0])
        symbols.append(fields[0])
    return symbols


def read_codes(text: str) -> str:
    """Return BPE codes in the format of subword-nmt 0.2.

    Codes of fastBPE lose their counts and get the line "#version: 0.2".

    Examples:
        >>> read_codes("i n 25151\\ne n</w> 15963\\n")
        '#version: 0.2\\ni n\\ne n</w>\\n'
    """
    lines = text.removesuffix("\n").split("\n")
    header = [lines.pop(0)] if lines[0].startswith("#version:") else []
    rows = [line.strip("\r ").split(" ") for line in lines]
    for number, row in enumerate(rows, start=1 + len(header)):
        if (
            len(row) not in (2, 3)
            or len(row) != len(rows[0])
            or (len(row) == 3 and not row[2].isdigit())
        ):
            raise EvaluatorError(
                f'BPE codes, line {number}: expected "left right" or, from fastBPE, "left right'
                f' count", got {" ".join(row)[:80]!r}'
            )
    if rows and len(rows[0]) == 3 and not header:
        header = ["#version: 0.2"]
    return "\n".join([*header, *(" ".join(row[:2]) for row in rows)]) + "\n"


def _bpe(codes: str) -> Any:
    try:
        from subword_nmt.apply_bpe import BPE
    except ModuleNotFoundError as error:
        raise MissingDependencyError("subword-nmt", "fairseq") from error
    return BPE(io.StringIO(codes))


def _read(folder: str, name: str, revision: str | None) -> str:
    path = model_file(folder, name, revision, writer="cc-hf convert")
    return path.read_text(encoding="utf-8")
