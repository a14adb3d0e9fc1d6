"""Where programs and dictionaries of Apertium are needed."""

import shutil

import pytest

__all__ = ["needs_apertium", "needs_apertium_system"]


def _needs(program: str, packages: str) -> pytest.MarkDecorator:
    reason = f"there is no {program} (apt-get install {packages})"
    return pytest.mark.skipif(shutil.which(program) is None, reason=reason)


_DICTIONARIES = "lttoolbox apertium-eng-spa apertium-fra-cat apertium-cat-ita apertium-por-cat"
needs_apertium = _needs("lt-proc", _DICTIONARIES)
needs_apertium_system = _needs("apertium", "apertium apertium-eng-spa")
