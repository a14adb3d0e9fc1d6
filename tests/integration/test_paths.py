"""The main commands, on paths with blanks and letters that are not ASCII, and on a system without
what only POSIX has, whose console has few characters.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import datasets
import evaluate

import cc_hf
from cc_hf.models.location import TINY_EN_DE
from cc_hf.plugins.leaderboard.file_tab import _SAMPLE
from tests.helpers import bergamot_models
from tests.helpers.fairseq_models import save_fairseq
from tests.helpers.usual import run_command, write_lines

_OWN = "source,focus,correct_cues,incorrect_cues,tgt_lang\nThe bat was old.,bat,baseball,flying,de"
_SENTENCE = "--source|A doctor left.|--focus|doctor|--gender|female|--translation|Die Ärztin ging."
_TRANSLATE = "translate|@die Quellen.txt|--system"
_EVALUATE = "evaluate|simplegen|en-de|--limit|4|--translations|@Übersetzung.txt|-o"
_WHOLE = "evaluate|simplegen|en-de|--metric|simplegen_accuracy|--translations|@alle Sätze.txt|-o"


#: Commands with one of the files that each writes; "@" stands for the folder, bars divide words.
_COMMANDS = (
    ("sources|simplegen|en-de|--limit|4|-o|@die Quellen.txt", "die Quellen.txt"),
    (f"{_TRANSLATE}|@Modell ä|--num-beams|1|-o|@Übersetzung.txt", "Übersetzung.txt"),
    (f"{_EVALUATE}|@Größe 1.json|--evaluator|@Modell ä", "Größe 1.json"),
    (f"{_EVALUATE}|@Größe 2.json|--cache|@Werte ä.sqlite|--name|B", "Größe 2.json"),
    (f"{_WHOLE}|@alle Maße/Größe 3.json", "alle Maße/Größe 3.json"),
    ("cache|--path|@Werte ä.sqlite", "Werte ä.sqlite"),
    ("compare|@Größe 2.json|@Größe 1.json|--resamples|20|-o|@Paare ä.json", "Paare ä.json"),
    ("report|@Größe 2.json|--html|@ein Bericht.html|--plots|@Bilder ä", "ein Bericht.html"),
    ("report|@Größe 2.json|--latex|@die Tabelle.tex", "die Tabelle-all.tex"),
    ("leaderboard|@alle Maße|--static|@eine Tafel", "eine Tafel/index.html"),
    (f"explain|{_SENTENCE}|--evaluator|@Modell ä|--html|@Satz ä.html", "Satz ä.html"),
    ("build|@eigene Sätze.csv|-o|@Daten ä", "Daten ä/README.md"),
    ("evaluate|@Daten ä|--translations|@ein Satz ä.txt|-o|@Satz ä.json", "Satz ä.json"),
    ("score|@ein Satz ä.txt|--references|@ein Satz ä.txt|-o|@BLEU ä.json", "BLEU ä.json"),
    ("convert|@Schüler 日本|--output|@neu ä", "neu ä/model.safetensors"),
    ("convert|@fairseq ä|--output|@neue Modelle", "neue Modelle/model1/config.json"),
)


def test_commands_accept_blanks_and_letters_beyond_ascii(tmp_path: Path) -> None:
    folder = tmp_path / "mein Ordner ä 日本"
    shutil.copytree(TINY_EN_DE.path, folder / "Modell ä")
    bergamot_models.save_student(folder / "Schüler 日本")
    save_fairseq(folder / "fairseq ä")
    (folder / "alle Maße").mkdir()
    write_lines(folder / "eigene Sätze.csv", [_OWN])
    write_lines(folder / "ein Satz ä.txt", ["Der Schläger war alt."])
    (folder / "alle Sätze.txt").write_bytes(gzip.decompress(_SAMPLE.read_bytes()))
    for line, written in _COMMANDS:
        run_command(*(word.replace("@", f"{folder}/") for word in line.split("|")))
        assert (folder / written).stat().st_size, line


def test_data_and_metrics_are_read_from_such_folders(tmp_path: Path, root: Path) -> None:
    folder = tmp_path / "mein Ordner ä 日本"
    folder.mkdir()
    run_command("build", "simplegen", "-o", folder / "Datensatz ä")
    data = datasets.load_dataset(str(folder / "Datensatz ä"), cache_dir=str(folder / "Cache ä"))
    assert data["test"].num_rows == len(cc_hf.load_examples("simplegen"))
    shutil.copytree(root / "metrics/gender_accuracy", folder / "ein Maß" / "gender_accuracy")
    assert evaluate.load(str(folder / "ein Maß" / "gender_accuracy")).name == "gender_accuracy"


_ONE_SENTENCE = ("--source", "The doctor asked the nurse to help her.", "--focus", "doctor")
_RIGHT = "Die Ärztin bat die Krankenschwester, ihr zu helfen. → 日本"
_JUDGED = ("evaluate", "simplegen", "en-de", "--translations")
_PLAIN_COMMANDS: list[list[str]] = [
    ["--help"],
    ["evaluate", "--help"],
    ["list", "evaluators"],
    [*_JUDGED, "t.txt", "--metric", "simplegen_accuracy", "-o", "r.json"],
    ["report", "r.json", "--html", "r.html", "--markdown", "r.md"],
    ["leaderboard", ".", "--static", "board"],
    ["explain", "--gender", "female", *_ONE_SENTENCE, "--translation", _RIGHT, "--html", "e.html"],
    [*_JUDGED, "日本.txt"],
]


_Outcome: TypeAlias = tuple[bytes, bytes, dict[str, bytes]]


def _run(folder: Path, *options: str, encodings: tuple[str, str], line_end: bytes) -> _Outcome:
    """Return what the commands printed, and the files that they wrote."""
    folder.mkdir()
    (folder / "t.txt").write_bytes(gzip.decompress(_SAMPLE.read_bytes()).replace(b"\n", line_end))
    program = [sys.executable, "-m", "tests.helpers.other_systems", json.dumps(_PLAIN_COMMANDS)]
    done = subprocess.run(
        [*program, *encodings, *options],
        cwd=folder,
        env={**os.environ, "PYTHONWARNDEFAULTENCODING": "1", "COLUMNS": "100"},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode(encodings[1])
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".txt"]
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return done.stdout, done.stderr, files


def _words(printed: bytes, encoding: str, shown_as: str) -> list[str]:
    """Return the words and figures of what was printed, without the lines of tables."""
    text = printed.decode(encoding).encode(shown_as, "backslashreplace").decode(shown_as)
    return re.findall(r"[\w.%\\]+", re.sub(r"\\u25[0-7][0-9a-f]|[\u2500-\u257f]", " ", text))


def test_commands_need_nothing_that_windows_lacks(tmp_path: Path) -> None:
    plain = _run(tmp_path / "plain", "plain", encodings=("utf-8", "utf-8"), line_end=b"\n")
    encodings = ("cp1252", "cp437")
    faked = _run(tmp_path / "mein Ordner ä 日本", encodings=encodings, line_end=b"\r\n")
    for printed, expected, encoding in zip(faked[:2], plain[:2], encodings, strict=True):
        assert _words(printed, encoding, encoding) == _words(expected, "utf-8", encoding)
    assert {"r.json", "r.html", "r.md", "e.html", "board/index.html"} <= {*faked[2]}
    assert faked[2] == plain[2]
    assert plain[0].count(b"\n[0]\n") == len(_PLAIN_COMMANDS) - 1
    assert b"Traceback" not in plain[1]
