"""`cc-hf study distillation train` on few pairs: what it writes, and how it continues. The training
examples run in one process and in two, and their figures equal those of cc-hf evaluate on the
saved model.
"""

import json
import random
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from cc_hf_studies.common.scratch.options import TrainingOptions
from cc_hf_studies.common.scratch.run import TrainingFiles
from cc_hf_studies.common.scratch.run import train as run_training
from safetensors.torch import load_file
from transformers import AutoModelForSeq2SeqLM

from cc_hf import load_evaluator
from cc_hf.evaluation.material import Material
from cc_hf.results import EvaluationResult
from cc_hf.test_sets.mt_geneval.reader import read_mt_geneval
from examples import gender_fine_tuning
from examples.train_marian import made_pairs, main
from tests.helpers.mt_geneval_files import pairs
from tests.helpers.people import PEOPLE, write_people
from tests.helpers.processes import in_processes, started
from tests.helpers.usual import (
    cases,
    evaluate_dataset,
    known,
    overriding,
    read_json,
    refuses,
    run_command,
    write_lines,
)

pytestmark = pytest.mark.usefixtures("same_threads")

_COMMAND = ("study", "distillation", "train")
_LIMITS = "--num-beams 1 --max-tokens 60 --max-length-ratio 9 --cpu"
_SIZES = f"--pieces 250 --layers 2,1 --width 16 --ffn 16,32 --heads 2 {_LIMITS}"
_FEW = "--batch-size 8 --steps 2 --eval-steps 1"
#: A training that is long enough to be killed within.
_BATCHES = "--batch-tokens 250 --accumulation 2 --choose-by loss"
_LONG = f"{_BATCHES} --steps 40 --eval-steps 4 --warmup 8 --patience 3 --learning-rate .01"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    pairs = [(pair.english, pair.target) for pair in made_pairs(60, seed=1)]
    damaged = [("Yes.", ""), ("Yes.", "Ja, " * 20 + "ja."), ("No. " * 90, "Nein. " * 90)]
    for name, part in (("train", [*pairs[:52], *damaged]), ("dev", pairs[52:])):
        for side, texts in zip(("en", "de"), zip(*part, strict=True), strict=True):
            write_lines(folder / f"{name}.{side}", texts)
    return folder


_TINY: dict[str, Any] = {"pieces": 250, "layers": "1", "width": 8, "heads": 1, "cpu": True}
_TINY["choose_by"] = "loss"


def _files(folder: Path) -> TrainingFiles:
    train, dev = ((folder / f"{part}.en", folder / f"{part}.de") for part in ("train", "dev"))
    return TrainingFiles(train, dev)


def _words(folder: Path, output: Path, more: str = _FEW) -> list[str]:
    files: list[str] = []
    for part in ("train", "dev"):
        files += [f"--{part}", *(f"{folder}/{part}.{side}" for side in ("en", "de"))]
    return overriding(" ".join([*_COMMAND, *files, f"--output {output} {_SIZES}"]), more)


def test_two_steps_write_the_best_model_and_figures(folder: Path, tmp_path: Path) -> None:
    output, dev = tmp_path / "out", [str(folder / f"dev.{side}") for side in ("en", "de")]
    tests = ["--test-source", dev[0], "--test-target", dev[1]]
    shown = run_command(*_words(folder, output), *tests, *tests)
    figures = read_json(output / "figures.json")
    counts = {"n_pairs": 55, "n_kept": 52, "n_blank": 1, "n_too_long": 1, "n_length_ratio": 1}
    assert figures["pairs"] == counts
    assert [row["step"] for row in figures["evaluations"]] == [1, 2]
    assert figures["best_bleu"] == max(row["bleu"] for row in figures["evaluations"])
    assert figures["mean_bleu"] == figures["tests"][0]["bleu"] == figures["tests"][1]["bleu"]
    assert len((output / "translations/2.dev.de").read_text(encoding="utf-8").splitlines()) == 8
    assert not [path for path in output.rglob("*") if path.suffix in (".bin", ".pt", ".pth")]
    model = load_evaluator(output / "best", mode="exact").model  # type: ignore[attr-defined]
    trained = [weight for name, weight in model.named_parameters() if "positions" not in name]
    assert sum(weight.numel() for weight in trained) == figures["n_parameters"]
    assert f"{figures['n_parameters']:,} parameters, 52 of 55 pairs" in shown.stdout
    assert "mean: BLEU" in shown.stdout
    again = run_command(*_words(folder, output), *tests, *tests)
    assert again.stdout == shown.stdout
    assert "this training has ended before" in again.stderr

    student = tmp_path / "student"
    more = f"--vocabulary {output / 'best'} --width 8"
    run_command(*_words(folder, student, f"{_FEW} {more}"))
    assert (student / "best/vocab.json").read_bytes() == (output / "best/vocab.json").read_bytes()


