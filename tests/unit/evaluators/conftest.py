"""Fixtures for tests of evaluators."""

import pytest

from cc_hf.evaluators.families import seq2seq
from cc_hf.models import pretrained


@pytest.fixture
def with_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enable both fast modes, whatever this machine has. Evaluators that other tests loaded, for
    which "auto" was decided by the machine, are not used.
    """
    monkeypatch.setattr(seq2seq, "is_bf16_fast", lambda device: True)
    monkeypatch.setattr(seq2seq, "is_int8_faster", lambda: True)
    monkeypatch.setattr(pretrained, "_MODELS", pretrained.Recent(pretrained.KEPT_MODELS))
