"""The examples in docstrings; pytest collects those of `cc_hf` itself."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from tools.training import pair_filters, seq2seq_training


@pytest.mark.parametrize("module", [pair_filters, seq2seq_training])
def test_examples_print_what_they_say(module: ModuleType) -> None:
    outcome = doctest.testmod(module)
    assert (outcome.failed, outcome.attempted > 0) == (0, True)
