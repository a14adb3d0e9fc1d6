"""The option `mode`: what an evaluator is in each, what the signature says, what is refused, what a
machine without bf16 does.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import numpy as np
import pytest

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.families import seq2seq
from tests.helpers import families
from tests.helpers.metrics import compute_metric

compute = functools.partial(compute_metric, "contrastive_conditioning")

_SOURCES = ["The [female] doctor left.", "The [male] doctor left."] * 3
_TRANSLATIONS = [f"Die Ärztin ging{'.' * (i // 2)}" for i in range(6)]
_REFERENCE = {
    "correct_sources": _SOURCES[:1],
    "incorrect_sources": _SOURCES[1:2],
    "category": "female",
}


@pytest.fixture
def with_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seq2seq, "is_bf16_fast", lambda device: True)


def test_every_mode_gives_nearly_the_same(with_bf16: None) -> None:
    found = {
        mode: (
            cc_hf.load_evaluator("cc-tiny-en-de", mode=mode).mean_logprobs(_SOURCES, _TRANSLATIONS)
        )
        for mode in ("exact", "auto", "bf16", "int8")
    }
    np.testing.assert_array_equal(found["auto"], found["exact"])
    for mode in ("bf16", "int8"):
        assert 0 < np.abs(found[mode] - found["exact"]).max() < 0.1


@pytest.mark.parametrize(
    ("mode", "dtype"),
    [("exact", "float32"), ("auto", "bf16/float32"), ("bf16", "bf16"), ("int8", "int8")],
)
def test_the_signature_says_which(mode: str, dtype: str, with_bf16: None) -> None:
    assert (
        f"|dtype:{dtype}|"
        in compute(_TRANSLATIONS, [_REFERENCE] * 6, src_lang="en", tgt_lang="de", mode=mode)[
            "signature"
        ]
    )


def test_modes_never_share_scores(with_bf16: None) -> None:
    auto = cc_hf.load_evaluator("cc-tiny-en-de")
    identities = [
        cc_hf.load_evaluator("cc-tiny-en-de", mode=mode).cache_identity()
        for mode in ("exact", "bf16", "int8")
    ]
    assert len({tuple(sorted(identity.items())) for identity in identities}) == 3
    assert auto.fast is not None
    assert [auto.cache_identity(), auto.fast.cache_identity()] == identities[:2]


def test_auto_is_exact_where_bf16_brings_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    monkeypatch.setattr(seq2seq, "is_bf16_fast", lambda device: False)
    found = evaluator.with_mode("auto")
    assert (found.mode, found.fast, found.signature_fields()["dtype"]) == ("exact", None, "float32")


@pytest.mark.skipif(sys.platform != "linux", reason="areas of memory are read from Linux")
def test_of_a_large_model_one_form_is_held_at_a_time(
    with_bf16: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seq2seq, "_LARGE", 0)
    folder = families.BUILDERS["marian"](tmp_path)
    evaluator = cc_hf.load_evaluator(folder, mode="auto", cache=False)
    fast = evaluator.fast
    assert fast is not None
    passes: dict[str, Evaluator] = {
        "bf16": fast,
        "exact": evaluator,
        "bf16 again": fast,
        "exact again": evaluator,
    }
    found = {}
    for name, one in passes.items():
        found[name] = one.mean_logprobs(_SOURCES, _TRANSLATIONS)
        other = evaluator if one is fast else fast
        assert ["packed" in vars(each) for each in (one, other)] == [True, False]
    for mode in ("bf16", "exact"):
        np.testing.assert_array_equal(found[mode], found[f"{mode} again"])
        np.testing.assert_array_equal(
            found[mode],
            cc_hf.load_evaluator(folder, mode=mode, cache=False).mean_logprobs(
                _SOURCES, _TRANSLATIONS
            ),
        )


def test_of_a_small_model_both_forms_are_held(with_bf16: None, tmp_path: Path) -> None:
    evaluator = cc_hf.load_evaluator(
        families.BUILDERS["marian"](tmp_path), mode="auto", cache=False
    )
    fast = evaluator.fast
    assert fast is not None
    for one in (fast, evaluator):
        one.mean_logprobs(_SOURCES, _TRANSLATIONS)
    assert "packed" in vars(evaluator)
    assert "packed" in vars(fast)


@pytest.mark.parametrize("family", ["t5", "masked_lm", "causal_lm"])
def test_families_without_a_faster_pass(family: str, tmp_path: Path, with_bf16: None) -> None:
    folder = families.BUILDERS[family](tmp_path)
    assert cc_hf.load_evaluator(folder, src_lang="en", tgt_lang="de").mode == "exact"
    with pytest.raises(InputError, match="scored without bf16; it has auto, exact"):
        cc_hf.load_evaluator(folder, src_lang="en", tgt_lang="de", mode="bf16")


def test_weights_of_another_precision_have_no_faster_pass(with_bf16: None) -> None:
    assert cc_hf.load_evaluator("cc-tiny-en-de", dtype="bfloat16").fast is None


def test_unknown_modes_are_refused() -> None:
    with pytest.raises(
        InputError, match="mode: expected one of auto, exact, bf16, int8, got 'fast'"
    ):
        cc_hf.load_evaluator("cc-tiny-en-de", mode="fast")


def test_an_ensemble_is_fast_where_all_members_are(tmp_path: Path, with_bf16: None) -> None:
    folder = families.BUILDERS["marian"](tmp_path)
    found = cc_hf.load_evaluator([folder, folder], mode="auto")
    assert found.fast is not None
    assert found.signature_fields()["dtype"] == "bf16/float32"
    assert cc_hf.load_evaluator([folder, folder], mode="exact").fast is None
