"""How often the intervals that cc_hf prints contain the truth, and how often its tests reject a
true hypothesis, on data drawn with a known truth.

An interval of 95 % covers what it promises if it contains the truth in 95 % of samples. Every run
of a case draws a population (accuracies within the named range) and a sample of it.

python -m benchmarks.coverage_of_intervals --runs 2000 --output docs/coverage.md
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Annotated

import numpy as np
import numpy.typing as npt
import typer
from cc_hf_studies.common.mean_tests import paired_t_test, t_test
from cc_hf_studies.common.pearson import pearson_correlation
from cc_hf_studies.common.rank_tests import mann_whitney

from benchmarks.command import run_main
from cc_hf.results import Interval, NoInterval
from cc_hf.statistics.agreement import agreement_interval, kappa_interval
from cc_hf.statistics.bootstrap import Bootstrap
from cc_hf.statistics.correction import corrected_accuracies
from cc_hf.statistics.paired import estimated_difference, mcnemar, paired_differences
from cc_hf.statistics.rank_correlation import rank_correlation
from cc_hf.statistics.regression import least_squares
from cc_hf.statistics.score_intervals import estimate_share, ratio
from cc_hf.statistics.shares import part_shares, wilson_share
from cc_hf.statistics.verdict_columns import VerdictColumns
from cc_hf.test_sets.mucow.decisions import decision_intervals
from cc_hf.test_sets.winomt.gender_figures import gender_intervals

__all__ = ["CASES", "CONSERVATIVE", "Case", "Coverage", "main", "page", "simulate"]

Random = np.random.Generator
Found = Interval | NoInterval
#: Figure -> the truth and the interval that was computed for it.
Draw = Callable[[Random, Bootstrap], Mapping[str, tuple[float, Found]]]
#: Test -> p on data for which its hypothesis is true.
Test = Callable[[Random, Bootstrap], Mapping[str, float]]

_NEAR = {"0": (0.01, 0.05), ".5": (0.4, 0.6), "1": (0.95, 0.99), ".8": (0.7, 0.9)}
_PHI = NormalDist()
_MANY = 1 << 18


@dataclass(frozen=True)
class Case:
    """Data of one kind."""

    name: str
    draw: Draw | Test


@dataclass(frozen=True)
class Coverage:
    """The intervals of a figure, or the p-values of a test, in all runs of a case.

    Attributes:
        rate: share of the intervals that contain the truth; of a test the share of p of .05 or
            less.
        n: number of runs with an interval, or a p.
        n_without: number of runs in which the figure has no interval.
        width: mean width of the intervals; None for a test.
    """

    case: str
    figure: str
    rate: float
    n: int
    n_without: int
    width: float | None

    @property
    def error(self) -> float:
        """Standard error of the rate, which comes from the number of runs."""
        return math.sqrt(max(self.rate * (1 - self.rate), 1 / self.n) / self.n)


def _accuracies(n: int, k: int, near: str, *, is_equal: bool = False) -> Draw:
    """Verdicts in k categories, with weights: confident samples are right more often."""

    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, tuple[float, Found]]:
        shares = random.uniform(*_NEAR[near], size=1 if is_equal else k) * np.ones(k)
        names = [f"c{i % k:02}" for i in range(n)]
        means = np.array([_PHI.inv_cdf(p) for p in shares])
        margin = random.normal(means[np.arange(n) % k])
        probability = 1 / (1 + np.exp(-margin))
        intervals = VerdictColumns.of(names, margin > 0, probability).intervals()
        weighted = np.array([_weighted_accuracy(round(mean, 2)) for mean in means])
        truths = {
            "accuracy": float(np.mean(shares[np.arange(n) % k])),
            "min_accuracy": float(shares.min()),
            "accuracy_c00": float(shares[0]),
            "weighted_min_accuracy": float(weighted.min()),
            "weighted_accuracy_c00": float(weighted[0]),
        }
        return {name: (truth, intervals[name]) for name, truth in truths.items()}

    return draw


@cache
def _quantiles() -> npt.NDArray[np.float64]:
    return np.array([_PHI.inv_cdf((i + 0.5) / _MANY) for i in range(_MANY)])


@cache
def _weighted_accuracy(mean: float) -> float:
    """Return the weighted accuracy in the population of margins around a mean."""
    grid = _quantiles() + mean
    weights = np.argsort(np.argsort(np.abs(grid))) + 1
    return float(weights[grid > 0].sum() / weights.sum())


def _decisions(n: int, k: int, near: str) -> Draw:
    """Decisions that may be inconclusive, in k domains."""

    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, tuple[float, Found]]:
        decided = random.uniform(0.7, 0.9, size=k)
        right = decided * random.uniform(*_NEAR[near], size=k)
        shares = np.stack([right, decided - right, 1 - decided], axis=1)
        domains = [f"d{i % k}" for i in range(n)]
        kinds = ("correct", "incorrect", "inconclusive")
        verdicts = [kinds[random.choice(3, p=shares[i % k])] for i in range(n)]
        intervals = decision_intervals(verdicts, {"domain": domains})
        c, i, u = shares.mean(axis=0) if n % k == 0 else shares[np.arange(n) % k].mean(axis=0)
        f1 = 2 * shares[:, 0] / (2 * shares[:, 0] + shares[:, 1] + shares[:, 2])
        truths = {
            "precision": c / (c + i),
            "recall_a": c / (c + u),
            "f1_a": 2 * c / (2 * c + i + u),
            "f1_b": 2 * c / (2 * c + 2 * i + u),
            "min_precision_domain": float((shares[:, 0] / shares[:, :2].sum(axis=1)).min()),
            "min_f1_a_domain": float(f1.min()),
        }
        return {
            name: (truth, intervals[name]) for name, truth in truths.items() if name in intervals
        }

    return draw


def _genders(n: int, near: str) -> Draw:
    """Genders read in translations of WinoMT: half of the rows male, half female."""

    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, tuple[float, Found]]:
        right = random.uniform(*_NEAR[near], size=(2, 2))  # gold gender, stereotype
        other = (1 - right) * random.uniform(0.5, 1, size=(2, 2))
        shares = np.zeros((3, 3, 4))
        for gold in range(2):
            for stereotype in range(2):
                cell = shares[gold, stereotype]
                cell[gold], cell[1 - gold] = right[gold, stereotype], other[gold, stereotype]
                cell[3] = 1 - cell.sum()
        counts = np.zeros((3, 3, 4), dtype=np.int64)
        for gold in range(2):
            drawn = random.multinomial(n // 2, shares[gold, :2].ravel() / 2)
            counts[gold, :2] = drawn.reshape(2, 4)
        intervals = gender_intervals(counts)
        true = shares.sum(axis=1) / 2  # gold, read
        f1 = [2 * true[g, g] / (1 + true[:, g].sum()) for g in range(2)]
        accuracy = right.mean(axis=0)
        truths = {
            "precision_male": true[0, 0] / true[:, 0].sum(),
            "recall_male": true[0, 0],
            "f1_male": f1[0],
            "delta_g": f1[0] - f1[1],
            "delta_s": accuracy[0] - accuracy[1],
        }
        outcomes = {
            name: (float(t), intervals[name]) for name, t in truths.items() if name in intervals
        }
        n_right = [int(counts[gold, :, gold].sum()) for gold in range(2)]
        if n_right[1]:
            flags = np.array([np.arange(n // 2) < k for k in n_right])
            is_male = np.repeat([True, False], n // 2)
            accuracies = (estimate_share(flags.ravel() & m, m) for m in (is_male, ~is_male))
            outcomes["ratio_male_female"] = float(true[0, 0] / true[1, 1]), ratio(*accuracies)
        return outcomes

    return draw


def _agreement(n: int, near: str) -> Draw:
    """Two annotators of a binary label, whose agreement is near a share; items weigh 1 to n."""

    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, tuple[float, Found]]:
        agreed, first = random.uniform(*_NEAR[near]), random.uniform(0.3, 0.7)
        left = random.random(n) < first
        equal = random.random(n) < agreed
        right = np.where(equal, left, ~left)
        second = first * agreed + (1 - first) * (1 - agreed)
        chance = first * second + (1 - first) * (1 - second)
        sides = left.tolist(), right.tolist()
        weights = list(range(1, n + 1))
        return {
            "agreement": (agreed, agreement_interval(*sides)),
            "weighted agreement": (
                agreed,
                agreement_interval(*sides, weights=weights),
            ),
            "kappa": (
                (agreed - chance) / (1 - chance),
                kappa_interval(*sides, **bootstrap.options),
            ),
        }

    return draw


def _groups(n_groups: int, size: int, near: str) -> Draw:
    """Shares of samples of which a group's are alike, such as the sub-words of a sentence."""

    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, tuple[float, Found]]:
        share = random.uniform(*_NEAR[near])
        of_groups = random.beta(4 * share, 4 * (1 - share), size=n_groups)
        flags = random.random((n_groups, size)) < of_groups[:, None]
        names = np.repeat(np.arange(n_groups), size).tolist()
        (outcomes,) = part_shares(flags.ravel(), [np.ones(flags.size, dtype=bool)], groups=names)
        return {"share of grouped samples": (share, outcomes.interval)}

    return draw


