"""The option `mode`: the evaluator in each mode, the signature, refusals, and machines without
bf16. Batches in several threads give what they give one after the other.
"""

import functools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import cc_hf
from cc_hf.evaluators.ensemble import EnsembleEvaluator
from cc_hf.evaluators.families import seq2seq
from cc_hf.evaluators.fast import arithmetic
from cc_hf.evaluators.fast.lanes import in_lanes
from tests.helpers import families
from tests.helpers.pairs import EN_DE, GENDER
from tests.helpers.usual import compute_metric, fails, known, refuses, write_text

compute = functools.partial(compute_metric, "contrastive_conditioning")

_SOURCES = ["The [female] doctor left.", "The [male] doctor left."] * 3
_TRANSLATIONS = [f"Die Ärztin ging{'.' * (i // 2)}" for i in range(6)]


def test_every_mode_states_its_precision_and_gives_nearly_the_same_scores(with_bf16: None) -> None:
    precisions, scores = {"exact": "float32", "auto": "bf16/float32"}, {}
    for mode, dtype in {**precisions, "bf16": "bf16", "int8": "int8"}.items():
        computed = compute(_TRANSLATIONS, [GENDER] * 6, **EN_DE, mode=mode)
        assert f"|dtype:{dtype}|" in computed["signature"]
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


def test_modes_that_are_not_faster_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    monkeypatch.setattr(seq2seq, "is_bf16_fast", lambda device: False)
    monkeypatch.setattr(seq2seq, "is_int8_faster", lambda: False)
    actual = evaluator.with_mode("auto")
    assert (actual.mode, actual.fast, actual.signature_fields()["dtype"]) == (
        "exact",
        None,
        "float32",
    )
    assert evaluator.fast_modes() == ("bf16",)
    refuses("mode: int8 is offered only where .* use bf16", evaluator.with_mode, "int8")


def test_mode_auto_gives_the_scores_of_both_passes(with_bf16: None, tmp_path: Path) -> None:
    folder = families.BUILDERS["marian"](tmp_path)
    evaluator = cc_hf.load_evaluator(folder, mode="auto", cache=False)
    for mode, scorer in (("bf16", known(evaluator.fast)), ("exact", evaluator)):
        actual = scorer.mean_logprobs(_SOURCES, _TRANSLATIONS)
        assert "packed" in vars(scorer)
        alone = cc_hf.load_evaluator(folder, mode=mode, cache=False)
        np.testing.assert_array_equal(actual, alone.mean_logprobs(_SOURCES, _TRANSLATIONS))


@pytest.mark.parametrize("family", ["t5", "masked_lm", "causal_lm"])
def test_families_without_bf16_are_exact(family: str, tmp_path: Path, with_bf16: None) -> None:
    load = functools.partial(cc_hf.load_evaluator, families.BUILDERS[family](tmp_path), **EN_DE)
    assert load().mode == "exact"
    refuses("scored without bf16; it has auto, exact", load, mode="bf16")
    assert cc_hf.load_evaluator("cc-tiny-en-de", dtype="bfloat16").fast is None


def test_a_model_with_an_unknown_activation_runs_its_own_pass(tmp_path: Path) -> None:
    folder = families.BUILDERS["m2m_100"](tmp_path)
    path = folder / "config.json"
    write_text(path, path.read_text(encoding="utf-8").replace('"relu"', '"gelu_new"'))
    evaluator = cc_hf.load_evaluator(folder, cache=False, **EN_DE)
    assert np.isfinite(evaluator.mean_logprobs(_SOURCES, _TRANSLATIONS)).all()
    assert evaluator.fast_modes() == ()


_WITH_INT8 = ["avx2", "avx_vnni", "avx512_vnni", "avx512_vnni avx512_bf16"]
_WITHOUT_INT8 = ["avx512_bf16", "avx512_vnni avx512_bf16 amx_bf16 amx_int8"]


@pytest.mark.parametrize("names", [*_WITH_INT8, *_WITHOUT_INT8])
def test_cpu_flags_decide_about_int8(names: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = dict.fromkeys(names.split(), True)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: flags, raising=False)
    monkeypatch.setattr(arithmetic, "is_bf16_fast", arithmetic.is_bf16_fast.__wrapped__)
    assert arithmetic.is_int8_faster.__wrapped__() == (names in _WITH_INT8)


def test_an_ensemble_is_fast_when_all_members_are(tmp_path: Path, with_bf16: None) -> None:
    folder = families.BUILDERS["marian"](tmp_path)
    actual = cc_hf.load_evaluator([folder, folder], mode="auto")
    assert actual.fast is not None
    assert actual.signature_fields()["dtype"] == "bf16/float32"
    assert cc_hf.load_evaluator([folder, folder], mode="exact").fast is None


