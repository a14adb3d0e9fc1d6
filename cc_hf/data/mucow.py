"""MuCoW (Raganato et al. 2019) with the published insertions as cues (Vamvas & Sennrich 2021): aligned files of sentences, keys, references, cues."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.cues.placement import insert_before
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration, SourceFile
from cc_hf.errors import DataError
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.text.inflection import english_plural
from cc_hf.text.tokenization import Token, moses_tokens

__all__ = ["DECLARATION", "read"]

_REPOSITORY, _COMMIT = "ZurichNLP/contrastive-conditioning", "b2f1b3195cb2bb36555ab2789c58055e747240bc"
_TEXT, _KEY, _REF = (f"tasks/data/mucow/{{}}.{end}" for end in ("text.txt", "key.tsv", "ref.txt"))
_CUES = "tasks/data/mucow/disambiguation_cues/{}.insertions.roberta-large.jsonl"
_COUNTS = "data_analysis/results/senses_{}_count_results.json"


def read(paths: Mapping[str, Path], config: str, split: str) -> Iterator[ContrastiveSourceExample]:
    """The sentences in which the ambiguous word is found, in file order; ids are 0-based line numbers (MuCoW's own are not unique).

    The cue stands before every whole token that is the ambiguous word. `*.emnlp2021` instead puts it before every occurrence of the letters,
    also inside words, as the paper's program does.

    Raises:
        DataError: when the files do not have the same number of lines, or a line is not as expected.
    """
    pair, _, program = config.partition(".")
    text, key, reference, cues = (_lines(paths[name.format(pair)]) for name in (_TEXT, _KEY, _REF, _CUES))
    if len({len(text), len(key), len(reference), len(cues)}) != 1:
        raise DataError(f"mucow {pair}: expected files of equal length, got {len(text)} sentences, {len(key)} keys, {len(reference)} references, {len(cues)} cues")
    frequent = _frequent_senses(paths[_COUNTS.format(pair)])
    for number, (source, key_line, translation, cue_line) in enumerate(zip(text, key, reference, cues, strict=True)):
        row = _row(paths[_KEY.format(pair)], number, key_line)
        places = _places(source, row.word)
        if not places:
            continue  # written in capitals: the paper leaves these out
        sense = (row.word, frozenset(row.correct))
        insertions = json.loads(cue_line)
        sides = []
        for side in ("correct_insertions", "incorrect_insertions"):
            words = sorted(insertions[side])  # a set in the program; the best score does not depend on the order
            sides.append(tuple(_replaced(source, places[0].text, word) if program else _inserted(source, places, word) for word in words))
        yield ContrastiveSourceExample(
            id=str(number),
            src_lang="en",
            tgt_lang=pair.removeprefix("en-"),
            source=source,
            focus=Focus(places[0].text, places[0].start),
            correct_sources=sides[0],
            incorrect_sources=sides[1],
            category="frequent" if sense in frequent else "infrequent",
            gold=" ".join(row.correct),
            extra={
                "ambiguous_word": row.word,
                "correct_senses": " ".join(row.correct),
                "incorrect_senses": " ".join(row.incorrect),
                "corpus": row.corpus,
                "reference": translation,
            },
        )


@dataclass(frozen=True)
class _Row:
    corpus: str
    word: str
    correct: tuple[str, ...]
    incorrect: tuple[str, ...]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _row(path: Path, number: int, line: str) -> _Row:
    columns = line.split("\t")
    if len(columns) != 5:
        raise DataError(f"{path}: line {number + 1}: expected 5 columns (id, corpus, ambiguous word, correct, incorrect words), got {len(columns)}: {line[:80]!r}")
    return _Row(columns[1], columns[2], tuple(columns[3].split()), tuple(columns[4].split()))


def _places(source: str, word: str) -> list[Token]:
    """The tokens that are the word, or else its plural, or else the word with a capital."""
    tokens = moses_tokens(source, "en")
    for form in (word, english_plural(word), word.title()):
        if found := [token for token in tokens if token.text == form]:
            return found
    return []


def _inserted(source: str, places: list[Token], cue: str) -> str:
    for place in reversed(places):
        source = insert_before(source, place.start, cue)
    return source


def _replaced(source: str, form: str, cue: str) -> str:
    return source.replace(form, f"{cue} {form}")  # the program's defect, kept for parity: hits letters inside words too


def _frequent_senses(path: Path) -> set[tuple[str, frozenset[str]]]:
    """Per ambiguous word the sense that occurs most often in the training data of WMT19."""
    counts: Any = json.loads(path.read_text(encoding="utf-8"))
    best: dict[str, tuple[int, frozenset[str]]] = {}
    for name, count in counts.items():
        word, _, sense = name.partition(" - ")
        if word not in best or count > best[word][0]:
            best[word] = (count, frozenset(sense.split()))
    return {(word, sense) for word, (_, sense) in best.items()}


def _files(pair: str, *sums: tuple[str, int]) -> tuple[SourceFile, ...]:
    names = (_TEXT, _KEY, _REF, _CUES, _COUNTS)
    return tuple(SourceFile(_REPOSITORY, _COMMIT, name.format(pair), sha256, size) for name, (sha256, size) in zip(names, sums, strict=True))


_DE = _files(
    "en-de",
    ("e45b6862d4ce67f27bf7f4bfb2f601839a9cbe7640e84caf86ba8881eae47402", 353336),
    ("f05b6994d614a4031ddf113214c71d90a181f4f384a8517fbf8303038efb2d77", 193675),
    ("5b7d7a308fe1b7732ca7a3486163f8ebf4fa80b7e2f510df4f90c1285cb5dc6b", 397624),
    ("26516e032fa21b4044acd3628e1a22e0155cdfe80d1211bcbcc10ac1c09d4cdf", 498521),
    ("73c63840fe62e87da0733343c8e5bf1cd14abbe76d581d305bb0da4e493f0638", 13395),
)
_RU = _files(
    "en-ru",
    ("1d9f9c022f7f751c2895bbcc1258bf6256fc51401709ba26d04e4d2f8421f7ed", 166906),
    ("57ca4a15987d51b931d1dafa4844932d858f8e857a28b902c5adeb7bab0f04e9", 120901),
    ("0343cd07f403504f1da07c3c33d4c0f17fc1eabc700794ed4a2a54beb50182f0", 293437),
    ("7f3e088cad766c17601d7e99ca9c403ecb75faaee951fa25c6dd6d7433c1535f", 267628),
    ("b45d40be07312c8b1dfb5c58b5f35a1421228e88120b5b2f257e9401270cc785", 15597),
)
_PROGRAM = "cues exactly as the program of Vamvas & Sennrich 2021 places them, its defects included"

DECLARATION = DatasetDeclaration(
    name="mucow",
    description="MuCoW: sentences with an ambiguous word whose sense the context decides; does the translation have the right one?",
    licence="cc-by-4.0",
    homepage="https://github.com/Helsinki-NLP/MuCoW",
    citation_keys=("raganato-2019", "vamvas-sennrich-2021"),
    revision=_COMMIT,
    cues="mlm_insertions",
    files=(),
    configs=(
        ConfigDeclaration("en-de", "English-German, 3 correct and 3 incorrect insertions before the ambiguous word", ("de",), {"test": 3334}, _DE),
        ConfigDeclaration("en-de.emnlp2021", f"English-German, {_PROGRAM}", ("de",), {"test": 3334}, _DE),
        ConfigDeclaration("en-ru", "English-Russian, 3 correct and 3 incorrect insertions before the ambiguous word", ("ru",), {"test": 1810}, _RU),
        ConfigDeclaration("en-ru.emnlp2021", f"English-Russian, {_PROGRAM}", ("ru",), {"test": 1810}, _RU),
    ),
    default_config="en-de",
    extra_keys=("ambiguous_word", "correct_senses", "incorrect_senses", "corpus", "reference"),
    read=read,
)
