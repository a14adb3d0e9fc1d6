"""Contrastive conditioning (Vamvas & Sennrich 2021): a translation is right when it is more
probable under a correct cue than under a wrong one.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from cc_hf import __version__, signature
from cc_hf.errors import InputError, ResultWarning
from cc_hf.evaluators.base import Evaluator, ScoreFunction
from cc_hf.evaluators.contests import Contest, function_name, pair_scores
from cc_hf.evaluators.suitability import evaluator_notes
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_languages,
    check_rows,
    own_data,
    text,
    texts,
)
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.metrics.module import interval_fields, opened_evaluator
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Example, Judgement, ScoringRequest
from cc_hf.statistics.accuracy import (
    category_accuracies,
    min_accuracy,
    rank_weights,
    share,
    total_accuracy,
)
from cc_hf.statistics.bootstrap import (
    accuracy_intervals,
    check_bootstrap,
    known_intervals,
    missing_intervals,
)

__all__ = [
    "DECLARATION",
    "METRIC_VERSION",
    "check_input",
    "compute",
    "contests",
    "evaluate",
    "judge",
    "requests",
    "split_options",
]

#: Raised whenever a figure can change; the CHANGELOG says which and why.
METRIC_VERSION = 2

_TIES: Final = "correct"

#: of a reference
_FIELDS: Fields = {"correct_sources": texts, "incorrect_sources": texts, "category": text}
_KEYS = tuple(_FIELDS)


def check_input(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Refuse what cannot be judged, with the row that is wrong.

    Returns:
        The rows as plain lists, whatever held them (`cc_hf.metrics.checks.check_rows`).

    Raises:
        InputError: empty lists, different lengths, an empty or blank translation, a missing key, no
            or blank sources, a category that is not a string or is blank.
    """
    translations, rows = check_rows(predictions, references, _FIELDS, is_blank_allowed=False)
    for row, reference in enumerate(rows):
        if set(reference["correct_sources"]) & set(reference["incorrect_sources"]):
            raise InputError(
                f"row {row}: the same source is both correct and incorrect; every such pair would"
                " be a tie. Expected sources that differ in their cue"
            )
    return translations, rows


def requests(
    predictions: Sequence[str], references: Sequence[Mapping[str, Any]]
) -> list[ScoringRequest]:
    """One request per translation and contrastive source, row by row, the correct sources first."""
    return [
        ScoringRequest(source, translation, row)
        for row, (translation, reference) in enumerate(zip(predictions, references, strict=True))
        for key in _KEYS[:2]
        for source in reference[key]
    ]


def contests(references: Sequence[Mapping[str, Any]]) -> list[Contest]:
    """Per row the places of both sides' requests among all `requests`.

    >>> contests(
    ...     [
    ...         {"correct_sources": ["a"], "incorrect_sources": ["b", "c"]},
    ...         {"correct_sources": ["d"], "incorrect_sources": ["e"]},
    ...     ]
    ... )
    [(range(0, 1), range(1, 3)), (range(3, 4), range(4, 5))]
    """
    found: list[Contest] = []
    at = 0
    for reference in references:
        n_correct, n_incorrect = (len(reference[key]) for key in _KEYS[:2])
        found.append(
            (range(at, at + n_correct), range(at + n_correct, at + n_correct + n_incorrect))
        )
        at += n_correct + n_incorrect
    return found


def judge(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    scores: npt.NDArray[np.float64],
    *,
    ids: Sequence[str] | None = None,
) -> tuple[Judgement, ...]:
    """The verdict on every translation (section 3.2): the best score of each side, their share, the
    rank weight.

    Where both sides score 0, probability_correct is 0.5, a tie. Ties count as correct, as in the
    paper's program.

    Args:
        predictions, references: as in `compute`.
        scores: in the order of `requests`.
        ids: names of the examples; None for row numbers.
    """
    names = check_ids(ids, len(predictions))
    best = np.empty((len(predictions), 2))
    at = 0
    for row, reference in enumerate(references):
        for side, key in enumerate(_KEYS[:2]):
            n = len(reference[key])
            best[row, side] = scores[at : at + n].max()
            at += n
    probability = np.array([share(correct, incorrect) for correct, incorrect in best.tolist()])
    categories = [reference["category"] for reference in references]
    weights = rank_weights(probability, categories)
    return tuple(
        Judgement(
            example_id=names[row],
            category=categories[row],
            probability_correct=float(probability[row]),
            is_correct=bool(probability[row] >= 0.5),
            verdict="correct" if probability[row] >= 0.5 else "incorrect",
            score_correct=float(best[row, 0]),
            score_incorrect=float(best[row, 1]),
            weight=int(weights[row]),
            translation=predictions[row],
        )
        for row in range(len(predictions))
    )


