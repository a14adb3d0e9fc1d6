"""The grid of the study of speed, at toy size: models are trained, judged and timed once, and a
second run does nothing again.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from cc_hf import EvaluationResult
from cc_hf.training.scratch.run import train as run_training
from examples.studies.speed import speed_grid
from examples.studies.speed.speed_grid import GRID, main, read_grid
from examples.train_marian import made_pairs
from tests.helpers.cases import cases
from tests.helpers.command_line import read_json
from tests.helpers.lines import write_lines, write_text
from tests.helpers.refusals import fails, refuses

_GRID = """name\tlayers\tattention\tprecision\tbeams\tseed
baseline\t1,1\tordinary\tfp32\t2\t1
aan\t2,1\taverage\tfp32\t1\t1
aan.int8\t2,1\taverage\tint8\t1\t1
"""


pytestmark = pytest.mark.usefixtures("same_threads")


def _arguments(folder: Path, *more: str) -> list[str]:
    options = (
        "--output out --grid grid.tsv --pairs train.en train.de --dev dev.en dev.de"
        " --test test.en test.de --pieces 150 --width 16 --ffn 16 --heads 2 --batch-size 8"
        " --rounds 1 --steps 2 --eval-steps 2 --examples 8 --threads 1 --cpu --allow-busy"
    )
    paths = re.sub(r"\b(out|\w+\.\w+)\b", lambda name: str(folder / name[0]), options)
    return [*paths.split(), *more]


def test_points_of_a_grid_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "grid.tsv").write_text(_GRID, encoding="utf-8")
    pairs = made_pairs(48, seed=1)
    for name, part in (("train", pairs[:40]), ("dev", pairs[40:44]), ("test", pairs[44:])):
        write_lines(tmp_path / f"{name}.en", [pair.english for pair in part])
        write_lines(tmp_path / f"{name}.de", [pair.german for pair in part])
    trained: list[Path] = []

    def recorded(options: Any, files: Any, output: Path) -> Any:
        trained.append(output)
        return run_training(options, files, output)

    monkeypatch.setattr(speed_grid, "train", recorded)
    folder = main(_arguments(tmp_path))
    assert [path.name for path in trained] == ["1-1.ordinary.seed1", "2-1.average.seed1"]
    systems = ["baseline.seed1", "aan.seed1", "aan.int8.seed1"]
    texts = {path.stem: path.read_text("utf-8") for path in (folder / "results").glob("*.json")}
    results = {name: EvaluationResult.from_json(text) for name, text in texts.items()}
    assert set(results) == set(systems)
    assert all(result.n == 8 and result.system == name for name, result in results.items())
    assert "/beam1/int8 torch|" in results["aan.int8.seed1"].signature
    bleu, timings = read_json(folder / "bleu.json"), read_json(folder / "timings.json")["timings"]
    assert [row["system"] for row in bleu] == [row["system"] for row in timings] == systems
    assert [row["beams"] for row in timings] == [2, 1, 1]
    assert all(row["seconds"] > 0 and row["sentences"] == 4 for row in timings)

    # killed while a model was trained and before the times
    (folder / "timings.json").unlink()
    shutil.rmtree(folder / "models" / "2-1.average.seed1" / "best")
    (folder / "models" / "2-1.average.seed1" / "figures.json").unlink()
    before = {path: path.stat().st_mtime_ns for path in (folder / "results").iterdir()}
    main(_arguments(tmp_path))
    assert [path.name for path in trained[2:]] == ["2-1.average.seed1"]
    assert {path: path.stat().st_mtime_ns for path in (folder / "results").iterdir()} == before
    times = (folder / "timings.json").read_text(encoding="utf-8")
    main(_arguments(tmp_path))
    assert len(trained) == 3
    assert (folder / "timings.json").read_text(encoding="utf-8") == times


@cases(
    (GRID, "4,4 4,1 6,2"),
    (GRID.with_name("paper_grid.tsv"), "6,6 8,4 10,2 11,1 6,4 6,2 6,1"),  # SimpleGEN, section 4
)
def test_a_grid_that_ships_has_all_combinations(path: Path, layers: str) -> None:
    points = read_grid(path)
    models = {(point.layers, point.attention) for point in points}
    assert {shape for shape, _ in models} == set(layers.split())
    assert len(points) == 4 * len(models) == (56 if len(layers.split()) == 7 else 20)
    assert points[0].name == "baseline"
    assert {(point.precision, point.beams) for point in points} == {
        (precision, beams) for precision in ("fp32", "int8") for beams in (5, 1)
    }


@cases(
    ("name\t", "model\t", "expected the columns name, layers, attention"),
    ("1,1", "1", "layers: expected those of encoder and decoder, such as \"6,2\", got '1'"),
    ("\t2\t1\n", "\tfive\t1\n", "row 1: beams: expected a number, got 'five'"),
    ("aan.int8", "aan", "row 3: aan occurs twice with this seed"),
)
def test_a_grid_with_errors_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    refuses(message, read_grid, write_text(tmp_path / "grid.tsv", _GRID.replace(old, new, 1)))


def test_some_files_without_the_others_are_refused(tmp_path: Path) -> None:
    words = f"--output {tmp_path}/out --grid {tmp_path}/grid.tsv --pairs a b"
    (tmp_path / "grid.tsv").write_text(_GRID, encoding="utf-8")
    fails(SystemExit, "expected all of --pairs, --dev and --test", main, words.split())


def test_a_given_model_takes_the_place_of_the_first(tmp_path: Path) -> None:
    text = _GRID.replace("aan.int8\t2,1\taverage", "int8\t1,1\tordinary")
    (tmp_path / "grid.tsv").write_text(text, encoding="utf-8")
    options = speed_grid.parser().parse_args(_arguments(tmp_path, "--model", "cc-tiny-en-de"))
    grid = speed_grid.SpeedGrid(options)
    assert [point.name for point in grid.points] == ["baseline", "int8"]
    assert {grid.best(point) for point in grid.points} == {"cc-tiny-en-de"}
