"""What is said of the figures of a result: those to cite, the one that ranks systems, and why none
may be cited. Tables, pages, boards, gates and files ask here, and nothing else decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cc_hf.figure_keys import CORRECTED, figure_key, is_corrected
from cc_hf.fit_to_cite import FEWEST_SAMPLES, GENDERS
from cc_hf.metrics.base import registered_metric
from cc_hf.metrics.figure_names import ACCURACY_GAP, figure_name
from cc_hf.results import (
    CategoryAccuracy,
    EvaluationResult,
    Interval,
    NoInterval,
    once_per_result,
)
from cc_hf.schema import counted_categories
from cc_hf.statistics.score_intervals import Estimate, difference
from cc_hf.statistics.shares import Share, wilson_share

__all__ = [
    "MOSTLY_READ",
    "MOST_CATEGORIES",
    "RARELY_UNREAD",
    "CitedFigure",
    "Headline",
    "accuracy_gap",
    "counted_in",
    "gender_of",
    "headline",
    "key_names",
    "shown_figures",
    "uncounted_of",
    "unread_shares",
    "why_not_cited",
    "why_not_ranked",
]

#: Shares of translations in which nothing is read: above the first, right, wrong and unread stand
#: together; above the second, the shares of wrong and unread are cited in place of accuracies.
RARELY_UNREAD, MOSTLY_READ = 0.05, 0.2
#: Among more categories, the best and the worst are extremes of small samples.
MOST_CATEGORIES = 6


class CitedFigure(NamedTuple):
    """A figure to cite.

    Attributes:
        name: its name among the scores or the derived figures of the result.
        category: the category that it is of; "" for all samples.
        interval: its interval, or why there is none; None where it is not known.
        wrong, unread: shares of the samples that are wrong, and in which nothing is read; None
            where hardly any is unread. Of a figure that does not count what shows neither reading,
            `unread` is the share of that, and `wrong` is None.
    """

    name: str
    value: float
    interval: Interval | NoInterval | None
    category: str = ""
    wrong: Share | None = None
    unread: Share | None = None


@dataclass(frozen=True)
class Headline:
    """What is said of the figures of a result.

    Attributes:
        by: the figure by which systems are ranked; "" where none is good or bad.
        cited: the figures to cite, women before men.
        beside: names of figures that stand beside them: other categories, the worst first, or those
            of the paper.
        gap: name of the difference between men and women among the derived figures; "" for data
            without both.
        is_shares: whether so many translations are unread that the shares of wrong and unread are
            cited in place of accuracies.
        uncounted: the categories that are in no figure to cite.
        why_not: why nothing may be cited, as phrases; "" if it may.
        why_unranked: why systems may not be ranked; "" where only the figures may not be cited.
    """

    by: str
    cited: tuple[CitedFigure, ...] = ()
    beside: tuple[str, ...] = ()
    gap: str = ""
    is_shares: bool = False
    uncounted: tuple[CategoryAccuracy, ...] = ()
    why_not: str = ""
    why_unranked: str = ""

    @property
    def main(self) -> str:
        """The figure that ranks, else the first to cite; "" without scores."""
        return self.by or next((figure.name for figure in self.cited), "")

    @property
    def named(self) -> tuple[str, ...]:
        """The figures to cite, with the shares of wrong and unread where many are unread."""
        return tuple(dict.fromkeys(name for f in self.cited for name in _names(f, self)))

    @property
    def in_box(self) -> tuple[str, ...]:
        """The figures that the box names: those to cite, what ranks, and what is beside."""
        by = () if self.is_shares else (self.by,)
        return tuple(dict.fromkeys(filter(None, [*self.named, *by, *self.beside])))

    @property
    def overview(self) -> tuple[str, ...]:
        """The figures of a line on the result: the one that ranks, or the first shares to cite."""
        if self.is_shares:
            return tuple(_names(self.cited[0], self))
        return (self.main,) if self.main else ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The figures that a table must have: those to cite, the gap, what ranks, and others."""
        gap = () if self.is_shares else (self.gap,)
        return tuple(dict.fromkeys(filter(None, [*self.named, *gap, *self.in_box])))


