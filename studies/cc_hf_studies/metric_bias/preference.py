"""Which gender a judge prefers where the source says none, and its errors where the source does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.bootstrap import Bootstrap, percentile_interval, resampled_strata
from cc_hf.statistics.paired import McNemar, difference_interval, mcnemar
from cc_hf.statistics.score_intervals import estimate_share, ratio, share_interval
from cc_hf_studies.common.rank_tests import signed_rank

__all__ = ["Errors", "PairShare", "Preference", "errors", "mean_interval", "preference"]

_Floats = npt.NDArray[np.float64]
_NEVER = 1e-9  # keeps the ratio of errors finite, as in the paper's program


@dataclass(frozen=True, slots=True)
class PairShare:
    """A share of pairs, in [0, 1], of how many, with its interval."""

    value: float
    n: int
    interval: Interval | NoInterval

    @classmethod
    def of(cls, parts: npt.NDArray[np.bool_] | _Floats) -> PairShare:
        """Return the mean of parts in [0, 1] with Wilson's interval."""
        interval = share_interval(parts, np.ones(len(parts)))
        return cls(float(np.mean(parts)), len(parts), interval)


@dataclass(frozen=True, slots=True)
class Preference:
    """Preference of a judge among pairs whose sources leave the gender open.

    Attributes:
        masculine: the share of pairs whose masculine translation has the better score; a tie counts
            as half. A judge without a preference has 0.5.
        median_shift, mean_shift: median and mean of the masculine score minus the feminine one, in
            the unit of the score: for evaluators nats per token.
        shift_interval: interval of the mean shift, by bootstrap over pairs.
        probability: mean probability of the masculine translation; 0.5 is no preference. None for
            choices, which have none.
        p_value: two-sided p of Wilcoxon's signed-rank test of the shifts against 0.
        by_referent: gender of the person that is meant -> the share `masculine` of these pairs.
            Both are equal for a judge without knowledge of the person.
        ratio: mean of the feminine score divided by the masculine one (the paper's "QE ratio");
            None for scores that may be negative or 0, and for choices.
    """

    masculine: PairShare
    n_ties: int
    median_shift: float
    mean_shift: float
    shift_interval: Interval | NoInterval
    probability: float | None
    p_value: float
    by_referent: dict[str, PairShare]
    ratio: float | None = None


def preference(
    scores: _Floats,
    *,
    probabilities: _Floats | None,
    referents: Sequence[str] = (),
    bootstrap: Bootstrap | None = None,
) -> Preference:
    """Return the preference of a judge (Zaranis et al. 2025, section 3).

    Args:
        scores: shape (n, 2), the score of the masculine and of the feminine translation; higher is
            better. For evaluators, the mean log-probability of the tokens.
        probabilities: shape (n,), the probability of the masculine translation of the two; None
            for scores that are choices.
        referents: n genders of the persons that are meant, "" where unknown; empty for none.
    """
    shifts = scores[:, 0] - scores[:, 1]
    parts = _half_ties(shifts)
    genders = np.array(referents if len(referents) else [""] * len(shifts))
    has_ratio = probabilities is not None and bool(len(shifts)) and bool((scores > 0).all())
    return Preference(
        masculine=PairShare.of(parts),
        n_ties=int((shifts == 0).sum()),
        median_shift=float(np.median(shifts)),
        mean_shift=float(np.mean(shifts)),
        shift_interval=mean_interval(shifts, bootstrap or Bootstrap()),
        probability=None if probabilities is None else float(np.mean(probabilities)),
        p_value=signed_rank(scores[:, 0], scores[:, 1]),
        by_referent={
            gender: PairShare.of(parts[genders == gender])
            for gender in ("male", "female")
            if (genders == gender).any()
        },
        ratio=float(np.mean(scores[:, 1] / scores[:, 0])) if has_ratio else None,
    )


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of a judge among pairs whose sources show the gender. A tie is an error.

    Attributes:
        feminine, masculine: the share of sources with this gender under which the translation of
            the other gender is not worse.
        ratio, ratio_interval: feminine errors divided by masculine ones (the paper's Phi).
        gap_interval: interval of the feminine share minus the masculine one.
        test: McNemar's test of both.
        prior_shift, mean_prior_shift: median and mean of the shift towards the masculine
            translation, averaged over both sources of a pair.
        shift_free: gender -> the share of errors if the median shift is taken off the scores: how
            much of the difference is a constant preference; {} for choices.
        by_source: gender -> the share of references that are not more probable under their own
            source than under the other one; {} for choices.
    """

    feminine: PairShare
    masculine: PairShare
    total: float
    ratio: float
    ratio_interval: Interval | NoInterval
    gap_interval: Interval | NoInterval
    test: McNemar
    prior_shift: float
    mean_prior_shift: float
    shift_free: dict[str, PairShare]
    by_source: dict[str, PairShare]


def errors(scores: _Floats, *, are_choices: bool = False) -> Errors:
    """Return the errors of a judge where the source says the gender (Zaranis et al. 2025).

    Args:
        scores: shape (n, 2, 2): under the masculine and under the feminine source, the score of the
            masculine and of the feminine translation; higher is better.
    """
    shifts = scores[:, :, 0] - scores[:, :, 1]
    prior = shifts.mean(axis=1)
    wrong = {"male": shifts[:, 0] <= 0, "female": shifts[:, 1] >= 0}
    lean = float(np.median(prior))
    whole = np.ones(len(scores))
    feminine, masculine = (estimate_share(wrong[gender], whole) for gender in ("female", "male"))
    return Errors(
        feminine=PairShare.of(wrong["female"]),
        masculine=PairShare.of(wrong["male"]),
        total=(feminine.value + masculine.value) / 2,
        ratio=(feminine.value + _NEVER) / (masculine.value + _NEVER),
        ratio_interval=ratio(feminine, masculine),
        gap_interval=difference_interval(masculine, feminine),
        test=mcnemar(wrong["female"], wrong["male"]),
        prior_shift=lean,
        mean_prior_shift=float(np.mean(prior)),
        shift_free={}
        if are_choices
        else {
            "male": PairShare.of(shifts[:, 0] <= lean),
            "female": PairShare.of(shifts[:, 1] >= lean),
        },
        # A constant preference does not change these shares: contrastive conditioning compares
        # sources, not translations.
        by_source={}
        if are_choices
        else {
            "male": PairShare.of(scores[:, 0, 0] <= scores[:, 1, 0]),
            "female": PairShare.of(scores[:, 1, 1] <= scores[:, 0, 1]),
        },
    )


def _half_ties(shifts: _Floats) -> _Floats:
    return np.heaviside(shifts, 0.5)


def mean_interval(values: _Floats, bootstrap: Bootstrap) -> Interval | NoInterval:
    """Return the interval of a mean, by bootstrap over its values, (n,).

    Examples:
        >>> mean_interval(np.array([1.0]), Bootstrap(100)).reason
        'there is one pair only'
    """
    if len(values) < 2:
        return NoInterval("there is one pair only")
    sums = resampled_strata(values[:, np.newaxis], **bootstrap.options)["all"]
    return percentile_interval(sums[:, 0] / len(values))
