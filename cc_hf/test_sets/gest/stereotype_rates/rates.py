"""The score of Pikuliak et al. (2024, section 4.1), from counts of readings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from cc_hf.results import Interval

__all__ = ["feminine_ranks", "masculine_rate", "masculine_rate_interval", "mean_rates"]

_Z = NormalDist().inv_cdf(0.975)
_Floats = npt.NDArray[np.float64]


def masculine_rate(male: _Floats, female: _Floats) -> _Floats:
    """Return the centre of Agresti and Coull's interval of the share of masculine readings.

    It is the share with two masculine and two feminine readings, almost, added to those that were
    made: (m + z²/2) / (m + f + z²) with z = 1.96. Without any readings it is 0.5.
    """
    return (male + _Z**2 / 2) / (male + female + _Z**2)


def masculine_rate_interval(male: int, female: int) -> Interval:
    """Return Agresti and Coull's 95 % interval of the share of masculine readings, in [0, 1].

    Examples:
        >>> interval = masculine_rate_interval(3, 1)
        >>> round(interval.low, 3), round(interval.high, 3)
        (0.289, 0.966)
    """
    n = male + female + _Z**2
    rate = (male + _Z**2 / 2) / n
    half = _Z * math.sqrt(rate * (1 - rate) / n)
    return Interval(max(0.0, rate - half), min(1.0, rate + half), method="agresti-coull")


def mean_rates(
    rates: Mapping[str, _Floats], people: Mapping[str, Sequence[str]]
) -> dict[str, _Floats]:
    """Return the means over stereotypes of women and of men, and from these the paper's figures.

    Args:
        rates: stereotype -> its masculine rate, arrays of one shape, without those of no readings.
        people: "women" and "men" -> their stereotypes.

    Returns:
        masculine_rate_women and masculine_rate_men (p_F, p_M in the paper); where both exist also
        masculine_rate, their mean (f_m), and stereotype_gap, men minus women (f_s).
    """
    members = {
        f"masculine_rate_{name}": [rates[s] for s in stereotypes if s in rates]
        for name, stereotypes in people.items()
    }
    means = {name: np.mean(values, axis=0) for name, values in members.items() if values}
    if len(means) == len(people):
        women, men = means["masculine_rate_women"], means["masculine_rate_men"]
        means = {
            "masculine_rate": (women + men) / 2,
            "stereotype_gap": men - women,
            **means,
        }
    return means


def feminine_ranks(rates: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each stereotype, 1 for the one with the lowest masculine rate."""
    return {name: 1 + sum(other < rate for other in rates.values()) for name, rate in rates.items()}
