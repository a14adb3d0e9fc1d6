"""MPS, the GPU of a Mac, as far as a fake device can show: what is computed on it, that nothing
there is of float64, and what is refused. No Mac was used.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import cc_hf
from cc_hf import registry
from cc_hf.models.pretrained import pick_device
from tests.helpers.fake_mps import fake_mps
from tests.helpers.families import BUILDERS
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.pairs import EN_DE, SOURCES, TRANSLATIONS
from tests.helpers.usual import cases, fails, refuses


@pytest.fixture
def mps() -> Iterator[None]:
    with fake_mps():
        yield


def test_the_fake_has_no_float64(mps: None) -> None:
    tensor = torch.ones(2).to("mps")
    assert tensor.device.type == "mps"
    assert (tensor + 1).cpu().double().tolist() == [2, 2]
    for call in (tensor.double, lambda: torch.zeros(2, dtype=torch.float64, device="mps")):
        fails(TypeError, "float64", call)


# An LSTM keeps the lengths of its batches on the CPU, which the fake does not know.
_FAMILIES = sorted({*registry.names("evaluator family")} & {*BUILDERS} - {"lstm"})


@pytest.mark.parametrize("family", _FAMILIES)
def test_scores_equal_those_of_the_cpu(family: str, tmp_path: Path) -> None:
    folder = BUILDERS[family](tmp_path)
    plain = cc_hf.load_evaluator(folder, device="cpu", mode="exact")
    expected = plain.token_logprobs(SOURCES, TRANSLATIONS, **EN_DE)
    with fake_mps():
        evaluator: Any = cc_hf.load_evaluator(folder, device="mps")
        devices = {p.device.type for p in evaluator.model.parameters()}
        assert devices == {evaluator.device} == {"mps"}
        assert (evaluator.mode, evaluator.batch_tokens) == ("exact", 4096)
        scores = evaluator.token_logprobs(SOURCES, TRANSLATIONS, **EN_DE)
    for row, of_cpu in zip(scores, expected, strict=True):
        assert row.dtype == np.float64
        np.testing.assert_allclose(row, of_cpu, atol=2e-5, rtol=0)


def test_translations_equal_those_of_the_cpu() -> None:
    loadings = (cc_hf.LoadingOptions(device=device) for device in ("cpu", "mps"))
    translated = partial(cc_hf.translate, SOURCES[2:], "cc-tiny-en-de")
    with fake_mps():
        on_cpu, on_mps = (translated(loading=loading) for loading in loadings)
    assert on_cpu == on_mps


def test_a_masked_language_model_fills_masks(tmp_path: Path) -> None:
    from cc_hf.plugins.calibration.fill_mask import load_masked_lm

    folder, rows = save_tiny_masked_lm(tmp_path, family="bert"), []
    with fake_mps():
        for device in ("cpu", "mps"):
            model = load_masked_lm(folder, device=device)
            rows.append(dict(model.word_logprobs(model.mask(["The doctor asked."], [4]))))
    np.testing.assert_allclose(rows[0][0], rows[1][0], atol=1e-5, rtol=0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_mps_is_used_only_when_it_is_asked_for(mps: None) -> None:
    assert pick_device(None).type == pick_device("auto").type == "cpu"
    assert cc_hf.load_evaluator("cc-tiny-en-de").device == "cpu"


@cases(
    ("mps", "device: 'mps' is not available here; use 'cpu'"),
    ("xpu", "device: 'xpu' is not available here; use 'cpu'"),
    ("gpu", "device: expected 'cpu', 'cuda', 'cuda:N', 'mps' or 'auto', got 'gpu'"),
)
def test_devices_that_are_not_here_are_refused(device: str, message: str) -> None:
    refuses(message, pick_device, device)


def test_other_devices_and_modes_are_refused_beside_mps(mps: None) -> None:
    refuses("device: 'xpu' is not available here; use 'cpu' or .*'mps'", pick_device, "xpu")
    message = r"mode: .* \(float32, on mps\) is scored without bf16; it has auto, exact"
    refuses(message, cc_hf.load_evaluator, "cc-tiny-en-de", device="mps", mode="bf16")
