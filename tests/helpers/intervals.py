"""Read intervals in tests: the limits of one that must exist, or the reason why one is missing."""

from cc_hf.results import Interval, NoInterval


def limits(found: Interval | NoInterval | None) -> tuple[float, float]:
    assert isinstance(found, Interval), found
    return found.low, found.high


def reason(found: Interval | NoInterval | None) -> str:
    assert isinstance(found, NoInterval), found
    return found.reason
