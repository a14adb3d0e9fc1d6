"""`cc-hf study lexical_shortcuts train` runs for two steps, and what it writes is a model for every
part of cc_hf.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from cc_hf_studies.common.scratch.model import config_fields
from cc_hf_studies.common.scratch.options import ModelSizes
from cc_hf_studies.lexical_shortcuts import checkpoint_averaging as averaging
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutConfig
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutForConditionalGeneration as Model
from cc_hf_studies.lexical_shortcuts.variants import VARIANTS
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from cc_hf import load_evaluator
from cc_hf.errors import CCError
from examples.train_marian import made_pairs
from tests.helpers.usual import (
    cases,
    fails,
    overriding,
    printed_by,
    read_json,
    refuses,
    run_command,
    typed,
    write_lines,
)

pytestmark = pytest.mark.usefixtures("same_threads")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    pairs = made_pairs(60, seed=1)
    for name, part in (("train", pairs[:48]), ("dev", pairs[48:56]), ("test", pairs[56:])):
        write_lines(folder / f"{name}.en", [pair.english for pair in part])
        write_lines(folder / f"{name}.de", [pair.target for pair in part])
    return folder


def words(folder: Path, output: Path, more: str) -> list[str]:
    files = [f"--{p} {folder}/{p}.en {folder}/{p}.de" for p in ("train", "dev")]
    tests = f"--test-source {folder}/test.en --test-target {folder}/test.de"
    options = (
        "--pieces 200 --width 16 --ffn 16 --layers 3 --heads 2 --batch-size 16 --steps 2"
        " --eval-steps 1 --average 2 --num-beams 1 --cpu"
    )
    command = f"study lexical_shortcuts train {' '.join(files)} {tests} {options}"
    return overriding(f"{command} --output {output}", more)


@cases(("self", 6), ("encoder", 3), ("decoder", 3), ("cross", 3), ("both", 9), ("non-lexical", 6))
def test_a_variant_has_shortcuts_in_its_attentions(variant: str, expected: int) -> None:
    def n_parameters(**shortcuts: Any) -> int:
        fields = config_fields(ModelSizes(3, 3, 16, 16, 16, heads=2), 50)
        model = Model(LexicalShortcutConfig(**fields, **shortcuts))
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
    model = typed(Model, evaluator.model)  # type: ignore[attr-defined]
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


@pytest.fixture(scope="module")
def checkpoints(tiny_marian: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write three checkpoints of one model; the second in several shards."""
    folder = tmp_path_factory.mktemp("training")
    model = AutoModelForSeq2SeqLM.from_pretrained(tiny_marian)
    tokenizer = AutoTokenizer.from_pretrained(tiny_marian)
    paths = []
    for step, factor in ((9, 1.0), (10, 2.0), (100, 3.0)):  # 1, 2 and 6 times the first
        with torch.no_grad():
            for weight in model.parameters():
                weight *= factor
        paths.append(folder / f"checkpoint-{step}")
        model.save_pretrained(paths[-1], max_shard_size="10KB" if step == 10 else "1GB")
        tokenizer.save_pretrained(paths[-1])
        for name in ("optimizer.pt", "trainer_state.json"):
            (paths[-1] / name).write_text("{}")
    return paths


def weights(path: Path) -> dict[str, torch.Tensor]:
    files = map(load_file, sorted(path.glob("*.safetensors")))
    return {key: tensor for file in files for key, tensor in file.items()}


def assert_mean(mean: Path, checkpoints: list[Path]) -> dict[str, torch.Tensor]:
    means, parts = weights(mean), [weights(path) for path in checkpoints]
    assert means.keys() == parts[0].keys()
    for key, weight in means.items():
        expected = torch.stack([part[key].double() for part in parts]).mean(0).float()
        assert torch.equal(weight, expected), key
    return means


def test_three_checkpoints_give_their_mean(checkpoints: list[Path], tmp_path: Path) -> None:
    averaged = averaging.average_checkpoints(checkpoints, tmp_path / "mean")
    means = assert_mean(averaged.folder, checkpoints)
    assert averaged.n_weights == len(means)
    assert averaged.n_parameters == sum(mean.numel() for mean in means.values())
    model = AutoModelForSeq2SeqLM.from_pretrained(averaged.folder)
    assert torch.equal(model.get_encoder().embed_tokens.weight, means["model.shared.weight"])
    AutoTokenizer.from_pretrained(averaged.folder)
    names = {path.name for path in averaged.folder.iterdir()}
    assert "config.json" in names
    assert not names & {"optimizer.pt", "trainer_state.json"}