def _shares(n: int, near: str) -> Draw:
    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, tuple[float, Found]]:
        share = random.uniform(*_NEAR[near])
        return {"share": (share, wilson_share(int(random.binomial(n, share)), n).interval)}

    return draw


def _pairs(n: int, k: int, near: str, correlation: float) -> Draw:
    """Two systems on the same samples, whose verdicts are correlated."""

    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, tuple[float, Found]]:
        shares = random.uniform(*_NEAR[near], size=(2, k))
        correct = _correlated(random, shares[:, np.arange(n) % k], correlation)
        names = [f"c{i % k:02}" for i in range(n)]
        compared = paired_differences(correct, names, **bootstrap.options)[0]
        of_rows = shares[:, np.arange(n) % k].mean(axis=1)
        truths = {
            "accuracy": of_rows[1] - of_rows[0],
            "min_accuracy": shares[1].min() - shares[0].min(),
            "accuracy_c00": shares[1, 0] - shares[0, 0],
        }
        return {
            f"difference of {name}": (float(t), compared[name].interval)
            for name, t in truths.items()
        }

    return draw


def _corrected(n: int, k: int, near: str, judge: tuple[float, float]) -> Draw:
    """Two systems, a judge whose mistakes differ by category, and 100 labels a category."""

    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, tuple[float, Found]]:
        category = np.arange(n) % k
        names = [f"c{i:02}" for i in category]
        shares = random.uniform(*_NEAR[near], size=(2, k))
        truth = _correlated(random, shares[:, category], 0.5)
        is_right = (
            random.random((2, n))
            < random.uniform(*judge, size=(2, k, 2))[
                np.arange(2)[:, None], category, truth.astype(int)
            ]
        )
        labelled = np.isin(np.arange(n), random.choice(n, 100 * k, replace=False))
        judged = np.where(is_right, truth, ~truth)
        first, second = (
            corrected_accuracies(j * 1.0, np.where(labelled, t, np.nan), names)
            for j, t in zip(judged, truth, strict=True)
        )
        mean = shares[:, category].mean(axis=1)
        truths = {
            "accuracy": mean,
            "min_accuracy": shares.min(axis=1),
            "accuracy_c00": shares[:, 0],
        }
        return {
            f"corrected {name}": (float(t[0]), first[name].interval)
            for name, t in truths.items()
            if name in first
        } | {
            f"difference of corrected {name}": (
                float(t[1] - t[0]),
                estimated_difference(first[name], second[name]).interval,
            )
            for name, t in truths.items()
            if name in first and name in second
        }

    return draw


