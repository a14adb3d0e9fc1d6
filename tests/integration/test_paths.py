"""The main commands, on paths with blanks and letters that are not ASCII."""

import gzip
import shutil
from pathlib import Path

import datasets
import evaluate

import cc_hf
from cc_hf.leaderboard.file_tab import _SAMPLE as SAMPLE
from cc_hf.models.location import TINY_EN_DE
from tests.helpers import bergamot_models
from tests.helpers.command_line import run_command
from tests.helpers.fairseq_models import save_fairseq
from tests.helpers.lines import write_lines

_OWN = "source,focus,correct_cues,incorrect_cues,tgt_lang\nThe bat was old.,bat,baseball,flying,de"
_SENTENCE = (
    "--source|The doctor left.|--focus|doctor|--gender|female|--translation|Die Ärztin ging."
)
_EVALUATE = "evaluate|simplegen|en-de|--limit|4|--translations|@Übersetzung.txt|-o"
_WHOLE = "evaluate|simplegen|en-de|--metric|simplegen_accuracy|--translations|@alle Sätze.txt|-o"


#: Commands with one of the files that each writes; "@" stands for the folder, bars divide words.
_COMMANDS = (
    ("sources|simplegen|en-de|--limit|4|-o|@die Quellen.txt", "die Quellen.txt"),
    (
        "translate|@die Quellen.txt|--system|@Modell ä|--num-beams|1|-o|@Übersetzung.txt",
        "Übersetzung.txt",
    ),
    (f"{_EVALUATE}|@Größe 1.json|--evaluator|@Modell ä", "Größe 1.json"),
    (f"{_EVALUATE}|@Größe 2.json|--cache|@Werte ä.sqlite|--name|B", "Größe 2.json"),
    (f"{_WHOLE}|@alle Maße/Größe 3.json", "alle Maße/Größe 3.json"),
    ("cache|--path|@Werte ä.sqlite", "Werte ä.sqlite"),
    (
        "compare|@Größe 2.json|@Größe 1.json|--resamples|20|-o|@Paare ä.json",
        "Paare ä.json",
    ),
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
    (folder / "alle Sätze.txt").write_bytes(gzip.decompress(SAMPLE.read_bytes()))
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
    metric = evaluate.load(str(folder / "ein Maß" / "gender_accuracy"))
    assert metric.name == "gender_accuracy"
