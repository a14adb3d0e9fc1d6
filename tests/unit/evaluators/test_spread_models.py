"""The option device="auto" as far as a CPU allows: everything on the CPU, or weights fetched when a
layer runs.

Several GPUs are not tested.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import accelerate
import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

import cc_hf
from cc_hf import registry
from cc_hf.errors import InputError, MissingDependencyError
from cc_hf.models.pretrained import input_device
from tests.helpers.cases import cases
from tests.helpers.families import BUILDERS
from tests.helpers.pairs import EN_DE, SOURCES, TRANSLATIONS


def scores(evaluator: cc_hf.Evaluator) -> list[list[float]]:
    return [row.tolist() for row in evaluator.token_logprobs(SOURCES, TRANSLATIONS, **EN_DE)]


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.parametrize("family", ["marian", "fsmt", "causal_lm", "masked_lm"])
def test_device_auto_without_gpus_equals_the_cpu(family: str, tmp_path: Path) -> None:
    folder = BUILDERS[family](tmp_path)
    found, plain = (cc_hf.load_evaluator(folder, device=device) for device in ("auto", "cpu"))
    assert scores(found) == scores(plain)
    assert found is not plain
    assert found is cc_hf.load_evaluator(folder, device="auto")
    assert found.cache_identity() == plain.cache_identity()
    assert not found.model.training  # type: ignore[attr-defined]
    if family == "marian":
        places = [cc_hf.LoadingOptions(device=device) for device in ("auto", "cpu")]
        spread, on_cpu = (cc_hf.translate(SOURCES[2:], folder, loading=where) for where in places)
        assert spread == on_cpu


def test_device_auto_places_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Mock(wraps=AutoModelForSeq2SeqLM.from_pretrained)
    monkeypatch.setattr(AutoModelForSeq2SeqLM, "from_pretrained", spy)
    folder = BUILDERS["marian"](tmp_path)
    for device in ("auto", "cpu"):
        cc_hf.load_evaluator(folder, device=device)
    assert [call.kwargs.get("device_map") for call in spy.mock_calls] == ["auto", None]


@pytest.mark.parametrize("family", sorted({*registry.names("evaluator family")} & {*BUILDERS}))
def test_offloaded_weights_are_fetched_when_needed(family: str, tmp_path: Path) -> None:
    """Parameters of a model that the GPUs cannot hold have no content until accelerate loads them."""
    folder = BUILDERS[family](tmp_path)
    spread = cc_hf.load_evaluator(folder, device="auto")
    expected = scores(cc_hf.load_evaluator(folder, device="cpu"))
    model: Any = spread.model  # type: ignore[attr-defined]
    accelerate.cpu_offload(model, execution_device=torch.device("cpu"))
    model.hf_device_map = {"": "cpu"}
    assert all(parameter.is_meta for parameter in model.parameters())
    for one, plain in zip(scores(spread), expected, strict=True):
        np.testing.assert_allclose(one, plain, atol=1e-5, rtol=0)
    if family not in ("causal_lm", "masked_lm"):
        assert spread.packed is None  # type: ignore[attr-defined]


@cases(
    ({"encoder": 0, "decoder": 1}, "cuda:0"),
    ({"encoder": "cpu", "decoder": 1, "head": 2}, "cuda:1"),
    ({"encoder": "disk", "decoder": "cuda:3"}, "cuda:3"),
    ({"encoder": "cpu", "decoder": "disk"}, "cpu"),
    ({}, "meta"),
)
def test_batches_go_to_the_first_gpu_of_the_model(places: dict[str, Any], expected: str) -> None:
    model = SimpleNamespace(device=torch.device("meta"), hf_device_map=places)
    assert input_device(model) == torch.device(expected)
    assert input_device(SimpleNamespace(device="cpu")) == torch.device("cpu")


def test_distributed_auto_is_refused(tiny_marian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "localhost")):
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match="'auto' spreads one model over all GPUs, and each"):
        cc_hf.load_evaluator(tiny_marian, device="auto", distributed=True)
    assert cc_hf.load_evaluator(tiny_marian, device="auto").device in ("cpu", "cuda")


def test_missing_accelerate_is_an_error(tiny_marian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(MissingDependencyError, match=r"accelerate.*pip install 'cc_hf\[models\]'"):
        cc_hf.load_evaluator(tiny_marian, device="auto")
