"""The limits of Wilson's score interval, for statistics and for what evidence shows of a judge."""

from __future__ import annotations

import math

__all__ = ["Z95", "score_limits"]

#: The normal quantile of a two-sided interval of 95 %.
Z95 = 1.959963984540054


def score_limits(share: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Return the limits of Wilson's score interval of a share in [0, 1] (Wilson 1927).

    Examples:
        >>> low, high = score_limits(1.0, 124)
        >>> round(low, 3), high
        (0.97, 1.0)
    """
    weight = z * z / n
    middle = (share + weight / 2) / (1 + weight)
    half = math.sqrt(share * (1 - share) * weight + weight * weight / 4) / (1 + weight)
    # Rounding may bring a limit beyond 0, 1 or the share.
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return (0.0 if share == 0 else min(low, share), 1.0 if share == 1 else max(high, share))
