"""What the modules of the `evaluate` library share: options of theirs and of the host apart, a result as one flat dict."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cc_hf.results import EvaluationResult

__all__ = ["filled", "flat", "split_options"]


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


def flat(result: EvaluationResult) -> dict[str, Any]:
    """Scores, n, counts, verdicts and predicted (lists, where there are judgements), intervals as [low, high], signature."""
    verdicts = {"verdicts": [j.verdict for j in result.judgements], "predicted": [j.predicted for j in result.judgements]}
    return {
        **result.scores,
        "n": result.n,
        **result.counts,
        **(verdicts if result.judgements else {}),
        "intervals": {name: [interval.low, interval.high] for name, interval in result.intervals.items()},
        "signature": result.signature,
    }
