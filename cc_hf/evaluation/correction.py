"""Figures that include the mistakes of the judge, by trusted verdicts on some of the samples: those
of a larger evaluator, or of people.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from cc_hf import signature
from cc_hf.errors import InputError, ResultWarning
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.figure_keys import CORRECTED, TRANSFERRED
from cc_hf.label_checks import shown_labels
from cc_hf.metrics.base import Metric, registered_metric
from cc_hf.results import EvaluationResult, Interval, NoInterval, different_options
from cc_hf.schema import NEITHER, Judgement
from cc_hf.statistics.bootstrap import known_intervals, missing_intervals
from cc_hf.statistics.checks import check_number
from cc_hf.statistics.correction import transferred_share
from cc_hf.statistics.score_intervals import FEWEST, Estimate

__all__ = [
    "audited",
    "check_audit",
    "corrected",
    "corrected_estimates",
    "judge_of",
    "random_part",
    "transferred",
]

_Figure: TypeAlias = tuple[float, Interval | NoInterval]

#: Fields that describe an evaluator.
_OF_THE_EVALUATOR = ("eval", "dtype", "toolong", "logprob", "ensemble", "students")
_PART = re.compile(r"(/seed\d+)?/n\d+$")
#: Fields at the end of every signature.
_LAST = ("norm", "n", "boot", "seed", "m", "v")


def random_part(ids: Sequence[str], size: int, *, seed: int = 0) -> frozenset[str]:
    """Draw some ids, each with the same probability.

    Examples:
        >>> sorted(random_part(["a", "b", "c"], 2))
        ['b', 'c']
    """
    return frozenset(random.Random(seed).sample(list(ids), min(size, len(ids))))


def check_audit(metric: type[Metric]) -> None:
    """Refuse a metric whose verdicts no larger evaluator can check.

    Examples:
        >>> check_audit(registered_metric("contrastive_conditioning"))
    """
    if not (metric.takes_evaluator and metric.takes_translations and metric.judges):
        raise InputError(
            "audit: expected a metric by which an evaluator judges translations, such as"
            f" contrastive_conditioning, got {metric.name}"
        )


def audited(
    result: EvaluationResult,
    material: Material,
    evaluator: AnyEvaluator,
    *,
    size: int = 400,
    options: Mapping[str, Any] | None = None,
    loading: LoadingOptions | None = None,
    seed: int = 0,
    progress: bool = False,
) -> EvaluationResult:
    """Judge a random part of the translations again by a larger evaluator, and correct the figures.

    Examples:
        >>> from cc_hf import evaluate, load_material
        >>> material, texts = load_material("simplegen", "en-de"), ["Sie ist Ärztin."] * 2664
        >>> def large(sources, translations):
        ...     return [len(text) for text in sources]
        >>> small = lambda sources, translations: [1.0] * len(sources)
        >>> result = evaluate(material, translations=texts, evaluator=small)
        >>> audited(result, material, large, size=400).counts["n_trusted"]
        400
    """
    check_number("size", size, low=FEWEST)
    metric = make_metric(result.metric, options)
    check_audit(type(metric))
    if not result.judgements:
        raise InputError(
            "audit: expected a result with verdicts on translations, got none; shares of open"
            " choices cannot be corrected"
        )
    texts = {j.example_id: j.translation for j in result.judgements}
    drawn = random_part(list(texts), size, seed=seed)
    part = replace(material, chosen=drawn, limit=None)
    signed = signature.parse(result.signature)[1]
    languages = {"src_lang": material.src_lang, "tgt_lang": material.tgt_lang}
    trusted_judge = resolve_evaluator(evaluator, loading, **languages)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)  # the result has the notes
        verdicts = judge(
            metric.opened(trusted_judge, **languages),
            part,
            [texts[example.id] for example in part.examples],
            evaluator=trusted_judge,
            origin={"sys": signed["sys"]} if "sys" in signed else None,
            clean={"yes": True, "no": False}.get(signed.get("clean", "")),
            progress=progress,
        )
    trusted = signature.parse(verdicts.signature)[1]
    by = trusted["eval"]
    if signature.is_same_evaluator(by, signed["eval"]):
        raise InputError(f"audit: expected another evaluator than {by}, which judged all of them")
    ignored = {"data", "n", *_OF_THE_EVALUATOR}
    if material.wording is None:
        ignored |= {"cues"}  # each judge has those that it understands best
    if "own" in (signed["score"], trusted["score"]):
        ignored |= {"score"}  # a function has its own
    if option := different_options(result, verdicts, ignored=ignored):
        raise InputError(
            f"audit: expected the material and options of the result, got another {option!r}"
        )
    known = {*result.notes, *part.limit_notes}
    name = " and ".join(member.partition("@")[0] for member in by.split("+"))
    notes = (f"audit: {note}" for note in verdicts.notes if note not in known)
    if students := [fields["students"] for fields in (signed, trusted) if "students" in fields]:
        signed["students"] = "+".join(dict.fromkeys(students))
        result = replace(result, signature=signature.unparse(metric.signature_name, signed))
    return corrected(
        replace(result, notes=(*result.notes, *notes)),
        {j.example_id: float(j.is_correct) for j in verdicts.judgements},
        neither={j.example_id: 1.0 for j in verdicts.judgements if j.verdict == NEITHER},
        by=f"{by}/seed{seed}",
        about=f"an audit by {name} of a random part",
    )


def corrected(
    result: EvaluationResult,
    trusted: Mapping[str, float],
    *,
    by: str,
    about: str,
    inclusion: Mapping[str, float] | None = None,
    neither: Mapping[str, float] | None = None,
) -> EvaluationResult:
    """Add the figures that trusted verdicts on a part of the samples correct (prediction-powered
    inference, Angelopoulos et al. 2023; see `cc_hf.statistics.correction`).

    Accuracy, minimum accuracy, accuracy by category, and the metric's differences of these are
    corrected; figures with weights by rank are not.

    Args:
        trusted: id of a sample -> how right it is by the trusted judge, in [0, 1].
        by: the trusted judge, as the signature names it.
        about: the trusted verdicts, as the note names them.
        inclusion: id of a sample -> the probability with which it was drawn, above 0; None if it is
            the same for all.
        neither: id of a sample -> the share of the trusted judge's verdicts by which it shows
            neither reading, in [0, 1], 0 where it is missing. Corrected accuracies are shares of
            what shows one.

    Returns:
        The result with scores whose names begin with "corrected_", and the trusted verdicts in its
            judgements. A figure of fewer than 20 trusted verdicts is left out, and a note says so.

    Raises:
        InputError: for a result without judgements, verdicts on other samples or out of range,
            fewer than 20 of them, or one whose probability is missing.
    """
    judgements = {j.example_id: j for j in result.judgements}
    if unknown := [name for name in trusted if name not in judgements]:
        raise InputError(
            f"trusted verdicts: expected those on samples that were judged, got one on"
            f" {unknown[0]!r}, which is not among the {len(judgements)}"
        )
    if len(trusted) < FEWEST:
        raise InputError(f"trusted verdicts: expected at least {FEWEST}, got {len(trusted)}")
    if inclusion is not None and not trusted.keys() <= inclusion.keys():
        missing = next(name for name in trusted if name not in inclusion)
        raise InputError(
            f"inclusion: example {missing}: expected the probability with which it was drawn, got"
            " none"
        )
    result = replace(
        result,
        judgements=tuple(
            replace(
                j,
                trusted=trusted.get(j.example_id),
                inclusion=None if inclusion is None else inclusion.get(j.example_id),
                trusted_neither=(neither or {}).get(j.example_id, 0.0),
            )
            for j in result.judgements
        ),
    )
    estimates = corrected_estimates(result.metric, result.judgements)
    lacking = [c.category for c in result.categories if f"accuracy_{c.category}" not in estimates]
    labelled = f"by {about}: {len(trusted):,} of {result.n:,} translations"
    note = (
        f"Corrected figures include the judge's mistakes, {labelled}; their intervals hold for what"
        " that judge would say of all"
        if estimates
        else f"No figure could be corrected {labelled}, since these show neither reading"
    )
    if (agreement := result.kappa_with_labels) is not None:
        note += f". Both agree by a kappa of {agreement:.2f}"
    if lacking and estimates:
        named = ", ".join(lacking[:3]) + (f" and {len(lacking) - 3} more" if lacking[3:] else "")
        note += f". Fewer than {FEWEST} are of {named}, so that no minimum is corrected"
    return _with_figures(
        result,
        CORRECTED,
        {name: (e.value, e.interval) for name, e in estimates.items()},
        {"trusted": f"{by}/n{len(trusted)}"},
        note,
    )


def corrected_estimates(metric: str, judgements: Sequence[Judgement]) -> dict[str, Estimate]:
    """Return the figures that trusted verdicts correct, without "corrected_"; {} if none can be."""
    return registered_metric(metric).corrected(judgements)


def judge_of(trusted: str) -> str:
    """Return who gave the trusted verdicts.

    Examples:
        >>> judge_of("org/model@1a2b3c4/seed0/n400"), judge_of("people/n200")
        ('org/model@1a2b3c4', 'people')
    """
    return _PART.sub("", trusted)


def transferred(result: EvaluationResult, labelled: EvaluationResult) -> EvaluationResult:
    """Add figures that are corrected by the judge's mistakes on other samples, such as those of
    another system (Rogan & Gladen 1978; see `cc_hf.statistics.correction.transferred_share`).

    They rest on the assumption that the judge errs alike on both, which a note says.
    """
    known = shown_labels(labelled.judgements)
    if not known:
        raise InputError("labels: expected a result with trusted verdicts, got one without")
    if len({j.inclusion for j in known}) > 1:
        raise InputError(
            "labels: expected trusted verdicts that were drawn with the same probability, since the"
            " judge's sensitivity is measured on them; got several"
        )
    figures = {"accuracy": _transferred(result.judgements, known)}
    for category in {j.category for j in known}:
        figures[f"accuracy_{category}"] = _transferred(
            [j for j in result.judgements if j.category == category],
            [j for j in known if j.category == category],
        )
    known_figures = {name: figure for name, figure in sorted(figures.items()) if figure is not None}
    if "accuracy" not in known_figures:
        raise InputError(
            "labels: expected trusted verdicts on right and on wrong translations, got only one"
            " kind"
        )
    by = signature.parse(labelled.signature)[1].get("trusted", "labels")
    return _with_figures(
        result,
        TRANSFERRED,
        {
            name: figure
            for name, figure in known_figures.items()
            if name == "accuracy" or not isinstance(figure[1], NoInterval)
        },
        {"transferred": by},
        f"Transferred figures are corrected by {len(known):,} trusted verdicts on other"
        " translations. They assume that the judge errs on these as it does on those, which nothing"
        " here shows",
    )


def _transferred(judged: Sequence[Judgement], labelled: Sequence[Judgement]) -> _Figure | None:
    """Return the corrected share of right judgements; None without judgements or enough labels."""
    table = np.zeros((2, 2), dtype=np.int64)
    for j in labelled:
        table[int(not j.trusted or j.trusted < 0.5), int(not j.is_correct)] += 1
    n_right = sum(j.is_correct for j in judged)
    n_wrong = sum(not j.is_correct and j.verdict != NEITHER for j in judged)
    if not (n_right or n_wrong) or not table.sum(axis=1).all():
        return None
    return transferred_share(np.array([n_right, n_wrong]), table)


def _with_figures(
    result: EvaluationResult,
    prefix: str,
    figures: Mapping[str, _Figure],
    fields: Mapping[str, str],
    note: str,
) -> EvaluationResult:
    """Add figures, signature fields and a note to a result."""
    intervals = {f"{prefix}{name}": interval for name, (_, interval) in figures.items()}
    metric, signed = signature.parse(result.signature)
    n_trusted = sum(j.trusted is not None for j in result.judgements)
    before = {key: text for key, text in signed.items() if key not in _LAST}
    after = {key: text for key, text in signed.items() if key in _LAST}
    return replace(
        result,
        scores={**result.scores, **{f"{prefix}{name}": v for name, (v, _) in figures.items()}},
        intervals={**result.intervals, **known_intervals(intervals)},
        no_interval={**result.no_interval, **missing_intervals(intervals)},
        counts={**result.counts, "n_trusted": n_trusted},
        signature=signature.unparse(metric, {**before, **fields, **after}),
        notes=(note, *result.notes),
    )
