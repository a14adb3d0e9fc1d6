"""How numbers are written: shares, kappas and the like, p-values, signed numbers and counts.

Results hold shares in [0, 1]; only `cc_hf.reports` writes them in percent.
"""

from __future__ import annotations

import math

from cc_hf.results import Interval, NoInterval

__all__ = ["count", "decimal", "in_points", "limits", "p_text", "percent", "signed"]


def percent(value: float, *, digits: int = 1) -> str:
    """Return a share in [-1, 1] as a percentage without a percent sign; never "-0.0".

    Examples:
        >>> percent(0.6244), percent(-0.001), percent(-0.0001), percent(0.6244, digits=2)
        ('62.4', '-0.1', '0.0', '62.44')
    """
    return f"{round(100 * value, digits) + 0.0:.{digits}f}"  # adding 0.0 avoids a negative zero


def in_points(value: float) -> float:
    """Return a share in points, for the axis of a plot or a difference of shares."""
    return 100 * value


def decimal(value: float, interval: Interval | NoInterval | None = None, *, digits: int = 2) -> str:
    """Return a kappa or another figure that is not in percent, with its interval if it has one.

    Examples:
        >>> decimal(0.617), decimal(0.617, Interval(0.5, 0.75), digits=3)
        ('0.62', '0.617 (0.500 – 0.750)')
    """
    text = limits(interval, digits=digits)
    return f"{value:.{digits}f} ({text})" if text else f"{value:.{digits}f}"


def limits(interval: Interval | NoInterval | None, *, digits: int | None = None) -> str:
    """Return the limits of an interval, in percent if `digits` is None; "" if there is no interval.

    Examples:
        >>> limits(Interval(0.41, 0.6)), limits(Interval(0.41, 0.6), digits=2), limits(None)
        ('41.0 – 60.0', '0.41 – 0.60', '')
    """
    if not isinstance(interval, Interval):
        return ""
    return " – ".join(
        percent(value) if digits is None else f"{round(value, digits) + 0.0:.{digits}f}"
        for value in (interval.low, interval.high)
    ).replace("-", "−")


def p_text(value: float, *, n_exchanges: int | None = None) -> str:
    """Return a p-value with three decimals, or as a bound if it is smaller or cannot be smaller.

    Args:
        value: a p-value in [0, 1].
        n_exchanges: number of random exchanges that it was counted in; None for an exact one.

    Examples:
        >>> p_text(0.0499), p_text(0.0002)
        ('0.050', '< 0.001')
        >>> p_text(1 / 101, n_exchanges=100), p_text(2 / 101, n_exchanges=100)
        ('< 0.010', '0.020')
    """
    # The least p is 1 / (n_exchanges + 1), and says only that no exchange was as extreme.
    if n_exchanges is not None and value <= 1.5 / (n_exchanges + 1):
        bound = math.ceil(1000 / (n_exchanges + 1)) / 1000
        return f"< {bound:.3f}"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def signed(value: float, *, digits: int = 3) -> str:
    """Return a correlation, an effect or a difference with its sign.

    Examples:
        >>> signed(0.25), signed(-0.25, digits=1)
        ('+0.250', '-0.2')
    """
    return f"{value:+.{digits}f}"


def count(n: float) -> str:
    """Return a number of things, or its mean over runs, with commas between thousands.

    Examples:
        >>> count(3648), count(1234.5)
        ('3,648', '1,234')
    """
    return f"{n:,.0f}"
