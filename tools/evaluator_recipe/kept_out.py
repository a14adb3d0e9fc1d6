"""Sentences of test sets that no evaluator may be trained on, and their near copies."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from cc_hf import registry
from cc_hf.data.loading import declaration, load_examples
from cc_hf.errors import CCError

#: So many words in a row that a test sentence has, too, make a near copy.
NEAR = 8


def key(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(c for c in text.lower() if c.isalnum())


def _runs(text: str) -> Iterable[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return (tuple(words[i : i + NEAR]) for i in range(len(words) - NEAR + 1))


class KeptOut:
    """English sentences that are kept out; `counts` are of the texts that were refused, by reason.

    Examples:
        >>> kept_out = KeptOut(["The doctor asked the nurse to help her in the operation."])
        >>> kept_out("the doctor asked the nurse to help her in the kitchen"), kept_out("Hello.")
        (True, False)
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        texts = [*texts]
        self._exact = frozenset(map(key, texts))
        self._near = frozenset(run for text in texts for run in _runs(text))
        self.counts: Counter[str] = Counter()

    def __call__(self, english: str) -> bool:
        """Return whether a sentence is one of them, or has a run of words of one."""
        if key(english) in self._exact:
            self.counts["exact"] += 1
            return True
        # A cue of ours is no difference.
        if any(run in self._near for run in _runs(re.sub(r"\[\w+\] ", "", english))):
            self.counts["near"] += 1
            return True
        return False


def of_test_sets(lang: str, data_dir: Path | None) -> tuple[KeptOut, dict[str, int]]:
    """Return the sources of all test sets at hand for English and a target language, and how many
    each set has.
    """
    texts: dict[str, list[str]] = {}
    for name in registry.names("dataset"):
        texts[name] = []
        for config in declaration(name).configs:
            if config.src_lang != "en" or lang not in config.tgt_langs:
                continue
            for split in config.splits:
                with contextlib.suppress(CCError):  # a set whose files are not at hand
                    examples = load_examples(name, config.name, split=split, data_dir=data_dir)
                    texts[name] += [example.source for example in examples]
    counts = {name: len({*of_set}) for name, of_set in texts.items()}
    return KeptOut(text for of_set in texts.values() for text in of_set), counts
