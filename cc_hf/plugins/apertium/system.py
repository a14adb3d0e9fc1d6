"""Apertium as a system under test: `--system apertium:eng-spa` translates by rules, not weights.

The program and its language pairs (GPL) are called where they are installed; nothing of them ships.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cc_hf.errors import (
    DataError,
    InputError,
    MissingDependencyError,
    UnknownNameError,
    shown,
)
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.languages import base_code, same_language
from cc_hf.plugins.apertium.reader import LONGEST_WORD, escaped
from cc_hf.systems.system import System

__all__ = ["translate_by_apertium"]

_PROGRAM = "apertium"
_SECONDS_OF_START, _SECONDS_OF_WORD = 60, 0.01
#: Options of a search -> their values where none is asked for.
_SEARCH: dict[str, Any] = {"n_best": 1, "contrast": 0.0, "others": None}
# The tagger of eng-spa translates past tenses after unknown words by others from its first "a lot
# of" on ("discutió", "discutido"), so that translations would depend on the texts before them.
_WARM_UP = "a lot of"
# Programs keep these badly: lrx-proc joins two texts at an escaped "^", lt-proc removes "~".
_HIDDEN, _STAND_INS = "^~", range(0xE000, 0xF900)  # private use
_LONG = re.compile(f"([^ ]{{{LONGEST_WORD + 1},}})")
_MARKUP = re.compile(r"\\(.)|[\[\]]", re.DOTALL)


def translate_by_apertium(
    system: System,
    sources: Sequence[str],
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    loading: LoadingOptions | None = None,
    **options: Any,
) -> tuple[list[str], str]:
    """Translate by one process for all sources.

    Args:
        system: its model is "apertium:MODE", such as "apertium:eng-spa" (`apertium -l` lists them).
        src_lang, tgt_lang: languages that the mode must have; "" for those of `loading`, or any.

    Returns:
        A translation of each source, with single spaces, and the name in signatures: the mode with
        a hash of its files, and the version of the program.

    Raises:
        InputError: for a mode of other languages, or options that only models have.
        UnknownNameError: for a mode that is not installed.
        MissingDependencyError: if the program is not installed.
        DataError: if the program fails, does not end, or loses a text.
    """
    loading = loading or LoadingOptions()
    _check_options(system, loading, options)
    apertium = _opened(str(system.model).partition(":")[2])
    apertium.check_languages(
        (src_lang or loading.src_lang or "", tgt_lang or loading.tgt_lang or "")
    )
    return apertium.translate(sources), apertium.signature_name()


def _check_options(system: System, loading: LoadingOptions, options: Mapping[str, Any]) -> None:
    asked = {name: (options.get(name, default), default) for name, default in _SEARCH.items()}
    for of_model in (system, loading):
        asked |= {f.name: (getattr(of_model, f.name), f.default) for f in fields(of_model)}
    for name in ("model", "src_lang", "tgt_lang"):
        del asked[name]
    for name, (value, default) in asked.items():
        if value != default:
            raise InputError(
                f"{name}: expected none with {system.model}, which translates by rules and has no"
                f" such option, got {shown(value)}"
            )


@dataclass(frozen=True)
class _Apertium:
    """A mode of Apertium, which translates from one language into another.

    Attributes:
        program: path of `apertium`.
        data: folder with the modes and the files of all pairs.
    """

    program: str
    data: Path
    mode: str

    def check_languages(self, pair: tuple[str, str]) -> None:
        """Check that the mode translates between two languages; "" is any."""
        if _fits(self.mode, pair):
            return
        fitting = [mode for mode in _modes(self.data) if _fits(mode, pair)]
        src_lang, tgt_lang = (lang or "any language" for lang in pair)
        raise InputError(
            f"apertium:{self.mode}: expected a mode from {src_lang} into {tgt_lang},"
            f" {'such as ' + ' or '.join(fitting) if fitting else 'of which none is installed'},"
            f" got one from {' into '.join(_languages(self.mode))}"
        )

    def signature_name(self) -> str:
        """Return the mode with a hash of its files, and the version of the program."""
        text = (self.data / f"modes/{self.mode}.mode").read_text(encoding="utf-8")
        digest = hashlib.sha256(text.replace(str(self.data), "").encode())
        for name in re.findall(r"'([^']+)'", text):  # the programs' files
            digest.update(Path(name).read_bytes() if Path(name).is_file() else b"")
        printed = subprocess.run([self.program, "-V"], capture_output=True, text=True, timeout=60)
        *_, version = ["?", *printed.stdout.split()]  # "Apertium 3.8.3"
        return f"apertium:{self.mode}@{digest.hexdigest()[:7]}/apertium-{version}"

    def translate(self, sources: Sequence[str]) -> list[str]:
        """Return the translation of each source; that of a blank one is blank."""
        prepared = [_prepared(source) for source in sources]
        distinct = sorted(set(filter(None, prepared)))
        table = {"": ""}
        for text, output in zip(distinct, self._outputs(distinct), strict=True):
            table[text] = " ".join(output.split())
        return [table[text] for text in prepared]

    def _outputs(self, texts: Sequence[str]) -> list[str]:
        """Return what the program writes for each text."""
        if not texts:
            return []
        used = set().union(*texts)
        free = (letter for letter in map(chr, _STAND_INS) if letter not in used)
        stand_ins = {ord(letter): other for letter, other in zip(_HIDDEN, free, strict=False)}
        letters = {ord(other): chr(letter) for letter, other in stand_ins.items()}
        # Line by line, phrases would begin in one text and end in the next; NUL ends them, and the
        # line break before it keeps what stands at the end of a text.
        sent = [_WARM_UP, *(_written(text.translate(stand_ins)) for text in texts)]
        limit = _SECONDS_OF_START + _SECONDS_OF_WORD * sum(len(text.split()) for text in sent)
        outputs = self._run("".join(f"{text}\n\0" for text in sent), limit).split("\0")
        # More NULs stand at the end, and nothing else. A program that died has written less.
        n_read = sum("\n" in text for text in outputs)
        if n_read != len(sent) or "".join(outputs[len(sent) :]):
            raise DataError(
                f"{_PROGRAM}: expected translations of {len(texts)} texts by {self.mode}, got"
                f" {max(n_read - 1, 0)}"
            )
        return [
            _MARKUP.sub(lambda mark: mark[1] or "", output).translate(letters)
            for output in outputs[1 : len(sent)]
        ]

    def _run(self, written: str, limit: float) -> str:
        command = [self.program, "-d", str(self.data), "-z", "-u", "-f", "none", self.mode]
        # AP_SETVAR chooses other words, and no signature would say so.
        environment = {name: text for name, text in os.environ.items() if name != "AP_SETVAR"}
        try:
            with subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            ) as process:
                try:
                    output, said = process.communicate(written.encode(), limit)
                except BaseException:  # Ctrl-C, too, must not leave the pipe of programs behind
                    try:
                        os.killpg(process.pid, signal.SIGKILL)
                    except (AttributeError, ProcessLookupError):  # on Windows; or it has ended
                        process.kill()
                    raise
        except subprocess.TimeoutExpired as error:
            raise DataError(
                f"{_PROGRAM}: expected {self.mode} to translate in {limit:.0f} s, got no end"
            ) from error
        except OSError as error:
            raise DataError(f"{_PROGRAM}: expected a program that runs, got {error}") from error
        if process.returncode:
            text = (said or output).decode(errors="replace").strip()
            raise DataError(
                f"{_PROGRAM}: expected translations by {self.mode}, got exit status"
                f" {process.returncode} {text[:200]}".rstrip()
            )
        return output.decode("utf-8", "replace")


def _opened(mode: str) -> _Apertium:
    program = shutil.which(_PROGRAM)
    if program is None:
        raise MissingDependencyError(
            _PROGRAM, install=f"apt install apertium apertium-{mode or 'eng-spa'}"
        )
    # Modes stand beside the program, wherever both are installed.
    data = Path(program).parent.parent / "share/apertium"
    if mode not in (known := _modes(data)):
        remedy = "; a pair is installed by, for example, apt install apertium-eng-spa"
        raise UnknownNameError("mode of Apertium", mode, known, remedy=remedy)
    return _Apertium(program, data, mode)


def _modes(data: Path) -> list[str]:
    return sorted(path.stem for path in data.glob("modes/*.mode"))


def _languages(mode: str) -> list[str]:
    """Return the two languages of a mode such as "eng-cat_valencia", without varieties."""
    return [base_code(part.partition("_")[0]) for part in mode.split("-")]


def _fits(mode: str, pair: tuple[str, str]) -> bool:
    languages = _languages(mode)
    return len(languages) == 2 and all(
        not lang or same_language(lang, of_mode)
        for lang, of_mode in zip(pair, languages, strict=True)
    )


def _prepared(text: str) -> str:
    """Return a text in the form that dictionaries know, on one line.

    U+FFFF would end a text, as programs take it for the end of a file.
    """
    composed = unicodedata.normalize("NFC", text).translate({0: " ", 0x2019: "'", 0xFFFF: "\ufffd"})
    return " ".join(composed.encode("utf-8", "replace").decode().split())


def _written(text: str) -> str:
    """Return a text with marks before all characters that programs would take for theirs.

    Long words stand in brackets, which keep them from being read: the time that lt-proc needs grows
    with the square of a word's length.
    """
    parts = _LONG.split(text)  # every other part is a long word
    return "".join(f"[{escaped(part)}]" if n % 2 else escaped(part) for n, part in enumerate(parts))
