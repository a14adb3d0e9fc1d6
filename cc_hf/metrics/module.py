"""Helpers shared by modules of the `evaluate` library: separate their options from those of the
host, and flatten a result.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator, ScoreFunction
from cc_hf.results import EvaluationResult

__all__ = ["flat", "interval_fields", "opened_evaluator", "split_options"]


def split_options(
    compute: Callable[..., dict[str, Any]], options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split keyword arguments into those of a core's `compute` function and those of the host.

    Args:
        compute: function of the core.
        options: keyword arguments of both.

    Returns:
        The arguments of `compute`, and all others.

    Examples:
        >>> split_options(
        ...     lambda predictions, references, tgt_lang: {}, {"tgt_lang": "de", "num_process": 1}
        ... )
        ({'tgt_lang': 'de'}, {'num_process': 1})
    """
    # "seed" goes to the host, which has its own option of that name.
    core_names = inspect.signature(compute).parameters.keys() - {
        "predictions",
        "references",
        "seed",
    }
    return (
        {name: value for name, value in options.items() if name in core_names},
        {name: value for name, value in options.items() if name not in core_names},
    )


def flat(result: EvaluationResult) -> dict[str, Any]:
    """Return a result as one flat dict.

    Args:
        result: a result of any metric.

    Returns:
        Scores, n and counts; the lists verdicts and predicted if there are judgements; the fields
            of `interval_fields`; signature; and notes if there are any.
    """
    verdicts = {
        "verdicts": [j.verdict for j in result.judgements],
        "predicted": [j.predicted for j in result.judgements],
    }
    return {
        **result.scores,
        "n": result.n,
        **result.counts,
        **(verdicts if result.judgements else {}),
        **interval_fields(result),
        "signature": result.signature,
        **({"notes": list(result.notes)} if result.notes else {}),
    }


def interval_fields(result: EvaluationResult) -> dict[str, Any]:
    """Return the intervals of a result as plain values.

    Args:
        result: a result of any metric.

    Returns:
        `intervals`, a mapping from figure to [low, high], and `interval_notes`, a mapping from
            figure to what is unusual about its interval, or why there is none.
    """
    return {
        "intervals": {
            name: [interval.low, interval.high] for name, interval in result.intervals.items()
        },
        "interval_notes": result.interval_notes(),
    }


def opened_evaluator(
    evaluator: str | Path | Sequence[str | Path] | Evaluator | ScoreFunction | None,
    *,
    src_lang: str,
    tgt_lang: str,
    **loading: Any,
) -> Evaluator | ScoreFunction:
    """Return the evaluator that a user of a module names.

    Args:
        evaluator: a name, a path, or several of these, which are loaded; an Evaluator or a
            function, which is returned as it is; None for the evaluator that ships for the language
            pair.
        src_lang: ISO 639-1 code of the sources.
        tgt_lang: ISO 639-1 code of the translations.
        loading: options of `cc_hf.load_evaluator`; ignored for an Evaluator or a function.

    Raises:
        InputError: for anything else, or an evaluator that cannot be loaded as asked.
        EvaluatorError: for a model that is not as expected (see `cc_hf.load_evaluator`).

    Examples:
        >>> opened_evaluator(3, src_lang="en", tgt_lang="de")  # type: ignore[arg-type]
        Traceback (most recent call last):
            ...
        cc_hf.errors.InputError: evaluator: expected a name, a path, an Evaluator or a function, got int
    """  # noqa: E501
    if evaluator is None or isinstance(evaluator, (str, Path, list, tuple)):
        from cc_hf.evaluators.lazy import open_evaluator
        from cc_hf.models.location import default_evaluator

        name = default_evaluator(src_lang, tgt_lang) if evaluator is None else evaluator
        return open_evaluator(name, languages=(src_lang, tgt_lang), **loading)
    if isinstance(evaluator, Evaluator) or callable(evaluator):
        return evaluator
    raise InputError(
        "evaluator: expected a name, a path, an Evaluator or a function, got"
        f" {type(evaluator).__name__}"
    )