def _correlated(
    random: Random, shares: npt.NDArray[np.float64], correlation: float
) -> npt.NDArray[np.bool_]:
    """Return (s, n) verdicts of s systems that are right with these shares."""
    s, n = shares.shape
    common = random.normal(size=n)
    separate = random.normal(size=(s, n))
    latent = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * separate
    limits = np.vectorize(_PHI.inv_cdf)(shares)
    return np.asarray(latent < limits)


def _correlations(n: int, correlation: float) -> Draw:
    """Two figures of the same items, normally distributed."""

    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, tuple[float, Found]]:
        x = random.normal(size=n)
        y = correlation * x + math.sqrt(1 - correlation**2) * random.normal(size=n)
        ranks = rank_correlation(x.tolist(), y.tolist(), **bootstrap.options)
        line = least_squares(("y", y.tolist()), {"x": x.tolist()})
        return {
            "Spearman": (6 / math.pi * math.asin(correlation / 2), ranks.spearman_interval),
            "Kendall": (2 / math.pi * math.asin(correlation), ranks.kendall_interval),
            "Pearson": (correlation, pearson_correlation(x.tolist(), y.tolist()).interval),
            "slope": (correlation, line.coefficient("x").interval),
        }

    return draw


def _tests(n: int, near: str, correlation: float) -> Test:
    """Equal systems on the same samples, and samples of equal populations."""

    def draw(random: Random, bootstrap: Bootstrap) -> dict[str, float]:
        share = np.full((2, n), random.uniform(*_NEAR[near]))
        correct = _correlated(random, share, correlation)
        compared = paired_differences(correct, ["all"] * n, **bootstrap.options)[0]
        first, second = random.normal(size=(2, n)).tolist()
        return {
            "randomisation": compared["accuracy"].p_value,
            "McNemar": mcnemar(*correct).p_value,
            "Mann-Whitney": mann_whitney(first, second).p_value,
            "Welch's t": t_test(first, second).p_value,
            "paired t": paired_t_test(first, second).p_value,
        }

    return draw


