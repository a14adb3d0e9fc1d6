"""Calibration of cues: which wording tells two readings apart best under an evaluator?

Half of the development set chooses the wording, and the other half says how good it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cc_hf import signature
from cc_hf.cues.wordings import GENDERS, Wording, check_takes_cues, gender_wordings
from cc_hf.errors import EvaluatorError, InputError, check_choice
from cc_hf.evaluation.calibration_file import (
    N_SKETCHED,
    Calibration,
    WordingFigures,
    WordingResult,
    row_digests,
)
from cc_hf.evaluators.base import Evaluator
from cc_hf.evaluators.contests import pair_scores, scorer_fields
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.evaluators.resolve import AnyEvaluator, resolve_evaluator
from cc_hf.evaluators.scores import SCORES
from cc_hf.plugins.calibration.development import DevelopmentRow, DevelopmentSet
from cc_hf.results import Interval
from cc_hf.schema import Focus, ScoringRequest
from cc_hf.statistics.bootstrap import (
    Bootstrap,
    known_intervals,
)
from cc_hf.statistics.score_intervals import share_interval
from cc_hf.statistics.separation import auc, auc_interval, reported_half

__all__ = ["CalibrationRun", "calibrate"]

_VERSION = 1  # increased whenever a figure can change
_FEWEST = 10  # translations of each reading in each half
_EQUAL = 0.01  # difference of AUC up to which wordings count as equally good

_Floats = npt.NDArray[np.float64]
_Flags = npt.NDArray[np.bool_]
#: The sources of one row for both readings, one or more each.
_Sides: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class CalibrationRun:
    """A calibration with what it was computed from.

    Attributes:
        calibration: figures of every wording, and the choice.
        differences: a mapping from wording to the difference of each translation: the log score
            under the first reading minus that under the second, natural logarithm, shape (n,).
        readings: the reading that each translation shows.
        is_reported: whether a translation is in the half that is reported, shape (n,).
    """

    calibration: Calibration
    differences: Mapping[str, _Floats] = field(repr=False)
    readings: tuple[str, ...] = field(repr=False)
    is_reported: _Flags = field(repr=False)


def calibrate(
    development: DevelopmentSet,
    *,
    evaluator: AnyEvaluator | None = None,
    wordings: Sequence[Wording] | None = None,
    loading: LoadingOptions | None = None,
    score: str = "geometric",
    seed: int = 0,
    progress: bool = False,
) -> CalibrationRun:
    """Compare wordings of cues under an evaluator.

    The difference between the log scores of a translation under the sources of both readings should
    tell which one it shows. On a random half of the sentences, the wording with the largest area
    under the ROC curve (AUC) is chosen, the first among those within 0.01. The figures on the other
    half are not biased by the choice. All translations of a sentence are in the same half.

    Args:
        development: translations with known readings. They must not be those that will be judged.
        evaluator: name, path, several of these (an ensemble), Evaluator or function; None uses the
            evaluator that ships for the language pair.
        wordings: the wordings to compare; None for all that the package has for the language, if
            the readings are female and male. The dataset's own cues are always compared.

    Examples:
        >>> from cc_hf.schema import Focus
        >>> rows = [
        ...     DevelopmentRow(f"Nurse {i} left.", Focus("Nurse", 0), text, reading)
        ...     for i in range(40)
        ...     for text, reading in (("die Pflegerin", "female"), ("der Pfleger", "male"))
        ... ]
        >>> def sees_only_nouns(sources, translations):
        ...     return [
        ...         0.9 if ("woman" in s) == t.endswith("in") else 0.1
        ...         for s, t in zip(sources, translations)
        ...     ]
        >>> development = DevelopmentSet(tuple(rows), "en", "de", "own")
        >>> run = calibrate(development, evaluator=sees_only_nouns)
        >>> run.calibration.choice.name, run.calibration.choice.report.auc
        ('gender_nouns', 1.0)
    """
    check_choice("score", score, SCORES)
    bootstrap = Bootstrap(seed=seed)
    rows, readings = development.rows, development.readings
    is_first = np.array([row.reading == readings[0] for row in rows])
    is_reported = reported_half([row.source for row in rows], seed)
    _check_halves(is_first, is_reported, readings)
    sources, left_out = _sources(development, _candidates(development, wordings))
    if not sources:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise InputError(
            f"wordings: expected at least one that fits the rows, got none ({reasons})"
        )
    scorer = resolve_evaluator(
        evaluator, loading, src_lang=development.src_lang, tgt_lang=development.tgt_lang
    )
    results: list[WordingResult] = []
    differences: dict[str, _Floats] = {}
    for name, (wording, by_row) in sources.items():
        difference = _differences(development, by_row, scorer, score=score, progress=progress)
        differences[name] = difference
        intervals = _intervals(
            difference[is_reported],
            is_first[is_reported],
            [row.source for row, reported in zip(rows, is_reported, strict=True) if reported],
            bootstrap,
        )
        choice, report = (
            _figures(difference[half], is_first[half]) for half in (~is_reported, is_reported)
        )
        limits = {figure: (interval.low, interval.high) for figure, interval in intervals.items()}
        results.append(WordingResult(name, wording, choice, report, limits))
    digests = sorted(row_digests([r.source for r in rows], [r.translation for r in rows]))
    model = scorer_fields(scorer, score)
    fields: dict[str, str | int] = {
        "data": development.data,
        "langs": f"{development.src_lang}-{development.tgt_lang}",
        **model,
        "readings": "-".join(readings),
        "n": len(rows),
        "boot": bootstrap.n_resamples,
        "seed": seed,
        "m": _VERSION,
    }
    calibration = Calibration(
        chosen=_chosen(results),
        wordings=tuple(results),
        left_out=left_out,
        readings=(readings[0], readings[1]),
        src_lang=development.src_lang,
        tgt_lang=development.tgt_lang,
        evaluator=model["eval"],
        n_rows=len(digests),
        sketch=tuple(digests[:N_SKETCHED]),
        signature=signature.build("calibration", fields),
    )
    return CalibrationRun(calibration, differences, tuple(row.reading for row in rows), is_reported)


def _chosen(results: Sequence[WordingResult]) -> str:
    """Return the first wording that is as good as the best, so that noise picks no unusual one."""
    best = max(result.choice.auc for result in results)
    return next(result.name for result in results if result.choice.auc >= best - _EQUAL)


def _candidates(development: DevelopmentSet, wordings: Sequence[Wording] | None) -> list[Wording]:
    """Return the wordings to compare, without those of readings that the rows do not have."""
    if wordings is None:
        of_language = gender_wordings(development.src_lang)
        wordings = of_language if development.readings == GENDERS else ()
    names = [wording.name for wording in wordings]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"wordings: expected another name for each, got {twice!r} twice")
    if not wordings and not development.own_cues:
        raise InputError(
            "wordings: expected at least one for the readings"
            f" {' and '.join(development.readings)} in {development.src_lang}; give wordings of"
            " your own"
        )
    return list(wordings)


def _sources(
    development: DevelopmentSet, wordings: Sequence[Wording]
) -> tuple[dict[str, tuple[Wording | None, list[_Sides]]], dict[str, str]]:
    """Return by name the wordings that fit with their sources, and why others do not fit."""
    first, second = development.readings
    sources: dict[str, tuple[Wording | None, list[_Sides]]] = {}
    left_out: dict[str, str] = {}
    for wording in wordings:
        try:
            sides = [_worded(row, wording, development.readings) for row in development.rows]
        except InputError as error:
            left_out[wording.name] = str(error)
        else:
            sources[wording.name] = (wording, sides)
    of_dataset = [
        (row.sources.get(first, ()), row.sources.get(second, ())) for row in development.rows
    ]
    if development.own_cues not in ("", *sources):
        sources[development.own_cues] = (None, of_dataset)
    return sources, left_out


def _worded(row: DevelopmentRow, wording: Wording, readings: tuple[str, ...]) -> _Sides:
    """Return the sources of a row in a wording."""
    check_takes_cues(row.source, [source for of in row.sources.values() for source in of])
    if row.focus is None and wording.cues:
        raise InputError(f"the ambiguous words are not located in {row.source!r}")
    focus = row.focus or Focus(row.source, 0)
    first, second = (wording.source(row.source, focus, reading) for reading in readings)
    if first == second:
        raise InputError(f"it makes the same source for both readings of {row.source!r}")
    return (first,), (second,)


def _differences(
    development: DevelopmentSet,
    sides: Sequence[_Sides],
    scorer: Evaluator,
    *,
    score: str,
    progress: bool,
) -> _Floats:
    """Return the log score under the first reading minus that under the second, for every row."""
    requests = [
        ScoringRequest(source, row.translation, number)
        for number, (row, of_row) in enumerate(zip(development.rows, sides, strict=True))
        for of_reading in of_row
        for source in of_reading
    ]
    scores = pair_scores(
        requests,
        scorer,
        src_lang=development.src_lang,
        tgt_lang=development.tgt_lang,
        score=score,
        progress=progress,
    )
    if not (scores > 0).all():
        row = requests[int(np.flatnonzero(scores <= 0)[0])].row
        raise EvaluatorError(f"expected scores above 0, got 0 for row {row}")
    starts = np.cumsum([0, *(len(of_reading) for of_row in sides for of_reading in of_row)])[:-1]
    best = np.log(np.maximum.reduceat(scores, starts)).reshape(-1, 2)
    difference: _Floats = best[:, 0] - best[:, 1]
    return difference


def _check_halves(is_first: _Flags, is_reported: _Flags, readings: Sequence[str]) -> None:
    for half in (is_reported, ~is_reported):
        for reading, is_of in zip(readings, (is_first, ~is_first), strict=True):
            if (n := int((is_of & half).sum())) < _FEWEST:
                raise InputError(
                    f"development set: expected at least {_FEWEST} translations of each reading in"
                    f" each half, got {n} of {reading!r}; give more translations"
                )


def _figures(difference: _Floats, is_first: _Flags) -> WordingFigures:
    first, second = difference[is_first], difference[~is_first]
    right = _right(difference, is_first)
    return WordingFigures(
        n=len(difference),
        auc=auc(difference, is_first),
        accuracy=float(right.mean()),
        accuracies=(float(right[is_first].mean()), float(right[~is_first].mean())),
        # Both readings count alike, so that a rare reading does not move the median.
        shift=float((np.median(first) + np.median(second)) / 2),
    )


def _right(difference: _Floats, is_first: _Flags) -> _Floats:
    """Return 1 for each right decision, 0.5 for a tie and 0 for a wrong one."""
    right: _Floats = (np.sign(difference) * np.where(is_first, 1, -1) + 1) / 2
    return right


def _intervals(
    difference: _Floats, is_first: _Flags, sentences: Sequence[str], bootstrap: Bootstrap
) -> dict[str, Interval]:
    """Return intervals of AUC and accuracy; whole sentences are drawn."""
    right = _right(difference, is_first)
    return known_intervals(
        {
            "auc": auc_interval(difference, is_first, sentences, **bootstrap.options),
            "accuracy": share_interval(right, np.ones(len(right)), groups=sentences),
        }
    )
