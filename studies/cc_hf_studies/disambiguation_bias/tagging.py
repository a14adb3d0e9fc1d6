"""Sentence pairs in which the sense of a homograph is known.

The homograph is linked to a target word of exactly one sense cluster (Emelin et al. 2020; thesis,
section 3.2.1). This module tags a block of pairs; `tagging_run` tags a whole corpus.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Annotated, Any

from cc_hf.data.corpora.parallel import CorpusBlock
from cc_hf.rules import PART_OF_ONE, AtLeast, OneOf, check_fields
from cc_hf.text.alignment import Alignment, find_aligner, given_links
from cc_hf.text.lemmatization import find_lemmatizer, lemma_line
from cc_hf.text.sense_matching import SenseMatcher
from cc_hf.text.spacy_pipelines import load_pipeline, pipeline_name
from cc_hf.text.tokenization import word_texts, word_tokens
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, TaggedPair
from cc_hf_studies.disambiguation_bias.identification import identified_language, identifier_name

__all__ = [
    "OUTCOMES",
    "PairTagger",
    "TaggedBlock",
    "TaggingOptions",
    "are_in_languages",
    "is_held_out",
    "lengths_differ",
]

#: What may become of a pair; a pair with several homographs has one outcome for each.
OUTCOMES = {
    "n_damaged": "pairs without text on a side, or that cannot be read",
    "n_length_ratio": "pairs with a homograph whose lengths differ too much",
    "n_language": "pairs with a homograph in other languages, or with too few known words",
    "n_too_long": "pairs with a homograph that are too long to align",
    "n_homographs": "homographs in the pairs that are kept",
    "n_no_noun": "homographs that are no nouns",
    "n_no_sense": "homographs whose reference has no word of any sense",
    "n_not_linked": "homographs that are linked to no word of any sense",
    "n_ambiguous": "homographs linked to a word that is no certain sense",
    "n_conflicting": "homographs that occur or are linked with different senses",
    "n_short": "held-out pairs that are too short",
    "n_tagged": "pairs with a known sense",
}
_CACHED_WORDS = 500_000
_HELD_OUT_UNIT = 2**64


@dataclass(frozen=True)
class TaggingOptions:
    """How pairs are tagged.

    Attributes:
        homographs: homograph of the lexicon to look for. Default: all.
        lemmatizer: lemmatizer of both languages: simplemma or none.
        spacy_model: spaCy pipeline of the source language, by which a homograph must be a noun,
            such as en_core_web_sm. Default: every token is accepted.
        aligner: aligner of the pairs of a block in which a homograph and a word of its senses
            occur: fast_align or eflomal.
        rule: how a word belongs to a sense: recommended, or program, as the released program
            matches compounds and uncertain words.
        window: number of positions around the linked words that are searched if these show no
            sense. The released program searches 3.
        max_length_ratio: largest ratio of the numbers of tokens of both sides. The thesis uses 2.
            Default: any.
        min_known_words: smallest share of words on each side that the dictionary of its language
            knows, from 0 to 1, in place of a language identifier.
        identifies_languages: whether to drop pairs of which a side is in neither of the two
            languages, by py3langid. The thesis does so by langid.
        held_out: share of pairs that are held out for testing, chosen by a hash of the pair. The
            thesis uses 0.2.
        min_tokens: smallest number of source tokens of a held-out pair.
        max_cells: the pairs of a block are aligned in parts of at most this sum of (source tokens +
            1) * target tokens, which bounds the memory. A pair that has more is dropped.
    """

    homographs: tuple[str, ...] = ()
    lemmatizer: str = "simplemma"
    spacy_model: str | None = None
    aligner: str = "fast_align"
    rule: Annotated[str, OneOf(*SenseMatcher.RULES)] = "recommended"
    window: Annotated[int, AtLeast(0)] = 0
    max_length_ratio: Annotated[float | None, AtLeast(1.0)] = None
    min_known_words: Annotated[float, AtLeast(0.0, 1.0)] = 0.0
    identifies_languages: bool = False
    held_out: Annotated[float, PART_OF_ONE] = 0.0
    min_tokens: Annotated[int, AtLeast(0)] = 10
    max_cells: Annotated[int, AtLeast(1)] = 2_000_000

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class TaggedBlock:
    """The pairs of a block whose sense is known.

    Attributes:
        outcomes: key of `OUTCOMES` -> number.
    """

    pairs: tuple[TaggedPair, ...]
    held_out: tuple[TaggedPair, ...]
    outcomes: Counter[str]


@dataclass
class _Candidate:
    """A pair with at least one homograph.

    Attributes:
        row: index of the pair in its block.
        homographs: homograph -> indices of its tokens.
        links: index of a source token -> indices of the target tokens that are linked to it.
    """

    row: int
    source: str
    reference: str
    tokens: list[str]
    targets: list[str]
    homographs: dict[str, list[int]]
    links: Mapping[int, Sequence[int]] = field(default_factory=dict)

    @property
    def n_cells(self) -> int:
        return (len(self.tokens) + 1) * len(self.targets)


class _HomographOf(dict[str, str]):
    """Word in lower case -> its homograph, "" for all other words; each type is lemmatized once."""

    def __init__(self, homographs: frozenset[str], lemmatizer: str, lang: str) -> None:
        super().__init__()
        self._homographs = homographs
        self._lemmatizer = find_lemmatizer(lemmatizer)
        self._lang = lang

    def __missing__(self, word: str) -> str:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        lemma = " ".join(self._lemmatizer.lemmas([word], self._lang)).lower()
        homograph = next((form for form in (lemma, word) if form in self._homographs), "")
        self[word] = homograph
        return homograph


class PairTagger:
    """Find the sense of homographs in sentence pairs."""

    def __init__(self, lexicon: HomographLexicon, options: TaggingOptions | None = None) -> None:
        self.lexicon = lexicon
        self.options = options or TaggingOptions()
        self._words = frozenset(self.options.homographs) or frozenset(lexicon.homographs)
        for homograph in sorted(self._words):
            lexicon.clusters(homograph)
        find_lemmatizer(self.options.lemmatizer)
        self._aligner = find_aligner(self.options.aligner)

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs; each fills caches of its own."""
        caches = ("_homograph_of", "_matchers", "_pipeline")
        return {key: value for key, value in vars(self).items() if key not in caches}

    @cached_property
    def _homograph_of(self) -> _HomographOf:
        return _HomographOf(self._words, self.options.lemmatizer, self.lexicon.src_lang)

    @cached_property
    def _matchers(self) -> dict[str, SenseMatcher]:
        return {}

    @cached_property
    def _pipeline(self) -> Any:
        return load_pipeline(
            str(self.options.spacy_model),
            self.lexicon.src_lang,
            exclude=("parser", "lemmatizer", "ner"),
        )

    def signature_fields(self) -> dict[str, str | int]:
        """Return how this tags, as signatures hold it, without corpus and alignments."""
        options = self.options
        lemmas = find_lemmatizer(options.lemmatizer).name
        noun = pipeline_name(self._pipeline) if options.spacy_model else "none"
        words = hashlib.sha256("\n".join(sorted(self._words)).encode()).hexdigest()[:7]
        return {
            "lexicon": self.lexicon.sha256[:7],
            **({"homographs": f"{len(self._words)}.{words}"} if options.homographs else {}),
            "langs": f"{self.lexicon.src_lang}-{self.lexicon.tgt_lang}",
            "lemmas": lemmas,
            "parser": noun,
            "rule": options.rule,
            "window": options.window,
            "ratio": f"{options.max_length_ratio or 'any'}",
            "known": (
                f"{options.min_known_words:g}.simplemma-{version('simplemma')}"
                if options.min_known_words
                else "any"
            ),
            **({"langid": identifier_name()} if options.identifies_languages else {}),
        }

    @property
    def aligner_name(self) -> str:
        """The aligner with the size of the parts that it aligns together."""
        return f"{self._aligner.signature_name}.{self.options.max_cells}cells"

    def tag(
        self, block: CorpusBlock, links: Sequence[str] | None = None, name: str = ""
    ) -> TaggedBlock:
        """Tag the pairs of a block, in the order of the block and their homographs.

        Args:
            links: one line of alignments in Pharaoh format per pair, between tokens that are split
                at spaces; None to align.
        """
        outcomes = Counter(n_damaged=len(block.damaged))
        candidates = list(self._candidates(block, outcomes))
        if links is None:
            candidates = self._short_enough(candidates, outcomes)
        for candidate in candidates:
            outcomes["n_homographs"] += len(candidate.homographs)
        candidates = self._with_known_words(candidates, outcomes)
        if links is None:
            self._align(candidates)
        else:
            for candidate in candidates:
                line = block.first + candidate.row + 1
                candidate.links = _given_links(candidate, links[candidate.row], name, line)
        pairs: list[TaggedPair] = []
        held_out: list[TaggedPair] = []
        for candidate in candidates:
            held = is_held_out(candidate.source, candidate.reference, self.options.held_out)
            for homograph, indices in candidate.homographs.items():
                outcome, pair = self._tagged(candidate, block.first, homograph, indices)
                if pair and held and len(candidate.tokens) < self.options.min_tokens:
                    outcome, pair = "n_short", None
                outcomes[outcome] += 1
                if pair:
                    (held_out if held else pairs).append(pair)
        return TaggedBlock(tuple(pairs), tuple(held_out), outcomes)

    def _candidates(self, block: CorpusBlock, outcomes: Counter[str]) -> Iterator[_Candidate]:
        """Yield the pairs with a homograph that cleaning keeps."""
        homograph_of = self._homograph_of.__getitem__
        for row, (source, reference) in enumerate(
            zip(block.sources, block.references, strict=True)
        ):
            if not any(map(homograph_of, word_texts(source.lower()))) or row in block.damaged:
                continue
            tokens, targets = word_texts(source), word_texts(reference)
            options, texts = self.options, (source, reference)
            languages = (self.lexicon.src_lang, self.lexicon.tgt_lang)
            if lengths_differ(len(tokens), len(targets), options.max_length_ratio):
                outcomes["n_length_ratio"] += 1
            elif not are_in_languages(texts, languages, options):
                outcomes["n_language"] += 1
            else:
                homographs: dict[str, list[int]] = {}
                for index, token in enumerate(tokens):
                    if homograph := homograph_of(token.lower()):
                        homographs.setdefault(homograph, []).append(index)
                yield _Candidate(row, source, reference, tokens, targets, homographs)

    def _short_enough(
        self, candidates: list[_Candidate], outcomes: Counter[str]
    ) -> list[_Candidate]:
        """Return the pairs that can be aligned within the memory of one part."""
        kept = [pair for pair in candidates if pair.n_cells <= self.options.max_cells]
        outcomes["n_too_long"] += len(candidates) - len(kept)
        return kept

    def _with_known_words(
        self, candidates: list[_Candidate], outcomes: Counter[str]
    ) -> list[_Candidate]:
        """Return the pairs without homographs that are no nouns or whose reference has no sense."""
        if self.options.spacy_model:
            docs = self._pipeline.pipe(candidate.source for candidate in candidates)
            for candidate, doc in zip(candidates, docs, strict=True):
                nouns = {token.idx for token in doc if token.pos_ == "NOUN"}
                starts = [token.start for token in word_tokens(candidate.source)]
                for homograph, indices in list(candidate.homographs.items()):
                    kept = [i for i in indices if starts[i] in nouns]
                    candidate.homographs[homograph] = kept
                    if not kept:
                        del candidate.homographs[homograph]
                        outcomes["n_no_noun"] += 1
        for candidate in candidates:
            for homograph in list(candidate.homographs):
                matcher = self._matcher(homograph)
                if not any(matcher.match(token).rule for token in candidate.targets):
                    del candidate.homographs[homograph]
                    outcomes["n_no_sense"] += 1
        return [candidate for candidate in candidates if candidate.homographs]

    def _matcher(self, homograph: str) -> SenseMatcher:
        if homograph not in self._matchers:
            self._matchers[homograph] = SenseMatcher(
                self.lexicon.clusters(homograph),
                lang=self.lexicon.tgt_lang,
                lemmatizer=self.options.lemmatizer,
                rule=self.options.rule,
            )
        return self._matchers[homograph]

    def _align(self, candidates: Sequence[_Candidate]) -> None:
        """Align in parts of bounded size."""
        part: list[_Candidate] = []
        n_cells = 0
        for candidate in candidates:
            if part and n_cells + candidate.n_cells > self.options.max_cells:
                self._align_part(part)
                part, n_cells = [], 0
            part.append(candidate)
            n_cells += candidate.n_cells
        if part:
            self._align_part(part)

    def _align_part(self, part: Sequence[_Candidate]) -> None:
        src_lang, tgt_lang = self.lexicon.src_lang, self.lexicon.tgt_lang
        lemmatizer = find_lemmatizer(self.options.lemmatizer)
        sides = (
            [lemma_line(candidate.tokens, src_lang, lemmatizer) for candidate in part],
            [lemma_line(candidate.targets, tgt_lang, lemmatizer) for candidate in part],
        )
        for candidate, alignment in zip(part, self._aligner.align(*sides), strict=True):
            candidate.links = _by_source(alignment)

    def _tagged(
        self, candidate: _Candidate, first: int, homograph: str, indices: Sequence[int]
    ) -> tuple[str, TaggedPair | None]:
        """Return the outcome for a homograph, and its pair if the sense is known."""
        clusters: dict[str, tuple[int, str]] = {}
        for index in indices:
            matches = self._matches(candidate, homograph, index)
            if any(not cluster for cluster, _ in matches):
                return "n_ambiguous", None
            for cluster, word in matches:
                clusters.setdefault(cluster, (index, word))
        if len(clusters) != 1:
            return ("n_conflicting" if clusters else "n_not_linked"), None
        ((cluster, (index, word)),) = clusters.items()
        return "n_tagged", TaggedPair(
            f"{first + candidate.row}.{homograph}",
            candidate.source,
            candidate.reference,
            homograph,
            word_tokens(candidate.source)[index].start,
            index,
            cluster,
            word,
        )

    def _matches(self, candidate: _Candidate, homograph: str, index: int) -> list[tuple[str, str]]:
        """Return cluster ("" if it is not certain) and word of the target tokens that belong to any
        sense: the linked ones, else the nearest one within the window.
        """
        matcher, targets = self._matcher(homograph), candidate.targets
        linked = candidate.links.get(index, ())
        words = [(matcher.match(targets[j]), targets[j]) for j in linked]
        matches = [(match.cluster, word) for match, word in words if match.rule]
        if matches or not self.options.window:
            return matches
        distances = {
            j: min(abs(j - link) for link in linked) for j in range(len(targets)) if linked
        }
        for j in sorted(distances, key=lambda j: (distances[j], j)):
            match = matcher.match(targets[j])
            if match.rule and distances[j] <= self.options.window:
                return [(match.cluster, targets[j])]
        return []


