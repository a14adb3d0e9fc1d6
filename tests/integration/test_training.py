"""The training examples run in one process and in two, and their figures equal those of cc-hf
evaluate on the saved model."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from cc_hf.data.readers.mt_geneval import read
from cc_hf.evaluation.material import Material
from cc_hf.results import EvaluationResult
from examples import gender_fine_tuning
from examples.train_marian import main
from tests.helpers.command_line import read_json
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.mt_geneval_files import pairs
from tests.helpers.processes import torchrun
from tests.helpers.training import PEOPLE, write_people

_SCRATCH = "--sentences 400 --pieces 300 --width 32 --layers 1 --steps 4 --eval-steps 2"
_STEPS = "--steps 2 --eval-steps 1 --batch-size 4 --learning-rate 5e-4"
_GO_ON = f"--model cc-tiny-en-de --sentences 60 --beams 5 {_STEPS}"


def arguments(folder: Path, options: str) -> list[str]:
    files = f"--output {folder}/out --dataset {write_people(folder)}"
    return f"--cpu {files} --development 7 --eval-batch-size 3 {options}".split()


def check(folder: Path, printed: str) -> None:
    """Check that the table is printed, that every evaluation has the figures of its checkpoint, and
    that the best one has the highest minimum accuracy.
    """
    history = read_json(folder / "out/checkpoint-2/trainer_state.json")
    found = [row for row in history["log_history"] if "eval_people_accuracy" in row]
    assert [row["step"] for row in found] == [1, 2]
    for row in found:
        checkpoint = folder / f"out/checkpoint-{row['step']}"
        result = evaluate_dataset(str(folder / "people.csv"), system=checkpoint, device="cpu")
        figures = {name: row[f"eval_people_{name}"] for name in result.scores}
        assert figures == pytest.approx(dict(result.scores), abs=1e-6)
        assert row["eval_people_n"] == len(PEOPLE)
    values = [row["eval_people_min_accuracy"] for row in found]
    assert history["best_metric"] == max(values)
    assert history["best_global_step"] == 1 + values.index(max(values))
    shown = [row for row in history["log_history"] if "eval_bleu" in row]
    assert [row["eval_n"] for row in shown] == [7, 7]
    assert all(0.05 < row["eval_bleu"] <= 1 for row in shown)
    lines = [line for line in printed.splitlines() if re.match(r"\| [0-9]", line)]
    names = ("eval_bleu", "eval_people_accuracy", "eval_people_min_accuracy")
    for line, row, probed in zip(lines, shown, found, strict=True):
        cells = [float(cell) / 100 for cell in line.strip("|").split("|")[2:]]
        assert cells == pytest.approx([{**row, **probed}[name] for name in names], abs=6e-4)
    assert (folder / "out/best/model.safetensors").is_file()


def test_training_prints_the_best_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = main(arguments(tmp_path, _SCRATCH))
    printed = capsys.readouterr().out
    assert len([line for line in printed.splitlines() if re.match(r"\| [24] \|", line)]) == 2
    assert trainer.state.best_metric is not None
    best = f"minimum accuracy {100 * trainer.state.best_metric:.1f}"
    assert f"best: step {trainer.state.best_global_step}, {best}" in printed


def test_one_process_has_right_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(arguments(tmp_path, _GO_ON))
    check(tmp_path, capsys.readouterr().out)


@pytest.mark.usefixtures("same_threads")
def test_training_in_two_processes_reports_each_evaluation_once(tmp_path: Path, root: Path) -> None:
    found = torchrun(2, "examples.train_marian", *arguments(tmp_path, _GO_ON), cwd=root)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("| step |") == 1
    torch.set_num_threads(1)
    check(tmp_path, found.stdout)


def test_a_model_is_judged_before_and_after_two_steps(
    tiny_marian: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    examples = list(read(pairs(tmp_path), "counterfactual_de", "dev"))
    loaded: list[tuple[Any, ...]] = []

    def load_material(dataset: str, config: str, *, split: str, data_dir: Any) -> Material:
        loaded.append((dataset, config, split))
        return Material("en", "de", examples)

    monkeypatch.setattr(gender_fine_tuning, "load_material", load_material)
    options = "--cpu --steps 2 --batch-size 2 --learning-rate 1e-2 --beams 1"
    gender_fine_tuning.main(f"{options} --model {tiny_marian} --output {tmp_path}/out".split())
    # Never trained on the test set, and judged on nothing else.
    assert [split for _, _, split in loaded] == ["test", "dev", "test"]
    folders = (tiny_marian, tmp_path / "out/model")
    models = [AutoModelForSeq2SeqLM.from_pretrained(folder) for folder in folders]
    before, after = (model.state_dict() for model in models)
    assert any(not torch.equal(before[name], after[name]) for name in before)
    printed = capsys.readouterr().out
    for time in ("before", "after"):
        text = (tmp_path / f"out/{time}.gender_accuracy.json").read_text(encoding="utf-8")
        result = EvaluationResult.from_json(text)
        assert (result.n, result.counts["n_pairs"], result.system) == (4, 2, time)
    assert "| gender accuracy: pair accuracy | " in printed
    assert "| gender quality gap: BLEU gap, 0 is best | " in printed
