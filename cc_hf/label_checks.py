"""Whether the labels that correct a judge's figures are those of these translations."""

from __future__ import annotations

from collections.abc import Sequence

from cc_hf.evidence import Rate, Rates, kappa
from cc_hf.fit_to_cite import GENDERS
from cc_hf.levels import RANKS_ONLY, SUPPORTED, Trust
from cc_hf.schema import NEITHER, Judgement

__all__ = ["rates_by_labels", "shown_labels", "why_doubted"]

# Labels that all say the same are doubted where the judge says otherwise of more than a share of
# the translations; and so are those that agree with a good judge hardly more than by chance.
_ONE_VERDICT, _LEAST_KAPPA = 0.1, 0.2


def rates_by_labels(judgements: Sequence[Judgement]) -> Rates:
    """Return how often the judge says what trusted verdicts say: of two genders, that a translation
    shows the feminine one; else that it is right.
    """
    counts = {True: [0, 0], False: [0, 0]}  # by label: found, and all
    for j in shown_labels(judgements):
        is_male = j.category.rpartition("/")[2] == "male"
        label, verdict = (j.trusted or 0) > 0.5, j.is_correct
        label, verdict = label != is_male, verdict != is_male
        counts[label][0] += verdict == label
        counts[label][1] += 1
    return Rates(Rate(*counts[True]), Rate(*counts[False]))


def why_doubted(judgements: Sequence[Judgement], trust: Trust | None) -> str:
    """Return why labels are hardly those of these translations; "" if nothing shows that."""
    labelled = shown_labels(judgements)
    if not labelled:
        return ""
    n = len(labelled)
    n_right = sum(j.trusted == 1 for j in labelled)
    n_found = sum(j.is_correct for j in labelled)
    if n_right in (0, n) and abs(n_found - n_right) > _ONE_VERDICT * n:
        which = "right" if n_right else "wrong"
        n_judged = n_found if n_right else n - n_found
        return (
            f"all {n:,} labels are {which}, where the judge finds {n_judged:,}: people hardly chose"
            " between the readings"
        )
    of_judge = rates_by_labels(judgements)
    names_genders = all(j.category.rpartition("/")[2] in GENDERS for j in judgements)
    if 0 in (of_judge.right.n, of_judge.wrong.n) and names_genders:
        return f"all {n:,} labels are of one reading: people hardly chose between both"
    agreement = kappa(of_judge)
    has_evidence = trust is not None and trust.level in (SUPPORTED, RANKS_ONLY)
    if agreement is None or agreement >= _LEAST_KAPPA or not has_evidence:
        return ""
    cause = "of another file" if agreement > -_LEAST_KAPPA else "of swapped columns"
    return (
        "the labels agree with a judge that evidence speaks for by a kappa of"
        f" {agreement:.2f} only: they may be {cause}"
    )


def shown_labels(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements with a trusted verdict where both sides find a reading."""
    return [
        j
        for j in judgements
        if j.trusted is not None
        and j.trusted != 0.5
        and j.verdict != NEITHER
        and j.trusted_neither <= 0.5
    ]