#: Beginnings of the names of figures whose intervals promise to cover at least 95 %.
CONSERVATIVE = ("min_", "weighted_min_", "delta_", "difference of ")
_BINARY = ("0", ".5", "1")
#: All data that are drawn.
CASES = (
    *(
        Case(f"n = {n}, {k} categories, accuracies near {near}", _accuracies(n, k, near))
        for n, k, near in (
            *((n, 1, near) for n in (20, 100, 1000) for near in _BINARY),
            *((n, 2, near) for n in (40, 200, 3000) for near in _BINARY),
            (500, 10, ".8"),
            (960, 48, ".8"),
        )
    ),
    *(
        Case(
            f"n = {n}, {k} categories of equal accuracy near {near}",
            _accuracies(n, k, near, is_equal=True),
        )
        for n, k, near in ((200, 2, ".8"), (1000, 2, "1"), (500, 10, ".8"), (960, 48, ".8"))
    ),
    *(
        Case(f"n = {n}, decisions in {k} domains, near {near}", _decisions(n, k, near))
        for n, k, near in ((60, 2, ".8"), (600, 2, ".8"), (600, 2, "1"))
    ),
    *(
        Case(f"n = {n}, genders, near {near}", _genders(n, near))
        for n, near in ((40, ".8"), (200, ".5"), (200, "1"), (2000, ".8"))
    ),
    *(
        Case(f"n = {n}, two annotators, agreement near {near}", _agreement(n, near))
        for n, near in ((30, ".8"), (100, ".8"), (100, "1"), (400, "1"))
    ),
    *(
        Case(f"{n} groups of 5, near {near}", _groups(n, 5, near))
        for n, near in ((20, ".5"), (100, ".8"), (100, "1"))
    ),
    *(
        Case(f"n = {n}, a share near {near}", _shares(n, near))
        for n in (20, 300)
        for near in _BINARY
    ),
    *(
        Case(
            f"n = {n}, two systems, {k} categories, near {near}, correlation {correlation}",
            _pairs(n, k, near, correlation),
        )
        for n, k, near, correlation in (
            (30, 1, ".5", 0.5),
            (30, 1, "1", 0.0),
            (100, 1, "1", 0.5),
            (100, 1, ".8", 0.9),
            (200, 2, ".8", 0.5),
            (1000, 2, "1", 0.5),
            (500, 10, ".8", 0.5),
        )
    ),
    *(
        Case(
            f"n = {n}, {100 * k} labels, {k} categories near {near}, judge of {low} to {high} %",
            _corrected(n, k, near, (low / 100, high / 100)),
        )
        for n, k, near, low, high in (
            (1000, 2, ".5", 60, 70),
            (1000, 2, ".8", 70, 99),
            (3000, 2, ".8", 85, 99),
            (3000, 2, "1", 85, 99),
            (3000, 10, ".8", 70, 99),
        )
    ),
    *(
        Case(f"n = {n}, correlation {r}", _correlations(n, r))
        for n, r in ((10, 0.5), (30, 0.8), (200, 0.3))
    ),
    *(
        Case(f"n = {n}, equal systems near {near}, correlation {r}", _tests(n, near, r))
        for n, near, r in ((20, ".5", 0.0), (100, ".8", 0.5), (300, "1", 0.8))
    ),
)


