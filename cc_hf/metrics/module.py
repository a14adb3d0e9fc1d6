"""What the modules of the `evaluate` library share: options of theirs and of the host apart, a result as one flat dict."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from cc_hf.errors import InputError
from cc_hf.evaluators.base import Evaluator, ScoreFunction
from cc_hf.results import EvaluationResult

__all__ = ["filled", "flat", "opened_evaluator", "picked", "split_options"]


def split_options(compute: Callable[..., dict[str, Any]], options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keyword arguments of a core's `compute`, and all others, which are the host's.

    >>> split_options(lambda predictions, references, tgt_lang: {}, {"tgt_lang": "de", "num_process": 1})
    ({'tgt_lang': 'de'}, {'num_process': 1})
    """
    own = inspect.signature(compute).parameters.keys() - {"predictions", "references", "seed"}  # the host has a seed of its own
    return {k: v for k, v in options.items() if k in own}, {k: v for k, v in options.items() if k not in own}


def filled(references: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[dict[str, str]]:
    """References with exactly these keys, "" for what they lack: the host takes no others.

    >>> filled([{"reference": "a", "remark": "b"}], ["reference", "pair"])
    [{'reference': 'a', 'pair': ''}]
    """
    return [{key: reference.get(key) or "" for key in keys} for reference in references]


def picked(references: Sequence[Mapping[str, Any]], keys: Collection[str]) -> list[dict[str, Any]]:
    """References without keys of other metrics, so that several can be combined on the same references.

    >>> picked([{"source": "a", "remark": "b"}], ["source"])
    [{'source': 'a'}]
    """
    return [{key: value for key, value in reference.items() if key in keys} for reference in references]


def flat(result: EvaluationResult) -> dict[str, Any]:
    """Scores, n, counts, verdicts and predicted (lists, where there are judgements), intervals as [low, high], signature; notes where there are some."""
    verdicts = {"verdicts": [j.verdict for j in result.judgements], "predicted": [j.predicted for j in result.judgements]}
    return {
        **result.scores,
        "n": result.n,
        **result.counts,
        **(verdicts if result.judgements else {}),
        "intervals": {name: [interval.low, interval.high] for name, interval in result.intervals.items()},
        "signature": result.signature,
        **({"notes": list(result.notes)} if result.notes else {}),
    }


def opened_evaluator(evaluator: str | Path | Sequence[str | Path] | Evaluator | ScoreFunction | None, *, src_lang: str, tgt_lang: str, **loading: Any) -> Evaluator | ScoreFunction:
    """What users of a module name, as an evaluator: a name, path or several are opened, None stands for the one that ships for the pair.

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
        from cc_hf.evaluators.location import default_evaluator
        from cc_hf.evaluators.remembered import open_evaluator

        name = default_evaluator(src_lang, tgt_lang) if evaluator is None else evaluator
        return open_evaluator(name, languages=(src_lang, tgt_lang), **loading)
    if isinstance(evaluator, Evaluator) or callable(evaluator):
        return evaluator
    raise InputError(f"evaluator: expected a name, a path, an Evaluator or a function, got {type(evaluator).__name__}")
