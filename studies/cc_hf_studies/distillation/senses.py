"""Counts of word senses in parallel text (Vamvas & Sennrich 2021, appendix A): a pair counts for a
sense if the ambiguous word is in the source and a lemma of the sense in the translation.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cc_hf.data.corpora.parallel import Corpus, CorpusBlock, StreamCorpus
from cc_hf.data.download import fetch
from cc_hf.data.files.sense_counts import frequent_senses, read_sense_counts, sense_of
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.reading import text_lines
from cc_hf.signature import build
from cc_hf.test_sets.mucow.files import COUNTS, SUITE, SUITE_FILES, WITH_CUES_FILES
from cc_hf.text.lemmatization import check_language, find_lemmatizer
from cc_hf.text.tokenization import whole_words, word_texts
from cc_hf_studies.common.corpus_blocks import count_blocks

__all__ = ["SenseCounter", "SenseCounts", "count_senses", "mucow_senses", "read_senses"]

_CACHED_WORDS = 500_000


@dataclass(frozen=True)
class SenseCounts:
    """How often each sense of a lexicon occurs.

    Attributes:
        corpus: hash of all texts, block by block.
        n_damaged: number of pairs without text on a side, or that cannot be read.
        damaged: line (1-based) and fault of the first 1000 damaged pairs.
        counts: name of the sense -> number of pairs, in the order of the lexicon.
    """

    signature: str
    corpus: str
    n_pairs: int
    n_damaged: int
    damaged: tuple[tuple[int, str], ...]
    counts: Mapping[str, int]

    @property
    def frequent(self) -> list[str]:
        """The names of the senses that are the most frequent of their word."""
        frequent = frequent_senses(self.counts)
        return [name for name in self.counts if sense_of(name) in frequent]

    def to_json(self) -> str:
        """Return the counts as JSON, which `cc_hf.load_material(counts=...)` reads."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def mucow_senses(
    src_lang: str, tgt_lang: str, *, data_dir: str | Path | None = None
) -> tuple[str, ...]:
    """Return names of senses of MuCoW: those with published counts, or of the translation suite."""
    pair = f"{src_lang}-{tgt_lang}"
    if pair not in SUITE_FILES:
        raise UnknownNameError("pair of languages of MuCoW", pair, sorted(SUITE_FILES))
    path = COUNTS.format(pair) if pair in WITH_CUES_FILES else SUITE.format(pair, "domain")
    files = {file.path: file for file in (*WITH_CUES_FILES.get(pair, ()), *SUITE_FILES[pair])}
    local = fetch(files[path], data_dir)
    if pair in WITH_CUES_FILES:
        return read_senses(local)
    rows = (line.split("\t") for line in text_lines(local))
    return tuple(f"{row[0]} - {row[1]}" for row in rows)


def read_senses(path: str | Path) -> tuple[str, ...]:
    """Return the senses of a user's file."""
    return tuple(read_sense_counts(path))


class SenseCounter:
    """Count the senses in a block of sentence pairs.

    The source is searched in lower case and word by word. A word of the translation counts in lower
    case, as it is written and by its lemma.
    """

    def __init__(
        self, senses: Sequence[str], tgt_lang: str, *, lemmatizer: str = "simplemma"
    ) -> None:
        if not senses:
            raise InputError("senses: expected at least one, got none")
        check_language(tgt_lang, find_lemmatizer(lemmatizer))
        self.senses = tuple(senses)
        self.tgt_lang = tgt_lang
        self.lemmatizer = lemmatizer
        self._by_word: dict[str, list[tuple[str, frozenset[str]]]] = {}
        for name in senses:
            word, forms = sense_of(name)
            lower = frozenset(form.lower() for form in forms)
            self._by_word.setdefault(word.lower(), []).append((name, lower))

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs; each fills a cache of its own."""
        return {key: value for key, value in vars(self).items() if key != "_forms"}

    @cached_property
    def _forms(self) -> dict[str, tuple[str, ...]]:
        return {}

    def count(self, block: CorpusBlock) -> Counter[str]:
        """Return the number of pairs for each sense that occurs."""
        numbers: Counter[str] = Counter()
        for row, source in enumerate(block.sources):
            if row in block.damaged:
                continue
            words = [w for w in set(whole_words(source.lower())) if w in self._by_word]
            if not words:
                continue
            forms = {f for word in set(word_texts(block.references[row])) for f in self._of(word)}
            for word in words:
                for name, cluster in self._by_word[word]:
                    if not cluster.isdisjoint(forms):
                        numbers[name] += 1
        return numbers

    def _of(self, word: str) -> tuple[str, ...]:
        """Return a word of a translation and its lemma, in lower case."""
        if word not in self._forms:
            if len(self._forms) >= _CACHED_WORDS:
                self._forms.clear()
            lemmas = find_lemmatizer(self.lemmatizer).lemmas([word], self.tgt_lang)
            self._forms[word] = tuple({word.lower(), *(lemma.lower() for lemma in lemmas)})
        return self._forms[word]


def count_senses(
    corpus: Corpus | StreamCorpus,
    counter: SenseCounter,
    *,
    n_processes: int = 1,
    progress: bool = False,
) -> SenseCounts:
    """Count the senses of a lexicon in parallel text."""
    counted = count_blocks(corpus, counter, n_processes=n_processes, progress=progress)
    if not counted.numbers:
        words = ", ".join(dict.fromkeys(sense_of(name)[0] for name in counter.senses[:9]))
        raise InputError(
            f"{corpus.name}: expected pairs with a sense of the lexicon (words such as {words}),"
            f" got none in {counted.n_pairs}; check which side is which, and that the lexicon is"
            " for these languages"
        )
    lexicon = hashlib.sha256("\n".join(counter.senses).encode()).hexdigest()[:7]
    fields: dict[str, str | int] = {
        "corpus": counted.corpus[:7],
        "lexicon": f"{len(counter.senses)}.{lexicon}",
        "tgt": counter.tgt_lang,
        "lemmas": find_lemmatizer(counter.lemmatizer).name,
        "n": counted.n_pairs - counted.n_damaged,
    }
    return SenseCounts(
        build("senses", fields),
        counted.corpus,
        counted.n_pairs,
        counted.n_damaged,
        counted.damaged,
        {name: counted.numbers[name] for name in counter.senses},
    )
