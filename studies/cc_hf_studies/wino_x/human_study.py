"""Sheets on which people choose the better translation of samples of MT-Wino-X, and what their
answers say (thesis, section 4.2.2).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.errors import InputError
from cc_hf.plugins.asking.prompting.samples import choice_samples
from cc_hf.plugins.raters.sheets import Answers, SheetForm, SheetKey
from cc_hf.results import Interval, NoInterval
from cc_hf.schema import ContrastiveTranslationExample, Example
from cc_hf.statistics.agreement import cohen_kappa, kappa_interval
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.score_intervals import estimate_share

__all__ = [
    "ANSWERS",
    "FORM",
    "RaterFigures",
    "SolverFigures",
    "draw_samples",
    "rate_samples",
]

_BOTH, _BAD = "BOTH", "BAD SAMPLE"

#: Answers to the question which translation is better, and what they mean.
ANSWERS = {
    "1": "TRANSLATION_1 is right, or you prefer it by what you know of the world.",
    "2": "TRANSLATION_2 is right, or you prefer it by what you know of the world.",
    _BOTH: "Both translations are exactly equally likely.",
    _BAD: "The translations are too bad to decide with confidence.",
}

_SENTENCE = "The cup does not fit on the shelf because it is too narrow."
_GERMAN = (
    "Der Pokal passt nicht auf das Regal, weil es zu schmal ist.",
    "Der Pokal passt nicht auf das Regal, weil er zu schmal ist.",
)

#: The sheet. The instructions are those at the end of chapter 4 of the thesis, in other words.
FORM = SheetForm(
    "wino-x",
    'Your task is to choose the better of two translations of an English sentence with "it".'
    ' First find the noun that "it" stands for: only one fits, by common sense. In'
    f' "{_SENTENCE}" it is the shelf, since a shelf can be too narrow for a cup. Then choose the'
    ' translation whose pronoun agrees with this noun. In German that is "'
    f'{_GERMAN[0]}" and not "{_GERMAN[1]}", where the pronoun stands for the cup.',
    {
        "SENTENCE": 'The English sentence, with the pronoun "it" and several nouns.',
        "TRANSLATION_1": 'A translation in which "it" stands for one noun.',
        "TRANSLATION_2": 'A translation in which "it" stands for another noun.',
    },
    {"WHICH TRANSLATION IS BETTER?": ANSWERS},
    {"id": (), "right": ("1", "2")},
    (
        "The translations were made by a machine. Ignore odd word order and wrong words as long as"
        f' you can tell which pronoun is right; "{_BAD}" is for all others.',
        'The two translations may differ elsewhere, too. Compare them by the translation of "it"'
        " only, as long as they say much the same.",
    ),
)


@dataclass(frozen=True)
class RaterFigures:
    """Answers of one person.

    Attributes:
        accuracy: share of samples with the right translation chosen, in [0, 1]; all other answers
            count as wrong. The thesis does not say how it counts them.
        interval: Wilson's interval of it.
    """

    accuracy: float
    interval: Interval
    n_wrong: int
    n_both: int
    n_bad: int


@dataclass(frozen=True)
class SolverFigures:
    """What two filled sheets say.

    Attributes:
        accuracy: mean accuracy of both, in [0, 1].
        interval: interval over samples, each with both answers.
        choice_accuracy: share of right ones among the answers 1 and 2; None without any.
        kappa: Cohen's kappa over the four answers.
        kappa_interval: bootstrap interval over samples.
    """

    tgt_lang: str
    n: int
    raters: tuple[RaterFigures, ...]
    accuracy: float
    interval: Interval
    choice_accuracy: float | None
    kappa: float
    kappa_interval: Interval | NoInterval


def draw_samples(examples: Sequence[Example], *, n: int = 100, seed: int = 0) -> SheetKey:
    """Draw samples of MT-Wino-X at random and shuffle them; translations stay in their order."""
    if n < 1:
        raise InputError(f"n: expected at least 1, got {n}")
    if not examples:
        raise InputError("examples: expected samples of MT-Wino-X, got none")
    drawn = random.Random(seed).sample(range(len(examples)), min(n, len(examples)))
    items = []
    for example in (examples[i] for i in sorted(drawn)):
        if not isinstance(example, ContrastiveTranslationExample) or not example.source:
            raise InputError(
                f"example {example.id!r}: expected a source with two translations; use a"
                " configuration mt_*.translations"
            )
        (sample,) = choice_samples(example)
        items.append(
            ((sample.sentence, *sample.options), {"id": example.id, "right": sample.answer})
        )
    settings = {"tgt_lang": examples[0].tgt_lang, "n": n, "seed": seed}
    return SheetKey.of(FORM, settings, items)


def rate_samples(
    key: SheetKey, first: Answers, second: Answers, *, bootstrap: Bootstrap | None = None
) -> SolverFigures:
    """Return the accuracy and the agreement of two people, in [0, 1]."""
    answers = [[rater[row.id][0] for row in key.rows] for rater in (first, second)]
    right = [row.origins[0]["right"] for row in key.rows]
    is_right = np.array(answers) == np.array(right)
    n_choices = sum(answer not in (_BOTH, _BAD) for row in answers for answer in row)
    both = estimate_share(is_right.sum(axis=0), np.full(len(right), 2))
    labels = list(ANSWERS)
    return SolverFigures(
        str(key.settings.get("tgt_lang", "")),
        len(right),
        tuple(_rater(row, flags) for row, flags in zip(answers, is_right, strict=True)),
        both.value,
        both.interval,
        int(is_right.sum()) / n_choices if n_choices else None,
        cohen_kappa(*answers, labels=labels),
        kappa_interval(*answers, labels=labels, **(bootstrap or Bootstrap()).options),
    )


def _rater(answers: Sequence[str], is_right: npt.NDArray[np.bool_]) -> RaterFigures:
    counts, n_right = Counter(answers), int(is_right.sum())
    share = estimate_share(is_right, np.ones(len(is_right)))
    n_wrong = len(answers) - n_right - counts[_BOTH] - counts[_BAD]
    return RaterFigures(share.value, share.interval, n_wrong, counts[_BOTH], counts[_BAD])
