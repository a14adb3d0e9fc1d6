"""N-best lists: several hypotheses for each source, the first of which the system prefers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Hypothesis", "nbest_text"]

_BAR = "|||"


class Hypothesis(NamedTuple):
    """A translation of an n-best list, with the score of the system, higher is better, if there is
    one.
    """

    text: str
    score: float | None = None


def nbest_text(lists: Iterable[Sequence[Hypothesis]], *, is_jsonl: bool = False) -> str:
    r"""Return n-best lists as Moses writes them, or as JSONL with `index`, `text` and `score`.

    Examples:
        >>> nbest_text([[Hypothesis("Der Arzt", -1.5), Hypothesis("Die Ärztin", -2.25)]])
        '0 ||| Der Arzt ||| -1.500000\n0 ||| Die Ärztin ||| -2.250000\n'
    """
    lines = []
    for index, hypotheses in enumerate(lists):
        for text, score in hypotheses:
            if is_jsonl:
                row = {"index": index, "text": text}
                row |= {} if score is None else {"score": round(score, 6)}
                lines.append(json.dumps(row, ensure_ascii=False))
            else:
                ending = "" if score is None else f" {_BAR} {score:.6f}"
                lines.append(f"{index} {_BAR} {text}{ending}")
    return "".join(f"{line}\n" for line in lines)
