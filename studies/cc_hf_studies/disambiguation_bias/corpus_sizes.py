"""Sentences and words of parallel corpora after cleaning (thesis, Tables 3.1 and 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cc_hf.data.corpora.parallel import Corpus, CorpusBlock, StreamCorpus
from cc_hf.text.tokenization import word_texts
from cc_hf_studies.common.corpus_blocks import count_blocks
from cc_hf_studies.disambiguation_bias.tagging import (
    TaggingOptions,
    are_in_languages,
    is_held_out,
    lengths_differ,
)

__all__ = ["CorpusSize", "corpus_sizes", "part_names"]

_HELD_OUT = "held-out"


@dataclass(frozen=True)
class CorpusSize:
    """The size of a corpus, or of its held-out part.

    Attributes:
        n_damaged: pairs without text on a side, or that cannot be read. Those of a corpus with a
            held-out part count for the other part.
        n_length_ratio: further pairs whose lengths differ too much.
        n_language: further pairs in other languages, or with too few known words.
        n_sentences: pairs that are kept.
        n_source_words, n_target_words: words of the pairs that are kept, between blanks.
    """

    name: str
    n_damaged: int = 0
    n_length_ratio: int = 0
    n_language: int = 0
    n_sentences: int = 0
    n_source_words: int = 0
    n_target_words: int = 0

    @property
    def words_per_sentence(self) -> tuple[float, float] | None:
        """Mean number of words of a source and of a target sentence; None without sentences."""
        if not self.n_sentences:
            return None
        return self.n_source_words / self.n_sentences, self.n_target_words / self.n_sentences

    def to_row(self) -> dict[str, Any]:
        """Return the fields and the words per sentence."""
        return {**asdict(self), "words_per_sentence": self.words_per_sentence}


@dataclass(frozen=True)
class _SizeCounter:
    """Counts fields of `CorpusSize`, with the name of the part before them."""

    languages: tuple[str, str]
    cleaning: TaggingOptions

    def count(self, block: CorpusBlock) -> Counter[str]:
        numbers: Counter[str] = Counter()
        pairs = zip(block.sources, block.references, strict=True)
        for row, (source, reference) in enumerate(pairs):
            if row in block.damaged:
                continue
            held = is_held_out(source, reference, self.cleaning.held_out)
            for field, n in self._fields(source, reference).items():
                numbers[f"{_HELD_OUT if held else ''} {field}"] += n
        return numbers

    def _fields(self, source: str, reference: str) -> dict[str, int]:
        n_tokens, n_targets = len(word_texts(source)), len(word_texts(reference))
        if lengths_differ(n_tokens, n_targets, self.cleaning.max_length_ratio):
            return {"n_length_ratio": 1}
        if not are_in_languages((source, reference), self.languages, self.cleaning):
            return {"n_language": 1}
        return {
            "n_sentences": 1,
            "n_source_words": len(source.split()),
            "n_target_words": len(reference.split()),
        }


def corpus_sizes(
    corpus: Corpus | StreamCorpus,
    languages: tuple[str, str],
    cleaning: TaggingOptions,
    *,
    name: str,
    n_processes: int = 1,
    progress: bool = False,
) -> tuple[CorpusSize, ...]:
    """Return the size of a corpus, and that of its held-out part if there is one."""
    counter = _SizeCounter(languages, cleaning)
    counts = count_blocks(corpus, counter, n_processes=n_processes, progress=progress)
    parts: dict[str, dict[str, int]] = {"": {"n_damaged": counts.n_damaged}}
    if cleaning.held_out:
        parts[_HELD_OUT] = {}
    for key, n in counts.numbers.items():
        part, field = key.split(" ")
        parts[part][field] = n
    return tuple(CorpusSize(part or name, **fields) for part, fields in parts.items())


def part_names(corpora: Sequence[str]) -> list[str]:
    """Return for each corpus what stands before the first dot of its file name, if these differ.

    Examples:
        >>> part_names(["data/train.en", "data/dev.en"]), part_names(["a/x.en", "b/x.en"])
        (['train', 'dev'], ['a/x.en', 'b/x.en'])
    """
    short = [name.rsplit("/", 1)[-1].split(".")[0] for name in corpora]
    return short if len(set(short)) == len(short) else list(corpora)
