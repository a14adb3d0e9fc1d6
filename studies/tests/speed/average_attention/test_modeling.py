"""The average attention network computes its formulas, step by step as well as all at once."""

from pathlib import Path
from typing import Any

import pytest
import torch
from cc_hf_studies.speed.average_attention import (
    AverageAttentionConfig,
    AverageAttentionForConditionalGeneration,
)
from cc_hf_studies.speed.average_attention.modeling import AverageAttention, RunningSum
from transformers import AutoConfig, AutoModelForSeq2SeqLM, MarianConfig, MarianMTModel
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from cc_hf.models.cache_name import CACHE
from tests.helpers.refusals import fails

_PAD = 39
_PART = {"layers": 2, "attention_heads": 2, "ffn_dim": 24}
_SIZES: dict[str, Any] = {
    **{f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in _PART.items()},
    **{"decoder_layers": 3, "vocab_size": _PAD + 1, "d_model": 16, "max_position_embeddings": 64},
    **{"pad_token_id": _PAD, "decoder_start_token_id": _PAD, "eos_token_id": 0},
    **{"forced_eos_token_id": None, "init_std": 0.3},
}
_SOURCES = torch.tensor([[5, 6, 7, 0], [3, 0, _PAD, _PAD]])
_MASK = (_SOURCES != _PAD).long()


def _model(**changes: Any) -> Any:
    torch.manual_seed(0)
    config = AverageAttentionConfig(**{**_SIZES, **changes})
    return AverageAttentionForConditionalGeneration(config).eval()


def _targets(length: int) -> torch.Tensor:
    torch.manual_seed(1)
    targets = torch.randint(1, _PAD, (2, length))
    targets[:, 0] = _PAD
    return targets


@torch.inference_mode()
def _passed(model: Any, targets: torch.Tensor, **options: Any) -> Any:
    return model(_SOURCES, attention_mask=_MASK, decoder_input_ids=targets, **options)


@pytest.mark.parametrize("average_ffn", [True, False])
@pytest.mark.parametrize("average_gate", [True, False])
@pytest.mark.parametrize("parts", [(1,) * 12, (1, 3, 1, 7), (12,)])
def test_steps_give_logits(parts: tuple[int, ...], average_ffn: bool, average_gate: bool) -> None:
    model, targets = _model(average_ffn=average_ffn, average_gate=average_gate), _targets(12)
    whole = _passed(model, targets, use_cache=False).logits
    cache: Any = None
    logits = []
    for part in torch.split(targets, list(parts), dim=1):
        output = _passed(model, part, use_cache=True, **{CACHE: cache})
        cache = output[CACHE]
        logits.append(output.logits)
    torch.testing.assert_close(torch.cat(logits, dim=1), whole, atol=1e-5, rtol=0)
    sums = cache.self_attention_cache.layers
    assert [type(layer) for layer in sums] == [RunningSum] * 3
    assert {layer.keys.shape for layer in sums} == {(2, 1, 16)}  # at any length
    assert cache.get_seq_length() == 12


def test_a_layer_computes_the_formulas_of_the_paper() -> None:
    average = AverageAttention(AverageAttentionConfig(**_SIZES, activation_function="relu"), 0)
    inputs = torch.randn(1, 5, 16)
    changes, _ = average(inputs)
    for j in range(5):
        y, mean = inputs[0, j], inputs[0, : j + 1].mean(0)
        g = average.fc2(average.fc1(mean).clamp(min=0))
        i, f = torch.split(torch.sigmoid(average.gates(torch.cat([y, g]))), 16)
        torch.testing.assert_close(changes[0, j], i * y + f * g)


@pytest.mark.parametrize("num_beams", [1, 4])
def test_beams_carry_their_sums_with_them(num_beams: int) -> None:
    model = _model()
    options: dict[str, Any] = {"attention_mask": _MASK, "num_beams": num_beams, "do_sample": False}
    options |= {"return_dict_in_generate": True, "output_scores": True, "max_new_tokens": 20}
    kept, computed = (model.generate(_SOURCES, use_cache=on, **options) for on in (True, False))
    assert kept.sequences.tolist() == computed.sequences.tolist()
    for step, expected in zip(kept.scores, computed.scores, strict=True):
        torch.testing.assert_close(step, expected, atol=1e-4, rtol=0)


