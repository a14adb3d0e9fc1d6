"""The figures of the callback in TensorBoard and Trackio, read back by their own readers."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_WORDS = ["people_min_accuracy", "people_accuracy_female", "people_n_ties", "people_n_empty"]


def run(folder: Path, *command: str) -> str:
    """Run a program without a network, whose trackers write into the folder."""
    folders = {"TENSORBOARD_LOGGING_DIR": "logs", "TRACKIO_DIR": "trackio", "HF_HOME": "home"}
    variables = {name: str(folder / subfolder) for name, subfolder in folders.items()}
    variables["HF_HUB_OFFLINE"] = "1"
    words, environment = [sys.executable, "-m", *command], {**os.environ, **variables}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def trained(model: Path, folder: Path, tracker: str) -> list[dict[str, float]]:
    """Train with a tracker, and return what the trainer logged of the callback."""
    run(folder, "tests.plugins.training.tracked_program", str(model), str(folder), tracker)
    rows: list[dict[str, float]] = json.loads((folder / "history.json").read_text("utf-8"))
    assert [row["step"] for row in rows] == [2, 4]
    return rows


def test_tensorboard_shows_the_figures(tiny_marian: Path, tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    rows = trained(tiny_marian, tmp_path, "tensorboard")
    events: Any = reader.EventAccumulator(str(tmp_path / "logs"))
    events.Reload()
    names = [name.removeprefix("eval_") for name in rows[0] if name.startswith("eval_")]
    assert {*_WORDS} < {*names}
    for name in names:
        shown = [(event.step, event.value) for event in events.Scalars(f"eval/{name}")]
        assert shown == [(row["step"], pytest.approx(row[f"eval_{name}"])) for row in rows], name


def test_trackio_shows_the_figures(tiny_marian: Path, tmp_path: Path) -> None:
    pytest.importorskip("trackio")
    rows = trained(tiny_marian, tmp_path, "trackio")
    of_run = ("--project", "people", "--run", "tiny", "--json")
    listed = json.loads(run(tmp_path, "trackio.cli", "list", "metrics", *of_run))
    assert {f"eval/{name}" for name in _WORDS} < {*listed["metrics"]}
    for name in _WORDS[:2]:
        shown = [
            value["value"]
            for value in json.loads(
                run(tmp_path, "trackio.cli", "get", "metric", *of_run, "--metric", f"eval/{name}")
            )["values"]
        ]
        assert shown == [row[f"eval_{name}"] for row in rows], name
