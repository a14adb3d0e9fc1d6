"""Where the dictionaries of Apertium are needed."""

import shutil

import pytest

__all__ = ["needs_apertium"]

_PACKAGES = "lttoolbox apertium-eng-spa apertium-fra-cat apertium-cat-ita apertium-por-cat"
needs_apertium = pytest.mark.skipif(
    shutil.which("lt-proc") is None, reason=f"there is no lt-proc (apt-get install {_PACKAGES})"
)
