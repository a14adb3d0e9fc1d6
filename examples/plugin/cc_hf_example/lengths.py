"""The judge "lengths:characters" or "lengths:words": the nearer in length, the better.

A service of your own can be asked in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cc_hf.errors import InputError
from cc_hf.evaluators.functions import FunctionEvaluator
from cc_hf.evaluators.options import LoadingOptions

__all__ = ["open_lengths"]

_COUNTS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: len(text.split()),
}


def open_lengths(name: str, options: LoadingOptions) -> FunctionEvaluator:
    """Return the judge of a name such as "lengths:words".

    Raises:
        InputError: for anything else that is to be counted.
    """
    unit = name.partition(":")[2]
    if unit not in _COUNTS:
        raise InputError(f"evaluator: expected lengths:{' or lengths:'.join(_COUNTS)}, got {name}")
    count = _COUNTS[unit]

    def lengths(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        pairs = zip(map(count, sources), map(count, translations), strict=True)
        return [min(pair) / max(*pair, 1) for pair in pairs]

    return FunctionEvaluator(lengths)
