"""Choose the sentences that are attacked (thesis, section 3.3.1), and drop samples that read much
worse than their seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from cc_hf.errors import InputError
from cc_hf.rules import PART_OF_ONE, AtLeast, check_fields
from cc_hf.schema import ScoringRequest
from cc_hf.text.tokenization import word_texts
from cc_hf_studies.disambiguation_bias.attacks.modifiers import batched
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample
from cc_hf_studies.disambiguation_bias.attractors import AttractorTable
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, TaggedPair
from cc_hf_studies.disambiguation_bias.sentences import sentence_bias

if TYPE_CHECKING:
    from cc_hf.evaluators.base import Evaluator

__all__ = ["SeedRules", "fluent_samples", "has_preferred_sense", "select_seeds"]

_BATCH = 32  # seeds or samples whose texts are scored together


@dataclass(frozen=True)
class SeedRules:
    """Rules of the seeds; the defaults are those of the thesis.

    Attributes:
        min_tokens: smallest number of tokens of a seed.
        dropped_share: share of the pairs with the highest bias towards a wrong sense, by the
            difference of frequencies, that are no seeds; from 0 to below 1.
    """

    min_tokens: Annotated[int, AtLeast(1)] = 10
    dropped_share: Annotated[float, PART_OF_ONE] = 0.1

    def __post_init__(self) -> None:
        check_fields(self)


def select_seeds(
    pairs: Iterable[TaggedPair],
    table: AttractorTable,
    *,
    rules: SeedRules | None = None,
    masked_lm: Evaluator | None = None,
    lexicon: HomographLexicon | None = None,
    counts: Counter[str] | None = None,
) -> Iterator[TaggedPair]:
    """Yield the pairs that are attacked, in their order.

    Args:
        pairs: pairs that are not part of the training corpus. They are iterated twice, so they must
            not be an iterator; only numbers of them are kept.
    """
    if isinstance(pairs, Iterator):
        raise InputError(
            "pairs: expected a list or another object to iterate twice, got an iterator"
        )
    if masked_lm is not None and lexicon is None:
        raise InputError("lexicon: expected the senses that `masked_lm` compares, got none")
    rules = rules or SeedRules()
    counts = Counter() if counts is None else counts
    rows: list[int] = []
    biases: list[float] = []
    for batch in batched(enumerate(pairs), _BATCH):
        counts["n_pairs"] += len(batch)
        known = [item for item in batch if item[1].homograph in table.counts]
        counts["n_unknown"] += len(batch) - len(known)
        long = [item for item in known if len(word_texts(item[1].source)) >= rules.min_tokens]
        counts["n_short"] += len(known) - len(long)
        clear = long
        if masked_lm is not None and lexicon is not None and long:
            verdicts = has_preferred_sense([pair for _, pair in long], lexicon, masked_lm)
            clear = [item for item, keeps in zip(long, verdicts, strict=True) if keeps]
        counts["n_unclear"] += len(long) - len(clear)
        rows += [row for row, _ in clear]
        biases += [sentence_bias(table, p.source, p.homograph, p.cluster).diff for _, p in clear]
    if counts["n_unknown"] == counts["n_pairs"]:
        first = ", ".join(sorted(table.counts)[:5])
        raise InputError(
            f"pairs: expected pairs with a homograph of the table ({first}, ...), got none among"
            f" {counts['n_pairs']}; count attractors in a corpus that has them"
        )
    # A stable sort: of equal ones, the later pairs are dropped.
    n_kept = len(rows) - int(rules.dropped_share * len(rows))
    order = np.argsort(np.array(biases), kind="stable")[:n_kept]
    kept = {rows[i] for i in order.tolist()}
    counts["n_biased"] += len(rows) - len(kept)
    counts["n_seeds"] += len(kept)
    yield from (pair for row, pair in enumerate(pairs) if row in kept)


def has_preferred_sense(
    pairs: Sequence[TaggedPair], lexicon: HomographLexicon, masked_lm: Evaluator
) -> list[bool]:
    """Return whether a masked language model of the target language prefers the right sense.

    Each sense of each cluster of the homograph takes the place of the target word in the reference.
    The sentence with the highest pseudo-log-likelihood must have a sense of the right cluster. The
    thesis masks the word only, all its pieces at once.
    """
    candidates: list[tuple[int, str]] = []
    requests = []
    for row, pair in enumerate(pairs):
        lexicon.check(pair.homograph, pair.cluster, f"pair {pair.id!r}")
        start = pair.reference.find(pair.target_token)
        if start < 0 or not pair.target_token:
            continue
        end = start + len(pair.target_token)
        for name, cluster in lexicon.clusters(pair.homograph).items():
            for sense in cluster.senses:
                filled = f"{pair.reference[:start]}{sense}{pair.reference[end:]}"
                candidates.append((row, name))
                requests.append(ScoringRequest("", filled, row))
    best: dict[int, tuple[float, str]] = {}
    if requests:
        scores = masked_lm.score(requests, src_lang=lexicon.src_lang, tgt_lang=lexicon.tgt_lang)
        for (row, name), score in zip(candidates, scores.sum_logprob.tolist(), strict=True):
            if row not in best or score > best[row][0]:
                best[row] = (score, name)
    return [row in best and best[row][1] == pair.cluster for row, pair in enumerate(pairs)]


def fluent_samples(
    samples: Iterable[AdversarialSample],
    causal_lm: Evaluator,
    *,
    max_ratio: float = 1.2,
    lang: str = "en",
    counts: Counter[str] | None = None,
) -> Iterator[AdversarialSample]:
    """Yield the samples whose perplexity is at most `max_ratio` times that of their seed.

    The perplexity is exp of the mean negative log-probability per token, by a causal language model
    with an empty prompt. The end of the sentence counts where the model has a token for it.
    """
    if not max_ratio > 0:
        raise InputError(f"max_ratio: expected a number above 0, got {max_ratio}")
    counts = Counter() if counts is None else counts
    for batch in batched(samples, 8 * _BATCH):
        # Samples of one seed that differ in the wrong sense only are scored once.
        texts = list(dict.fromkeys(t for s in batch for t in (s.seed_source, s.source)))
        scores = causal_lm.score(
            [ScoringRequest("", text, row) for row, text in enumerate(texts)],
            src_lang=lang,
            tgt_lang=lang,
        )
        means = dict(zip(texts, scores.mean_logprob.tolist(), strict=True))
        for sample in batch:
            ratio = float(np.exp(means[sample.seed_source] - means[sample.source]))
            if ratio <= max_ratio:
                yield replace(sample, fluency_ratio=ratio)
            else:
                counts["n_not_fluent"] += 1
