"""Sheets on which people judge adversarial and regular sentences, and what their answers say
(thesis, section 3.3.3).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cc_hf.errors import InputError
from cc_hf.plugins.raters.sheets import Answers, SheetForm, SheetKey
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.agreement import cohen_kappa, kappa_interval
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.shares import wilson_share
from cc_hf_studies.common.weighted_kappa import weighted_kappa
from cc_hf_studies.disambiguation_bias.attacks.samples import AdversarialSample
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, TaggedPair

__all__ = [
    "ANSWERS",
    "FORM",
    "KINDS_OF_SENTENCES",
    "KindFigures",
    "SheetFigures",
    "draw_sentences",
    "rate_sheets",
]

#: Kinds of sentences on a sheet, which the raters do not see.
KINDS_OF_SENTENCES = ("adversarial", "regular")

#: Answers to the question which sense the word has, and what they mean.
ANSWERS = {
    "1": "The terms under SENSE 1 describe the meaning of the word best.",
    "2": "The terms under SENSE 2 describe the meaning of the word best.",
    "NONE": "Neither sense captures the meaning of the word.",
    "BOTH": "The word can equally be interpreted in both senses.",
}

_SCALE = {
    "1": "Completely unnatural: clearly ungrammatical, highly implausible, or incoherent.",
    "2": "Somewhat unnatural: not outright incoherent, but it sounds very strange.",
    "3": "Unsure: difficult to judge either way.",
    "4": "Mostly natural: it sounds good for the most part.",
    "5": "Completely natural: a well-formed English sentence.",
}

#: The sheet, with the instructions of the thesis (end of chapter 3) in short.
FORM = SheetForm(
    "homographs",
    "Your first task is to judge whether the meaning of the word, as used in the sentence, is best"
    " described by the terms of SENSE 1 or by those of SENSE 2. Your second task is to judge"
    " whether the sentence makes sense to you: whether it is grammatical, can be easily understood,"
    " and sounds acceptable as a whole.",
    {
        "SENTENCE": "The sentence.",
        "WORD": "The word to judge, as it stands in the sentence.",
        "SENSE 1": "Words that describe a sense.",
        "SENSE 2": "Words that describe another sense.",
    },
    {"WHICH SENSE IS CORRECT?": ANSWERS, "DOES THE SENTENCE MAKE SENSE?": _SCALE},
    {"kind": KINDS_OF_SENTENCES, "id": (), "right": ("1", "2")},
    (
        "Typos and spelling mistakes can be ignored.",
        "Pay special attention to the words near the word to judge.",
        '"John ate ten pancakes for breakfast." may get 4 or 5. "John ate green pancakes for'
        ' breakfast." is grammatical but unusual, and may get 3 or 4. "John ate late pancakes for'
        ' breakfast." does not sound natural, since pancakes cannot be late, and may get 1 or 2.',
    ),
)

_WORDS_OF_SENSE = 5


@dataclass(frozen=True)
class KindFigures:
    """Answers of both raters about the sentences of one kind.

    Attributes:
        n, n_wrong, n_none, n_both: number of answers, and of those that name the wrong sense, none
            that fits, or both.
        error_rate: share of answers other than the right sense, in [0, 1].
        interval: Wilson's interval of the error rate.
        naturalness: mean of the ratings, in [1, 5].
    """

    kind: str
    n: int
    n_wrong: int
    n_none: int
    n_both: int
    error_rate: float
    interval: Interval | NoInterval
    naturalness: float


@dataclass(frozen=True)
class SheetFigures:
    """What two filled sheets say.

    Attributes:
        kappa: Cohen's kappa of the two raters on the sense, over the four answers.
        kappa_interval: bootstrap interval over sentences.
        naturalness_kappas: weights ("linear", "quadratic") -> weighted kappa of the ratings. The
            thesis prints .17 without saying which.
    """

    n: int
    kinds: tuple[KindFigures, ...]
    kappa: float
    kappa_interval: Interval | NoInterval
    naturalness_kappas: dict[str, float]


def draw_sentences(
    samples: Sequence[AdversarialSample],
    pairs: Sequence[TaggedPair],
    lexicon: HomographLexicon,
    *,
    n: int = 1000,
    seed: int = 0,
) -> SheetKey:
    """Draw adversarial and regular sentences and shuffle them.

    An adversarial sentence offers the right sense and that of the attractor, a regular one the
    right sense and another one at random, in random order.
    """
    if n < 1:
        raise InputError(f"n: expected at least 1, got {n}")
    if not samples:
        raise InputError("samples: expected adversarial samples, got none")
    draw = random.Random(seed)
    items = []
    for i in _drawn(len(samples), n, draw):
        sample = samples[i]
        for cluster in (sample.seed_cluster, sample.adv_cluster):
            lexicon.check(sample.homograph, cluster, f"sample {sample.id!r}")
        senses = _senses(lexicon, sample.homograph, sample.seed_cluster, sample.adv_cluster)
        word = _word_at(sample.source, sample.homograph_start)
        items.append(_item(("adversarial", sample.id), (sample.source, word), senses, draw))
    for i in _drawn(len(pairs), n, draw):
        pair = pairs[i]
        senses = _senses(lexicon, pair.homograph, pair.cluster, _other_sense(pair, lexicon, draw))
        word = _word_at(pair.source, pair.start)
        items.append(_item(("regular", pair.id), (pair.source, word), senses, draw))
    return SheetKey.of(FORM, {"n": n, "seed": seed}, items)


def _drawn(n_rows: int, n: int, draw: random.Random) -> list[int]:
    return sorted(draw.sample(range(n_rows), min(n, n_rows)))


def _other_sense(pair: TaggedPair, lexicon: HomographLexicon, draw: random.Random) -> str:
    lexicon.check(pair.homograph, pair.cluster, f"pair {pair.id!r}")
    others = [name for name in lexicon.clusters(pair.homograph) if name != pair.cluster]
    if not others:
        raise InputError(
            f"pair {pair.id!r}: {pair.homograph!r} has one sense in the lexicon; expected another"
            " to offer; leave the pair out"
        )
    return draw.choice(others)


def _senses(lexicon: HomographLexicon, homograph: str, *clusters: str) -> list[str]:
    """Return the words that describe each sense."""
    words = lexicon.clusters(homograph)
    return [", ".join(words[cluster].senses[:_WORDS_OF_SENSE]) for cluster in clusters]


def _item(
    name: tuple[str, str], texts: tuple[str, str], senses: list[str], draw: random.Random
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the texts shown, with the right sense first or second at random, and their origin."""
    position = draw.randrange(2)
    offered = senses if position == 0 else senses[::-1]
    return (*texts, *offered), {"kind": name[0], "id": name[1], "right": str(position + 1)}


