"""What the modules of the `evaluate` library share: options of theirs and of the host apart, a
result as one flat dict.
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
    """Keyword arguments of a core's `compute`, and all others, which are the host's.

    >>> split_options(
    ...     lambda predictions, references, tgt_lang: {}, {"tgt_lang": "de", "num_process": 1}
    ... )
    ({'tgt_lang': 'de'}, {'num_process': 1})
    """
    # the host has a seed of its own
    own = inspect.signature(compute).parameters.keys() - {"predictions", "references", "seed"}
    return {k: v for k, v in options.items() if k in own}, {
        k: v for k, v in options.items() if k not in own
    }


def flat(result: EvaluationResult) -> dict[str, Any]:
    """Scores, n, counts, verdicts and predicted (lists, where there are judgements),
    `interval_fields`, signature; notes where there are some.
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
    """Return `intervals` (name -> [low, high]) and `interval_notes` (name -> what is unusual of its
    interval, or why there is none).
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
    """What users of a module name, as an evaluator: a name, path or several are opened, None stands
    for the one that ships for the pair.

    Args:
        loading: options of `cc_hf.load_evaluator`, of no effect on an Evaluator or a function.

    Raises:
        InputError: for something else.
        As `cc_hf.load_evaluator`.

    >>> opened_evaluator(3, src_lang="en", tgt_lang="de")  # type: ignore[arg-type]
    Traceback (most recent call last):
        ...
    cc_hf.errors.InputError: evaluator: expected a name, a path, an Evaluator or a function, got int
    """
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
