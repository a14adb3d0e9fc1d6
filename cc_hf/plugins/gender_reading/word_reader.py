"""Texts read word by word, each on its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from cc_hf.text.alignment import space_tokens
from cc_hf.text.morphology import AnalysedWord, Analysis

__all__ = ["analysed"]

_WORD = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")


def analysed(
    texts: Sequence[str], analyses: Callable[[str], tuple[Analysis, ...]]
) -> list[tuple[AnalysedWord, ...]]:
    """Return the words of each text with the analyses of a dictionary, without punctuation."""
    return [
        tuple(
            AnalysedWord(match[0], token, analyses(match[0]))
            for token, text_of_token in enumerate(space_tokens(text))
            for match in _WORD.finditer(text_of_token)
        )
        for text in texts
    ]
