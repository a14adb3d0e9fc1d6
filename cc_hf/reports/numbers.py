"""How numbers are written: shares, kappas and the like, p-values, signed numbers and counts.

Results hold shares in [0, 1]; only `cc_hf.reports` writes them in percent. Within a sentence, a
count is `{n:,}`, as everywhere in the package.
"""

from __future__ import annotations

import math

from cc_hf.results import Interval, NoInterval

__all__ = ["count", "decimal", "in_points", "limits", "p_text", "percent", "signed"]


def percent(value: float, *, digits: int = 1) -> str:
    """Return a share as a percentage.

    Args:
        value: a figure in [-1, 1].
        digits: number of decimals.

    Returns:
        The percentage without a percent sign; never "-0.0".

    Examples:
        >>> percent(0.6244), percent(-0.001), percent(-0.0001), percent(0.6244, digits=2)
        ('62.4', '-0.1', '0.0', '62.44')
    """
    return f"{round(100 * value, digits) + 0.0:.{digits}f}"  # adding 0.0 avoids a negative zero


def in_points(value: float) -> float:
    """Return a share in points, for the axis of a plot or a difference of shares.

    Args:
        value: a figure in [-1, 1].

    Examples:
        >>> in_points(0.625)
        62.5
    """
    return 100 * value


def decimal(value: float, interval: Interval | NoInterval | None = None, *, digits: int = 2) -> str:
    """Return a kappa or another figure that is not in percent, with its interval if it has one.

    Args:
        value: a kappa, an alpha, a correlation, a cosine or an area under a curve.
        digits: number of decimals.

    Returns:
        The figure, and the limits of the interval in brackets.

    Examples:
        >>> decimal(0.617), decimal(0.617, Interval(0.5, 0.75), digits=3)
        ('0.62', '0.617 (0.500 – 0.750)')
    """
    text = limits(interval, digits=digits)
    return f"{value:.{digits}f} ({text})" if text else f"{value:.{digits}f}"


def limits(interval: Interval | NoInterval | None, *, digits: int | None = None) -> str:
    """Return the limits of an interval; "" if there is no interval.

    Args:
        digits: number of decimals; None to write percentages.

    Returns:
        The lower and the upper limit, separated by a dash, with real minus signs.

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
        n_exchanges: number of random exchanges that it was counted in; None for an exact one. It is
            at least 1 / (n_exchanges + 1), and a p-value of that size says only that no exchange
            was as extreme.

    Examples:
        >>> p_text(0.0499), p_text(0.0002)
        ('0.050', '< 0.001')
        >>> p_text(1 / 101, n_exchanges=100), p_text(2 / 101, n_exchanges=100)
        ('< 0.010', '0.020')
    """
    if n_exchanges is not None and value <= 1.5 / (n_exchanges + 1):
        bound = math.ceil(1000 / (n_exchanges + 1)) / 1000
        return f"< {bound:.3f}"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def signed(value: float, *, digits: int = 3) -> str:
    """Return a number that may be above or below 0 with its sign.

    Args:
        value: a correlation, an effect or a difference.
        digits: number of decimals.

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
