"""Refuse judgements of a file whose verdicts contradict the scores that stand beside them."""

from __future__ import annotations

from cc_hf.errors import InputError
from cc_hf.metrics.neither import shows_neither
from cc_hf.schema import NEITHER, Judgement

__all__ = ["check_probability", "check_reading", "check_verdict"]

_ROUNDING = 1e-9


def check_probability(judgement: Judgement, expected: float | None) -> None:
    """Refuse a probability that its scores do not give; `expected` is None without alternatives."""
    told = judgement.probability_correct
    if told is None or expected is None:
        is_same = told is expected
    else:
        is_same = abs(told - expected) <= _ROUNDING
    if not is_same:
        raise InputError(
            f"example {judgement.example_id!r}: probability_correct: its scores give {expected},"
            f" the file says {told}; evaluate the translations again"
        )


def check_verdict(
    judgement: Judgement, probability: float, *, ties: str, threshold: float = 0.0
) -> None:
    """Refuse a verdict that its probability does not give.

    Args:
        ties: what a tie is, "correct" or "incorrect"; "" where this is not known.

    Examples:
        >>> judged = Judgement("7", "all", True, "x", "correct", probability_correct=0.9)
        >>> check_verdict(judged, 0.9, ties="correct")
    """
    is_tie = probability == 0.5
    if is_tie and not ties:
        return
    verdict = "correct" if probability > 0.5 or (is_tie and ties == "correct") else "incorrect"
    if threshold and shows_neither(probability, threshold):
        verdict = NEITHER
    if judgement.verdict != verdict:
        raise _denied(judgement, "its scores give", repr(verdict))


def check_reading(judgement: Judgement, *verdicts: str) -> None:
    """Refuse a verdict that is none of those that what was read, `predicted`, can have where `gold`
    was asked for.

    Examples:
        >>> check_reading(Judgement("7", "all", True, "x", "correct", "male", "male"), "correct")
    """
    if judgement.verdict not in verdicts:
        read = f"{judgement.predicted!r} for {judgement.gold!r} gives"
        raise _denied(judgement, read, " or ".join(map(repr, verdicts)))


def _denied(judgement: Judgement, because: str, expected: str) -> InputError:
    return InputError(
        f"example {judgement.example_id!r}: verdict: {because} {expected}, the file says"
        f" {judgement.verdict!r}; evaluate the translations again"
    )
