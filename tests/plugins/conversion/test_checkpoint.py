import argparse
import os
import pickle
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cc_hf.errors import EvaluatorError
from cc_hf.plugins.conversion.checkpoint import read_checkpoint
from tests.helpers.fairseq_models import options, save_fairseq
from tests.helpers.usual import cases, fails


class Command:
    """Runs a command when it is unpickled without restrictions."""

    def __init__(self, function: Any, argument: str) -> None:
        self.call = (function, (argument,))

    def __reduce__(self) -> Any:
        return self.call


def content(**more: Any) -> dict[str, Any]:
    weights = {"encoder.embed_tokens.weight": torch.ones(2, 2)}
    return {"args": argparse.Namespace(**options()), "model": weights, **more}


def save(path: Path, saved: Any, *, is_zip: bool, **options: Any) -> None:
    torch.save(saved, path, _use_new_zipfile_serialization=is_zip, **options)


@pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("field", ["alone", "model", "args", "extra_state"])
@cases((os.system, f"{os.name}.system"), (eval, "eval"), (__import__, "__import__"))
def test_a_checkpoint_that_would_run_a_command_is_refused_and_not_run(
    function: Any, name: str, tmp_path: Path, is_zip: bool, field: str
) -> None:
    made = tmp_path / "made"
    arguments: dict[Any, str] = {os.system: f"touch {made}", eval: f"open({str(made)!r}, 'w')"}
    evil = Command(function, arguments.get(function, "antigravity"))
    saved: Any = evil if field == "alone" else content(**{field: {"inside": [evil]}})
    save(tmp_path / "model1.pt", saved, is_zip=is_zip)
    fails(
        EvaluatorError,
        f"refused, it holds {name}, which no checkpoint",
        read_checkpoint,
        tmp_path / "model1.pt",
    )
    assert not made.exists()
    assert "antigravity" not in sys.modules


def test_a_bare_pickle_is_refused(tmp_path: Path) -> None:
    made, path = tmp_path / "made", tmp_path / "model1.pt"
    path.write_bytes(pickle.dumps(Command(os.system, f"touch {made}"), protocol=2))
    fails(EvaluatorError, r"refused, it holds \w+\.system", read_checkpoint, path)
    assert not made.exists()
    pickle.loads(path.read_bytes())  # this shows that these tests can fail
    assert made.exists()


@pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "legacy"])
def test_meters_and_arrays_are_read_and_other_classes_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_zip: bool
) -> None:
    module = types.ModuleType("fairseq.meters")
    for name in ("AverageMeter", "StopwatchMeter", "TimeMeter", "OtherMeter"):
        setattr(module, name, type(name, (), {"__module__": "fairseq.meters"}))
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "fairseq", types.ModuleType("fairseq"))
        patched.setitem(sys.modules, "fairseq.meters", module)
        meters = [module.AverageMeter(), module.StopwatchMeter(), module.TimeMeter()]
        meters[0].value = 3
        states = {"good": {"meters": meters, "counts": np.arange(3)}, "bad": module.OtherMeter()}
        for name, state in states.items():
            save(tmp_path / f"{name}.pt", content(extra_state=state), is_zip=is_zip)
    before = set(torch.serialization.get_safe_globals())  # torch keeps no order
    assert read_checkpoint(tmp_path / "good.pt").architecture == "transformer"
    bad, message = tmp_path / "bad.pt", r"refused, it holds fairseq\.meters\.OtherMeter"
    fails(EvaluatorError, message, read_checkpoint, bad)
    assert set(torch.serialization.get_safe_globals()) == before  # no class stays allowed
    assert "fairseq" not in sys.modules


@pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "legacy"])
def test_arrays_pickled_by_numpy_1_are_read(tmp_path: Path, is_zip: bool) -> None:
    """numpy 1 names its function numpy.core.multiarray._reconstruct, and so do checkpoints of its
    time.
    """
    path = tmp_path / "model1.pt"
    save(path, content(extra_state=np.arange(3)), is_zip=is_zip, pickle_protocol=2)
    new, old = b"numpy._core.multiarray", b"numpy.core.multiarray"
    parts = _parts(path) if is_zip else {"": path.read_bytes()}
    assert any(new in data for data in parts.values())
    if is_zip:
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, data.replace(new, old))
    else:
        path.write_bytes(parts[""].replace(new, old))
    assert read_checkpoint(path).weights


