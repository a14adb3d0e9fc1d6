"""Messages of the library name parameters; the command line shows them as flags."""

from __future__ import annotations

import sys

import pytest

from cc_hf.cli.main import run, with_flags
from tests.helpers.cases import cases_by_message, cases_by_words


@cases_by_words(
    ("command", "message", "shown"),
    [
        ("evaluate winomt", "tgt_lang: expected de", "--language-pair: expected de"),
        ("evaluate -l xx winomt", "output: no folder a: b", "--output: no folder a: b"),
        ("evaluate winomt", "f: no; pass `data_dir`", "f: no; pass `--data-dir`"),
        ("evaluate winomt", "translations, system: got none", "--translations, --system: got none"),
        ("cues build mucow", "words: got 'x'", "--word: got 'x'"),
        ("explain --source x", "gold: expected male", "--gender: expected male"),
        ("compare --by seed a.json", "names: got x", "--name: got x"),
        ("cues build x", "masked_lm, candidates: got both", "--masked-lm, --candidates: got both"),
    ],
    "message",
)
def test_parameter_names_in_messages_are_shown_as_flags(
    command: str, message: str, shown: str
) -> None:
    assert with_flags(message, command.split()) == shown


@cases_by_message(
    ("command", "message"),
    [
        ("evaluate winomt", "dataset: expected a name"),  # an argument has no flag
        ("compare a.json b.json", "tgt_lang: expected de"),  # this command has no such option
        ("cues build mucow", "candidates, dataset: got both"),
        ("evaluate f.csv", "f.csv: line 2: tgt_lang: expected de"),
        ("evaluate winomt", "output"),
        ("compare a.json --by seeds", "data_dir: none"),  # no such command
        ("compare a.json b.json", "file not found; pass `data_dir` or `-v`"),
        ("", "output: x"),
    ],
)
def test_messages_without_an_own_flag_are_not_changed(command: str, message: str) -> None:
    assert with_flags(message, command.split()) == message


def test_errors_of_a_command_are_printed_with_flags(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["cc-hf", "evaluate", "winomt", "--translations", "t.txt"])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: --language-pair: winomt default has several")
