"""Words read by `lttoolbox` with the dictionaries of Apertium.

The program and its dictionaries (GPL) are called where they are installed; nothing of them ships.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import DataError, MissingDependencyError, UnknownNameError
from cc_hf.text.alignment import space_tokens
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, Analysis

__all__ = ["LONGEST_WORD", "Apertium", "escaped", "open_apertium"]

_PROGRAM = "lt-proc"
#: Language -> the package with its dictionary, and the dictionary's name in it.
_DICTIONARIES = {
    "ca": ("apertium-fra-cat", "cat-fra"),
    "es": ("apertium-eng-spa", "spa-eng"),
    "fr": ("apertium-fra-cat", "fra-cat"),
    "it": ("apertium-cat-ita", "ita-cat"),
    "pt": ("apertium-por-cat", "por-cat"),
}
_SECONDS_OF_START, _SECONDS_OF_TEXT = 60, 0.05
# The time that lt-proc needs grows with the square of a word's length: a million letters take it
# more than nine minutes, two hundred nothing.
LONGEST_WORD = 200
# A word, or a character of the text between words that is escaped.
_UNIT = re.compile(r"\\.|\^((?:\\.|[^\\$])*)\$", re.DOTALL)
_POS = {
    "n": "noun",
    "np": "noun",
    "adj": "adjective",
    "det": "determiner",
    "num": "numeral",
    "pr": "preposition",
    "prn": "pronoun",
}
_GENDERS = {
    "m": frozenset((MASCULINE,)),
    "f": frozenset((FEMININE,)),
    "mf": frozenset((MASCULINE, FEMININE)),
    "GD": frozenset((MASCULINE, FEMININE)),
}
_NUMBERS = {"sg": "singular", "pl": "plural"}


@functools.cache
def open_apertium(lang: str) -> Apertium:
    """Return the reader of a language."""
    if lang not in _DICTIONARIES:
        raise UnknownNameError("language of Apertium", lang, _DICTIONARIES)
    package, name = _DICTIONARIES[lang]
    install = f"apt install lttoolbox {package}"
    program = shutil.which(_PROGRAM)
    if program is None:
        raise MissingDependencyError(_PROGRAM, install=install)
    # Dictionaries stand beside the program, wherever both are installed.
    path = Path(program).parent.parent / "share/apertium" / package / f"{name}.automorf.bin"
    if not path.is_file():
        raise MissingDependencyError(package, install=install)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:7]
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60)
    *_, version = ["?", *(shown.stdout or shown.stderr).split()]  # "lt-proc version 3.7.1"
    return Apertium(program, path, f"lttoolbox-{version}+{name}.{digest}")


@dataclass(frozen=True)
class Apertium:
    """The analyser of one language: where `lt-proc` and the compiled dictionary are."""

    program: str
    dictionary: Path
    signature_name: str

    def analyse(self, texts: Sequence[str]) -> list[tuple[AnalysedWord, ...]]:
        """Return the words of each text, by one process for all."""
        prepared = [_prepared(text) for text in texts]
        # Without the line break before NUL, lt-proc loses what stands at the end of a text.
        written = "".join(f"{escaped(text)}\n\0" for text in prepared)
        limit = _SECONDS_OF_START + _SECONDS_OF_TEXT * len(texts)
        command = [self.program, "-z", "-a", str(self.dictionary)]
        try:
            process = subprocess.run(
                command, input=written.encode(), capture_output=True, timeout=limit, check=True
            )
        except subprocess.TimeoutExpired as error:
            raise DataError(
                f"{_PROGRAM}: expected {len(texts)} texts to be read in {limit:.0f} s, got no end"
            ) from error
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", b"") or b""
            raise DataError(
                f"{_PROGRAM}: expected the words of {len(texts)} texts, got {error}"
                f" {said.decode(errors='replace')[:200]}".rstrip()
            ) from error
        # One more NUL stands at the end.
        outputs = process.stdout.decode("utf-8", "replace").removesuffix("\0").split("\0")[:-1]
        if len(outputs) != len(texts):
            raise DataError(
                f"{_PROGRAM}: expected the words of {len(texts)} texts, got those of {len(outputs)}"
            )
        return [_words(output, text) for output, text in zip(outputs, prepared, strict=True)]


def _prepared(text: str) -> str:
    """Return a text that the program reads, with the same words at spaces."""
    composed = unicodedata.normalize("NFC", text).replace("\u2019", "'")
    without_surrogates = composed.encode("utf-8", "replace").decode()
    # U+FFFF would end a text, as lt-proc takes it for the end of a file.
    tokens = space_tokens(re.sub(r"[\0\n\r\uffff]", "_", without_surrogates))
    return " ".join(token[:LONGEST_WORD] for token in tokens)


def escaped(text: str) -> str:
    return re.sub(r"([\^$/<>{}\[\]@\\])", r"\\\1", text)


def _words(output: str, text: str) -> tuple[AnalysedWord, ...]:
    words, end = [], 0
    for unit in filter(None, (match[1] for match in _UNIT.finditer(output))):
        surface, analyses = _unit(unit)
        # lt-proc puts spaces between words, as after "l'", so that places cannot be counted.
        start = max(end, text.find(surface, end))
        end = start + len(surface)
        words.append(AnalysedWord(surface, text.count(" ", 0, start), analyses))
    return tuple(words)


@functools.lru_cache(100_000)  # most words of a file recur
def _unit(unit: str) -> tuple[str, tuple[Analysis, ...]]:
    """Read a unit such as "la/el<det><def><f><sg>"; an unknown word has one that begins with *."""
    surface, *analyses = re.split(r"(?<!\\)/", unit)
    known = (analysis for analysis in analyses if not analysis.startswith("*"))
    return re.sub(r"\\(.)", r"\1", surface), tuple(map(_analysis, known))


def _analysis(text: str) -> Analysis:
    """Read an analysis such as "doctora<n><f><sg>", or "a<pr>+el<det><def><m><sg>"."""
    parts = [
        (part.partition("<")[0], re.findall("<([^<>]+)>", part))
        for part in re.split(r"(?<=>)\+", text)
    ]
    lemma, tags = next((part for part in parts if "det" in part[1]), parts[0])
    pos = _POS.get(tags[0], "") if tags else ""
    if tags and tags[0].startswith("vb"):
        pos = "participle" if "pp" in tags else "verb"
    genders = next((_GENDERS[tag] for tag in tags if tag in _GENDERS), frozenset[str]())
    number = next((_NUMBERS[tag] for tag in tags if tag in _NUMBERS), "")
    has_preposition = pos != "" and any("pr" in of_part for _, of_part in parts)
    return Analysis(lemma, pos, genders, number, has_preposition)
