"""The columns of a dataset in contrastive format, as `datasets` wants them; valid under versions 2 to 5 of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets

__all__ = ["source_example_features"]


def source_example_features(extra_keys: Sequence[str]) -> Any:
    """The features of ContrastiveSourceExample; `extra` becomes a struct of strings with the given keys.

    >>> list(source_example_features(["occupation"]))[:4]
    ['id', 'src_lang', 'tgt_lang', 'source']
    """
    text = datasets.Value("string")
    return datasets.Features(
        {
            "id": text,
            "src_lang": text,
            "tgt_lang": text,
            "source": text,
            "focus": {"text": text, "start": datasets.Value("int32")},
            "correct_sources": [text],
            "incorrect_sources": [text],
            "category": text,
            "gold": text,
            "extra": dict.fromkeys(extra_keys, text),
        }
    )
