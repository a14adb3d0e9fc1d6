"""Log-probabilities by tiles of the vocabulary."""

import pytest
import torch

from cc_hf.evaluators.fast.arithmetic import ARITHMETICS
from cc_hf.evaluators.fast.vocabulary import Vocabulary


def problem() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return weight, bias, states and the most probable labels."""
    generator = torch.Generator().manual_seed(0)
    weight = 2 * torch.randn(1500, 16, generator=generator)
    bias = torch.randn(1500, generator=generator)
    states = torch.randn(256, 16, generator=generator)
    return weight, bias, states, (states @ weight.t() + bias).argmax(-1)


@pytest.mark.parametrize("scale", [1.0, 100.0], ids=["ordinary", "sums overflow"])
@pytest.mark.parametrize("mode", ["exact", "bf16"])
@torch.inference_mode()
def test_logprobs_are_those_of_log_softmax(mode: str, scale: float) -> None:
    weight, bias, states, labels = problem()
    states = scale * states
    labels[::3] = 7  # improbable ones as well

    logits = states.double() @ weight.double().t() + bias
    expected = logits.log_softmax(-1).gather(-1, labels[:, None])[:, 0]

    actual = Vocabulary(weight, bias, arithmetic=ARITHMETICS[mode]).logprobs(states, labels)
    error = (actual - expected).abs().max() / logits.abs().max()
    assert error < (1e-6 if mode == "exact" else 0.01)


@torch.inference_mode()
def test_the_shift_makes_probable_labels_more_exact() -> None:
    weight, bias, states, labels = problem()
    modes = [ARITHMETICS[mode] for mode in ("exact", "bf16")]
    exact, rounded = (Vocabulary(weight, bias, arithmetic=mode) for mode in modes)
    expected, shifted = (v.logprobs(states, labels) for v in (exact, rounded))

    rounded.is_shifted = False
    rounded.tiles = [rounded._tile(slice(start, start + 1024)) for start in (0, 1024)]
    unshifted = rounded.logprobs(states, labels)

    errors = [(actual - expected).abs().mean() for actual in (shifted, unshifted)]
    assert errors[0] < 0.8 * errors[1]