def test_padding_after_a_target_changes_nothing_before_it() -> None:
    model, targets = _model(), _targets(8)
    short = _passed(model, targets[:, :5]).logits
    targets[:, 5:] = _PAD
    torch.testing.assert_close(_passed(model, targets).logits[:, :5], short, atol=1e-6, rtol=0)


def test_a_saved_model_is_the_same_when_loaded_by_the_auto_classes(tmp_path: Path) -> None:
    model = _model(average_ffn_dim=20)
    model.save_pretrained(tmp_path)
    assert {"configuration.py", "modeling.py"} <= {path.name for path in tmp_path.iterdir()}
    assert AutoConfig.from_pretrained(tmp_path).average_ffn_dim == 20
    loaded = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    assert type(loaded) is AverageAttentionForConditionalGeneration
    logits = [_passed(network, _targets(6)).logits for network in (loaded, model)]
    torch.testing.assert_close(*logits, atol=0, rtol=0)


def test_all_weights_of_a_layer_get_a_gradient() -> None:
    model = _model().train()
    model(_SOURCES, attention_mask=_MASK, labels=_targets(6)).loss.backward()
    average = model.model.decoder.layers[0].self_attn
    assert all(weight.grad.abs().sum() > 0 for weight in average.parameters())


def test_a_cache_of_another_model_is_refused() -> None:
    model = _model()
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    keys = torch.zeros(2, 2, 1, 8)
    cache.self_attention_cache.update(keys, keys, 0)
    fails(
        ValueError,
        "past_key_values: expected a cache that this model",
        model,
        _SOURCES,
        decoder_input_ids=_targets(1),
        use_cache=True,
        **{CACHE: cache},
    )


def test_a_running_sum_follows_its_rows_and_cannot_be_cropped() -> None:
    kept = RunningSum()
    kept.reorder_cache(torch.tensor([0]))  # nothing is kept yet
    kept.update(torch.tensor([[[1.0]], [[2.0]]]))
    kept.batch_repeat_interleave(2)
    assert kept.keys.flatten().tolist() == [1, 1, 2, 2]
    kept.batch_select_indices(torch.tensor([1, 2]))
    kept.reorder_cache(torch.tensor([1, 1]))
    assert kept.keys.flatten().tolist() == [2, 2]
    fails(NotImplementedError, "cannot be cropped: use beam search", kept.crop, 1)
    kept.reset()
    assert kept.get_seq_length() == 0


def test_an_inner_width_below_one_is_refused() -> None:
    fails(
        ValueError,
        "average_ffn_dim: expected at least 1, got 0",
        AverageAttentionConfig,
        **_SIZES,
        average_ffn_dim=0,
    )


def _n_weights(model_class: Any, config: MarianConfig) -> int:
    with torch.device("meta"):
        model = model_class(config)
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


@pytest.mark.parametrize("layers", [(6, 6), (8, 4), (10, 2), (11, 1), (6, 4), (6, 2), (6, 1)])
def test_averaging_exchanges_projections_for_a_network_and_gates(layers: tuple[int, int]) -> None:
    width, inner = 1024, 4096  # "a standard large transformer", Renduchintala et al. 2021
    sizes: dict[str, Any] = {**_SIZES, "vocab_size": 32_000, "d_model": width}
    for side, n_layers in zip(("encoder", "decoder"), layers, strict=True):
        part = {"layers": n_layers, "attention_heads": 16, "ffn_dim": inner}
        sizes |= {f"{side}_{name}": n for name, n in part.items()}
    ordinary = _n_weights(MarianMTModel, MarianConfig(**sizes))
    average = _n_weights(AverageAttentionForConditionalGeneration, AverageAttentionConfig(**sizes))
    attention = 4 * (width * width + width)
    network = (2 * width * inner + inner + width) + (2 * width * 2 * width + 2 * width)
    assert average - ordinary == layers[1] * (network - attention)
    encoder_layer = attention + (2 * width * inner + inner + width) + 2 * 2 * width
    decoder_layer = encoder_layer + attention + 2 * width
    assert ordinary == 32_000 * width + layers[0] * encoder_layer + layers[1] * decoder_layer