def _parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_files_that_are_not_checkpoints_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model1.pt"
    fails(EvaluatorError, "no checkpoint at", read_checkpoint, path)
    save_fairseq(tmp_path)
    cut = path.read_bytes()[: path.stat().st_size // 2]
    for junk in (b"", b"not a checkpoint\n", b"PK\x03\x04 broken", b"\x80\x02\x95 broken", cut):
        path.write_bytes(junk)
        with pytest.raises(EvaluatorError, match="the file cannot be read") as refused:
            read_checkpoint(path)
        # torch advises to run what the file says
        assert "weights_only" not in str(refused.value)
    no_checkpoints: list[Any] = [[1, 2], {"model": {}}, {"model": {"a": 1}}]
    for saved in (*no_checkpoints, {"args": argparse.Namespace()}):
        torch.save(saved, path)
        fails(EvaluatorError, "with weights by name under 'model'", read_checkpoint, path)
    torch.save({"model": {"a": torch.ones(1)}}, path)
    fails(EvaluatorError, "the options of the training under 'args'", read_checkpoint, path)


@cases(
    (torch.ones(3, dtype=torch.complex64), "the weight 'b': .* real numbers, got complex64"),
    (torch.ones(3, dtype=torch.int64), "the weight 'b': .* got int64"),
    (torch.eye(3).to_sparse(), "the weight 'b': .* got sparse_coo"),
    (torch.ones(3, device="meta"), "the weight 'b': .* got float32 of 1 dimensions on meta"),
    (torch.tensor(1.0), "the weight 'b': .* got float32 of 0 dimensions"),
    (torch.ones(1).expand(10**6, 10**6), "weights of at most 8 times .* declares 40000000000"),
)
def test_odd_weights_are_refused(weight: torch.Tensor, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model1.pt"
    torch.save(content(model={"a": torch.ones(1), "b": weight}), path)
    fails(EvaluatorError, f"{path}: .*{message}", read_checkpoint, path)


def test_an_archive_that_declares_more_than_the_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model1.pt"
    torch.save(content(), path)
    parts = _parts(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**parts, "model1/data/1": bytes(10**7)}.items():
            archive.writestr(name, data)
    fails(EvaluatorError, r"parts of at most 8 times .* declares 1000\d+", read_checkpoint, path)


def test_options_are_read_as_namespace_or_dictionary(tmp_path: Path) -> None:
    weights = {"a": torch.ones(1)}
    for model in (argparse.Namespace(arch="transformer"), {"_name": "transformer"}):
        torch.save(
            {"args": None, "cfg": {"model": model}, "model": weights}, tmp_path / "model1.pt"
        )
        assert read_checkpoint(tmp_path / "model1.pt").architecture == "transformer"


def test_weight_names_of_older_checkpoints_are_translated(tmp_path: Path) -> None:
    weights = save_fairseq(tmp_path)
    older: dict[str, torch.Tensor] = {
        "encoder.embed_positions._float_tensor": torch.ones(1),
        "decoder.embed_positions.weights": torch.ones(3, 3),
    }
    numbers = {"encoder": ("self_attn", "final"), "decoder": ("self_attn", "encoder_attn", "final")}
    for name, weight in weights.items():
        for number, norm in enumerate(numbers[name.split(".")[0]]):
            name = name.replace(f".{norm}_layer_norm.", f".layer_norms.{number}.")
        if ".q_proj." in name:
            parts = [weights[name.replace("q_proj", f"{part}_proj")] for part in "qkv"]
            older[name.replace("q_proj.", "in_proj_")] = torch.cat(parts).half()
        elif ".k_proj." not in name and ".v_proj." not in name:
            older[name.replace("output_projection.weight", "embed_out")] = weight.half()
    save_fairseq(tmp_path / "older", weights=older)
    actual = read_checkpoint(tmp_path / "older/model1.pt").weights
    assert set(actual) == {name for name in weights if not name.endswith(".version")}
    for name, weight in actual.items():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, weights[name].half().float())
