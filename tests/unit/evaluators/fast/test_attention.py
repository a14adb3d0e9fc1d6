"""Attention in the fast pass."""

import pytest
import torch
from torch.nn import functional

from cc_hf.evaluators.fast.attention import attend, heads


@pytest.mark.parametrize("n_tokens", [1, 3, 12, 16, 17])
@pytest.mark.parametrize("size", [1.0, 8.0, 40.0])
@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_attention_equals_that_of_torch(n_tokens: int, size: float, mask: str) -> None:
    # Logits of size 40 are far beyond what exponentials in fp32 can hold.
    torch.manual_seed(0)
    states = torch.randn(2, n_tokens, 3 * 24) * size
    queries, keys, values = (heads(part, 3) for part in states.chunk(3, dim=-1))

    additive = None
    if mask == "causal":
        additive = torch.full((n_tokens, n_tokens), -torch.inf).triu_(1)
    elif mask == "padding":
        additive = torch.zeros(2, 1, 1, n_tokens)
        additive[1, ..., 1:] = -torch.inf

    mask_of_torch = None if additive is None else additive.double()
    query, key, value = (part.double() for part in (queries, keys, values))
    expected = functional.scaled_dot_product_attention(query, key, value, mask_of_torch)

    actual = attend(queries, keys, values, additive).double()
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5 * size)


def test_attention_of_very_improbable_keys_does_not_underflow() -> None:
    queries = torch.full((1, 1, 2, 4), 20.0)
    values = torch.arange(8.0).view(1, 1, 2, 4)
    expected = values.mean(2, keepdim=True).expand(-1, -1, 2, -1)
    torch.testing.assert_close(attend(queries, -queries, values, None), expected)


def test_numbers_that_are_not_finite_are_not_hidden() -> None:
    states = torch.ones(1, 1, 2, 4)
    states[0, 0, 0, 0] = torch.nan
    assert attend(states, states, torch.ones(1, 1, 2, 4), None).isnan().any()
