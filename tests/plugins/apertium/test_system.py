"""Apertium as a system: each source has one translation, and a program that fails is an error."""

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf import signature
from cc_hf.errors import DataError, MissingDependencyError, UnknownNameError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.plugins.apertium import system as rules
from cc_hf.plugins.apertium.system import translate_by_apertium
from cc_hf.systems.system import System
from tests.helpers.apertium import needs_apertium_system
from tests.helpers.command_line import printed_by
from tests.helpers.lines import read_jsonl, write_lines, write_text
from tests.helpers.usual import cases, fails, refuses

#: Writes each text as it got it, with NULs at the end as Apertium does.
_ECHO = "cat; printf '\\0\\0'"
_SYSTEM = System("apertium:eng-spa")

Install = Callable[[str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs a script of the shell in place of apertium, with modes."""

    def make(script: str) -> Path:
        modes, data = tmp_path / "share/apertium/modes", tmp_path / "share/apertium/eng-spa"
        for folder in (modes, data, tmp_path / "bin"):
            folder.mkdir(parents=True)
        write_text(data / "words.bin", "words")
        for mode in ("eng-spa", "eng-spa_MX", "spa-eng", "eng-cat"):
            write_text(modes / f"{mode}.mode", f"lt-proc '{data}/words.bin'\n")
        program = write_text(
            tmp_path / "bin/apertium",
            f'#!/bin/sh\n[ "$1" = -V ] && echo Apertium 3.8.3 && exit\n{script}\n',
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        return program

    return make


def _translated(*sources: str, mode: str = "eng-spa", **options: Any) -> list[str]:
    return translate_by_apertium(System(f"apertium:{mode}"), sources, **options)[0]


def test_each_source_has_its_translation(install: Install) -> None:
    install(_ECHO)
    sources = ["b  b", "", "a", "b b", " ", "~^$[x]\\", "y" * 300, "e\u0301\uffff\0\u2028"]
    expected = ["b b", "", "a", "b b", "", "~^$[x]\\", "y" * 300, "é\ufffd"]
    assert _translated(*sources) == expected
    assert _translated() == []
    assert _translated("") == [""]


def test_letters_that_stand_in_for_others_are_kept(install: Install) -> None:
    install(_ECHO)
    assert _translated("\ue000^\ue001~") == ["\ue000^\ue001~"]


def test_the_program_gets_no_mark_that_is_not_escaped(install: Install, tmp_path: Path) -> None:
    install(f"tee {tmp_path}/input; printf '\\0'; echo \"$@\" > {tmp_path}/options")
    _translated("a[b]/c", "x" * 201, "^~")
    texts = (tmp_path / "input").read_text(encoding="utf-8").split("\n\0")
    assert texts == ["a lot of", "\ue000\ue001", "a\\[b\\]\\/c", f"[{'x' * 201}]", ""]
    options = (tmp_path / "options").read_text(encoding="utf-8").split()
    assert options == ["-d", f"{tmp_path}/share/apertium", "-z", "-u", "-f", "none", "eng-spa"]


@cases(
    ("exit 3", "expected translations by eng-spa, got exit status 3"),
    ("echo no locale; exit 1", "exit status 1 no locale"),
    ("echo no pair >&2; exit 1", "exit status 1 no pair"),
    (r"printf 'x\n\0a\n\0\0\0'", "expected translations of 2 texts by eng-spa, got 1"),
    (r"printf 'x\n\0a\n\0b\n\0c\n\0'", "of 2 texts by eng-spa, got 3"),
    (r"printf 'x\n\0a\n\0b\n\0c'", "of 2 texts by eng-spa, got 2"),
    (r"printf 'x\n\0\0a\n\0b\n\0'", "of 2 texts by eng-spa, got 2"),
    ("true", "of 2 texts by eng-spa, got 0"),
)
def test_a_program_that_fails_is_refused(script: str, message: str, install: Install) -> None:
    install(script)
    fails(DataError, message, _translated, "a", "b")


def test_a_program_that_cannot_run_is_refused(install: Install) -> None:
    write_text(install(""), "#!/no/such/shell\n")
    fails(DataError, "expected a program that runs, got", _translated, "a")


def test_a_program_without_end_is_ended_with_all_that_it_started(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "_SECONDS_OF_START", 0.5)
    install(f"sleep 60 | sleep 60 & echo $! > {tmp_path}/id; wait")
    fails(DataError, "expected eng-spa to translate in 1 s, got no end", _translated, "a")
    started = int((tmp_path / "id").read_text(encoding="utf-8"))
    deadline = time.monotonic() + 10
    while Path(f"/proc/{started}/cmdline").exists() and time.monotonic() < deadline:
        if not Path(f"/proc/{started}/cmdline").read_bytes():  # ended, and not yet waited for
            break
        time.sleep(0.05)
    assert time.monotonic() < deadline


def test_what_is_missing_is_named(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install(_ECHO)
    known = "Known: eng-cat, eng-spa, eng-spa_MX, spa-eng; .*apt install apertium-eng-spa"
    fails(
        UnknownNameError, f"mode of Apertium 'eng-esp'.*{known}", _translated, "a", mode="eng-esp"
    )
    fails(UnknownNameError, "mode of Apertium ''", _translated, "a", mode="")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    fails(MissingDependencyError, "apt install apertium apertium-eng-spa", _translated, "a")


@cases(
    ("en", "es", None),
    ("en", "", None),
    ("", "", None),
    ("en-GB", "es-MX", None),
    ("es", "en", "from es into en, such as spa-eng, got one from en into es"),
    ("en", "de", "from en into de, of which none is installed, got one from en into es"),
    ("", "ca", "from any language into ca, such as eng-cat, got"),
)
def test_the_mode_has_the_languages_of_the_data(
    src_lang: str, tgt_lang: str, message: str | None, install: Install
) -> None:
    install(_ECHO)
    loading = LoadingOptions(src_lang=src_lang, tgt_lang=tgt_lang)
    for options in ({"src_lang": src_lang, "tgt_lang": tgt_lang}, {"loading": loading}):
        if message is None:
            assert _translated("a", **options) == ["a"]
            continue
        refuses(message, _translated, "a", **options)


@cases(
    ("num_beams", System("apertium:eng-spa", num_beams=1), {}),
    ("separator", System("apertium:eng-spa", separator="<sep>"), {}),
    ("precision", System("apertium:eng-spa", precision="int8"), {}),
    ("backend", System("apertium:eng-spa", backend="ctranslate2"), {}),
    ("n_best", _SYSTEM, {"n_best": 2}),
    ("contrast", _SYSTEM, {"contrast": 0.3}),
    ("device", _SYSTEM, {"loading": LoadingOptions(device="cpu")}),
    ("prompt", _SYSTEM, {"loading": LoadingOptions(prompt="Translate: {source}")}),
)
def test_options_of_models_are_refused(
    name: str, system: System, options: dict[str, Any], install: Install
) -> None:
    install(_ECHO)
    refuses(
        f"^{name}: expected none with apertium:eng-spa",
        translate_by_apertium,
        system,
        ["a"],
        **options,
    )
    assert translate_by_apertium(_SYSTEM, ["a"], n_best=1, contrast=0.0, progress=True)[0] == ["a"]


def test_the_signature_has_version_mode_and_files(install: Install) -> None:
    program = install(_ECHO)
    _, name = translate_by_apertium(_SYSTEM, ["a"])
    digest = signature.identity(name.partition("/")[0])
    assert name == f"apertium:eng-spa@{digest}/apertium-3.8.3"
    assert len(digest) == 7
    write_text(program.parent.parent / "share/apertium/eng-spa/words.bin", "others")
    _, other = translate_by_apertium(_SYSTEM, ["a"])
    assert other.partition("@")[0] == "apertium:eng-spa"
    assert other != name


def test_no_variable_of_the_environment_changes_translations(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AP_SETVAR", "x")
    install('[ -z "$AP_SETVAR" ] || exit 5\n' + _ECHO)
    assert _translated("a") == ["a"]


def test_evaluate_names_the_system(install: Install) -> None:
    install(_ECHO)
    material = cc_hf.load_material("simplegen", "en-es", limit=2)
    judged = cc_hf.evaluate(
        material, system="apertium:eng-spa", evaluator=lambda sources, texts: [1.0] * len(texts)
    )
    assert judged.system == "apertium:eng-spa"
    assert [row.translation for row in judged.judgements] == [e.source for e in material.examples]
    assert signature.parse(judged.signature)[1]["sys"].startswith("apertium:eng-spa@")


def test_translate_writes_a_dataset_and_a_text_file(install: Install, tmp_path: Path) -> None:
    install(_ECHO)
    text, output = write_lines(tmp_path / "text.txt", ["One.", "", "Two~"]), tmp_path / "out.jsonl"
    name = "--system apertium:eng-spa"
    assert printed_by(f"translate {text} -l en-es {name} -o -") == "One.\n\nTwo~\n"
    printed_by(f"translate {text} {name} -o {output}")
    assert read_jsonl(output)[2] == {"id": "2", "source": "Two~", "translation": "Two~"}
    printed_by(f"translate simplegen en-es --limit 3 {name} -o {output}")
    assert len(read_jsonl(output)) == 3


@needs_apertium_system
def test_sentences_do_not_depend_on_those_beside_them() -> None:
    sources = [
        "In spite",
        "of that, a lot of people left.",
        "New",
        "York is big.",
        "The physician prescribed the drugs.",
        "The house~ [is] {red}^ <b> a/b @c $5 \\ 😀 xyzzy*",
        "the " * 3000,
        "",
    ]
    translated = _translated(*sources)
    assert translated[3] == "York es grande."
    kept = "~ [ ] { } ^ < > / @ $5 \\ 😀 xyzzy*"
    assert [mark for mark in kept.split() if mark not in translated[5]] == []
    for row, source in enumerate(sources):
        assert _translated(source) == [translated[row]]
    shuffled = random.Random(0).sample(range(len(sources)), len(sources))
    assert _translated(*(sources[row] for row in shuffled)) == [translated[i] for i in shuffled]