def lengths_differ(n_tokens: int, n_targets: int, max_ratio: float | None) -> bool:
    """Return whether one side has more than `max_ratio` times the tokens of the other.

    Examples:
        >>> lengths_differ(3, 7, 2.0), lengths_differ(3, 7, None)
        (True, False)
    """
    return max_ratio is not None and max(n_tokens, n_targets) > max_ratio * min(n_tokens, n_targets)


def are_in_languages(
    texts: Sequence[str], languages: Sequence[str], options: TaggingOptions
) -> bool:
    """Return whether simplemma's dictionaries know enough words of each text in its language, and
    py3langid finds each text to be in one of the languages.

    Examples:
        >>> options = TaggingOptions(min_known_words=0.5)
        >>> are_in_languages(["A house.", "Ein Haus."], ["en", "de"], options)
        True
    """
    if options.min_known_words:
        from simplemma import in_target_language

        for text, lang in zip(texts, languages, strict=True):
            if in_target_language(text, lang=lang) < options.min_known_words:
                return False
    return not options.identifies_languages or all(
        identified_language(text) in languages for text in texts
    )


def is_held_out(source: str, reference: str, share: float) -> bool:
    """Return whether a pair is held out for testing, by a hash of its texts; share is in [0, 1]."""
    if not share:
        return False
    text = f"{source}\n{reference}".encode("utf-8", "surrogatepass")
    number = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
    return number < share * _HELD_OUT_UNIT


def _by_source(alignment: Alignment) -> dict[int, list[int]]:
    links: dict[int, list[int]] = {}
    for i, j in alignment:
        links.setdefault(i, []).append(j)
    return links


def _given_links(candidate: _Candidate, line: str, name: str, number: int) -> dict[int, list[int]]:
    """Return the links between words, from links between tokens that are split at spaces."""
    linked = _by_source(
        given_links(line, candidate.source, candidate.reference, name=name, number=number)
    )
    target_words: dict[int, list[int]] = {}
    for j, space_token in enumerate(_space_tokens(candidate.reference)):
        target_words.setdefault(space_token, []).append(j)
    return {
        i: [j for target in linked.get(space_token, ()) for j in target_words.get(target, ())]
        for i, space_token in enumerate(_space_tokens(candidate.source))
    }


def _space_tokens(text: str) -> list[int]:
    """Return the index of the space-separated token in which each word begins."""
    starts = [token.start() for token in re.finditer("[^ \t]+", text)]
    return [bisect_right(starts, word.start) - 1 for word in word_tokens(text)]
