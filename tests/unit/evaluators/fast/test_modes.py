"""The option `mode`: the evaluator in each mode, the signature, refusals, and machines without
bf16.
"""

import functools
from pathlib import Path

import numpy as np
import pytest
import torch

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluators.families import seq2seq
from cc_hf.evaluators.fast import arithmetic
from tests.helpers import families
from tests.helpers.metrics import compute_metric
from tests.helpers.pairs import EN_DE, GENDER

compute = functools.partial(compute_metric, "contrastive_conditioning")

_SOURCES = ["The [female] doctor left.", "The [male] doctor left."] * 3
_TRANSLATIONS = [f"Die Ärztin ging{'.' * (i // 2)}" for i in range(6)]


@pytest.fixture
def with_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enable both fast modes, whatever this machine has."""
    monkeypatch.setattr(seq2seq, "is_bf16_fast", lambda device: True)
    monkeypatch.setattr(seq2seq, "is_int8_faster", lambda: True)


def test_every_mode_states_its_precision_and_gives_nearly_the_same_scores(with_bf16: None) -> None:
    precisions, scores = {"exact": "float32", "auto": "bf16/float32"}, {}
    for mode, dtype in {**precisions, "bf16": "bf16", "int8": "int8"}.items():
        found = compute(_TRANSLATIONS, [GENDER] * 6, **EN_DE, mode=mode)
        assert f"|dtype:{dtype}|" in found["signature"]
        evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode=mode)
        scores[mode] = evaluator.mean_logprobs(_SOURCES, _TRANSLATIONS)
        error = np.abs(scores[mode] - scores["exact"]).max()
        assert error < 0.1
        assert (error == 0) == (mode in precisions)


def test_modes_never_share_cached_scores(with_bf16: None) -> None:
    auto = cc_hf.load_evaluator("cc-tiny-en-de")
    modes = [cc_hf.load_evaluator("cc-tiny-en-de", mode=mode) for mode in ("exact", "bf16", "int8")]
    identities = [evaluator.cache_identity() for evaluator in modes]
    assert len({tuple(sorted(identity.items())) for identity in identities}) == 3
    assert auto.fast is not None
    assert [auto.cache_identity(), auto.fast.cache_identity()] == identities[:2]


def test_mode_auto_is_exact_where_bf16_is_not_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    monkeypatch.setattr(seq2seq, "is_bf16_fast", lambda device: False)
    found = evaluator.with_mode("auto")
    assert (found.mode, found.fast, found.signature_fields()["dtype"]) == ("exact", None, "float32")


def test_mode_auto_gives_the_scores_of_both_passes(with_bf16: None, tmp_path: Path) -> None:
    folder = families.BUILDERS["marian"](tmp_path)
    evaluator = cc_hf.load_evaluator(folder, mode="auto", cache=False)
    fast = evaluator.fast
    assert fast is not None
    for mode, one in (("bf16", fast), ("exact", evaluator)):
        found = one.mean_logprobs(_SOURCES, _TRANSLATIONS)
        assert "packed" in vars(one)
        alone = cc_hf.load_evaluator(folder, mode=mode, cache=False)
        np.testing.assert_array_equal(found, alone.mean_logprobs(_SOURCES, _TRANSLATIONS))


@pytest.mark.parametrize("family", ["t5", "masked_lm", "causal_lm"])
def test_families_without_bf16_are_exact(family: str, tmp_path: Path, with_bf16: None) -> None:
    folder = families.BUILDERS[family](tmp_path)
    assert cc_hf.load_evaluator(folder, src_lang="en", tgt_lang="de").mode == "exact"
    with pytest.raises(InputError, match="scored without bf16; it has auto, exact"):
        cc_hf.load_evaluator(folder, src_lang="en", tgt_lang="de", mode="bf16")


def test_weights_of_lower_precision_have_no_faster_pass(with_bf16: None) -> None:
    assert cc_hf.load_evaluator("cc-tiny-en-de", dtype="bfloat16").fast is None


_WITH_INT8 = ["avx2", "avx_vnni", "avx512_vnni", "avx512_vnni avx512_bf16"]
_WITHOUT_INT8 = ["avx512_bf16", "avx512_vnni avx512_bf16 amx_bf16 amx_int8"]


@pytest.mark.parametrize("names", [*_WITH_INT8, *_WITHOUT_INT8])
def test_cpu_flags_decide_about_int8(names: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = dict.fromkeys(names.split(), True)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: flags, raising=False)
    monkeypatch.setattr(arithmetic, "is_bf16_fast", arithmetic.is_bf16_fast.__wrapped__)
    assert arithmetic.is_int8_faster.__wrapped__() == (names in _WITH_INT8)


def test_int8_is_refused_where_bf16_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seq2seq, "is_int8_faster", lambda: False)
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    assert evaluator.fast_modes() == ("bf16",)
    with pytest.raises(InputError, match=r"mode: int8 is offered only where .* use bf16"):
        evaluator.with_mode("int8")


def test_unknown_modes_are_refused() -> None:
    with pytest.raises(InputError, match=r"mode: expected one of auto, exact, bf16.*got 'fast'"):
        cc_hf.load_evaluator("cc-tiny-en-de", mode="fast")


def test_an_ensemble_is_fast_when_all_members_are(tmp_path: Path, with_bf16: None) -> None:
    folder = families.BUILDERS["marian"](tmp_path)
    found = cc_hf.load_evaluator([folder, folder], mode="auto")
    assert found.fast is not None
    assert found.signature_fields()["dtype"] == "bf16/float32"
    assert cc_hf.load_evaluator([folder, folder], mode="exact").fast is None
