from collections.abc import Callable

import pytest
import torch

from cc_hf.evaluators.fast import int8_products
from cc_hf.evaluators.fast.int8_products import Quantised, Weights, quantise
from tests.helpers.cases import cases

Random = Callable[..., torch.Tensor]


@pytest.fixture(params=[True, False], ids=["laid out", "plain"])
def is_laid_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run with the layout and without, if the products of this machine are exact."""
    known = request.param and int8_products._is_layout_known()
    monkeypatch.setattr(int8_products, "_is_layout_known", lambda: known)
    if known != request.param or not int8_products.is_int8_available.__wrapped__():
        pytest.skip("this torch has products of bytes that are not exact")
    return bool(request.param)


@pytest.fixture
def random() -> Random:
    generator = torch.Generator().manual_seed(0)
    return lambda *shape: torch.randn(*shape, generator=generator)


def whole(given: Quantised) -> torch.Tensor:
    return (given.rows.double() - given.zero) * given.scales.double()


@pytest.mark.parametrize("is_positive", [False, True], ids=["any sign", "positive"])
def test_errors_are_below_half_a_step(is_laid_out: bool, is_positive: bool, random: Random) -> None:
    states = random(3, 5, 96) * torch.logspace(-6, 6, 5)[:, None]
    states = states.relu() if is_positive else states
    given = quantise(states, is_positive=is_positive)
    assert (given.shape, given.rows.shape) == ((3, 5), (15, 96))
    rows = states.flatten(0, 1)
    n_steps = 255 if is_positive and is_laid_out else 127
    torch.testing.assert_close(given.scales, rows.abs().amax(-1, keepdim=True) / n_steps)
    assert bool(((whole(given) - rows).abs() <= 0.5001 * given.scales).all())


def test_states_are_not_modified_unless_spare(is_laid_out: bool, random: Random) -> None:
    states = random(4, 64)
    before = states.clone()
    kept = quantise(states)
    assert torch.equal(states, before)
    spent = quantise(states, is_spare=True)
    assert torch.equal(kept.rows, spent.rows)
    assert torch.equal(kept.scales, spent.scales)


@pytest.mark.parametrize("n_rows", [1, 7, 512, 600])
@cases((True, False, False), (False, False, True), (True, True, False), (True, True, True))
def test_products_equal_those_of_the_integers(
    has_bias: bool, relu: bool, is_positive: bool, n_rows: int, is_laid_out: bool, random: Random
) -> None:
    """The numbers of rows and outputs do not fit the layout or its blocks."""
    states, weight, bias = random(n_rows, 80), random(1023, 80), random(1023) if has_bias else None
    given = quantise(states.relu() if is_positive else states, is_positive=is_positive)
    n_steps = int8_products._weight_steps() if is_laid_out else 127
    scales = weight.abs().amax(-1, keepdim=True) / n_steps
    wanted = whole(given) @ ((weight / scales).round() * scales).double().t()
    wanted = wanted if bias is None else wanted + bias
    actual = Weights(weight, bias, relu=relu)(given)
    assert actual.dtype == torch.float32
    wanted = wanted.relu() if relu else wanted
    torch.testing.assert_close(actual.double(), wanted, atol=1e-4, rtol=1e-5)


def test_products_of_the_largest_values_do_not_saturate(is_laid_out: bool) -> None:
    """Instructions that add pairs of products in 16 bits would saturate: 2 * 255 * 127 exceeds
    their range.
    """
    states, weight = torch.ones(32, 256), torch.ones(32, 256)
    weight[::2] *= -1
    for is_positive in (False, True):
        actual = Weights(weight, None)(quantise(states, is_positive=is_positive))
        torch.testing.assert_close(actual, states @ weight.t())


def test_zeros_give_the_bias_and_nan_stays_in_its_row(is_laid_out: bool, random: Random) -> None:
    """Rows beside one with a NaN are not changed."""
    weight, bias, states = random(40, 64), random(40), random(3, 64)
    product = Weights(weight, bias)
    alone = product(quantise(states[2:]))
    states[0], states[1, 5] = 0, torch.nan
    actual = product(quantise(states))
    torch.testing.assert_close(actual[0], bias)
    assert bool(actual[1].isnan().all())
    assert torch.equal(actual[2:], alone)


def test_weights_have_fewer_steps_without_32_bit_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {}
    for name in ("avx2", "avx_vnni"):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda name=name: {name: True})
        steps[name] = int8_products._weight_steps()
    assert steps == {"avx2": 64, "avx_vnni": 127}
    # The largest sums of two products that such instructions meet fit in 16 bits.
    assert 2 * 255 * 64 < 2**15


def test_the_layout_is_not_used_when_its_products_saturate(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = int8_products._laid_out_product
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_vnni": True}, raising=False)
    monkeypatch.setattr(int8_products, "_laid_out_product", lambda *given: exact(*given) - 1)
    assert not int8_products._is_layout_known.__wrapped__()