def evaluate(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    evaluator: Evaluator | ScoreFunction,
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    score: str = "geometric",
    ids: Sequence[str] | None = None,
    dataset: str = "",
    config: str = "",
    origin: Mapping[str, str] | None = None,
    seed: int = 0,
    n_resamples: int = 1000,
    progress: bool = False,
) -> EvaluationResult:
    """Judge translations and sum up.

    An evaluator that ships with the package, on data that it was not made for, adds a note to the
    result, and warns (`ResultWarning`).

    Args:
        predictions: translations.
        references: per translation a mapping with `correct_sources`, `incorrect_sources` (lists of
            sources) and `category`.
        evaluator: an Evaluator, or a function (sources, translations) -> scores, which are taken as
            they are.
        src_lang, tgt_lang: ISO 639-1 codes, checked against the evaluator's.
        score: arithmetic, geometric or reference (`cc_hf.evaluators.base.SCORES`); of no effect
            with a function.
        ids, dataset, config: names for the result.
        origin: signature fields of the data, such as {"data": "winomt/default@b2f1b31"}.
        seed, n_resamples: of the bootstrap.
        progress: show a bar on scoring that takes longer than a second.

    Raises:
        InputError: as `check_input`, or for an unknown score or language.
        EvaluatorError: as `pair_scores`.
        TooLongError: as `Evaluator.score`.
    """
    predictions, references = check_input(predictions, references)
    names = check_ids(ids, len(predictions))
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    check_languages(src_lang, tgt_lang)
    origin = {"data": own_data(references), **(origin or {})}
    if not isinstance(evaluator, Evaluator) and not callable(evaluator):
        raise InputError(
            f"evaluator: expected an Evaluator or a function, got {type(evaluator).__name__}"
        )
    scores = pair_scores(
        requests(predictions, references),
        evaluator,
        contests(references),
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        score=score,
        progress=progress,
    )
    judgements = judge(predictions, references, scores, ids=names)
    notes = evaluator_notes(evaluator, references, dataset=dataset)
    for note in notes:
        warnings.warn(note, ResultWarning, stacklevel=2)
    categories = [j.category for j in judgements]
    probability = np.array([j.probability_correct for j in judgements])
    correct = np.array([j.is_correct for j in judgements])
    weights = np.array([j.weight for j in judgements])
    found = category_accuracies(probability, correct, categories)
    totals = {
        "accuracy": total_accuracy(correct),
        "weighted_accuracy": total_accuracy(correct, weights),
        "min_accuracy": min_accuracy(found, weighted=False),
        "weighted_min_accuracy": min_accuracy(found, weighted=True),
        "mean_confidence": math.fsum(abs(2 * p - 1) for p in probability) / len(probability),
    }
    intervals = accuracy_intervals(correct, weights, categories, seed=seed, n_resamples=n_resamples)
    by_category = {f"accuracy_{c.category}": c.accuracy for c in found} | {
        f"weighted_accuracy_{c.category}": c.weighted_accuracy
        for c in found
        if c.weighted_accuracy is not None
    }
    return EvaluationResult(
        dataset=dataset,
        config=config,
        tgt_lang=tgt_lang,
        metric="contrastive_conditioning",
        signature=_signature(
            evaluator,
            origin,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            score=score,
            n=len(judgements),
            seed=seed,
            n_resamples=n_resamples,
        ),
        n=len(judgements),
        scores={**totals, **by_category},
        intervals=known_intervals(intervals),
        no_interval=missing_intervals(intervals),
        categories=found,
        judgements=judgements,
        counts={"n_correct": int(correct.sum()), "n_ties": int((probability == 0.5).sum())},
        notes=notes,
    )


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keyword arguments of `compute`, and all others, which are the host's.

    >>> split_options({"score": "geometric", "num_process": 1})
    ({'score': 'geometric'}, {'num_process': 1})
    """
    # the host has a seed of its own
    own = inspect.signature(compute).parameters.keys() - {"predictions", "references", "seed"}
    return {k: v for k, v in options.items() if k in own}, {
        k: v for k, v in options.items() if k not in own
    }


def _signature(
    evaluator: Evaluator | ScoreFunction,
    origin: Mapping[str, str],
    *,
    src_lang: str,
    tgt_lang: str,
    score: str,
    n: int,
    seed: int,
    n_resamples: int,
) -> str:
    if isinstance(evaluator, Evaluator):
        # as it scored
        src_lang, tgt_lang = src_lang or evaluator.src_lang, tgt_lang or evaluator.tgt_lang
        model = {**evaluator.signature_fields(), "score": score}
    else:
        model = {"eval": f"function {function_name(evaluator)}", "score": "own"}
    fields: dict[str, str | int] = {
        "data": origin["data"],
        "cues": "own",
        **origin,
        "langs": f"{src_lang or '?'}-{tgt_lang or '?'}",
        **model,
        "pool": "max",
        "weight": "rank",
        "tie": _TIES,
        "n": n,
        "boot": n_resamples,
        "seed": seed,
        "m": METRIC_VERSION,
        "v": __version__,
    }
    return signature.build("cc", fields)


def compute(
    predictions: Sequence[str],
    references: Sequence[Mapping[str, Any]],
    *,
    evaluator: str | Path | Sequence[str | Path] | Evaluator | ScoreFunction | None = None,
    src_lang: str = "",
    tgt_lang: str = "",
    score: str = "geometric",
    seed: int = 0,
    n_resamples: int = 1000,
    kind: str | None = None,
    prompt: str | None = None,
    device: str | None = None,
    batch_tokens: int | None = None,
    revision: str | Sequence[str | None] | None = None,
    on_too_long: str = "error",
    mode: str = "auto",
    cache: bool | str | Path = False,
    distributed: bool = False,
) -> dict[str, Any]:
    """What the `evaluate` module returns: figures in [0, 1] as one flat dict.

    `evaluator` is a name, a path, several of these (an ensemble), an Evaluator or a function; None
    takes the one that ships for the language pair. The options from `kind` on are those of
    `cc_hf.load_evaluator`, and of no effect on an Evaluator or a function. Others as in `evaluate`.

    Returns:
        accuracy, weighted_accuracy, min_accuracy, weighted_min_accuracy, mean_confidence,
        accuracy_<category>, weighted_accuracy_<category>, n, n_correct, n_ties, probability_correct
        (list), intervals (name -> [low, high], 95 %), interval_notes (name -> text), signature; and
        notes (list of str) if the evaluator is one that ships with the package and was not made for
        such data, of which a `ResultWarning` warns.

    Raises:
        As `evaluate`, and UnknownNameError or EvaluatorError when the evaluator cannot be loaded.

    >>> def by_length(sources, translations):
    ...     return [1 / len(source) for source in sources]
    >>> reference = {
    ...     "correct_sources": ["The [male] cook left."],
    ...     "incorrect_sources": ["The [female] cook left."],
    ...     "category": "male",
    ... }
    >>> result = compute(
    ...     ["Der Koch ging."], [reference], evaluator=by_length, src_lang="en", tgt_lang="de"
    ... )
    >>> result["accuracy"], round(result["probability_correct"][0], 3)
    (1.0, 0.523)
    """
    predictions, references = check_input(predictions, references)
    loaded = opened_evaluator(
        evaluator,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        kind=kind,
        prompt=prompt,
        revision=revision,
        device=device,
        batch_tokens=batch_tokens,
        on_too_long=on_too_long,
        mode=mode,
        cache=cache,
        distributed=distributed,
    )
    result = evaluate(
        predictions,
        references,
        loaded,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        score=score,
        seed=seed,
        n_resamples=n_resamples,
    )
    return {
        **result.scores,
        "n": result.n,
        **result.counts,
        "probability_correct": [j.probability_correct for j in result.judgements],
        **interval_fields(result),
        "signature": result.signature,
        **({"notes": list(result.notes)} if result.notes else {}),
    }


def _references(examples: Sequence[Example]) -> list[dict[str, Any]]:
    return [
        {key: getattr(example, key) for key in _KEYS}
        for example in cast(Sequence[ContrastiveSourceExample], examples)
    ]


def _fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
    return (
        ""
        if form is ContrastiveSourceExample
        else f"{dataset} {config} has no contrastive sources, which contrastive_conditioning needs"
    )


DECLARATION = MetricDeclaration(
    name="contrastive_conditioning",
    evaluate=evaluate,
    references=_references,
    fits=_fits,
    takes_evaluator=True,
    ties=_TIES,
    options=("score",),
    leaderboard=("accuracy", "weighted_accuracy", "min_accuracy"),
)
