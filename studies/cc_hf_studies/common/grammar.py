"""Grammatical errors of sentences, by LanguageTool."""

from __future__ import annotations

from collections.abc import Callable

from cc_hf.errors import MissingDependencyError

__all__ = ["language_tool"]


def language_tool(lang: str = "en-US") -> Callable[[str], int]:
    """Return a function that counts the errors that LanguageTool finds in a sentence."""
    try:
        from language_tool_python import LanguageTool
    except ImportError:
        raise MissingDependencyError(
            "language_tool_python", install="pip install language_tool_python"
        ) from None
    tool = LanguageTool(lang)
    return lambda text: len(tool.check(text))