@pytest.fixture(params=[2, 3, 6])
def threads(request: pytest.FixtureRequest, same_threads: None) -> int:
    """Give torch a number of threads in this test."""
    torch.set_num_threads(request.param)
    return int(request.param)


def _thread_of(batch: int) -> tuple[int, str, int]:
    return batch, threading.current_thread().name, torch.get_num_threads()


def test_results_are_in_the_order_of_the_batches(threads: int) -> None:
    assert list(in_lanes(lambda batch: batch**2, range(9))) == [n**2 for n in range(9)]
    assert list(in_lanes(len, [])) == []


def test_lanes_share_the_threads(threads: int) -> None:
    n_lanes = min(threads, 4)
    everyone = threading.Barrier(n_lanes)

    def compute(batch: int) -> tuple[str, int]:
        everyone.wait(timeout=1200)  # every lane has a batch at this time
        return threading.current_thread().name, torch.get_num_threads()

    shares = dict(in_lanes(compute, range(n_lanes)))
    assert len(shares) == n_lanes
    assert sum(shares.values()) == threads


def test_batches_that_are_left_over_use_all_threads(threads: int) -> None:
    n_lanes = min(threads, 4)
    ran = list(in_lanes(_thread_of, range(2 * n_lanes + 1)))
    here = threading.current_thread().name
    assert [batch for batch, name, _ in ran if name == here] == [2 * n_lanes]
    assert ran[-1][2] == threads


def test_one_thread_and_few_batches_need_no_lanes(threads: int) -> None:
    here = threading.current_thread().name
    assert {name for _, name, _ in in_lanes(_thread_of, [0])} == {here}
    torch.set_num_threads(1)
    assert {name for _, name, _ in in_lanes(_thread_of, range(5))} == {here}


def test_other_threads_keep_their_number_of_threads(threads: int) -> None:
    list(in_lanes(_thread_of, range(8)))
    with ThreadPoolExecutor(1) as other:
        number = other.submit(torch.get_num_threads).result()
    assert (torch.get_num_threads(), number) == (threads, threads)


def test_after_an_error_no_batch_is_begun(threads: int) -> None:
    begun, several = [], threading.Event()

    def slow(batch: int) -> None:
        if batch:
            several.wait(timeout=1200)
        begun.append(batch)
        if batch == 0:
            raise ValueError("batch 0 failed")

    fails(ValueError, "batch 0 failed", list, in_lanes(slow, range(1000)))
    several.set()
    assert len(begun) < 1000
    assert list(in_lanes(str, range(4))) == ["0", "1", "2", "3"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_lanes_of_its_own(threads: int) -> None:
    list(in_lanes(_thread_of, range(8)))
    child = os.fork()
    if not child:
        os._exit(0 if list(in_lanes(int, range(8))) == list(range(8)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.usefixtures("same_threads", "with_bf16")
@pytest.mark.parametrize("mode", ["exact", "bf16", "auto"])
def test_scores_do_not_depend_on_threads(mode: str) -> None:
    sources = [f"The {word} saw {'a dog and ' * n}a cat." for n in range(8) for word in "abc"]
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode=mode, batch_tokens=64, cache=False)
    scores = []
    for n_threads in (1, 2, 3):
        torch.set_num_threads(n_threads)
        scores.append(evaluator.mean_logprobs(sources, ["Der Hund sah."] * len(sources)))
    for others in scores[1:]:
        np.testing.assert_allclose(others, scores[0], atol=1e-5 if mode != "bf16" else 2e-2)


def test_an_ensemble_has_lanes_if_all_members_have(tmp_path: Path) -> None:
    packed = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    other: Any = cc_hf.load_evaluator(families.BUILDERS["t5"](tmp_path), **EN_DE)
    assert packed.apply is in_lanes
    assert EnsembleEvaluator([packed, packed]).apply is in_lanes
    assert other.apply is map
    assert EnsembleEvaluator([packed, other]).apply is map


def test_bf16_is_permitted_until_the_last_thread_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    setting: Any = getattr(torch.backends.mkldnn, "matmul", None)
    if not hasattr(setting, "fp32_precision"):
        pytest.skip("this torch has no such setting")
    monkeypatch.setattr(arithmetic, "_onednn_is_accurate", lambda: True)
    before = setting.fp32_precision
    first, second = ExitStack(), ExitStack()
    for stack in (first, second):
        stack.enter_context(arithmetic.fast_exact_products())
    first.close()
    assert setting.fp32_precision == "bf16"
    second.close()
    assert setting.fp32_precision == before
