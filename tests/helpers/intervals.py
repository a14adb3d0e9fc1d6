"""Read intervals in tests: the limits of one that must exist, or the reason why one is missing."""

from cc_hf.results import Interval, NoInterval


def limits(interval: Interval | NoInterval | None) -> tuple[float, float]:
    assert isinstance(interval, Interval), interval
    return interval.low, interval.high


def reason(interval: Interval | NoInterval | None) -> str:
    assert isinstance(interval, NoInterval), interval
    return interval.reason
