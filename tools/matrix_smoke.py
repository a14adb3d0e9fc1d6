"""What a user does first, in an environment that has cc_hf alone: `python matrix_smoke.py` with
`core` or `models`. It runs in an empty folder and fails at the first step that fails. The commands
of the README need WinoMT, and run where the variable MATRIX_DATA names upstream repositories.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import metadata
from importlib.resources import files
from pathlib import Path

_TRANSLATIONS = "gabrielStanovsky/mt_gender/translations"
_SCORED = (
    "cc-hf evaluate simplegen en-de --translations t.txt --metric simplegen_accuracy -o r.json"
)


def run(*commands: str) -> None:
    """Run commands of the environment's own `cc-hf`."""
    program = Path(sys.executable).with_name("cc-hf")
    for command in commands:
        words: Sequence[str] = command.split()[1:]
        done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{done.stderr}Error: {command} ended with {done.returncode}")


def core() -> None:
    """Every verb's help, data, a metric by name, a result, a report, a leaderboard."""
    from cc_hf.verbs import VERBS

    run("cc-hf --version", "cc-hf --help", *(f"cc-hf {verb} --help" for verb in VERBS))
    run("cc-hf list metrics", "cc-hf list datasets", "cc-hf study", "cc-hf register")
    import datasets
    import evaluate

    import cc_hf

    run("cc-hf build simplegen en-de --output built")
    for rows in (cc_hf.load_dataset("simplegen", "en-de"), datasets.load_dataset("built", "en-de")):
        assert len(rows["test"]) == 2664, rows
    sample = files("cc_hf").joinpath("assets/samples/simplegen.en-de.txt.gz").read_bytes()
    Path("t.txt").write_bytes(gzip.decompress(sample))
    run(_SCORED, "cc-hf report r.json --html r.html", "cc-hf leaderboard . --static board")
    assert "<h1>" in Path("r.html").read_text(encoding="utf-8")
    run("cc-hf score t.txt --references t.txt")
    metric = evaluate.load("simplegen_accuracy")
    assert metric.name == "simplegen_accuracy", metric


def models() -> None:
    """The main job on the embedded evaluator, by the command and by `evaluate.load`; a study."""
    import evaluate

    run("cc-hf evaluate simplegen en-de --system cc-tiny-en-de --limit 60 -o m.json")
    run("cc-hf study", "cc-hf study mt_geneval published --table 12")
    metric = evaluate.load("contrastive_conditioning")
    row = {
        "correct_sources": ["The [female] doctor left."],
        "incorrect_sources": ["The [male] doctor left."],
        "category": "female",
    }
    result = metric.compute(
        predictions=["Die Ärztin ging."], references=[row], src_lang="en", tgt_lang="de"
    )
    assert result["accuracy"] == 1.0, result


def readme(data: Path) -> None:
    """The commands of the README, word by word, on the translations of two archived systems."""
    lines = str(metadata("cc_hf").json["description"]).replace("\\\n", " ").splitlines()
    commands = [line[2:] for line in lines if line.startswith("$ cc-hf ")]
    assert len(commands) == 2, commands
    for name, system in (("ours", "aws"), ("theirs", "bing")):
        rows = (data / _TRANSLATIONS / system / "en-de.txt").read_text(encoding="utf-8")
        Path(f"{name}.de.txt").write_text(rows, encoding="utf-8", newline="\n")
    os.environ["CC_HF_DATA_DIR"] = str(data)  # there is no network everywhere
    run(*commands)
    assert "theirs" in Path("report.html").read_text(encoding="utf-8")


if __name__ == "__main__":
    core()
    if sys.argv[1] == "models":
        models()
        if folder := os.environ.get("MATRIX_DATA"):
            readme(Path(folder))
