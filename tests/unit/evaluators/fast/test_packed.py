"""The packed forward pass equals that of the model for each pair."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from cc_hf import registry
from cc_hf.evaluators.fast import arithmetic
from cc_hf.evaluators.fast.packed import PACKED_FAMILIES, PackedModel
from tests.helpers.models import SIZES

_IDS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}
_SIZES: dict[str, Any] = {
    **{**SIZES, **_IDS, "vocab_size": 1500, "dropout": 0.0, "attention_dropout": 0.0},
    **{"encoder_ffn_dim": 24, "encoder_attention_heads": 4, "max_position_embeddings": 64},
}
_FSMT: dict[str, Any] = {
    "langs": ["en", "de"],
    "src_vocab_size": 40,
    "tgt_vocab_size": 1500,
    "tie_word_embeddings": False,
}
#: family -> activation function, other settings
_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "bergamot": ("relu", {}),
    "marian": ("swish", {"scale_embedding": True}),
    "bart": ("gelu", {}),
    "mbart": ("gelu", {"scale_embedding": True}),
    "m2m_100": ("relu", {"scale_embedding": True}),
    "fsmt": ("relu", _FSMT),
}
_FAMILIES = [*PACKED_FAMILIES, *_MODELS.keys() & registry.names("model type")]
_AUTO = transformers.AutoModelForSeq2SeqLM


def tiny(family: str) -> Any:
    torch.manual_seed(3)
    registry.find("model type", family)  # its import tells the Auto classes
    activation, settings = _MODELS[family]
    settings = {**_SIZES, **settings, "activation_function": activation}
    model = _AUTO.from_config(transformers.AutoConfig.for_model(family, **settings)).eval()
    with torch.no_grad():  # every bias, norm and weight must have an effect
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                parameter.add_(torch.randn_like(parameter) * 0.2)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.normal_()
    return model


def pairs(n: int = 23) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    random = np.random.default_rng(0)
    sources = [[*random.integers(3, 40, random.integers(0, 20)).tolist(), 2] for _ in range(n // 2)]
    sources = [sources[i % len(sources)] for i in range(n)]  # some twice
    labels = [[*random.integers(3, 1500, random.integers(0, 25)).tolist(), 2] for _ in range(n)]
    return sources, [[2, *row[:-1]] for row in labels], labels


@torch.inference_mode()
def plain(model: Any, *sides: list[list[int]], skip: int = 0) -> list[torch.Tensor]:
    actual = []
    for source, given, wanted in zip(*sides, strict=True):
        ids = torch.tensor([source])
        logits = model(
            ids,
            decoder_input_ids=torch.tensor([given]),
            attention_mask=torch.ones_like(ids),
            use_cache=False,
        ).logits
        actual.append(logits.log_softmax(-1)[0].gather(-1, torch.tensor(wanted)[:, None])[skip:, 0])
    return actual


def assert_close(actual: Any, expected: Any, tolerance: float = 1e-5) -> None:
    for logprobs, row in zip(actual, expected, strict=True):
        np.testing.assert_allclose(logprobs, row.numpy(), atol=tolerance, rtol=0)


def weights_of(model: Any) -> dict[str, Any]:
    return {name: parameter.tolist() for name, parameter in model.state_dict().items()}


@pytest.mark.parametrize("family", _FAMILIES)
@pytest.mark.parametrize("batch_tokens", [1, 100, 10_000])
def test_mode_exact_equals_the_forward_pass_of_the_model(family: str, batch_tokens: int) -> None:
    model = tiny(family)
    packed = PackedModel(model, mode="exact").logprobs(*pairs(), batch_tokens=batch_tokens)
    assert_close(packed, plain(model, *pairs()))


@pytest.mark.parametrize("family", _FAMILIES)
@pytest.mark.parametrize("layouts", [True, False], ids=["with layouts", "without layouts"])
def test_memory_mapped_weights_are_not_changed(
    family: str, layouts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not layouts:  # like a torch without functions for weights in oneDNN's own order
        monkeypatch.setattr(arithmetic, "is_bf16_layout_known", lambda: False)
    tiny(family).save_pretrained(tmp_path)
    model = _AUTO.from_pretrained(tmp_path).eval()
    expected, before = plain(model, *pairs()), weights_of(model)
    for mode, tolerance in (("exact", 1e-5), ("bf16", 0.9)):
        packed = PackedModel(model, mode=mode).logprobs(*pairs(), batch_tokens=100)
        assert_close(packed, expected, tolerance)
    assert weights_of(model) == before


@pytest.mark.parametrize("error", [0.0, 1.0])
def test_an_inaccurate_layout_is_not_used(error: float, monkeypatch: pytest.MonkeyPatch) -> None:
    def laid_out(weight: torch.Tensor, bias: torch.Tensor | None, relu: bool) -> Any:
        return lambda states: states @ weight.t() + error

    monkeypatch.setattr(arithmetic, "_laid_out", laid_out)
    assert arithmetic.is_bf16_layout_known.__wrapped__() == (error == 0)


@pytest.mark.parametrize("family", _FAMILIES)
@pytest.mark.parametrize("mode", ["bf16", "int8"])
def test_lower_precision_scores_are_close_to_exact_ones(family: str, mode: str) -> None:
    model = tiny(family)
    passes = [PackedModel(model, mode=name) for name in ("exact", mode)]
    exact, actual = map(
        np.concatenate, [packed.logprobs(*pairs(), batch_tokens=100) for packed in passes]
    )
    assert 0 < np.abs(actual - exact).mean() < 0.15


def test_int8_scores_do_not_depend_on_other_rows_of_the_batch() -> None:
    model = PackedModel(tiny("marian"), mode="int8")
    sources, inputs, labels = pairs()
    together = model.logprobs(sources, inputs, labels, batch_tokens=10_000)
    rows = zip(sources, inputs, labels, strict=True)
    alone = [model.logprobs([s], [i], [t], batch_tokens=10_000)[0] for s, i, t in rows]
    np.testing.assert_allclose(np.concatenate(together), np.concatenate(alone), atol=0.02)


def test_logits_beyond_the_range_of_exponentials_are_scored() -> None:
    model = tiny("marian")
    with torch.no_grad():
        for shift in (300.0, -600.0):
            model.final_logits_bias.add_(shift)
            packed = PackedModel(model, mode="exact").logprobs(*pairs(6), batch_tokens=100)
            assert_close(packed, plain(model, *pairs(6)), 2e-4)


def test_language_tokens_are_not_counted() -> None:
    model = tiny("m2m_100")
    sources, inputs, labels = pairs()
    kept = [i for i, row in enumerate(labels) if len(row) > 1]
    sources, inputs, labels = ([rows[i] for i in kept] for rows in (sources, inputs, labels))
    expected = plain(model, sources, inputs, labels, skip=1)
    packed = PackedModel(model, mode="exact").logprobs(
        sources, inputs, labels, n_uncounted=1, batch_tokens=200
    )
    assert_close(packed, expected)


def test_numbers_of_rows_recur(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each number of rows needs a prepared product of its own.
    model = PackedModel(tiny("m2m_100"), mode="exact")
    numbers = set()
    product = arithmetic._multiplied

    def counted(states: torch.Tensor, *others: Any) -> torch.Tensor:
        numbers.add(states.flatten(0, -2).shape[0])
        return product(states, *others)

    monkeypatch.setattr(arithmetic, "_multiplied", counted)
    model.logprobs(*pairs(), n_uncounted=1, batch_tokens=60)
    assert numbers
    assert all(n % 32 == 0 for n in numbers)


def test_environment_variables_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRU_CACHE_CAPACITY", "512")
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    names = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"
    with arithmetic.small_caches():
        assert [os.environ[name] for name in names] == ["128", "512"]
    assert [os.environ.get(name) for name in names] == [None, "512"]
