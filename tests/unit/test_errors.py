"""Errors between processes."""

from __future__ import annotations

import pickle

import pytest

from cc_hf.errors import CCError, InputError, MissingDependencyError, TooLongError, UnknownNameError


@pytest.mark.parametrize(
    "error",
    [
        InputError("rows: expected one"),
        UnknownNameError("dataset", "winmt", ["winomt"]),
        MissingDependencyError("eflomal", install="pip install eflomal"),
        TooLongError("row 3: too long", translations=["a", "b"]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_are_sent_between_processes_unchanged(error: CCError) -> None:
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is type(error)
    assert (str(sent), vars(sent)) == (str(error), vars(error))
