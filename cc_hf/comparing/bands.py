"""How systems stand by the figure that is cited of them: bands of systems that cannot be told apart
on the same samples.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from cc_hf.comparing.alignment import AlignedJudgements, by_metric
from cc_hf.comparing.samples import NoSharedSamplesError, on_shared_samples
from cc_hf.evaluation.correction import corrected_estimates
from cc_hf.figure_keys import figure_key, is_corrected
from cc_hf.fit_to_cite import FEWEST_SAMPLES
from cc_hf.metrics.base import registered_metric
from cc_hf.metrics.figure_names import figure_name
from cc_hf.metrics.headline import (
    MOSTLY_READ,
    RARELY_UNREAD,
    headline,
    uncounted_of,
    unread_shares,
    why_not_ranked,
)
from cc_hf.results import EvaluationResult
from cc_hf.schema import NEITHER, counted_categories
from cc_hf.statistics.bands import Standing, standings, standings_of
from cc_hf.statistics.paired import estimated_differences

__all__ = [
    "Ranks",
    "compared_samples",
    "ranks",
    "ranks_by_metric",
]


@dataclass(frozen=True)
class Ranks:
    """How systems stand.

    Attributes:
        by: the figure by which they are ranked; "" if they are not.
        by_system: system -> its standing; of systems whose figures are fit to be cited, if there
            are two or more. Empty where the figure cannot be compared sample by sample.
        n_samples: number of samples that are compared; 0 without standings.
        is_shared: whether they are only the samples that every system read, so that figures on all
            samples have another value.
        why_not: system -> why it has no rank.
    """

    by: str = ""
    by_system: Mapping[str, Standing] = field(default_factory=dict)
    n_samples: int = 0
    is_shared: bool = False
    why_not: Mapping[str, str] = field(default_factory=dict)


def _ranking_figure(results: Mapping[str, EvaluationResult]) -> str:
    """Return the figure by which results of one metric are ranked: that of their headlines,
    corrected only if all have it corrected; "" where there is none that all have.
    """
    # The first figure that every system has; a corrected one only if all are corrected.
    names = dict.fromkeys(headline(result).by for result in results.values())
    shared = [n for n in names if n and all(n in result.scores for result in results.values())]
    plain = [str(figure_key(n)._replace(reference="")) for n in names]
    shared += [n for n in plain if n and all(n in result.scores for result in results.values())]
    return next(iter(shared), "")


def ranks_by_metric(
    results: Mapping[str, EvaluationResult], *, level: float = 0.95
) -> dict[str, Ranks]:
    """Return how systems stand, for each metric with several of them."""
    return {m: ranks(of, level=level) for m, of in by_metric(results).items() if len(of) > 1}


def ranks(
    results: Mapping[str, EvaluationResult],
    *,
    unproved: Collection[str] = (),
    level: float = 0.95,
) -> Ranks:
    """Return how systems stand by the figure that is cited of them.

    Where translations of a system are often unread, or much more often than those of another one,
    systems stand by the samples that all of them read.

    Args:
        results: system -> its result, all by one metric, judge and options on the same data.
        unproved: systems that have no rank, since nothing shows that their figures are right.
        level: confidence level of all statements together, in (0, 1).
    """
    proved = {name: result for name, result in results.items() if name not in unproved}
    by = _ranking_figure(proved or results)
    why_not = {name: why for name, result in proved.items() if (why := why_not_ranked(result, by))}
    # One system without a fit figure is left out instead of stopping the ranking.
    fit = {name: result for name, result in proved.items() if name not in why_not}
    if not by or len(fit) < 2 or not all(result.judgements for result in fit.values()):
        return Ranks(by, why_not=why_not)
    if is_corrected(by):
        return _of_corrected(by, fit, why_not, level)
    metric = registered_metric(next(iter(fit.values())).metric)
    is_of_read = figure_name(metric.figure_names, by).is_of_read
    if not is_of_read and by not in ("accuracy", "min_accuracy", "error_rate"):
        return Ranks(by, why_not=why_not)
    try:
        aligned, is_shared = compared_samples(fit, only_read=is_of_read)
    except NoSharedSamplesError:
        reason = "much is unread, and no sample is read in the translations of all systems"
        return Ranks(by, why_not={**why_not, **dict.fromkeys(fit, reason)})
    shared = aligned.shared(fit)
    if not shared.categories:
        return Ranks(by, why_not=why_not)
    categories = shared.categories if by == "min_accuracy" else None
    if categories is not None and is_shared:
        counted = counted_categories(dict.fromkeys(categories), metric.uncounted)
        if few := [c for c in counted if categories.count(c) < FEWEST_SAMPLES]:
            why = f"fewer than {FEWEST_SAMPLES} samples of {few[0]} are read by all systems"
            return Ranks(by, why_not={**why_not, **dict.fromkeys(fit, why)})
    of_systems = standings(
        shared.is_correct,
        categories=categories,
        uncounted=metric.uncounted,
        units=shared.units,
        level=level,
    )
    by_system = dict(zip(fit, of_systems, strict=True))
    return Ranks(by, by_system, len(shared.categories), is_shared, why_not)


def compared_samples(
    results: Mapping[str, EvaluationResult], *, only_read: bool = False
) -> tuple[AlignedJudgements, bool]:
    """Return the samples by which systems are compared, and whether some are left out: those that a
    system did not read, where much is unread.
    """
    aligned = AlignedJudgements.of(results)
    unread = {j.verdict for r in results.values() for j in r.judgements if not j.is_decided}
    only_read = only_read or NEITHER in unread  # accuracies leave these out
    if not unread or not (only_read or _differ_in_unread(results)):
        return aligned, False
    return on_shared_samples(results)[0], True


def _differ_in_unread(results: Mapping[str, EvaluationResult]) -> bool:
    """Return whether figures on all samples would compare how much is read."""
    shares = [unread_shares(result) for result in results.values()]
    return any(max(of) > MOSTLY_READ for of in shares) or any(
        max(of_figure) - min(of_figure) > RARELY_UNREAD for of_figure in zip(*shares, strict=False)
    )


def _of_corrected(
    by: str, fit: Mapping[str, EvaluationResult], why_not: Mapping[str, str], level: float
) -> Ranks:
    """Return how systems stand by figures that include the judge's mistakes, by intervals of
    differences.
    """
    names, metric = list(fit), next(iter(fit.values())).metric
    shared = AlignedJudgements.of(fit).shared(fit)
    if not shared.categories:
        return Ranks(by, why_not=why_not)
    estimates = [corrected_estimates(metric, row) for row in shared.table]
    name = figure_key(by).name
    if not all(name in of_system for of_system in estimates):
        return Ranks(by, why_not=why_not)
    counted = counted_categories(dict.fromkeys(shared.categories), uncounted_of(metric))
    of_systems = standings_of(
        [of_system[name].value for of_system in estimates],
        lambda i, j: estimated_differences(estimates[i], estimates[j], counted)[name].p_value,
        level=level,
    )
    by_system = dict(zip(names, of_systems, strict=True))
    return Ranks(by, by_system, len(shared.categories), why_not=why_not)