@once_per_result
def headline(result: EvaluationResult) -> Headline:
    """Return what is said of the figures of a result.

    Where samples have a gender, women and men are cited, and the lower of both ranks; elsewhere the
    lowest category where the metric has a minimum and every category enough samples; else the first
    figure of the metric.
    """
    if not result.scores:
        return Headline("", why_not=result.why_unfit(), why_unranked=result.why_unranked())
    metric = registered_metric(result.metric)
    names = key_names(result.metric, result.scores)
    # Open choices: a reading is neither right nor wrong, so that no figure ranks.
    if result.readings and not result.judgements:
        cited = [_figure(result, name) for name in names]
        return Headline(
            "", tuple(cited), why_not=result.why_unfit(), why_unranked=result.why_unranked()
        )
    counted = counted_in(result)
    genders = {gender_of(c.category) for c in counted} >= {*GENDERS}
    # A metric that runs only by its name asks another question, whatever its categories are called.
    asks_of_gender = genders and not metric.only_named
    by = _ranks(result, names, counted, is_of_gender=asks_of_gender)
    if not by.endswith("min_accuracy"):
        first = by or names[0]
        cited = [_figure(result, first)]
        others = _of_gap(result.metric, first, result.scores)
        return Headline(
            by,
            (*cited, *(_figure(result, name) for name in others)),
            is_shares=_is_mostly_unread(cited),
            why_not=result.why_unfit(by),
            why_unranked=result.why_unranked(by),
        )
    return _of_categories(result, by, names, counted, is_of_gender=asks_of_gender)


def _of_categories(
    result: EvaluationResult,
    by: str,
    names: Sequence[str],
    counted: Sequence[CategoryAccuracy],
    *,
    is_of_gender: bool,
) -> Headline:
    """Return what is said where the lowest category ranks."""
    reference = figure_key(by).reference
    name_of = {c.category: f"{reference}accuracy_{c.category}" for c in counted}
    known = [c for c in counted if name_of[c.category] in result.scores]
    # Women stand before men where both are equally good, and elsewhere the worst category is first.
    known.sort(key=lambda c: (result.scores[name_of[c.category]], gender_of(c.category) == "male"))
    uncounted = tuple(c for c in result.categories if c not in counted)
    beside = [name for name in names if name != by] if uncounted else []
    if result.scores.get("undecided_rate", 0) > RARELY_UNREAD:
        beside.append("undecided_rate")
    # A gap is between two figures of all that is counted; a third category would be in neither.
    is_pair = is_of_gender and len(known) == len(GENDERS) == len(counted)
    if is_pair:
        known.sort(key=lambda c: GENDERS.index(gender_of(c.category)))
    figures = [_figure(result, name_of[c.category], c) for c in known]
    is_shares = _is_mostly_unread(figures)
    if is_pair:
        cited = figures
    elif is_shares:
        cited = [f for f in figures if f is figures[0] or _is_mostly_unread([f])]
    else:
        cited = [_figure(result, by, known[0] if known else None)]
        beside = [*[f.name for f in figures if len(figures) <= MOST_CATEGORIES], *beside]
    older = _of_an_older_version(result, by, counted)
    return Headline(
        by,
        tuple(cited),
        tuple(beside),
        f"{reference}{ACCURACY_GAP}" if is_pair else "",
        is_shares,
        uncounted,
        "; ".join(filter(None, [result.why_unfit(by), older])),
        "; ".join(filter(None, [result.why_unranked(by), older])),
    )


def key_names(metric: str, names: Collection[str]) -> tuple[str, ...]:
    """Return those of some figures that say most: those that the metric names, or those that
    leaderboards show, then differences and gaps; or all, for a metric that has none of these.
    """
    declared = registered_metric(metric)
    wanted = declared.key_figures or declared.leaderboard
    chosen = [name for plain in wanted for name in (f"{CORRECTED}{plain}", plain) if name in names]
    chosen += [name for name in names if _is_gap(metric, name)]
    # A figure that is corrected by trusted verdicts precedes the one that is not.
    return tuple(dict.fromkeys(chosen)) or tuple(names)


def shown_figures(results: Iterable[EvaluationResult]) -> tuple[str, ...]:
    """Return the figures that tables of results by one metric show, those of headlines first."""
    results = list(results)
    said = [headline(result) for result in results]
    names = [name for of_result in said for name in of_result.shown]
    others = [name for r in results for name in key_names(r.metric, r.scores)]
    others.sort(key=lambda name: not _is_gap(results[0].metric, name))
    if any(of_result.is_shares for of_result in said):
        # Accuracies that count what is unread as wrong, or leave it out, would mislead beside them.
        others = [name for name in others if "accuracy" not in name]
    return tuple(dict.fromkeys([*names, *others]))


def counted_in(result: EvaluationResult) -> list[CategoryAccuracy]:
    """Return the categories of a result that its minimum is over."""
    names = counted_categories((c.category for c in result.categories), uncounted_of(result.metric))
    return [c for c in result.categories if c.category in names]


def uncounted_of(metric: str) -> tuple[str, ...]:
    """Return the categories that a metric leaves out of minima, besides "none"."""
    return registered_metric(metric).uncounted


def gender_of(category: str) -> str:
    """Return the gender that a category, or the end of its name after "/", says; "" for others.

    Examples:
        >>> gender_of("neutral/female"), gender_of("frequent")
        ('female', '')
    """
    ending = category.rpartition("/")[2]
    return ending if ending in GENDERS else ""


