"""Make adversarial samples from sentences with a known sense (thesis, section 3.3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from cc_hf.errors import check_choice
from cc_hf.rules import AtLeast, check_fields
from cc_hf_studies.common.nouns import Modifier, Noun, NounParser
from cc_hf_studies.disambiguation_bias.attacks.changes import (
    KINDS,
    ChangedSentence,
    insert_adjective,
    insert_after,
    replace_adjective,
)
from cc_hf_studies.disambiguation_bias.attacks.modifiers import ModifierTable, batched
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable
from cc_hf_studies.disambiguation_bias.homographs import TaggedPair

__all__ = ["GenerationRules", "generate_samples"]

_BATCH = 256  # sentences that are parsed together


@dataclass(frozen=True)
class GenerationRules:
    """Rules of the samples beyond those of the thesis.

    Attributes:
        kinds: kind of change: insert_at_homograph, replace_at_homograph, insert_at_other or
            replace_at_other. Default: all.
        min_bigram: smallest number of times that the corpus has the adjective before the noun. The
            released program has 10; the thesis has no such rule.
        max_replaced: do not exchange an adjective that the corpus has this often or more before its
            noun. The released program has 300. Default: exchange all.
        drops_er_est: use no adjectives of at most two syllables in -er and -est, as in the released
            program. Comparatives and superlatives are never used.
        smoothing: number that is added to each count before the PPMI is computed.
        log: whether the PPMI takes the logarithm.
    """

    kinds: tuple[str, ...] = ()
    min_bigram: Annotated[int, AtLeast(1)] = 1
    max_replaced: Annotated[int | None, AtLeast(1)] = None
    drops_er_est: bool = False
    smoothing: Annotated[float, AtLeast(0.0)] = 0.0
    log: bool = True

    def __post_init__(self) -> None:
        check_fields(self)
        for kind in self.kinds:
            check_choice("kinds", kind, KINDS)

    def signature_fields(self) -> dict[str, str]:
        """Return the fields of a signature for the rules that are not the defaults."""
        chosen = {
            "kinds": "+".join(self.kinds),
            "bigram": "" if self.min_bigram == 1 else f">={self.min_bigram}",
            "replaced": "" if self.max_replaced is None else f"<{self.max_replaced}",
            "er_est": "dropped" if self.drops_er_est else "",
            "smoothing": f"{self.smoothing:g}",
            "ppmi": "log" if self.log else "ratio",
        }
        return {name: value for name, value in chosen.items() if value}


def generate_samples(
    seeds: Iterable[TaggedPair],
    table: AttractorTable,
    modifiers: ModifierTable,
    parser: NounParser,
    *,
    rules: GenerationRules | None = None,
    counts: Counter[str] | None = None,
) -> Iterator[AdversarialSample]:
    """Yield the samples of each seed: one changed adjective each, once per wrong sense of which the
    adjective is an attractor.

    An adjective is inserted before a noun without one, or takes the place of the only adjective,
    which stands directly before the noun. At the homograph, it modifies the homograph in the seed's
    sense somewhere in the corpus; at another noun, it modifies that noun. No part of a compound is
    changed. In German the corpus must have the adjective between the same determiner and the same
    form of the noun, in Portuguese after the same form, so that it agrees.

    Yields:
        Samples in the order of the seeds, then of the nouns, the adjectives and the clusters.
    """
    rules = rules or GenerationRules()
    counts = Counter() if counts is None else counts
    for batch in batched(seeds, _BATCH):
        parsed = parser.nouns([seed.source for seed in batch], [[seed.start] for seed in batch])
        for seed, nouns in zip(batch, parsed, strict=True):
            for noun in nouns:
                for sample in _samples_at(seed, noun, table, modifiers, rules):
                    counts[sample.kind] += 1
                    yield sample


def _samples_at(
    seed: TaggedPair,
    noun: Noun,
    table: AttractorTable,
    modifiers: ModifierTable,
    rules: GenerationRules,
) -> Iterator[AdversarialSample]:
    is_homograph = noun.start == seed.start
    kind = (
        f"{'replace' if noun.modifiers else 'insert'}_at_{'homograph' if is_homograph else 'other'}"
    )
    if noun.is_compound or (rules.kinds and kind not in rules.kinds):
        return
    in_corpus = modifiers.of_noun(noun.lemma)
    candidates = modifiers.of_sense(seed.homograph, seed.cluster) if is_homograph else in_corpus
    replaced = noun.modifiers[0] if noun.modifiers else None
    if replaced is not None and (
        len(noun.modifiers) > 1
        or not replaced.is_adjacent
        or (rules.max_replaced is not None and in_corpus[replaced.text] >= rules.max_replaced)
    ):
        return
    for adjective in sorted(candidates):
        if (
            not modifiers.agrees(adjective, noun)
            or in_corpus[adjective] < rules.min_bigram
            or (replaced is not None and adjective == replaced.text)
            or (rules.drops_er_est and _ends_like_a_comparison(adjective))
        ):
            continue
        changed = _changed(seed.source, noun, replaced, adjective, table.src_lang)
        for cluster in _wrong_clusters(table, seed, adjective):
            yield _sample(seed, noun, kind, adjective, changed, cluster, table, rules)


def _changed(
    source: str, noun: Noun, replaced: Modifier | None, adjective: str, lang: str
) -> ChangedSentence:
    if replaced is not None:
        return replace_adjective(source, replaced.start, replaced.length, adjective, lang=lang)
    if lang == "pt":
        return insert_after(source, noun.start + len(noun.text), adjective)
    return insert_adjective(source, noun.start, adjective, lang=lang)


def _wrong_clusters(table: AttractorTable, seed: TaggedPair, adjective: str) -> Sequence[str]:
    words = table.associations(seed.homograph)
    return [name for name in words if name != seed.cluster and words[name].get(adjective, 0.0) > 0]


def _sample(
    seed: TaggedPair,
    noun: Noun,
    kind: str,
    adjective: str,
    changed: ChangedSentence,
    cluster: str,
    table: AttractorTable,
    rules: GenerationRules,
) -> AdversarialSample:
    freq = table.associations(seed.homograph)
    ppmi = table.associations(
        seed.homograph, association="ppmi", smoothing=rules.smoothing, log=rules.log
    )
    values: dict[str, float] = {}
    for name, words in (("freq", freq), ("ppmi", ppmi)):
        adversarial = float(words[cluster].get(adjective, 0.0))
        right = float(words.get(seed.cluster, {}).get(adjective, 0.0))
        values |= {
            f"{name}_adv": adversarial,
            f"{name}_seed": right,
            f"{name}_diff": adversarial - right,
        }
    replaced = noun.modifiers[0].text if noun.modifiers else ""
    return AdversarialSample(
        id=f"{seed.id}/{seed.start}/{kind}/{noun.start}/{adjective}/{cluster}",
        seed_id=seed.id,
        kind=kind,
        start=changed.start,
        adjective=adjective,
        replaced=replaced,
        homograph=seed.homograph,
        homograph_start=changed.position(seed.start),
        seed_homograph_start=seed.start,
        seed_cluster=seed.cluster,
        adv_cluster=cluster,
        source=changed.text,
        seed_source=seed.source,
        seed_reference=seed.reference,
        **values,
    )


def _ends_like_a_comparison(word: str) -> bool:
    """Return whether a word of at most two syllables, counted by vowels, ends in -er or -est."""
    if not word.endswith(("er", "est")):
        return False
    vowels = "aeiouy"
    groups = sum(
        letter in vowels and (i == 0 or word[i - 1] not in vowels) for i, letter in enumerate(word)
    )
    return groups <= 2
