"""The training example runs in one process and in two, and its figures equal those of `cc-hf
evaluate` on the saved model.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from cc_hf.results import EvaluationResult
from examples.train_marian import main
from tests.helpers.command_line import invoke
from tests.helpers.metrics import evaluate_dataset
from tests.helpers.training import PEOPLE, write_people

_SCRATCH = {
    "--sentences": "400",
    "--pieces": "300",
    "--width": "32",
    "--layers": "1",
    "--steps": "4",
    "--eval-steps": "2",
    "--batch-size": "8",
    "--development": "7",
}
_GO_ON = {
    "--model": "cc-tiny-en-de",
    "--sentences": "60",
    "--steps": "2",
    "--eval-steps": "1",
    "--batch-size": "4",
    "--learning-rate": "5e-4",
    "--beams": "5",
}


def arguments(folder: Path, options: dict[str, str]) -> list[str]:
    shared = {
        "--output": str(folder / "out"),
        "--dataset": str(write_people(folder)),
        "--development": "7",
        "--eval-batch-size": "3",
    }
    return ["--cpu", *(word for option in {**shared, **options}.items() for word in option)]


def check(folder: Path, printed: str) -> None:
    """Check that the table is printed, that every evaluation has the figures of its checkpoint, and
    that the best one has the highest minimum accuracy.
    """
    history = json.loads(
        (folder / "out/checkpoint-2/trainer_state.json").read_text(encoding="utf-8")
    )
    found = [row for row in history["log_history"] if "eval_people_accuracy" in row]
    assert [row["step"] for row in found] == [1, 2]
    for row in found:
        checkpoint = folder / f"out/checkpoint-{row['step']}"
        result = evaluate_dataset(str(folder / "people.csv"), system=checkpoint, device="cpu")
        assert {name: row[f"eval_people_{name}"] for name in result.scores} == pytest.approx(
            dict(result.scores), abs=1e-6
        )
        assert row["eval_people_n"] == len(PEOPLE)
    values = [row["eval_people_min_accuracy"] for row in found]
    assert history["best_metric"] == max(values)
    assert history["best_global_step"] == 1 + values.index(max(values))
    shown = [row for row in history["log_history"] if "eval_bleu" in row]
    assert [row["eval_n"] for row in shown] == [7, 7]
    assert all(0.05 < row["eval_bleu"] <= 1 for row in shown)
    lines = [line for line in printed.splitlines() if re.match(r"\| [0-9]", line)]
    assert [[float(cell) for cell in line.strip("|").split("|")][2:] for line in lines] == [
        [
            pytest.approx(100 * figure, abs=0.06)
            for figure in (
                row["eval_bleu"],
                probed["eval_people_accuracy"],
                probed["eval_people_min_accuracy"],
            )
        ]
        for row, probed in zip(shown, found, strict=True)
    ]
    assert (folder / "out/best/model.safetensors").is_file()


def test_training_from_random_weights_prints_a_table_and_the_best_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trainer = main(arguments(tmp_path, _SCRATCH))
    printed = capsys.readouterr().out
    assert len([line for line in printed.splitlines() if re.match(r"\| [24] \|", line)]) == 2
    assert trainer.state.best_metric is not None
    assert (
        f"best: step {trainer.state.best_global_step}, minimum accuracy"
        f" {100 * trainer.state.best_metric:.1f}" in printed
    )


def test_training_in_one_process_reports_the_figures_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(arguments(tmp_path, _GO_ON))
    check(tmp_path, capsys.readouterr().out)
    options = [
        "--system",
        str(tmp_path / "out/checkpoint-2"),
        "--output",
        str(tmp_path / "found.json"),
        "--device",
        "cpu",
        "--no-cache",
        "--quiet",
    ]
    assert invoke("evaluate", tmp_path / "people.csv", *options).exit_code == 0
    state = json.loads(
        (tmp_path / "out/checkpoint-2/trainer_state.json").read_text(encoding="utf-8")
    )
    figures = next(row for row in reversed(state["log_history"]) if "eval_people_accuracy" in row)
    scores = EvaluationResult.from_json(
        (tmp_path / "found.json").read_text(encoding="utf-8")
    ).scores
    assert {name: figures[f"eval_people_{name}"] for name in scores} == pytest.approx(
        dict(scores), abs=1e-6
    )


@pytest.mark.usefixtures("same_threads")
def test_training_in_two_processes_reports_each_evaluation_once(tmp_path: Path, root: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc_per_node",
        "2",
        "-m",
        "examples.train_marian",
        *arguments(tmp_path, _GO_ON),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    found = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("| step |") == 1
    torch.set_num_threads(1)
    check(tmp_path, found.stdout)