@cases(
    ("speed", "--decoder-attention average --separate-vocabularies --pieces 150"),
    ("distillation", "--separate-vocabularies --vocabulary-type bpe --vocabulary-threshold 3"),
)
def test_two_vocabularies_translate(study: str, more: str, folder: Path, tmp_path: Path) -> None:
    words = _words(folder, tmp_path / "out", f"{_FEW} {more}")
    words[words.index("distillation")] = study
    dev = ["--test-source", str(folder / "dev.en"), "--test-target", str(folder / "dev.de")]
    run_command(*words, *dev)
    ids = [read_json(tmp_path / f"out/best/{name}vocab.json") for name in ("", "target_")]
    assert ids[0] != ids[1]
    evaluator = load_evaluator(tmp_path / "out/best", mode="exact")
    config = evaluator.model.config  # type: ignore[attr-defined]
    assert [len(ids[0]), len(ids[1])] == [config.vocab_size, config.decoder_vocab_size]


def test_a_killed_training_ends_in_the_same_weights(folder: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    torch.set_num_threads(1)
    complete = run_command(*_words(folder, whole, _LONG))
    n_evaluations = random.Random().randint(1, 8)
    log = write_lines(tmp_path / "0.stderr", [])
    (process,) = started(1, tmp_path, "cc_hf.cli", *_words(folder, killed, _LONG))
    while process.is_alive() and log.read_text("utf-8").count("note: step") < n_evaluations:
        time.sleep(0.01)
    process.kill()
    process.join()
    assert not (killed / "figures.json").exists()
    continued = run_command(*_words(folder, killed, _LONG))
    lines = [run.stderr.splitlines() for run in (complete, continued)]
    steps = [[line for line in told if line.startswith("note: step")] for told in lines]
    assert 0 < len(steps[1]) <= len(steps[0])
    assert steps[0][-len(steps[1]) :] == steps[1]
    if len(steps[1]) < len(steps[0]):
        assert f"note: continuing the training in {killed} at step" in continued.stderr
    figures = [read_json(output / "figures.json") for output in (whole, killed)]
    for name in ("n_steps", "n_epochs", "best_step", "best_loss", "pairs"):
        assert figures[0][name] == figures[1][name]
    weights = [(output / "best/model.safetensors").read_bytes() for output in (whole, killed)]
    assert weights[0] == weights[1]


def test_a_checkpoint_that_is_half_written_is_not_used(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run_command(*_words(folder, output))
    before = (output / "training/checkpoint-1/model.safetensors").read_bytes()
    (output / "figures.json").unlink()
    (output / "training/checkpoint-2/trainer_state.json").write_text("{", encoding="utf-8")
    shown = run_command(*_words(folder, output))
    assert "continuing" not in shown.stderr  # the first has no optimizer any more
    assert (output / "training/checkpoint-1/model.safetensors").read_bytes() == before


@pytest.mark.enable_socket
def test_two_processes_share_each_step(folder: Path, tmp_path: Path) -> None:
    words = _words(folder, tmp_path / "out", f"{_BATCHES} --steps 6 --eval-steps 2")
    done = in_processes(2, tmp_path, "cc_hf.cli", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("parameters, 52 of 55 pairs") == 1
    assert read_json(tmp_path / "out/figures.json")["n_steps"] == 6
    assert read_json(tmp_path / "out/options.json")["processes"] == 2


def test_a_training_killed_after_its_last_step_trains_no_more(folder: Path, tmp_path: Path) -> None:
    more: Any = {"patience": 1, "learning_rate": 9.0, "warmup": 1}
    options = TrainingOptions(**_TINY, steps=6, eval_steps=1, **more)
    files, notes = _files(folder), list[str]()

    def killed(best: Path, output: Path) -> list[str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_training(options, files, tmp_path / "out", choose=killed)
    n_steps = max(int(p.name.split("-")[1]) for p in (tmp_path / "out/training").iterdir())
    figures = run_training(options, files, tmp_path / "out", note=notes.append)
    assert figures["n_steps"] == n_steps < 6  # stopped early
    assert f"at step {n_steps} of 6" in notes[-1]
    assert figures["checkpoints"] == [f"checkpoint-{figures['best_step']}"]
    assert (tmp_path / "out/best/model.safetensors").is_file()


def test_wrong_options_are_refused(folder: Path, tmp_path: Path) -> None:
    write_lines(folder / "blank", ["", " "])
    for more, message in (
        ("--heads 3", "heads: expected a divisor of the width 16, got 3"),
        ("--vocabulary /nowhere", "/nowhere: expected a vocabulary"),
        ("--max-tokens 1", "expected pairs that pass the filters"),
        ("--train {0}/none.en {0}/train.de", "none.en: file not found"),
        ("--dev {0}/blank {0}/blank", "expected pairs with text on both sides, got none"),
        ("--test-source a", "expected --test-source and --test-target equally often, got 1 and 0"),
    ):
        words = _words(folder, tmp_path / "out", f"{_FEW} {more.format(folder)}")
        assert message in " ".join(run_command(*words, status=2).stderr.split())
    run_command(*_words(folder, tmp_path / "out"))  # nothing is left of what was refused


def test_a_training_is_continued_with_equal_options_and_files(folder: Path, tmp_path: Path) -> None:
    options = TrainingOptions(**_TINY, steps=2, eval_steps=1)
    files = _files(folder)
    run_training(options, files, tmp_path / "out")
    refuses(
        r"seed: expected 1, with which the training in .*, got 2",
        run_training,
        replace(options, seed=2),
        files,
        tmp_path / "out",
    )
    swapped = TrainingFiles(files.dev, files.train)
    refuses(r"train: expected .*, with which the", run_training, options, swapped, tmp_path / "out")
    refuses("expected a new folder, or that of a training", run_training, options, files, folder)
    weights = load_file(tmp_path / "out/best/model.safetensors")
    assert all(weight.isfinite().all() for weight in weights.values())
    assert json.loads((tmp_path / "out/options.json").read_text())["seed"] == 1


def test_moses_tokenisation_and_truecasing_come_back(folder: Path, tmp_path: Path) -> None:
    """The commands of docs/training.md."""
    model = tmp_path / "truecase.en"

    def moses(words: str, text: str) -> str:
        program = Path(sys.executable).with_name("sacremoses")
        command = [str(program), "-q", *words.format(model=model).split()]
        options: Any = {"capture_output": True, "text": True, "check": True}
        return str(subprocess.run(command, input=text, **options).stdout)

    text = (folder / "dev.en").read_text(encoding="utf-8")
    moses("-l en tokenize train-truecase -m {model}", text)
    prepared = moses("-l en tokenize truecase -m {model}", text)
    assert " ." in prepared
    assert prepared.count("\n") == text.count("\n")
    assert moses("-l en detruecase detokenize", prepared) == text


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
    actual = [row for row in history["log_history"] if "eval_people_accuracy" in row]
    assert [row["step"] for row in actual] == [1, 2]
    for row in actual:
        checkpoint = folder / f"out/checkpoint-{row['step']}"
        result = evaluate_dataset(str(folder / "people.csv"), system=checkpoint, device="cpu")
        figures = {name: row[f"eval_people_{name}"] for name in result.scores}
        assert figures == pytest.approx(dict(result.scores), abs=1e-6)
        assert row["eval_people_n"] == len(PEOPLE)
    values = [row["eval_people_min_accuracy"] for row in actual]
    assert history["best_metric"] == max(values)
    assert history["best_global_step"] == 1 + values.index(max(values))
    shown = [row for row in history["log_history"] if "eval_bleu" in row]
    assert [row["eval_n"] for row in shown] == [7, 7]
    assert all(5 < row["eval_bleu"] <= 100 for row in shown)
    lines = [line for line in printed.splitlines() if re.match(r"\| [0-9]", line)]
    names = ("eval_bleu", "eval_people_accuracy", "eval_people_min_accuracy")
    for line, row, probed in zip(lines, shown, actual, strict=True):
        cells = [float(cell) / 100 for cell in line.strip("|").split("|")[2:]]
        figures = {**row, **probed, "eval_bleu": row["eval_bleu"] / 100}
        assert cells == pytest.approx([figures[name] for name in names], abs=6e-4)
    assert (folder / "out/best/model.safetensors").is_file()


def test_training_prints_the_best_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = main(arguments(tmp_path, _SCRATCH))
    printed = capsys.readouterr().out
    assert len([line for line in printed.splitlines() if re.match(r"\| [24] \|", line)]) == 2
    best = f"minimum accuracy {100 * known(trainer.state.best_metric):.1f}"
    assert f"best: step {trainer.state.best_global_step}, {best}" in printed


def test_one_process_has_right_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(arguments(tmp_path, _GO_ON))
    check(tmp_path, capsys.readouterr().out)


@pytest.mark.enable_socket
def test_training_in_two_processes_reports_each_evaluation_once(tmp_path: Path) -> None:
    outcomes = in_processes(2, tmp_path, "examples.train_marian", *arguments(tmp_path, _GO_ON))
    assert outcomes.returncode == 0, outcomes.stderr
    assert outcomes.stdout.count("| step |") == 1
    torch.set_num_threads(1)
    check(tmp_path, outcomes.stdout)


def test_a_model_is_judged_before_and_after_two_steps(
    tiny_marian: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    examples = list(read_mt_geneval(pairs(tmp_path), "counterfactual_de", "dev"))
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
    for moment in ("before", "after"):
        text = (tmp_path / f"out/{moment}.gender_accuracy.json").read_text(encoding="utf-8")
        result = EvaluationResult.from_json(text)
        assert (result.n, result.counts["n_pairs"], result.system) == (4, 2, moment)
    assert "| gender accuracy: pair accuracy | " in printed
    assert "| gender quality gap: BLEU gap, 0 is best | " in printed