def simulate(case: Case, *, n_runs: int, bootstrap: Bootstrap, seed: int = 0) -> list[Coverage]:
    """Draw the samples of a case, and count how often its intervals contain the truth."""
    hits: dict[str, list[bool]] = defaultdict(list)
    widths: dict[str, list[float]] = defaultdict(list)
    missing: Counter[str] = Counter()
    for run in range(n_runs):
        drawn = case.draw(np.random.default_rng([seed, run]), bootstrap)
        for figure, outcome in drawn.items():
            match outcome:
                case float():
                    hits[figure].append(outcome <= 0.05)
                case (truth, Interval() as interval):
                    hits[figure].append(interval.low <= truth <= interval.high)
                    widths[figure].append(interval.high - interval.low)
                case _:
                    missing[figure] += 1
    return [
        Coverage(
            case.name,
            figure,
            float(np.mean(flags)),
            len(flags),
            missing[figure],
            float(np.mean(widths[figure])) if figure in widths else None,
        )
        for figure, flags in hits.items()
    ]


def page(outcomes: Sequence[Coverage], *, n_runs: int) -> str:
    """Return a page in Markdown with a line for each interval and each test."""
    by_figure: dict[str, list[Coverage]] = defaultdict(list)
    for row in outcomes:
        by_figure[row.figure].append(row)
    tables: dict[bool, list[str]] = {True: [], False: []}
    for figure, rows in by_figure.items():
        low, high = (pick(rows, key=lambda row: row.rate) for pick in (min, max))
        cells = [
            figure.replace("_c00", "_<category>"),
            str(len(rows)),
            f"{100 * low.rate:.1f}",
            f"{100 * high.rate:.1f}",
            (low if low.width is not None else high).case,
        ]
        tables[low.width is None].append(f"| {' | '.join(cells)} |")
    error = 100 * math.sqrt(0.95 * 0.05 / n_runs)
    return _PAGE.format(
        runs=f"{n_runs:,}",
        error=f"{error:.1f}",
        intervals="\n".join(tables[False]),
        tests="\n".join(tables[True]),
    )


_PAGE = """# How often intervals cover

An interval of 95 % should contain the truth in 95 % of samples. The truth of real data is not known, so this page shows what came out for data that were drawn with
a known truth. `python -m benchmarks.coverage_of_intervals --runs {runs} --output docs/coverage.md` writes it. Each case has {runs} samples; a coverage of 95 % then has a
standard error of {error} points. "Near 1" means an accuracy from .95 to .99, "near 0" from .01 to .05, "near .5" from .4 to .6 and "near .8" from .7 to .9, drawn
anew for each sample, and for each category unless they are equal.

These intervals answer what another sample of sentences would give. Only those of corrected figures include mistakes of the evaluator.

## Intervals
The lowest and the highest coverage among the cases, in percent, and the case with the lowest. Minima, differences and gaps promise at least 95 %: those of
minima hold for any number of categories, and differences of accuracies near 0 or 1 are wider than need be.

| interval | cases | lowest | highest | case with the lowest |
|---|--:|--:|--:|---|
{intervals}

- With few samples only a few values can come out at all, so that coverage jumps from one truth to the next by some points.
- Weighted accuracies have no interval with fewer than 20 samples in a category, and differences none with fewer than 30 samples.
- BLEU and chrF are not simulated; their intervals are percentile intervals of a bootstrap over sentences.

## Tests
How often p is .05 or less although the hypothesis is true, in percent. It should be at most 5. Exact tests of few samples stay below it.

| test | cases | lowest | highest | case with the highest |
|---|--:|--:|--:|---|
{tests}
"""


def main(
    runs: Annotated[int, typer.Option(min=10, help="Samples of each case.")] = 2000,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of a bootstrap.")] = 1000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    output: Annotated[Path | None, typer.Option(help="Page to write, in Markdown.")] = None,
) -> None:
    """Simulate all cases, and print or write the page."""
    bootstrap = Bootstrap(n_resamples=resamples)
    outcomes = []
    for case in CASES:
        outcomes += simulate(case, n_runs=runs, bootstrap=bootstrap, seed=seed)
        typer.echo(case.name, err=True)
    text = page(outcomes, n_runs=runs)
    if output is None:
        typer.echo(text)
    else:
        output.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    run_main(main)