def accuracy_gap(result: EvaluationResult, prefix: str = "") -> tuple[float, Interval] | None:
    """Return the accuracy on men minus that on women, with its interval (Newcombe 1998); None
    unless both have intervals.
    """
    names = [f"{prefix}accuracy_{gender}" for gender in ("male", "female")]
    if not {*names} <= result.intervals.keys() & result.scores.keys():
        return None
    # Both are of different samples, so that they have no correlation.
    men, women = (Estimate(result.scores[n], result.intervals[n], 0, np.zeros(0)) for n in names)
    gap = difference(men, women)
    return gap.value, gap.interval


def why_not_cited(result: EvaluationResult, name: str) -> str:
    """Return why a figure of a result may not be cited, as phrases; "" if it may."""
    said = headline(result)
    return said.why_not if name == said.by else result.why_unfit(name)


def why_not_ranked(result: EvaluationResult, name: str) -> str:
    """Return why systems may not be ranked by a figure, nor their differences called; "" if they
    may.
    """
    said = headline(result)
    return said.why_unranked if name == said.by else result.why_unranked(name)


def unread_shares(result: EvaluationResult) -> list[float]:
    """Return the shares of the samples behind each figure to cite in which nothing is read."""
    unread = [figure.unread for figure in headline(result).cited]
    return [share.value if share else 0.0 for share in unread]


def _ranks(
    result: EvaluationResult,
    names: Sequence[str],
    counted: Sequence[CategoryAccuracy],
    *,
    is_of_gender: bool,
) -> str:
    """Return the figure that ranks systems: the minimum where it says something; "" for none."""
    metric = registered_metric(result.metric)
    minima = [n for n in (f"{CORRECTED}min_accuracy", "min_accuracy") if n in result.scores]
    # However few they are: that women or men are few is then said, where a total would hide it.
    if is_of_gender and minima:
        return minima[0]
    # Of one category the minimum is the accuracy, and an extreme of small samples is chance.
    has_enough = len(counted) != 1 and all(c.n >= FEWEST_SAMPLES for c in counted)
    plain = [name for name in names if not name.endswith("min_accuracy")]
    if {*minima} & {*names} and (has_enough or not plain):
        return minima[0]
    ranking = (n for n in plain if figure_name(metric.figure_names, n).best != "none")
    return next(ranking, "")


def _figure(
    result: EvaluationResult, name: str, category: CategoryAccuracy | None = None
) -> CitedFigure:
    """Return a figure with the shares of its samples that are wrong and unread."""
    interval = result.intervals.get(name) or result.no_interval.get(name)
    figure = CitedFigure(name, result.scores[name], interval, category.category if category else "")
    n, n_right = result.n, result.counts.get("n_correct", 0)
    n_unread, n_neither = (result.counts.get(n, 0) for n in ("n_inconclusive", "n_neither"))
    if category is not None:
        n, n_right, n_unread = category.n, category.n_correct, category.n_inconclusive
        n_neither = category.n_neither
    # Such an accuracy is of the other samples alone, of which all that are not right are wrong.
    if "neither_share" in result.scores and not is_corrected(name):
        return figure._replace(unread=wilson_share(n_neither, n))
    if is_corrected(name) or not n or n_unread <= RARELY_UNREAD * n:
        return figure
    wrong, unread = (wilson_share(k, n) for k in (n - n_right - n_unread, n_unread))
    return figure._replace(wrong=wrong, unread=unread)


def _is_mostly_unread(cited: Sequence[CitedFigure]) -> bool:
    return any(
        figure.wrong and figure.unread and figure.unread.value > MOSTLY_READ for figure in cited
    )


def _is_gap(metric: str, name: str) -> bool:
    declared = registered_metric(metric)
    return figure_name(declared.figure_names, name).best == "zero"


def _of_gap(metric: str, name: str, scores: Mapping[str, float]) -> list[str]:
    """Return the figures that a ranking difference is of, women first."""
    parts = registered_metric(metric).differences().get(name, ())
    return sorted((part for part in parts if part in scores), key=lambda part: "female" not in part)


def _names(figure: CitedFigure, said: Headline) -> list[str]:
    """Return the names of the columns of a figure, with shares where many samples are unread."""
    if figure.unread is None:
        return [figure.name]
    ending = f"_{figure.category}" if figure.category else ""
    if figure.wrong is None:
        return [figure.name, f"neither_share{ending}"]
    shares = [f"wrong{ending}", f"unread{ending}"]
    return shares if said.is_shares else [figure.name, *shares]


def _of_an_older_version(
    result: EvaluationResult, by: str, counted: Sequence[CategoryAccuracy]
) -> str:
    """Return that a minimum is over samples that are no longer counted; "" if it is not."""
    lowest = min((c.accuracy for c in counted), default=result.scores[by])
    if by != "min_accuracy" or result.scores[by] >= lowest - 1e-9:
        return ""
    return "its minimum is over categories that are no longer counted; evaluate it again"
