"""Word alignments that the caller of a metric gives in place of an aligner, and sentences of a
corpus from which an aligner learns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cc_hf.data.corpora.parallel import FileCorpus, corpus_blocks, file_corpus
from cc_hf.errors import DataError, InputError
from cc_hf.normalization import composed
from cc_hf.reading import text_lines
from cc_hf.text.alignment import (
    Aligner,
    Alignment,
    GivenAlignments,
    find_aligner,
    parse_pharaoh,
    space_tokens,
)
from cc_hf.text.lemmatization import Lemmatizer, find_lemmatizer, lemma_line
from cc_hf.text.tokenization import word_texts

__all__ = ["MAX_CELLS", "CorpusAligner", "chosen_aligner", "corpus_aligner"]

#: Largest sum of (source tokens + 1) * target tokens of the pairs that an aligner learns from.
#: fast_align needs about 150 bytes for each, so 3 GB.
MAX_CELLS = 20_000_000
_BLOCK_PAIRS = 100_000


def chosen_aligner(
    aligner: str | Aligner, alignments: str | Path | Sequence[str] | None
) -> Aligner:
    """Return an aligner from the options of a metric.

    Args:
        aligner: a name of `cc_hf.text.alignment.ALIGNERS`, or an Aligner.
        alignments: a Pharaoh file or its lines, which replace the aligner; None for the aligner.

    Raises:
        InputError: for alignments beside another aligner than the default, a file that cannot be
            read, or neither a name nor an Aligner.
        UnknownNameError: for an aligner that is not known.
        DataError: for a line that is not in Pharaoh format.

    Examples:
        >>> chosen_aligner("fast_align", ["0-0 1-1"]).align(["a b"], ["c d"])
        (((0, 0), (1, 1)),)
    """
    if alignments is None:
        return find_aligner(aligner)
    if aligner != "fast_align":
        raise InputError("expected either an aligner or alignments, got both; leave one out")
    if not isinstance(alignments, (str, Path)):
        return GivenAlignments(parse_pharaoh(alignments))
    try:
        lines = text_lines(Path(alignments))
    except DataError as error:
        raise InputError(f"alignments: expected a Pharaoh file; {error}") from error
    return GivenAlignments(parse_pharaoh(lines, name=str(alignments)), name=str(alignments))


@dataclass(frozen=True)
class CorpusAligner:
    """An aligner that learns from a parallel corpus beside the sentences that it aligns.

    Attributes:
        sources, references: lemmas of the corpus, one sentence per line, with spaces between them.
        languages: ISO 639-1 codes of the sources and of the translations; "" for word forms in
            place of lemmas, of which it finds fewer links.
    """

    aligner: Aligner
    sources: tuple[str, ...]
    references: tuple[str, ...]
    languages: tuple[str, str]
    lemmatizer: Lemmatizer

    @property
    def signature_name(self) -> str:
        """The aligner's name with the number of pairs of the corpus and their hash."""
        text = "\n".join((*self.sources, *self.references))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:7]
        return f"{self.aligner.signature_name}+{len(self.sources)}.{digest}"

    def align(self, sources: Sequence[str], translations: Sequence[str]) -> Sequence[Alignment]:
        """Align each pair of texts, by indices of `space_tokens`, together with the corpus."""
        lines, others = (
            [lemma_line(space_tokens(text), lang, self.lemmatizer) for text in texts]
            for texts, lang in zip((sources, translations), self.languages, strict=True)
        )
        links = self.aligner.align([*self.sources, *lines], [*self.references, *others])
        return links[len(self.sources) :]


def corpus_aligner(
    aligner: str | Aligner,
    align_with: str | Sequence[str | Path],
    *,
    words: Collection[str],
    languages: tuple[str, str],
    lemmatizer: str | Lemmatizer = "simplemma",
) -> CorpusAligner:
    """Return an aligner that learns from a parallel corpus, too.

    Pairs with one of the words come first, then all others in their order, as many as `MAX_CELLS`
    allows, without damaged pairs.

    Args:
        aligner: a name of `cc_hf.text.alignment.ALIGNERS`, or an Aligner.
        align_with: two line-aligned files, source and target; as one text with a comma between.
        words: source words in lower case.
        languages: ISO 639-1 codes of the sources and of the translations.
        lemmatizer: a name of `cc_hf.text.lemmatization.LEMMATIZERS`, or a Lemmatizer.

    Raises:
        InputError: for anything but two files with as many lines, or a corpus of damaged pairs.
    """
    names = align_with.split(",") if isinstance(align_with, str) else list(align_with)
    if len(names) != 2:
        raise InputError(
            "align_with: expected two line-aligned files, source and target, such as"
            f" train.en,train.de, got {', '.join(map(str, names)) or 'none'}"
        )
    corpus = file_corpus(names[0], names[1], block_pairs=_BLOCK_PAIRS)
    pairs = _read_pairs(corpus, words).pairs
    if not pairs:
        raise InputError(f"{corpus.name}: expected pairs of sentences, got damaged ones only")
    chosen = find_lemmatizer(lemmatizer)
    sources, references = (
        tuple([lemma_line(tokens, lang, chosen) for tokens in side])
        for side, lang in zip(zip(*pairs, strict=True), languages, strict=True)
    )
    return CorpusAligner(find_aligner(aligner), sources, references, languages, chosen)


@dataclass
class _Pairs:
    """Tokens of sentences and their translations, as many as `MAX_CELLS` allows."""

    pairs: list[tuple[list[str], list[str]]] = field(default_factory=list)
    n_cells: int = 0

    def add(self, tokens: list[str], targets: list[str]) -> None:
        n_cells = self.n_cells + (len(tokens) + 1) * len(targets)
        if n_cells <= MAX_CELLS:
            self.pairs.append((tokens, targets))
            self.n_cells = n_cells


def _read_pairs(corpus: FileCorpus, words: Collection[str]) -> _Pairs:
    """Return the pairs with one of the words, then others, as many as fit."""
    with_word, without, chosen = _Pairs(), _Pairs(), _Pairs()
    for block in corpus_blocks(corpus):
        for row, texts in enumerate(zip(block.sources, block.references, strict=True)):
            if row not in block.damaged:
                tokens, targets = map(word_texts, map(composed, texts))
                has_word = any(token.lower() in words for token in tokens)
                (with_word if has_word else without).add(tokens, targets)
    for tokens, targets in (*with_word.pairs, *without.pairs):
        chosen.add(tokens, targets)
    return chosen