def _word_at(sentence: str, start: int) -> str:
    length = next(
        (i for i, letter in enumerate(sentence[start:]) if not letter.isalnum()),
        len(sentence) - start,
    )
    return sentence[start : start + length]


def rate_sheets(
    key: SheetKey,
    first: Answers,
    second: Answers,
    *,
    bootstrap: Bootstrap | None = None,
) -> SheetFigures:
    """Return error rates in [0, 1], naturalness, and the agreement of two raters."""
    senses, ratings = (
        [[rater[row.id][question] for row in key.rows] for rater in (first, second)]
        for question in (0, 1)
    )
    origins = [(row.id, origin) for row in key.rows for origin in row.origins]
    kinds = [
        _kind_figures(kind, of_kind, (first, second))
        for kind in KINDS_OF_SENTENCES
        if (of_kind := [entry for entry in origins if entry[1]["kind"] == kind])
    ]
    return SheetFigures(
        len(key.rows),
        tuple(kinds),
        cohen_kappa(*senses, labels=list(ANSWERS)),
        kappa_interval(*senses, labels=list(ANSWERS), **(bootstrap or Bootstrap()).options),
        {
            weights: weighted_kappa(*ratings, labels=list(_SCALE), weights=weights)
            for weights in ("linear", "quadratic")
        },
    )


def _kind_figures(
    kind: str,
    origins: Sequence[tuple[str, Mapping[str, str]]],
    raters: Sequence[Answers],
) -> KindFigures:
    answers = [(origin["right"], *rater[name]) for name, origin in origins for rater in raters]
    counts = Counter("right" if sense == right else sense for right, sense, _ in answers)
    n, n_errors = len(answers), len(answers) - counts["right"]
    return KindFigures(
        kind,
        n,
        n_errors - counts["NONE"] - counts["BOTH"],
        counts["NONE"],
        counts["BOTH"],
        n_errors / n,
        wilson_share(n_errors, n).interval,
        sum(int(naturalness) for _, _, naturalness in answers) / n,
    )
