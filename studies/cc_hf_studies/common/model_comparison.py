"""Two translation models side by side: BLEU, errors on homographs, success of attacks, choices on
Wino-X (Emelin 2023, Tables 5.6 and 5.7), with paired tests. Nothing is translated or scored here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.comparing.alignment import AlignedJudgements
from cc_hf.errors import InputError
from cc_hf.results import EvaluationResult
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.corpus_quality import score_of_sums, sentence_statistics
from cc_hf.statistics.paired import (
    McNemar,
    PairedDifference,
    difference_interval,
    figure_differences,
    mcnemar,
)
from cc_hf.statistics.randomization import exchange_tests
from cc_hf.statistics.score_intervals import estimate_share
from cc_hf.statistics.shares import quotients

__all__ = [
    "ComparedFigure",
    "compared_bleu",
    "compared_rates",
    "compared_verdicts",
]


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A figure of two models on the same data.

    Attributes:
        figure: "bleu", "wsd_errors", "attack_success" or "wino_x_accuracy".
        n: number of samples that count for each of the models.
        difference: higher BLEU and accuracy are better, and fewer errors and successful attacks.
        mcnemar: over the samples that count for both, where "right" stands for an error or a
            successful attack if these are counted; None for BLEU.
    """

    figure: str
    data: str
    n: tuple[int, int]
    difference: PairedDifference
    mcnemar: McNemar | None
    signatures: tuple[str, str]


def compared_bleu(
    translations: tuple[Sequence[str], Sequence[str]],
    references: Sequence[str],
    *,
    tgt_lang: str = "",
    data: str = "",
    bootstrap: Bootstrap | None = None,
) -> ComparedFigure:
    """Compare sacreBLEU's BLEU, in [0, 1], by resampling and exchanging sentences."""
    from sacrebleu.metrics.bleu import BLEU

    if not references or any(len(texts) != len(references) for texts in translations):
        raise InputError(
            "expected a translation by both models for each reference, and at least one, got"
            f" {len(translations[0])}, {len(translations[1])} and {len(references)}"
        )
    bootstrap = bootstrap or Bootstrap()
    scorer = BLEU(trg_lang=tgt_lang)
    first, second = (sentence_statistics(scorer, texts, references) for texts in translations)
    differences = figure_differences(
        first, second, score_of_sums("bleu", scorer), **bootstrap.options
    )
    signature = f"bleu|{scorer.get_signature()}"
    return ComparedFigure(
        "bleu",
        data,
        (len(references), len(references)),
        differences["bleu"],
        None,
        (signature, signature),
    )


def compared_verdicts(
    figure: str,
    results: tuple[EvaluationResult, EvaluationResult],
    counts: Callable[[str], bool],
    *,
    data: str = "",
    bootstrap: Bootstrap | None = None,
) -> ComparedFigure:
    """Compare how often verdicts of some kind were given to two models on the same examples, of
    which the two of a pair are drawn, and exchanged, together.
    """
    first, second = results
    aligned = AlignedJudgements.of({"the first": first, "the second": second})
    if first.metric != second.metric:
        raise InputError(f"expected one metric, got {first.metric} and {second.metric}")
    if reason := aligned.why_examples_differ("the first", "the second"):
        raise InputError(f"expected judgements of the same examples: {reason}")
    pairs = list(aligned.pairs("the first", "the second"))
    return compared_rates(
        figure,
        ([counts(j.verdict) for j, _ in pairs], [counts(j.verdict) for _, j in pairs]),
        [j.unit for j, _ in pairs],
        data=data or f"{first.dataset}/{first.config}",
        signatures=(first.signature, second.signature),
        bootstrap=bootstrap,
    )


def compared_rates(
    figure: str,
    flags: tuple[Sequence[bool | None], Sequence[bool | None]],
    groups: Sequence[Hashable],
    *,
    data: str = "",
    signatures: tuple[str, str] = ("", ""),
    bootstrap: Bootstrap | None = None,
) -> ComparedFigure:
    """Compare the share of samples with some property among those that count for each model.

    Args:
        flags: for both models, whether each of n samples has the property; None for a sample that
            does not count for this model.
        bootstrap: seed and number of resamples and exchanges; None for the defaults.

    Returns:
        Shares in [0, 1].

    Examples:
        >>> row = compared_rates("x", ([True, False, None], [True, True, False]), [0, 1, 2])
        >>> row.n, row.difference.first, round(row.difference.second, 3)
        ((2, 3), 0.5, 0.667)
        >>> row.mcnemar
        McNemar(n_only_first=0, n_only_second=1, p_value=1.0)
    """
    if len(flags[0]) != len(flags[1]) or len(groups) != len(flags[0]):
        raise InputError(
            "expected the same samples for both models, got"
            f" {len(flags[0])} and {len(flags[1])} with {len(groups)} groups"
        )
    bootstrap = bootstrap or Bootstrap()
    counted = np.array([[flag is not None for flag in row] for row in flags])
    has = np.array([[bool(flag) for flag in row] for row in flags])
    n = counted.sum(axis=1)
    if not len(groups) or not n.all():
        raise InputError(f"{figure}: expected samples that count for both models, got {n.tolist()}")
    first, second = np.stack([has, counted], axis=2)
    test = exchange_tests(first, second, _rate, groups=groups, **bootstrap.options)["rate"]
    shares = [estimate_share(*flags.T, groups=groups) for flags in (first, second)]
    both = counted.all(axis=0)
    return ComparedFigure(
        figure,
        data,
        (int(n[0]), int(n[1])),
        PairedDifference(
            test.first,
            test.second,
            test.second - test.first,
            difference_interval(*shares),
            test.p_value,
            test.is_exact,
        ),
        mcnemar(has[0, both], has[1, both]),
        signatures,
    )


def _rate(parts: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, npt.NDArray[np.float64]]:
    has, counted = parts["all"].T
    return {"rate": quotients(has, counted)}
