from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from typer.testing import CliRunner

from cc_hf.cli.main import app
from cc_hf.errors import CCError, InputError
from cc_hf.studies.lexical_shortcuts.checkpoint_averaging import (
    average_checkpoints,
    last_checkpoints,
)


@pytest.fixture(scope="module")
def checkpoints(tiny_marian: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write three checkpoints of one model; the second in several shards."""
    folder = tmp_path_factory.mktemp("training")
    model = AutoModelForSeq2SeqLM.from_pretrained(tiny_marian)
    tokenizer = AutoTokenizer.from_pretrained(tiny_marian)
    paths = []
    for step, factor in ((9, 1.0), (10, 2.0), (100, 6.0)):
        other = AutoModelForSeq2SeqLM.from_pretrained(tiny_marian)
        with torch.no_grad():
            for weight, base in zip(other.parameters(), model.parameters(), strict=True):
                weight.copy_(base * factor)
        paths.append(folder / f"checkpoint-{step}")
        other.save_pretrained(paths[-1], max_shard_size="10KB" if step == 10 else "1GB")
        tokenizer.save_pretrained(paths[-1])
        (paths[-1] / "optimizer.pt").write_bytes(b"a pickle")
        (paths[-1] / "trainer_state.json").write_text("{}")
    return paths


def weights(path: Path) -> dict[str, torch.Tensor]:
    return {
        key: tensor
        for file in sorted(path.glob("*.safetensors"))
        for key, tensor in load_file(file).items()
    }


def test_the_mean_of_three_checkpoints_loads_and_is_their_mean(
    checkpoints: list[Path], tmp_path: Path
) -> None:
    averaged = average_checkpoints(checkpoints, tmp_path / "mean")
    means = weights(averaged.folder)
    parts = [weights(path) for path in checkpoints]
    assert means.keys() == parts[0].keys()
    for key, mean in means.items():
        expected = torch.stack([part[key].double() for part in parts]).mean(0).float()
        assert torch.equal(mean, expected), key
    assert averaged.n_weights == len(means)
    assert averaged.n_parameters == sum(mean.numel() for mean in means.values())
    model = AutoModelForSeq2SeqLM.from_pretrained(averaged.folder)
    assert torch.equal(model.get_encoder().embed_tokens.weight, means["model.shared.weight"])
    AutoTokenizer.from_pretrained(averaged.folder)
    names = {path.name for path in averaged.folder.iterdir()}
    assert "config.json" in names
    assert not names & {"optimizer.pt", "trainer_state.json"}


def test_shards_are_those_of_the_last_checkpoint(checkpoints: list[Path], tmp_path: Path) -> None:
    averaged = average_checkpoints([checkpoints[0], checkpoints[1]], tmp_path / "mean")
    assert len(averaged.files) > 1
    index = json.loads((averaged.folder / "model.safetensors.index.json").read_text("utf-8"))
    assert set(index["weight_map"].values()) == set(averaged.files)
    AutoModelForSeq2SeqLM.from_pretrained(averaged.folder)


def test_the_last_checkpoints_are_those_of_the_last_steps(checkpoints: list[Path]) -> None:
    folder = checkpoints[0].parent
    assert [path.name for path in last_checkpoints(folder, 2)] == [
        "checkpoint-10",
        "checkpoint-100",
    ]
    with pytest.raises(InputError, match=r"expected 4 or more folders checkpoint-STEP.*got 3"):
        last_checkpoints(folder, 4)
    with pytest.raises(InputError, match="last: expected 1 or more, got 0"):
        last_checkpoints(folder, 0)


BASE = {"a": torch.ones(2), "b": torch.zeros(3), "n": torch.tensor([4])}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({**BASE, "c": torch.ones(1)}, r"x\.safetensors: .*has no weight c, which is in .*y\.s"),
        ({"a": BASE["a"], "n": BASE["n"]}, r"y\.safetensors: .*has no weight b"),
        ({**BASE, "b": torch.zeros(4)}, r"x\.safetensors: the weight b is F32 \[3\], expected F32 \[4\]"),
        ({**BASE, "b": torch.zeros(3).half()}, r"x.*the weight b is F32 \[3\], expected F16 \[3\]"),
        ({**BASE, "n": torch.tensor([5])}, r"y\.safetensors: the weight n is torch.int64"),
        ({**BASE, "a": torch.tensor([1, torch.nan])}, r"y\.safetensors: the weight a .*not finite"),
    ],
)  # fmt: skip
def test_weights_that_differ_are_refused_with_file_and_name(
    other: dict[str, torch.Tensor], message: str, tmp_path: Path
) -> None:
    save_file(BASE, tmp_path / "x.safetensors")
    save_file(other, tmp_path / "y.safetensors")
    with pytest.raises(InputError, match=message):
        average_checkpoints(
            [tmp_path / "x.safetensors", tmp_path / "y.safetensors"], tmp_path / "mean"
        )
    assert not (tmp_path / "mean").exists()


def test_bf16_is_summed_without_loss(tmp_path: Path) -> None:
    files = []
    for number, value in enumerate((256.0, 1.0, 1.0, 2.0)):  # 256 + 1 is 256 in bf16
        files.append(tmp_path / f"{number}.safetensors")
        save_file({"a": torch.tensor([value], dtype=torch.bfloat16)}, files[-1])
    averaged = average_checkpoints(files, tmp_path / "mean")
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
        with pytest.raises(InputError, match=message):
            average_checkpoints(paths, tmp_path / "mean")
    with pytest.raises(CCError, match="exists and is not an empty folder"):
        average_checkpoints(checkpoints, checkpoints[0])


def test_the_command_averages_the_last_checkpoints(checkpoints: list[Path], tmp_path: Path) -> None:
    runner = CliRunner()
    arguments = ["study", "lexical_shortcuts", "average", str(checkpoints[0].parent), "--last", "2"]
    run = runner.invoke(app, [*arguments, "--output", str(tmp_path / "mean"), "--json"])
    assert run.exit_code == 0, run.output
    row = json.loads(run.stdout)
    assert [Path(path).name for path in row["checkpoints"]] == ["checkpoint-10", "checkpoint-100"]
    left, right = weights(checkpoints[1]), weights(checkpoints[2])
    for key, mean in weights(tmp_path / "mean").items():
        assert torch.equal(mean, ((left[key].double() + right[key].double()) / 2).float())
    names = [str(path) for path in checkpoints]
    run = runner.invoke(
        app, ["study", "lexical_shortcuts", "average", *names, "--output", str(tmp_path / "three")]
    )
    assert run.exit_code == 0, run.output
    assert "3 checkpoints" in run.stdout
    run = runner.invoke(
        app,
        ["study", "lexical_shortcuts", "average", *names, "--last", "2", "-o", str(tmp_path / "x")],
    )
    assert isinstance(run.exception, InputError)
