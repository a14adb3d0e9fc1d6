"""What Apertium's programs write is read whole, and a program that fails is an error."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cc_hf.errors import DataError, MissingDependencyError, UnknownNameError
from cc_hf.plugins.apertium import reader
from cc_hf.plugins.apertium.reader import Apertium, open_apertium
from cc_hf.text.morphology import FEMININE, MASCULINE, AnalysedWord, open_reader
from tests.helpers.apertium import needs_apertium
from tests.helpers.usual import cases, fails, write_text

_M, _F, _BOTH = {MASCULINE}, {FEMININE}, {MASCULINE, FEMININE}

Program = Callable[[str], Apertium]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Return a function of a script of the shell that stands for lt-proc."""

    def make(script: str) -> Apertium:
        path = write_text(tmp_path / "lt-proc", f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return Apertium(str(path), tmp_path / "es.bin", "a program")

    return make


def _shown(word: AnalysedWord) -> dict[str, set[str]]:
    return {a.pos: set(word.genders(a.pos)) for a in word.analyses}


@cases(
    ("^la/el<det><def><f><sg>/lo<prn><p3><f><sg>$", {"determiner": _F, "pronoun": _F}),
    ("^al/a<pr>+el<det><def><m><sg>$", {"determiner": _M}),
    ("^su/suyo<det><pos><mf><sg>$", {"determiner": _BOTH}),
    ("^guía/guía<n><f>/guía<n><m>/guiar<vblex><pri>$", {"noun": _BOTH, "verb": set()}),
    ("^cansada/cansar<vblex><pp><f><sg>$", {"participle": _F}),
    ("^darlo/dar<vblex><inf>+lo<prn><enc><p3><m><sg>$", {"verb": set()}),
    ("^zzz/*zzz$", {}),
    (r"^\$/\$<mon>$", {"": set()}),
)
def test_an_analysis_is_read(unit: str, expected: dict[str, set[str]], program: Program) -> None:
    apertium = program(f"printf '%s\\n\\0\\0' '{unit}'")
    ((word,),) = apertium.analyse(["x"])
    assert _shown(word) == expected


def test_words_are_found_again_in_their_text(program: Program) -> None:
    apertium = program(r"printf '^L/*L$^\047/*\047$ ^ab\\/c/*ab\\/c$ \\[ ^d/*d$\n\0\n\0\0'")
    words, none = apertium.analyse(["L'ab/c [d", ""])
    assert [(w.text, w.token) for w in words] == [("L", 0), ("'", 0), ("ab/c", 0), ("d", 1)]
    assert none == ()


@cases(
    ("exit 3", "expected the words of 2 texts, got .*exit status 3"),
    ("echo no dictionary >&2; exit 1", "exit status 1.* no dictionary"),
    (r"printf '^a/*a$\n\0\0'", "expected the words of 2 texts, got those of 1"),
    ("sleep 30", "expected 2 texts to be read in 0 s, got no end"),
)
def test_a_program_that_fails_is_refused(
    script: str, message: str, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script.startswith("sleep"):
        monkeypatch.setattr(reader, "_SECONDS_OF_START", 0.2)
        monkeypatch.setattr(reader, "_SECONDS_OF_TEXT", 0)
    fails(DataError, message, program(script).analyse, ["a", "b"])


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fails(UnknownNameError, "language of Apertium 'de'", open_reader, "apertium", "de")
    install = "lt-proc.*apt install lttoolbox apertium-fra-cat"
    for program, message in (
        (None, install),
        (str(tmp_path / "bin/lt-proc"), "'apertium-fra-cat'"),
    ):
        monkeypatch.setattr(shutil, "which", lambda _, program=program: program)
        fails(MissingDependencyError, message, open_apertium.__wrapped__, "fr")


@needs_apertium
def test_odd_texts_keep_their_words_and_their_number() -> None:
    texts = [
        "",
        "El médico^ $entró a/b <x> [y] {z} @w \\v",
        "a" * 100_000,
        "l\u2019a\0b\uffffc",
        "\ud800",
        "me\u0301dico",
    ]
    read = open_reader("apertium", "es").analyse(texts)
    assert len(read) == len(texts)
    assert [word.text for word in read[1]][:2] == ["El", "médico"]
    assert {"entró", "x", "y", "z", "w", "v"} <= {word.text for word in read[1]}
    assert _shown(read[5][0]) == {"noun": _M, "adjective": _M}
    assert [word.token for word in read[1]] == sorted(word.token for word in read[1])


@needs_apertium
@cases(
    ("es", "doctora", {"noun": _F}),
    ("fr", "cheffe", {"noun": _F}),
    ("it", "dell'", {"determiner": _BOTH}),
)
def test_dictionaries_are_those_of_the_language(
    lang: str, text: str, expected: dict[str, set[str]]
) -> None:
    apertium = open_reader("apertium", lang)
    ((word, *_),) = apertium.analyse([text])
    assert _shown(word) == expected
    assert apertium.signature_name.startswith("lttoolbox-")
