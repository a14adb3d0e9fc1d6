"""`cc-hf study lexical_shortcuts train` runs for two steps, and what it writes is a model for every
part of cc_hf.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from cc_hf import load_evaluator
from cc_hf.studies.lexical_shortcuts.model import (
    LexicalShortcutConfig,
    LexicalShortcutForConditionalGeneration,
)
from cc_hf.studies.lexical_shortcuts.variants import VARIANTS
from cc_hf.training.scratch.model import config_fields
from cc_hf.training.scratch.options import ModelSizes
from examples.train_marian import made_pairs
from tests.helpers.cases import cases
from tests.helpers.command_line import read_json, run_command
from tests.helpers.lines import write_lines

pytestmark = pytest.mark.usefixtures("same_threads")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    pairs = made_pairs(60, seed=1)
    for name, part in (("train", pairs[:48]), ("dev", pairs[48:56]), ("test", pairs[56:])):
        write_lines(folder / f"{name}.en", [pair.english for pair in part])
        write_lines(folder / f"{name}.de", [pair.german for pair in part])
    return folder


def words(folder: Path, output: Path, more: str) -> list[str]:
    files = [f"--{p} {folder}/{p}.en {folder}/{p}.de" for p in ("train", "dev")]
    tests = f"--test-source {folder}/test.en --test-target {folder}/test.de"
    options = (
        "--pieces 200 --width 16 --ffn 16 --layers 3 --heads 2 --batch-size 16 --steps 2"
        " --eval-steps 1 --average 2 --num-beams 1 --cpu"
    )
    command = f"study lexical_shortcuts train {' '.join(files)} {tests} {options} {more}"
    return f"{command} --output {output}".split()


@cases(("self", 6), ("encoder", 3), ("decoder", 3), ("cross", 3), ("both", 9), ("non-lexical", 6))
def test_a_variant_has_shortcuts_in_its_attentions(variant: str, expected: int) -> None:
    def n_parameters(**shortcuts: Any) -> int:
        fields = config_fields(ModelSizes(3, 3, 16, 16, 16, heads=2), 50)
        config = LexicalShortcutConfig(**fields, **shortcuts)
        model = LexicalShortcutForConditionalGeneration(config)
        return sum(weight.numel() for weight in model.parameters())

    extra = n_parameters(shortcut="lexical", **VARIANTS[variant]) - n_parameters(shortcut="none")
    assert extra == expected * 2 * (16**2 + 2 * 16)  # two maps with biases, and two gates


@cases(
    ("none", "self", 4000),
    ("lexical", "non-lexical", 6000),
    ("fusion", "both", 8000),
    ("residual", "cross", 6000),
)
def test_two_steps_write_the_mean_of_two_checkpoints(
    shortcut: str, variant: str, warmup: int, folder: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    shown = run_command(*words(folder, output, f"--shortcut {shortcut} --variant {variant}"))
    figures, begun = (read_json(output / name) for name in ("figures.json", "options.json"))
    assert figures["checkpoints"] == ["checkpoint-1", "checkpoint-2"]
    assert (figures["shortcut"], figures["variant"]) == (shortcut, variant)
    assert (figures["n_steps"], len(figures["evaluations"])) == (2, 2)
    assert 0 <= figures["mean_bleu"] <= 1
    # the schedule is that of the thesis
    of_thesis = {"schedule": "inverse_sqrt", "label_smoothing": 0.1, "learning_rate": None}
    assert {"warmup": warmup, **of_thesis}.items() <= begun.items()
    folders = [output / f"training/{name}" for name in figures["checkpoints"]]
    parts = [load_file(folder / "model.safetensors") for folder in folders]
    for key, weight in load_file(output / "averaged/model.safetensors").items():
        torch.testing.assert_close(weight, (parts[0][key] + parts[1][key]) / 2)
    evaluator = load_evaluator(output / "averaged", mode="exact")
    model = evaluator.model  # type: ignore[attr-defined]
    assert isinstance(model, LexicalShortcutForConditionalGeneration)
    assert model.config.shortcut == shortcut
    assert VARIANTS[variant].items() <= vars(model.config).items()
    assert sum(weight.numel() for weight in model.parameters()) == figures["n_parameters"]
    assert not list(output.rglob("optimizer.pt"))
    assert f"{figures['n_parameters']:,} parameters" in shown.stdout


@cases(
    ("--variant one", "--variant: expected one of self, encoder, decoder, cross, both"),
    ("--shortcut both", "--shortcut: expected one of none, lexical, fusion, residual"),
    ("--train {0}/dev.en {0}/train.de", "expected as many lines in both files, got 8 and 48"),
)
def test_wrong_options_are_refused(more: str, message: str, folder: Path, tmp_path: Path) -> None:
    given = words(folder, tmp_path / "out", more.format(folder))
    assert message in " ".join(run_command(*given, status=2).stderr.split())


def test_curves_of_trainings_are_shown_and_drawn(tmp_path: Path) -> None:
    for seed, scores in ((1, (0.1, 0.25)), (2, (0.125, 0.2, 0.3))):
        rows = [{"step": 10 * i, "loss": 3 - i, "bleu": score} for i, score in enumerate(scores)]
        figures = {"seed": seed, "shortcut": "lexical", "variant": "encoder", "evaluations": rows}
        (tmp_path / f"{seed}.json").write_text(json.dumps(figures), encoding="utf-8")
    command = "study lexical_shortcuts curve 1.json 2.json"
    shown = run_command(f"{command} --plot curve.svg -o curve.json", cwd=tmp_path).stdout
    assert "lexical encoder, seed 2: BLEU" in shown
    assert shown.split()[-2:] == ["20", "30.0"]
    row = read_json(tmp_path / "curve.json")
    assert row["figure"] == "bleu"
    assert row["curves"]["lexical encoder, seed 1"] == {"0": 0.1, "10": 0.25}
    picture = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert picture.count("lexical encoder, seed") == 2
    assert "BLEU of the development pairs" in picture
    refused = run_command(f"{command} --name a --name a", cwd=tmp_path, status=2)
    assert "--name: expected a different name for each of 2 files" in refused.stderr
