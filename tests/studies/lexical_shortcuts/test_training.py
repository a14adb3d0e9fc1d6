"""The training example runs for two steps, and what it writes is a model for every part of cc_hf."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from cc_hf import load_evaluator
from cc_hf.studies.lexical_shortcuts.model import LexicalShortcutForConditionalGeneration
from examples.studies.lexical_shortcuts.train_lexical_shortcuts import main, parser, settings
from examples.train_marian import made_pairs
from tests.helpers.command_line import read_json
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


def arguments(folder: Path, output: Path, shortcut: str) -> list[str]:
    files = [f"--{p} {folder}/{p}.en {folder}/{p}.de" for p in ("train", "dev", "test")]
    options = (
        "--pieces 200 --width 16 --ffn 16 --layers 1 --heads 2 --batch-size 16 --steps 2"
        " --eval-steps 1 --warmup 4 --average 2 --beams 1 --threads 1 --cpu"
    )
    return f"{' '.join(files)} {options} --shortcut {shortcut} --output {output}".split()


@pytest.mark.parametrize("shortcut", ["none", "lexical", "fusion"])
def test_two_steps_write_the_mean_of_two_checkpoints(
    shortcut: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    figures = main(arguments(folder, output, shortcut))
    assert read_json(output / "figures.json") == figures
    assert figures["averaged"] == ["checkpoint-1", "checkpoint-2"]
    assert (figures["n_steps"], len(figures["losses"])) == (2, 2)
    assert 0 <= figures["test"]["bleu"] <= 1
    assert figures["test"]["signature"].startswith("nrefs:1|")
    parts = [
        load_file(output / f"training/{name}/model.safetensors") for name in figures["averaged"]
    ]
    mean = load_file(output / "averaged/model.safetensors")
    for key, weight in mean.items():
        torch.testing.assert_close(weight, (parts[0][key] + parts[1][key]) / 2)
    evaluator = load_evaluator(output / "averaged", mode="exact")
    model = evaluator.model  # type: ignore[attr-defined]
    assert isinstance(model, LexicalShortcutForConditionalGeneration)
    assert model.config.shortcut == shortcut
    assert sum(weight.numel() for weight in model.parameters()) == figures["n_parameters"]
    assert not list(output.rglob("optimizer.pt"))
    assert f"{shortcut}: {figures['n_parameters']:,} parameters" in capsys.readouterr().out


def test_the_schedule_is_that_of_the_thesis(folder: Path, tmp_path: Path) -> None:

    given = arguments(folder, tmp_path / "out", "fusion")
    without = [w for i, w in enumerate(given) if "--warmup" not in given[max(0, i - 1) : i + 1]]
    schedule = settings(parser().parse_args(without))
    assert schedule.warmup_steps == 8000
    assert schedule.learning_rate == pytest.approx((16 * 8000) ** -0.5)
    assert schedule.lr_scheduler_type == "inverse_sqrt"
    assert schedule.label_smoothing_factor == 0.1
    assert (schedule.adam_beta1, schedule.adam_beta2) == (0.9, 0.98)


def test_files_of_different_lengths_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "short.de").write_text("Ja.\n")
    words = arguments(folder, tmp_path / "out", "lexical")
    words[words.index(str(folder / "train.de"))] = str(tmp_path / "short.de")
    with pytest.raises(SystemExit, match="expected as many lines in both, got 48 and 1"):
        main(words)
