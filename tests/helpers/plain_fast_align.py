"""fast_align's forward model, token by token with dictionaries, to check the vectorized one."""

import math
from collections import defaultdict
from collections.abc import Sequence


def _digamma(x: float) -> float:
    actual = 0.0
    while x < 7:
        actual -= 1 / x
        x += 1
    x -= 0.5
    s = 1 / (x * x)
    return actual + math.log(x) + s / 24 - 7 * s**2 / 960 + 31 * s**3 / 8064 - 127 * s**4 / 30720


def _distance(i: int, j: int, n: int, m: int) -> float:
    return -abs(i / n - j / m)


def _swapped_normalizer(j: int, n: int, m: int, tension: float) -> float:
    """Return the closed form with m and n exchanged, where the number of terms wraps around below
    0.
    """
    below = int(j * m / n)
    ratio = math.exp(-tension / m)
    above = (m - below) % 2**32
    top = math.exp(tension * _distance(below + 1, j, m, n)) * (1 - ratio**above) / (1 - ratio)
    bottom = math.exp(tension * _distance(below, j, m, n)) * (1 - ratio**below) / (1 - ratio)
    return top + bottom


def plain_probabilities(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> list[list[list[float]]]:
    """Return, per pair and target token, the unnormalised probabilities of NULL and of each source
    token in the fifth iteration.
    """
    tension = 4.0
    seen: dict[str | None, set[str]] = defaultdict(set)
    for source, target in pairs:
        for e in (None, *source):
            seen[e].update(target)
    table = {(e, f): 1e-9 for e, fs in seen.items() for f in fs}
    n_tokens = sum(len(target) for _, target in pairs)
    for iteration in range(1, 6):
        counts: dict[tuple[str | None, str], float] = defaultdict(float)
        empirical = 0.0
        actual: list[list[list[float]]] = []
        for source, target in pairs:
            n, m = len(source), len(target)
            actual.append([])
            for j, f in enumerate(target, 1):
                prior = [math.exp(tension * _distance(i, j, n, m)) for i in range(1, n + 1)]
                joint = [table[None, f] * 0.08] + [
                    table[e, f] * 0.92 * p / sum(prior) for e, p in zip(source, prior, strict=True)
                ]
                actual[-1].append(joint)
                for i, (e, p) in enumerate(zip((None, *source), joint, strict=True)):
                    counts[e, f] += p / sum(joint)
                    empirical += _distance(i, j - 1, n, m) * p / sum(joint) if i else 0.0
        if iteration in (2, 3, 4):
            for _ in range(8):
                model = 0.0
                for source, target in pairs:
                    n, m = len(source), len(target)
                    for j in range(1, m + 1):
                        weighted = sum(
                            _distance(i, j, n, m) * math.exp(tension * _distance(i, j, n, m))
                            for i in range(1, n + 1)
                        )
                        model += weighted / _swapped_normalizer(j, n, m, tension)
                tension = min(max(tension + 20 * (empirical - model) / n_tokens, 0.1), 14.0)
        totals = {e: sum(counts[e, f] + 0.01 for f in fs) for e, fs in seen.items()}
        table = {
            (e, f): math.exp(_digamma(counts[e, f] + 0.01) - _digamma(totals[e])) for e, f in table
        }
    return actual
