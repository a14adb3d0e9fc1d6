"""Contrastive conditioning as a judge of attacks: does a translation fit the source better with a
cue for the seed's sense, or with a cue for the sense of the attractor? It needs no lexicon of the
target language, and is not part of the thesis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cc_hf.cues.placement import insert_before, replace_at
from cc_hf.errors import InputError, shown
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.records import WORD, NonEmpty, read_json
from cc_hf.results import EvaluationResult
from cc_hf.rules import AtLeast, OneOf, check_fields
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.text.tokenization import word_texts, word_tokens
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable

__all__ = [
    "PLACEMENTS",
    "Conditioned",
    "SenseCues",
    "conditioned_probabilities",
    "conditioned_rows",
    "read_cues",
]

#: Where a cue stands: before the homograph, or in its place.
PLACEMENTS = ("before", "instead")

#: A cue of a sense is more than this many times as frequent beside it as beside any other sense.
_TIMES_AS_FREQUENT = 2

Cues = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class SenseCues:
    """Words that stand for a sense when they are put before the homograph, or in its place.

    Attributes:
        words: homograph -> cluster -> words, the best first.
        n: number of cues of each sense that are used.
        name: where the words come from, for the signature.
    """

    words: Cues
    n: Annotated[int, AtLeast(1)] = 6
    name: str = "given"
    placement: Annotated[str, OneOf(*PLACEMENTS)] = "before"

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def from_attractors(
        cls, table: AttractorTable, *, n: int = 6, placement: str = "before"
    ) -> SenseCues:
        """Return the attractors that distinguish a sense best.

        They are ordered by the difference of their relative frequency beside the sense and their
        largest one beside another sense, so that words that go with all senses are no cues.
        """
        return cls(
            {homograph: _distinctive(counts) for homograph, counts in table.counts.items()},
            n,
            "attractors",
            placement,
        )

    def of(self, homograph: str, cluster: str, source: str) -> tuple[str, ...]:
        """Return the best cues of a sense that are not in the sentence already."""
        present = {word.lower() for word in word_texts(source)}
        words = self.words.get(homograph, {}).get(cluster, ())
        return tuple(word for word in words if word.lower() not in present)[: self.n]


def read_cues(path: Path, *, n: int = 6, placement: str = "before") -> SenseCues:
    """Read cues of the user."""
    what = 'an object such as {"spring": {"1": ["summer"], "2": ["water"]}}'
    value = read_json(path, what, NonEmpty({str: {str: [WORD]}}))
    return SenseCues(value, n, path.stem, placement)


def _distinctive(counts: Mapping[str, Mapping[str, int]]) -> dict[str, tuple[str, ...]]:
    shares = {
        cluster: {word: n / sum(words.values()) for word, n in words.items()}
        for cluster, words in counts.items()
    }
    cues = {}
    for cluster, words in shares.items():
        others = [shares[name] for name in shares if name != cluster]
        excess = {}
        for word, share in words.items():
            largest_other = max((other.get(word, 0.0) for other in others), default=0.0)
            if share > _TIMES_AS_FREQUENT * largest_other:
                excess[word] = share - largest_other
        cues[cluster] = tuple(sorted(excess, key=lambda word: (-excess[word], word)))
    return cues


@dataclass(frozen=True, slots=True)
class Conditioned:
    """A source with cues for the right sense, and with cues for the sense of the attractor."""

    source: str
    correct: tuple[str, ...]
    incorrect: tuple[str, ...]


def conditioned_rows(
    samples: Iterable[AdversarialSample], cues: SenseCues
) -> list[tuple[Conditioned, Conditioned] | None]:
    """Return the cued sources of each sample's seed and of the sample, or None without cues.

    The best cue of one sense is compared with the best of the other, the second with the second,
    and so on.
    """
    rows: list[tuple[Conditioned, Conditioned] | None] = []
    for sample in samples:
        # Both have the same cues, so that they differ in the attack only.
        both = f"{sample.seed_source} {sample.source}"
        pairs = list(
            zip(
                cues.of(sample.homograph, sample.seed_cluster, both),
                cues.of(sample.homograph, sample.adv_cluster, both),
                strict=False,
            )
        )
        if not pairs:
            rows.append(None)
            continue
        seed, attacked = (
            Conditioned(
                source,
                tuple(_cued(source, start, right, cues.placement) for right, _ in pairs),
                tuple(_cued(source, start, wrong, cues.placement) for _, wrong in pairs),
            )
            for source, start in (
                (sample.seed_source, sample.seed_homograph_start),
                (sample.source, sample.homograph_start),
            )
        )
        rows.append((seed, attacked))
    return rows


def _cued(source: str, start: int, cue: str, placement: str) -> str:
    if placement == "before":
        return insert_before(source, start, cue)
    word = next((token for token in word_tokens(source) if token.start == start), None)
    return replace_at(source, start, 1 if word is None else len(word.text), cue)


def conditioned_probabilities(
    rows: Sequence[Conditioned],
    translations: Mapping[str, str],
    evaluator: AnyEvaluator,
    *,
    src_lang: str,
    tgt_lang: str,
    progress: bool = False,
) -> tuple[dict[Conditioned, float], EvaluationResult]:
    """Return the probability, in [0, 1], of the right sense in the translation of each row: the
    mean over its pairs of cues. A blank translation has the probability 0.
    """
    distinct = list(dict.fromkeys(rows))
    if not distinct:
        raise InputError("expected samples whose senses have cues, got none; add cues")
    missing = next((row.source for row in distinct if row.source not in translations), None)
    if missing is not None:
        raise InputError(f"expected a translation of each source, got none of {shown(missing)}")
    pairs = [
        (row, *sources)
        for row in distinct
        for sources in zip(row.correct, row.incorrect, strict=True)
    ]
    result = judge(
        make_metric("contrastive_conditioning", {"on_blank": "incorrect"}),
        Material(
            src_lang,
            tgt_lang,
            [
                {"correct_sources": [correct], "incorrect_sources": [incorrect]}
                for _, correct, incorrect in pairs
            ],
        ),
        [translations[row.source] for row, _, _ in pairs],
        evaluator=resolve_evaluator(evaluator),
        bootstrap=Bootstrap(n_resamples=1),
        progress=progress,
    )
    # A cue that the translation lacks costs probability of its own, so one pair says little.
    probabilities: dict[Conditioned, list[float]] = {}
    for (row, _, _), judgement in zip(pairs, result.judgements, strict=True):
        probabilities.setdefault(row, []).append(judgement.probability_correct or 0.0)
    return {row: sum(values) / len(values) for row, values in probabilities.items()}, result
