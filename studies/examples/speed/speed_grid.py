"""Train models with few decoder layers and with average attention, and compare their decoding time
with BLEU and with gender accuracy (Renduchintala et al. 2021, section 4, at a small size).

    python -m studies.examples.speed.speed_grid --output out/speed --cpu --threads 2
    cc-hf study speed drops out/speed/results/*.json --bleu out/speed/bleu.json \\
        --timing out/speed/timings.json --plot out/speed/drops.svg

A grid names the points, one in a line: layers of encoder and decoder, self-attention of the
decoder, precision, beams and seed. Points of the same layers, attention and seed share a model.
Without --pairs, --dev and --test, sentences about people with occupations are made up, mostly of
the gender of the stereotype.

What is done is in files and is not done again, so that a run that was killed goes on where it
stopped. Decoding is timed on the CPU when all models exist, all points in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from cc_hf_studies.common.scratch.options import TrainingOptions
from cc_hf_studies.common.scratch.pieces import train_pieces
from cc_hf_studies.common.scratch.run import TrainingFiles, train

from cc_hf import evaluate, load_material
from cc_hf.errors import CCError, InputError
from cc_hf.evaluators.loading import load_with
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.plugins.scores.quality import corpus_quality
from cc_hf.plugins.seeds.system_table import read_system_table
from cc_hf.plugins.timing.timing import TimingOptions, time_systems
from cc_hf.plugins.training.sampling import stratified_sample
from cc_hf.reading import read_lines
from cc_hf.systems.system import System
from cc_hf.systems.text_files import translate_file
from examples.train_marian import made_pairs, split

COLUMNS = ("name", "layers", "attention", "precision", "beams", "seed")
GRID = Path(__file__).with_name("speed_grid.tsv")
_N_DEV = 200  # made pairs that choose the best checkpoint
#: Options that a training has, too.
_SAME = ("width", "heads", "steps", "eval_steps", "batch_size", "learning_rate")
_LAYERS = re.compile(r"[1-9]\d*,[1-9]\d*")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--output", type=Path, required=True, help="folder, new or to go on with")
    options.add_argument(
        "--model",
        help="train nothing: use this model with precisions and beams of the grid's first model",
    )
    options.add_argument("--grid", type=Path, default=GRID, help="points; default: 20 small ones")
    pair: dict[str, Any] = {"type": Path, "nargs": 2, "metavar": ("SOURCES", "TARGETS")}
    options.add_argument("--pairs", help="to learn from", **pair)
    options.add_argument("--dev", help="to choose the best checkpoint", **pair)
    options.add_argument("--test", help="for time and BLEU", **pair)
    options.add_argument("--sentences", type=int, default=20_400, help="pairs that are made up")
    options.add_argument("--held-out", type=int, default=200, help="of these, for the test")
    options.add_argument("--pieces", type=int, default=2000, help="size of the joint vocabulary")
    options.add_argument("--width", type=int, default=96)
    options.add_argument("--ffn", type=int, default=384)
    options.add_argument("--heads", type=int, default=4)
    options.add_argument("--steps", type=int, default=2000)
    options.add_argument("--eval-steps", type=int, default=500)
    options.add_argument("--batch-size", type=int, default=64)
    options.add_argument("--learning-rate", type=float, default=1.5e-3)
    options.add_argument("--examples", type=int, default=600, help="of SimpleGEN")
    options.add_argument("--rounds", type=int, default=3, help="of timing")
    options.add_argument("--allow-busy", action="store_true", help="time beside other processes")
    options.add_argument("--threads", type=int, help="threads of torch")
    options.add_argument("--cpu", action="store_true", help="train on it also where there is a GPU")
    return options


@dataclass(frozen=True)
class Point:
    """A point of the grid.

    Attributes:
        layers: numbers of encoder and decoder layers, such as "6,2".
        attention: self-attention of the decoder, "ordinary" or "average".
    """

    name: str
    layers: str
    attention: str
    precision: str
    beams: int
    seed: int

    @property
    def system(self) -> str:
        """Name of the system with its seed."""
        return f"{self.name}.seed{self.seed}"

    @property
    def model(self) -> str:
        """Name of the model, which points may share."""
        return f"{self.layers.replace(',', '-')}.{self.attention}.seed{self.seed}"


def read_grid(path: Path) -> list[Point]:
    """Read the points of a grid, a table with the columns `COLUMNS`, CSV or tab-separated.

    Raises:
        InputError: for other columns, layers that are not two numbers, or a point that occurs
            twice.
    """
    points: list[Point] = []
    for number, row in enumerate(read_system_table(path), 1):
        if set(row) != set(COLUMNS):
            raise InputError(
                f"{path}: expected the columns {', '.join(COLUMNS)}, got {', '.join(row)}"
            )
        if not _LAYERS.fullmatch(row["layers"]):
            raise InputError(
                f"{path}: row {number}: layers: expected those of encoder and decoder, such as"
                f' "6,2", got {row["layers"]!r}'
            )
        for name in ("beams", "seed"):
            if not row[name].isdecimal():
                raise InputError(
                    f"{path}: row {number}: {name}: expected a number, got {row[name]!r}"
                )
        point = Point(
            row["name"],
            row["layers"],
            row["attention"],
            row["precision"],
            beams=int(row["beams"]),
            seed=int(row["seed"]),
        )
        if point.system in {other.system for other in points}:
            raise InputError(f"{path}: row {number}: {point.name} occurs twice with this seed")
        points.append(point)
    return points


class SpeedGrid:
    """The files of a grid, each made once."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder: Path = options.output
        self.points = read_grid(options.grid)
        if options.model:
            first = self.points[0].model
            self.points = [point for point in self.points if point.model == first]
        for name in ("data", "models", "results", "translations"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def part(self, name: str) -> tuple[Path, Path]:
        """Return the files of sources and targets of a part: "pairs", "dev" or "test"."""
        if (given := getattr(self.options, name)) is not None:
            return given[0], given[1]
        data = self.folder / "data"
        return data / f"{name}.en", data / f"{name}.de"

    def make_data(self) -> None:
        """Write sentences, unless the user gave some, and learn the vocabulary of all models."""

        def write(path: Path) -> None:
            training, held_out = split(
                made_pairs(self.options.sentences, seed=1), _N_DEV + self.options.held_out, 1
            )
            for name, pairs in (
                ("pairs", training),
                ("dev", held_out[:_N_DEV]),
                ("test", held_out[_N_DEV:]),
            ):
                for file, texts in zip(
                    self.part(name),
                    ([pair.english for pair in pairs], [pair.target for pair in pairs]),
                    strict=True,
                ):
                    file.write_text(
                        "".join(f"{text}\n" for text in texts), encoding="utf-8", newline="\n"
                    )
            path.write_text("", encoding="utf-8", newline="\n")

        given = [getattr(self.options, name) is not None for name in ("pairs", "dev", "test")]
        if not any(given):
            _once(self.folder / "data" / "complete", write)
        elif not all(given):
            raise InputError("expected all of --pairs, --dev and --test, or none, got some of them")
        if not self.options.model and not (self.folder / "vocabulary" / "target.spm").is_file():
            texts = (line for file in self.part("pairs") for line in read_lines(file))
            train_pieces(texts, self.folder / "vocabulary", self.options.pieces)

    def best(self, point: Point) -> str | Path:
        """Return the folder of a trained model, which is trained if need be."""
        if self.options.model:
            return str(self.options.model)
        folder = self.folder / "models" / point.model
        if (folder / "figures.json").is_file():
            return folder / "best"
        steps = self.options.steps
        options = TrainingOptions(
            vocabulary=self.folder / "vocabulary",
            layers=point.layers,
            ffn=str(self.options.ffn),
            attention=point.attention,
            max_length_ratio=1.5,
            dropout=0.1,
            warmup=max(1, steps // 5),
            schedule="linear",
            beams=1,
            seed=point.seed,
            cpu=self.options.cpu,
            **{name: getattr(self.options, name) for name in _SAME},
        )
        train(options, TrainingFiles(self.part("pairs"), self.part("dev")), folder)
        return folder / "best"

    def setting(self, point: Point) -> System:
        """Return how a point translates."""
        return System(self.best(point), point.beams, precision=point.precision)

    def judge(self, point: Point) -> None:
        """Write the result of a point on SimpleGEN, and its translations of the test."""

        def write(path: Path) -> None:
            material = load_material("simplegen", "en-de")
            sample = stratified_sample(material.examples, self.options.examples, seed=0)
            result = evaluate(
                replace(material, rows=sample),
                system=self.setting(point),
                metric="simplegen_accuracy",
                name=point.system,
                loading=LoadingOptions(device="cpu"),
            )
            path.write_text(result.to_json(), encoding="utf-8", newline="\n")

        _once(self.folder / "results" / f"{point.system}.json", write)
        path = self.folder / "translations" / f"{point.system}.de"
        if not path.is_file():
            loading = LoadingOptions(src_lang="en", tgt_lang="de", device="cpu")
            translate_file(
                load_with(self.best(point), loading),
                self.part("test")[0],
                path,
                num_beams=point.beams,
                precision=point.precision,
            )

    def score(self) -> None:
        """Write BLEU of all points."""
        systems = {
            point.system: read_lines(
                self.folder / "translations" / f"{point.system}.de", keeps_end=True
            )
            for point in self.points
        }
        references = read_lines(self.part("test")[1], keeps_end=True)
        rows = [quality.to_row() for quality in corpus_quality(systems, references)]
        text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
        (self.folder / "bleu.json").write_text(text, encoding="utf-8", newline="\n")

    def time(self) -> None:
        """Write the decoding times of all points, unless all are there."""

        def write(path: Path) -> None:
            report = time_systems(
                {point.system: self.setting(point) for point in self.points},
                read_lines(self.part("test")[0]),
                options=TimingOptions(
                    self.options.rounds,
                    self.options.threads,
                    allow_busy=self.options.allow_busy,
                ),
                loading=LoadingOptions(src_lang="en", tgt_lang="de", device="cpu"),
                progress=True,
            )
            path.write_text(report.to_json(), encoding="utf-8", newline="\n")

        path = self.folder / "timings.json"
        if path.is_file():
            rows = json.loads(path.read_text(encoding="utf-8"))["timings"]
            if {row["system"] for row in rows} != {point.system for point in self.points}:
                path.unlink()  # times of one grid are measured together
        _once(path, write)


def _once(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file that is missing; it has its name when it is complete."""
    if not path.is_file():
        part = path.with_name(f"{path.name}.part")
        write(part)
        part.rename(path)


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run what is missing of the grid, and return the folder of the files."""
    options = parser().parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        grid = SpeedGrid(options)
        grid.make_data()
        for point in grid.points:
            grid.judge(point)
            print(f"{point.system}: translated and judged", flush=True)
        grid.score()
        grid.time()
    except CCError as error:
        raise SystemExit(str(error)) from error
    print(f"results, bleu.json and timings.json are in {options.output}")
    return grid.folder


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()
