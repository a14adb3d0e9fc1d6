"""Contrastive translation scoring (Sennrich 2017, Rios et al. 2017): does a model find the correct
translation more probable than all contrastive ones?
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cc_hf import __version__, signature
from cc_hf.errors import InputError, shown
from cc_hf.evaluators.base import Evaluator, ScoreFunction, check_score_name
from cc_hf.evaluators.contests import Contest, decision_scores, function_name, pair_scores
from cc_hf.metrics.checks import (
    Fields,
    check_ids,
    check_languages,
    check_references,
    check_twins,
    optional_text,
    optional_texts,
    own_data,
    text,
)
from cc_hf.metrics.declaration import MetricDeclaration
from cc_hf.metrics.module import interval_fields, opened_evaluator
from cc_hf.metrics.summary import pair_figures, summarize
from cc_hf.results import CategoryAccuracy, EvaluationResult
from cc_hf.schema import ContrastiveTranslationExample, Example, Judgement, ScoringRequest
from cc_hf.statistics.accuracy import share
from cc_hf.statistics.bootstrap import check_bootstrap, known_intervals, missing_intervals

__all__ = [
    "CONTEXTS",
    "DECLARATION",
    "METRIC_VERSION",
    "check_input",
    "check_predictions",
    "compute",
    "contests",
    "evaluate",
    "judge",
    "requests",
    "translation_scores",
]

#: Raised whenever a figure can change; the CHANGELOG says which and why.
METRIC_VERSION = 2

_TIES: Final = "incorrect"

#: our names of scores -> those of `cc_hf.evaluators.base`; perplexity is kept as its inverse, so
#: that higher is better
_SCORES = {"perplexity": "geometric", "logprob": "logprob"}
#: what is done with the sentences that stand before a source
CONTEXTS = ("ignored", "prepended")
_OPTIONAL = ("source", "category", "pair", "context")
#: of a reference
_FIELDS: Fields = {
    "correct_translation": text,
    "contrastive_translations": optional_texts,
    **dict.fromkeys(_OPTIONAL, optional_text),
}


def check_predictions(predictions: object) -> None:
    """Refuse predictions, which are not judged here.

    Raises:
        InputError: with the metric that judges them.
    """
    if predictions is not None:
        raise InputError(
            "predictions: expected none: contrastive_translation_scoring judges the evaluator"
            " itself, by the translations in the references. To judge those of a system, use"
            " contrastive_conditioning"
        )


def check_input(
    references: Sequence[Mapping[str, Any]], *, whole: bool = True
) -> list[dict[str, Any]]:
    """Refuse what cannot be judged, with the row that is wrong.

    A batch, which is not the `whole`, may hold one half of a pair.

    Returns:
        The rows as a plain list, with all keys that the metric knows, "" for what they lack.

    Raises:
        InputError: no row, a missing key, a blank translation, a correct translation that is also a
            contrastive one, a category that is no text, more than two rows of a pair.

    >>> check_input(
    ...     [{"correct_translation": "a", "contrastive_translations": ("b",), "remark": "c"}]
    ... )
    [{'correct_translation': 'a', 'contrastive_translations': ['b'], 'source': '', 'category': '', 'pair': '', 'context': ''}]
    """  # noqa: E501
    rows = check_references(references, _FIELDS)
    for row, reference in enumerate(rows):
        if (correct := reference["correct_translation"]) in reference["contrastive_translations"]:
            raise InputError(
                f"row {row}: the correct translation is also a contrastive one, which would be a"
                f" tie: {correct!r}. Expected translations that differ"
            )
    if whole:
        check_twins([reference["pair"] for reference in rows])
    return rows


def requests(
    references: Sequence[Mapping[str, Any]], *, context: str = "ignored"
) -> list[ScoringRequest]:
    """One request per translation, row by row, the correct one first; the source behind its context
    where that is `prepended`.
    """
    found = []
    for row, reference in enumerate(references):
        before = reference.get("context") or "" if context == "prepended" else ""
        source = (
            f"{before} {reference.get('source') or ''}".strip()
            if before
            else reference.get("source") or ""
        )
        found += [
            ScoringRequest(source, text, row)
            for text in (reference["correct_translation"], *reference["contrastive_translations"])
        ]
    return found


def contests(references: Sequence[Mapping[str, Any]]) -> list[Contest]:
    """Per row that has a contrastive translation the place of the correct one's request among all
    `requests`, and those of the others.

    >>> contests(
    ...     [
    ...         {"contrastive_translations": ["b", "c"]},
    ...         {"contrastive_translations": []},
    ...         {"contrastive_translations": ["d"]},
    ...     ]
    ... )
    [(range(0, 1), range(1, 3)), (range(4, 5), range(5, 6))]
    """
    return [
        (range(start, start + 1), range(start + 1, end))
        for start, end in _spans(references)
        if end - start > 1
    ]


def _spans(references: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    ends = np.cumsum(
        [1 + len(reference["contrastive_translations"]) for reference in references]
    ).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def translation_scores(
    wanted: Sequence[ScoringRequest],
    evaluator: Evaluator | ScoreFunction,
    contests: Sequence[Contest] = (),
    *,
    src_lang: str,
    tgt_lang: str,
    score: str = "perplexity",
    progress: bool = False,
) -> npt.NDArray[np.float64]:
    """(n,) scores, higher is better: of an evaluator by the named definition (`evaluate`), or as a
    callable gives them, 0 or more.

    Raises:
        InputError: for a score that is not defined.
        EvaluatorError: as `pair_scores`; the message names the row.
    """
    check_score_name(score, _SCORES)
    if not isinstance(evaluator, Evaluator):
        return pair_scores(wanted, evaluator, src_lang=src_lang, tgt_lang=tgt_lang)
    return decision_scores(
        evaluator,
        wanted,
        contests,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        score=_SCORES[score],
        progress=progress,
    )


def judge(
    references: Sequence[Mapping[str, Any]],
    scores: npt.NDArray[np.float64],
    *,
    ids: Sequence[str] | None = None,
    is_log: bool = False,
) -> tuple[Judgement, ...]:
    """The verdict on every row: correct where the correct translation beats every contrastive one;
    a tie, also of two scores of 0, is incorrect.

    A row without contrastive translations is correct, as in MuCoW's scoring suite, and has no
    `probability_correct`.

    Args:
        references: as in `compute`.
        scores: in the order of `requests`, higher is better; each judgement keeps all of its row.
        ids: names of the examples; None for row numbers.
        is_log: scores are logarithms of probabilities.

    >>> rows = [{"correct_translation": "a", "contrastive_translations": ["b", "c"]}]
    >>> [
    ...     judge(rows, np.array(scores))[0].verdict
    ...     for scores in ([0.5, 0.25, 0.4], [0.5, 0.5, 0.4], [0.0, 0.0, 0.0])
    ... ]
    ['correct', 'incorrect', 'incorrect']
    """
    names, found = check_ids(ids, len(references)), []
    for name, reference, (start, end) in zip(names, references, _spans(references), strict=True):
        own: list[float] = scores[start:end].tolist()
        best = max(own[1:], default=None)
        is_correct = best is None or own[0] > best
        found.append(
            Judgement(
                name,
                reference.get("category") or "all",
                is_correct,
                reference["correct_translation"],
                "correct" if is_correct else "incorrect",
                probability_correct=(
                    None if best is None else _probability(own[0], best, is_log=is_log)
                ),
                score_correct=own[0],
                score_incorrect=best,
                scores=tuple(own),
            )
        )
    return tuple(found)


def _probability(correct: float, incorrect: float, *, is_log: bool) -> float:
    if is_log:
        correct, incorrect = (
            math.exp(value - max(correct, incorrect)) for value in (correct, incorrect)
        )
    return share(correct, incorrect)


def evaluate(
    references: Sequence[Mapping[str, Any]],
    evaluator: Evaluator | ScoreFunction,
    *,
    src_lang: str = "",
    tgt_lang: str = "",
    score: str | None = None,
    context: str = "ignored",
    ids: Sequence[str] | None = None,
    dataset: str = "",
    config: str = "",
    origin: Mapping[str, str] | None = None,
    seed: int = 0,
    n_resamples: int = 1000,
    progress: bool = False,
) -> EvaluationResult:
    """Judge a model by the translations that it prefers: the evaluator is the system under test.

    Args:
        references, context: as in `compute`.
        evaluator: an Evaluator, or a function (sources, translations) -> scores, higher is better,
            which are taken as they are.
        src_lang, tgt_lang: ISO 639-1 codes, checked against the evaluator's.
        score: None stands for perplexity. `perplexity`: exp(-mean log p) of the tokens, kept as its
            inverse, in [0, 1], so that higher is better (Emelin 2023, eq. 4.1); of a masked
            language model it is the pseudo-perplexity (Salazar et al. 2020). `logprob`: sum of log
            p, not normalised by length (Sennrich 2017), 0 or less. Both natural, with EOS where the
            model has one. Of no effect on a function.
        ids, dataset, config: names for the result.
        origin: signature fields of the data.
        seed, n_resamples: of the bootstrap: rows are drawn within their category, for
            `pair_accuracy` pairs are drawn whole.
        progress: show a bar on scoring that takes longer than a second.

    Raises:
        InputError: as `check_input`, or for an unknown score, context or language, or a context
            that no row has.
        EvaluatorError: as `translation_scores`.
        TooLongError: as `Evaluator.score`.
    """
    references = check_input(references)
    names = check_ids(ids, len(references))
    check_bootstrap(seed=seed, n_resamples=n_resamples)
    check_languages(src_lang, tgt_lang)
    origin = {"data": own_data(references), **(origin or {})}
    _check_context(references, context)
    if not isinstance(evaluator, Evaluator) and not callable(evaluator):
        raise InputError(
            f"evaluator: expected an Evaluator or a function, got {type(evaluator).__name__}"
        )
    score = score or "perplexity"
    wanted = requests(references, context=context)
    scores = translation_scores(
        wanted,
        evaluator,
        contests(references),
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        score=score,
        progress=progress,
    )
    judgements = judge(
        references,
        scores,
        ids=names,
        is_log=isinstance(evaluator, Evaluator) and score == "logprob",
    )
    summary = summarize(judgements, seed=seed, n_resamples=n_resamples)
    of_pairs, pair_intervals, counts = pair_figures(
        judgements,
        [reference.get("pair") or "" for reference in references],
        seed=seed,
        n_resamples=n_resamples,
    )
    intervals = {**summary.intervals, **pair_intervals}
    ties = [j.score_correct == j.score_incorrect for j in judgements]
    has_context = any(reference.get("context") for reference in references)
    fields = _signature_fields(
        evaluator,
        origin,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        score=score,
        context=context if has_context else "",
    )
    fields |= {
        "tie": _TIES,
        "n": len(judgements),
        "boot": n_resamples,
        "seed": seed,
        "m": METRIC_VERSION,
        "v": __version__,
    }
    return EvaluationResult(
        dataset=dataset,
        config=config,
        tgt_lang=tgt_lang,
        metric="contrastive_translation_scoring",
        signature=signature.build("cts", fields),
        n=len(judgements),
        scores={**summary.scores, **of_pairs},
        intervals=known_intervals(intervals),
        no_interval=missing_intervals(intervals),
        categories=tuple(_with_ties(c, judgements, ties) for c in summary.categories),
        judgements=judgements,
        counts={
            "n_correct": summary.counts["n_correct"],
            "n_ties": sum(ties),
            "n_without_contrast": sum(j.score_incorrect is None for j in judgements),
            **counts,
        },
    )


def _check_context(references: Sequence[Mapping[str, Any]], context: str) -> None:
    if context not in CONTEXTS:
        raise InputError(f"context: expected one of {', '.join(CONTEXTS)}, got {shown(context)}")
    if context == "prepended" and not any(reference.get("context") for reference in references):
        raise InputError(
            "context: expected sources with sentences before them (contextual_* of mt_geneval), got"
            " none to prepend; leave the option out"
        )


def _with_ties(
    found: CategoryAccuracy, judgements: Sequence[Judgement], ties: Sequence[bool]
) -> CategoryAccuracy:
    return replace(
        found,
        n_ties=sum(
            tie for j, tie in zip(judgements, ties, strict=True) if j.category == found.category
        ),
    )


def _signature_fields(
    evaluator: Evaluator | ScoreFunction,
    origin: Mapping[str, str],
    *,
    src_lang: str,
    tgt_lang: str,
    score: str,
    context: str,
) -> dict[str, str | int]:
    if isinstance(evaluator, Evaluator):
        # as it scored
        src_lang, tgt_lang = src_lang or evaluator.src_lang, tgt_lang or evaluator.tgt_lang
        model = {**evaluator.signature_fields(), "score": score}
    else:
        model = {"eval": f"function {function_name(evaluator)}", "score": "own"}
    fields = {**origin, "sys": "scored", "langs": f"{src_lang or '?'}-{tgt_lang or '?'}", **model}
    return {**fields, "context": context} if context else {**fields}


def compute(
    references: Sequence[Mapping[str, Any]],
    *,
    evaluator: str | Path | Sequence[str | Path] | Evaluator | ScoreFunction | None = None,
    src_lang: str = "",
    tgt_lang: str = "",
    score: str = "perplexity",
    context: str = "ignored",
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

    Args:
        references: per row `correct_translation`, `contrastive_translations` (a list, also empty),
            and as far as there is one `source` (none: language models score the text alone),
            `category`, `pair` (a name that the twins of a schema share) and `context` (sentences
            before the source).
        evaluator: the model under test: a name, a path, several of these (an ensemble), an
            Evaluator or a function; None takes the one that ships for the language pair. The
            options from `kind` on are those of `cc_hf.load_evaluator`.
        context: ignored, or prepended to the source, with a blank between.
        src_lang, tgt_lang, score, seed, n_resamples: as in `evaluate`.

    Returns:
        accuracy, min_accuracy, accuracy_<category>, pair_accuracy (both twins correct; where rows
        have twins), n, n_correct, n_ties (the correct translation and the best contrastive one
        score the same: incorrect), n_without_contrast (correct), and with pairs n_pairs,
        n_pairs_correct, n_without_twin; verdicts (list), scores (per row a list, the correct
        translation's first), intervals (name -> [low, high], 95 %), interval_notes (name -> text),
        signature.

    Raises:
        As `evaluate`, and UnknownNameError or EvaluatorError when the evaluator cannot be loaded.

    >>> def prefers_short(sources, translations):
    ...     return [1 / len(translation) for translation in translations]
    >>> row = {
    ...     "source": "Das Schloss ist alt.",
    ...     "correct_translation": "The lock is old.",
    ...     "contrastive_translations": ["The castle is old."],
    ... }
    >>> result = compute([row], evaluator=prefers_short, src_lang="de", tgt_lang="en")
    >>> result["accuracy"], result["scores"]
    (1.0, [[0.0625, 0.05555555555555555]])
    """
    references = check_input(references)
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
        references,
        loaded,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        score=score,
        context=context,
        seed=seed,
        n_resamples=n_resamples,
    )
    return {
        **result.scores,
        "n": result.n,
        **result.counts,
        "verdicts": [j.verdict for j in result.judgements],
        "scores": [list(j.scores) for j in result.judgements],
        **interval_fields(result),
        "signature": result.signature,
    }


def _references(examples: Sequence[Example]) -> list[dict[str, Any]]:
    return [
        {
            "source": e.source,
            "correct_translation": e.correct_translation,
            "contrastive_translations": e.contrastive_translations,
            "category": e.category,
            "pair": e.extra.get("pair", ""),
            # elsewhere it is another column
            "context": e.extra["context"] if "source_with_context" in e.extra else "",
        }
        for e in examples
        if isinstance(e, ContrastiveTranslationExample)
    ]


def _fits(dataset: str, config: str, form: type[Example], src_lang: str, tgt_lang: str) -> str:
    return (
        ""
        if form is ContrastiveTranslationExample
        else (
            f"{dataset} {config} has no contrastive translations, which"
            " contrastive_translation_scoring needs"
        )
    )


DECLARATION = MetricDeclaration(
    name="contrastive_translation_scoring",
    evaluate=evaluate,
    references=_references,
    fits=_fits,
    takes_evaluator=True,
    takes_translations=False,
    ties=_TIES,
    resampling="within categories; of pairs, over whole pairs",
    options=("score", "context"),
    leaderboard=("accuracy", "min_accuracy", "pair_accuracy"),
)