def test_shards_are_those_of_the_last_checkpoint(checkpoints: list[Path], tmp_path: Path) -> None:
    averaged = averaging.average_checkpoints(checkpoints[:2], tmp_path / "mean")
    assert len(averaged.files) > 1
    index = read_json(averaged.folder / "model.safetensors.index.json")
    assert set(index["weight_map"].values()) == set(averaged.files)
    AutoModelForSeq2SeqLM.from_pretrained(averaged.folder)


def test_the_last_checkpoints_are_those_of_the_last_steps(checkpoints: list[Path]) -> None:
    folder = checkpoints[0].parent
    assert averaging.last_checkpoints(folder, 2) == checkpoints[1:]
    refuses("4 or more folders checkpoint-STEP.*got 3", averaging.last_checkpoints, folder, 4)
    refuses("last: expected 1 or more, got 0", averaging.last_checkpoints, folder, 0)


BASE = {"a": torch.ones(2), "b": torch.zeros(3), "n": torch.tensor([4])}


@cases(
    ({**BASE, "c": torch.ones(1)}, r"x\.safetensors: .*has no weight c, which is in .*y\.s"),
    ({"a": BASE["a"], "n": BASE["n"]}, r"y\.safetensors: .*has no weight b"),
    (
        {**BASE, "b": torch.zeros(4)},
        r"x\.safetensors: the weight b is F32 \[3\], expected F32 \[4\]",
    ),
    ({**BASE, "b": torch.zeros(3).half()}, r"x.*the weight b is F32 \[3\], expected F16 \[3\]"),
    ({**BASE, "n": torch.tensor([5])}, r"y\.safetensors: the weight n is torch.int64"),
    ({**BASE, "a": torch.tensor([1, torch.nan])}, r"y\.safetensors: the weight a .*not finite"),
)  # fmt: skip
def test_weights_that_differ_are_refused_by_name(other: Any, message: str, tmp_path: Path) -> None:
    files = [tmp_path / "x.safetensors", tmp_path / "y.safetensors"]
    save_file(BASE, files[0])
    save_file(other, files[1])
    refuses(message, averaging.average_checkpoints, files, tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_bf16_is_summed_without_loss(tmp_path: Path) -> None:
    files = []
    for number, value in enumerate((256.0, 1.0, 1.0, 2.0)):  # 256 + 1 is 256 in bf16
        files.append(tmp_path / f"{number}.safetensors")
        save_file({"a": torch.tensor([value], dtype=torch.bfloat16)}, files[-1])
    averaged = averaging.average_checkpoints(files, tmp_path / "mean")
    mean = load_file(averaged.folder / averaged.files[0])["a"]
    assert (mean.dtype, mean.item()) == (torch.bfloat16, 65.0)


def test_what_is_no_checkpoint_is_refused(checkpoints: list[Path], tmp_path: Path) -> None:
    (tmp_path / "pickles").mkdir()
    (tmp_path / "pickles/pytorch_model.bin").write_bytes(b"")
    (tmp_path / "broken.safetensors").write_bytes(b"1234567890")
    for paths, message in (
        ([checkpoints[0]], "expected two or more to average, got 1"),
        ([checkpoints[0], checkpoints[0] / "."], "is named twice"),
        ([checkpoints[0], tmp_path / "pickles"], "pickles: expected a .safetensors file, or a"),
        ([checkpoints[0], tmp_path / "broken.safetensors"], "broken.safetensors: expected"),
    ):
        refuses(message, averaging.average_checkpoints, paths, tmp_path / "mean")
    fails(
        CCError,
        "exists and is not an empty folder",
        averaging.average_checkpoints,
        checkpoints,
        checkpoints[0],
    )


def test_the_command_averages_the_last_checkpoints(checkpoints: list[Path], tmp_path: Path) -> None:
    command, names = "study lexical_shortcuts average", " ".join(map(str, checkpoints))
    last = f"{command} {checkpoints[0].parent} --last 2 --output {tmp_path}/mean --json"
    row = json.loads(printed_by(last))
    assert [Path(path).name for path in row["checkpoints"]] == ["checkpoint-10", "checkpoint-100"]
    assert_mean(tmp_path / "mean", checkpoints[1:])
    assert "3 checkpoints" in printed_by(f"{command} {names} --output {tmp_path}/three")
    refuses(
        "last: expected one folder with checkpoints, got 3",
        printed_by,
        f"{command} {names} --last 2 -o {tmp_path}/x",
    )
