"""The figures of docs/archive.md from results on archived translations: tables and sentences.

docs/leaderboard_figures.py makes the results. Sentences have counts, extremes and their intervals,
so that no sentence claims what a new run does not show.
"""

from __future__ import annotations

import html
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cc_hf.languages import LANGUAGES
from cc_hf.plugins.leaderboard.static.board import Board, Ranking
from cc_hf.reports.numbers import limits, percent
from cc_hf.results import EvaluationResult, Interval
from cc_hf.schema import INCONCLUSIVE
from cc_hf.statistics.bands import holm
from cc_hf.statistics.bootstrap import percentile_interval, resampled_strata
from cc_hf.statistics.randomization import minimum_p
from cc_hf.statistics.score_intervals import Estimate, difference, estimate_share, lowest
from cc_hf.test_sets.gest.reader import STEREOTYPES
from cc_hf.test_sets.gest.stereotype_rates.rates import masculine_rate, mean_rates

__all__ = [
    "EFFECTS",
    "SameTexts",
    "gap",
    "gest_block",
    "judges_block",
    "open_cells",
    "row",
    "same_texts",
    "score",
    "summary_block",
    "system_cells",
    "winomt_block",
    "wmt24_block",
]

Results = Sequence[EvaluationResult]
Figure = tuple[float, Interval]

EFFECTS = ("feminine_share", "adverb_effect", "character_effect", "opposite_effect")
_LEVEL = 0.95
_ROLES = ("speaker_male", "speaker_female", "listener_male", "listener_female")
_PEOPLE = {
    people: [name for name, stereotype in STEREOTYPES.items() if stereotype.people == people]
    for people in ("women", "men")
}
_RATES = ("masculine_rate", "stereotype_gap", "inconclusive_rate")
_CELLS = "pairs of system and language"
_QUOTATION_MARKS = re.compile("[\"'\u00ab\u00bb\u2018-\u201f\u2014-]")


def row(*cells: object) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def text(figure: Figure) -> str:
    """Return a figure in percent with its interval."""
    value, interval = figure
    return f"{percent(value)} ({limits(interval)})".replace("-", "−")


def figure_of(result: EvaluationResult, name: str) -> Figure:
    """Return a score with its interval."""
    return result.scores[name], result.intervals[name]


def score(result: EvaluationResult, name: str) -> str:
    """Return a score in percent with its interval."""
    return text(figure_of(result, name))


def gap(result: EvaluationResult) -> Figure:
    """Return the accuracy on men minus that on women, of decided samples if these have one."""
    is_decided = "accuracy_decided" in result.scores
    counted = [j for j in result.judgements if not (is_decided and j.verdict == INCONCLUSIVE)]
    is_correct = np.array([j.is_correct for j in counted])
    shares = []
    for gender in ("male", "female"):
        members = np.array([j.gold == gender for j in counted])
        shares.append(
            estimate_share(is_correct & members, members, groups=[j.unit for j in counted])
        )
    return _figure(difference(*shares))


def system_cells(result: EvaluationResult) -> list[str]:
    """Return the cells of a system of WMT24: the accuracies on women and men, and their gap."""
    names = ("accuracy_decided_female", "accuracy_decided_male")
    return [*(score(result, name) for name in names), text(gap(result))]


def open_cells(result: EvaluationResult) -> list[str]:
    """Return the cells of a system of WMT24 on open slots: the feminine share and its effects."""
    return [score(result, name) for name in EFFECTS]


def winomt_block(results: Results, board: Board, lost: Mapping[str, str]) -> str:
    """Return what is said of WinoMT."""
    systems = sorted({result.system for result in results})
    languages = sorted({result.tgt_lang for result in results}, key=_language)
    gaps = {_name(result): gap(result) for result in results}
    cells = {
        (r.tgt_lang, r.system): f"{text(gaps[_name(r)])}; {score(r, 'accuracy_female')}"
        for r in results
    }
    rankings = [r for r in board.rankings if r.first.metric == results[0].metric and _pairs(r)[1]]
    n_apart, n_pairs = (sum(numbers) for numbers in zip(*map(_pairs, rankings), strict=True))
    by_stereotype = _of(results, "delta_s")
    in_german = {r.system: figure_of(r, "accuracy_female") for r in results if r.tgt_lang == "de"}
    return "\n".join(
        [
            row("gap; women", *systems),
            "|---|" + "--:|" * len(systems),
            *(
                row(_language(tgt), *(cells.get((tgt, s), "") for s in systems))
                for tgt in languages
            ),
            "",
            f"- Men are right more often than women in {_n_above(gaps)} {_CELLS}; the gap goes"
            f" {_range(gaps)}.",
            "- People in the occupations of their stereotype are right more often than people in"
            f" those of the other in {_n_above(by_stereotype)} {_CELLS}; the difference (delta_s)"
            f" goes {_range(by_stereotype)}.",
            "- Systems of one year differ widely: the accuracy on women into German goes"
            f" {_range(in_german)}. Of the pairs of systems within a language, {n_apart} of"
            f" {n_pairs} can be told apart in the lower accuracy of women and men; where much is"
            " unread, only sentences count that are read in the translations of all of them.",
            *(_lost_line(lost) if lost else ()),
        ]
    )


def _lost_line(lost: Mapping[str, str]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for language, reason in lost.items():
        reasons.setdefault(reason, []).append(_language(language))
    parts = (f"{_listed(sorted(names))} ({reason})" for reason, names in reasons.items())
    return [f"- Archived, but not judged here: {'; '.join(parts)}."]


def gest_block(results: Results, sources: Sequence[str]) -> str:
    """Return what is said of GEST."""
    by_system: dict[str, dict[str, EvaluationResult]] = {}
    for result in results:
        by_system.setdefault(result.system, {})[result.tgt_lang] = result
    shared = sorted(set.intersection(*(set(r) for r in by_system.values())), key=_language)
    lines = [
        f"Means over the languages that all four translate: {_listed(map(_language, shared))}.",
        "",
        row("system", "masculine rate", "stereotype rate", "inconclusive"),
        "|---|--:|--:|--:|",
    ]
    for system, of_system in sorted(by_system.items()):
        figures = _mean_figures([of_system[lang] for lang in shared], sources)
        lines.append(row(system, *(text(figures[name]) for name in _RATES)))
    gaps, rates = _of(results, "stereotype_gap"), _of(results, "masculine_rate")
    over_half = {name: (value - 0.5, _moved(i, -0.5)) for name, (value, i) in rates.items()}
    widest = max(by_system, key=lambda name: _width(by_system[name].values()))
    of_widest = {n: f for n, f in rates.items() if n.startswith(f"{widest} into")}
    return "\n".join(
        [
            *lines,
            "",
            "- Sentences with a stereotype of men get more masculine forms than those with a"
            f" stereotype of women in {_n_above(gaps)} {_CELLS}; the stereotype rate goes"
            f" {_range(gaps)}.",
            f"- The masculine rate is above 50 % in {_n_above(over_half)} {_CELLS}, and goes"
            f" {_range(rates)}.",
            "- A system does not choose alike in all languages. The masculine rate of"
            f" {widest} differs most, {_range(of_widest)}.",
        ]
    )


def _width(results: Iterable[EvaluationResult]) -> float:
    rates = [result.scores["masculine_rate"] for result in results]
    return max(rates) - min(rates)


def _mean_figures(results: Results, sources: Sequence[str]) -> dict[str, Figure]:
    """Return the means of a system's figures over languages, with intervals by bootstrap."""
    readings = [[r.reading for r in result.readings] for result in results]
    genders = [np.array(of_language) == g for of_language in readings for g in ("male", "female")]
    columns = np.stack(genders, axis=1).astype(float)
    categories = [reading.category for reading in results[0].readings]
    groups = [*zip(categories, sources, strict=True)]
    # Sentences are drawn within stereotypes, their translations into all languages together.
    drawn = _mean_rates(resampled_strata(columns, categories, groups=groups))
    where = np.array(categories)
    observed = _mean_rates({name: columns[where == name].sum(axis=0) for name in set(categories)})
    figures = {}
    for name in _RATES[:2]:
        interval = percentile_interval(drawn[name], level=_LEVEL)
        if not isinstance(interval, Interval):
            raise ValueError(f"{name}: {interval.reason}")
        figures[name] = float(observed[name]), interval
    n_open = len(results) - columns.sum(axis=1)
    wholes = np.full(len(columns), float(len(results)))
    share = estimate_share(n_open, wholes, strata=categories, groups=groups)
    return {**figures, "inconclusive_rate": _figure(share)}


def _mean_rates(sums: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return means over k languages of sums (..., 2 k) of masculine and feminine readings."""
    n_languages = next(iter(sums.values())).shape[-1] // 2
    of_languages = [
        mean_rates(
            {name: masculine_rate(s[..., 2 * k], s[..., 2 * k + 1]) for name, s in sums.items()},
            _PEOPLE,
        )
        for k in range(n_languages)
    ]
    return {name: np.mean([means[name] for means in of_languages], axis=0) for name in _RATES[:2]}


def wmt24_block(results: Results, of_open: Results, board: Board, same: SameTexts) -> str:
    """Return what is said of the systems of WMT24: on slots with a gender, and on all slots."""
    ranking = next(r for r in board.rankings if r.ranks.by_system)
    by_name = {result.system: result for result in results}
    lines = _accuracy_lines(ranking, {name: by_name[name] for name in ranking.results})
    same_line = (
        f"- {' and '.join(same.pair)} give the same text in {same.n:,} of {same.n_rows:,} lines,"
        f" quotation marks aside, which is {text(same.share)} %; no other pair of the"
        f" {len(results)} does so in more than {same.n_next:,}. They are not two independent"
        " systems."
    )
    open_by_name = {result.system: result for result in of_open}
    open_lines = _open_lines([open_by_name[name] for name in ranking.results])
    return "\n".join([*lines, same_line, "", *open_lines])


def _accuracy_lines(ranking: Ranking, ranked: Mapping[str, EvaluationResult]) -> list[str]:
    """Return what is said of slots with a gender."""
    results, standings = [*ranked.values()], ranking.ranks.by_system
    accuracies, n_shared, apart = _on_shared(ranked)
    pairs = [*itertools.combinations(ranked, 2)]
    not_apart = "; ".join(" and ".join(pair) for pair in pairs if pair not in apart)
    gaps = {name: gap(result) for name, result in ranked.items()}
    n_hardest = sum(_is_hardest(r, "listener_female") for r in results)
    listeners = {r.system: _decided(r, "listener_female") for r in results}
    unread = _of(results, "inconclusive_rate", by_system=True)
    return [
        row("system", "band", f"{n_shared:,} slots that all decide", "women", "men", "gap"),
        "|---|--:|--:|--:|--:|--:|",
        *(
            row(name, standings[name].band, text(accuracies[name]), *system_cells(result))
            for name, result in ranked.items()
        ),
        "",
        f"- On the slots that all decide, the lower accuracy of men and women goes"
        f" {_range(accuracies)}, and"
        f" {len(apart)} of {len(pairs)} pairs can be told apart. These cannot: {not_apart}.",
        f"- Men are right more often than women in {_n_above(gaps)} systems; the gap goes"
        f" {_range(gaps)}.",
        "- Of men and women who speak or are spoken to, women who are spoken to are the hardest for"
        f" {n_hardest} of {len(results)} systems, with intervals that do not overlap; the accuracy"
        f" on them goes {_range(listeners)}.",
        f"- The rule reads no gender in a share of slots that goes {_range(unread)}.",
    ]


def _open_lines(results: Results) -> list[str]:
    """Return what is said of open slots."""
    shares = _of(results, "feminine_share", by_system=True)
    plain = _of(results, "feminine_share_no_adverb", by_system=True)
    under_half = {name: (0.5 - v, _moved(_negative(i), 0.5)) for name, (v, i) in shares.items()}
    plain_under = {name: (0.5 - v, _moved(_negative(i), 0.5)) for name, (v, i) in plain.items()}
    adverb, character, opposite = (_of(results, name, by_system=True) for name in EFFECTS[1:])
    negative = {name: (-value, _negative(interval)) for name, (value, interval) in opposite.items()}
    return [
        row("system", "feminine where it is open", "adverb", "character", "opposite"),
        "|---|--:|--:|--:|--:|",
        *(row(result.system, *open_cells(result)) for result in results),
        "",
        "- Over all open slots, feminine forms are fewer than masculine ones in"
        f" {_n_above(under_half)} systems; the feminine share goes {_range(shares)}. Where no"
        ' adverb, character or other person hints at a gender ("I think I\'m fantastic," I said.),'
        f" they are fewer in {_n_above(plain_under)}, and the share goes {_range(plain)}.",
        "- More forms are feminine beside a feminine adverb than beside a masculine one in"
        f" {_n_above(adverb)} systems; the effect goes {_range(adverb)}.",
        "- More forms are feminine for characters with a feminine adjective than with a masculine"
        f" one in {_n_above(character)} systems; the effect goes {_range(character)}.",
        '- "I" is feminine more often beside a man than beside a woman in'
        f" {_n_above(opposite)} systems, and less often in {_n_above(negative)}; the effect goes"
        f" {_range(opposite)}.",
    ]


def _on_shared(
    results: Mapping[str, EvaluationResult],
) -> tuple[dict[str, Figure], int, set[tuple[str, str]]]:
    """Return the lower accuracy of men and women on the slots that all systems decide, the number
    of these slots, and the pairs of systems that are told apart by it.
    """
    rows = [
        judgements
        for judgements in zip(*(r.judgements for r in results.values()), strict=True)
        if all(j.verdict != INCONCLUSIVE for j in judgements)
    ]
    units = [judgements[0].unit for judgements in rows]
    flags = {
        name: np.array([judgements[number].is_correct for judgements in rows])
        for number, name in enumerate(results)
    }
    pairs = [*itertools.combinations(results, 2)]
    genders = [judgements[0].category for judgements in rows]
    p_values = holm([minimum_p(flags[a], flags[b], genders, units=units) for a, b in pairs])
    of_gender = [np.array(genders) == gender for gender in sorted({*genders})]
    # A unit may be about both genders, whose samples count apart.
    accuracies = {
        name: _figure(
            lowest(
                [
                    estimate_share(
                        is_correct[is_of],
                        np.ones(is_of.sum()),
                        groups=[unit for unit, is_it in zip(units, is_of, strict=True) if is_it],
                    )
                    for is_of in of_gender
                ]
            )
        )
        for name, is_correct in flags.items()
    }
    told = {pair for pair, p in zip(pairs, p_values, strict=True) if p <= 1 - _LEVEL}
    return accuracies, len(rows), told


@dataclass(frozen=True)
class SameTexts:
    """The two systems that give the same text most often, quotation marks aside.

    Attributes:
        n, n_rows: number of lines with the same text, and of all lines.
        share: their share, with its interval over lines of the same adjectives.
        n_next: the number of the next pair.
    """

    pair: tuple[str, str]
    n: int
    n_rows: int
    share: Figure
    n_next: int


def same_texts(results: Results, clusters: Mapping[str, str]) -> SameTexts:
    """Return the two systems of WMT24 that share most translations.

    Args:
        clusters: row of the suite -> name that it shares with rows of the same adjectives.
    """
    texts = {r.system: _plain_texts(r) for r in results}
    counts = {
        (a, b): sum(texts[a][name] == texts[b][name] for name in clusters)
        for a, b in itertools.combinations(texts, 2)
    }
    pair, following, *_ = sorted(counts, key=lambda of: -counts[of])
    is_same = np.array([texts[pair[0]][name] == texts[pair[1]][name] for name in clusters])
    share = estimate_share(is_same, np.ones(len(is_same)), groups=[*clusters.values()])
    return SameTexts(pair, counts[pair], len(clusters), _figure(share), counts[following])


def _plain_texts(result: EvaluationResult) -> dict[str, str]:
    """Return each line's translation without quotation marks and dashes, by its row."""
    return {
        reading.example_id.partition(".")[0]: " ".join(
            _QUOTATION_MARKS.sub(" ", html.unescape(reading.translation)).split()
        )
        for reading in result.readings
    }


def judges_block(by_words: EvaluationResult, by_evaluator: EvaluationResult) -> str:
    """Return what two judges and people say of the same translations."""
    n_labels = sum(j.trusted is not None for j in by_evaluator.judgements)
    return (
        "- **What another judge would say.** In the translations of"
        f" {_name(by_words)}, the accuracy on women is {score(by_words, 'accuracy_female')} by the"
        f" words of the translations, and {score(by_evaluator, 'accuracy_female')} by"
        f" cc-tiny-en-de, which is not fit to cite. With {n_labels} labels of people the latter is"
        f" corrected to {score(by_evaluator, 'corrected_accuracy_female')}. No judge reads two of"
        " the three sets."
    )


def summary_block(
    winomt: Results, gest: Results, wmt24: Results, sources: Sequence[set[str]]
) -> str:
    """Return what the three sets have in common."""
    gaps_2019 = {_name(r): gap(r) for r in winomt}
    gaps_2024 = {r.system: gap(r) for r in wmt24}
    rates = _of(gest, "masculine_rate")
    over_half = {name: (v - 0.5, _moved(i, -0.5)) for name, (v, i) in rates.items()}
    women = (
        (_of(winomt, "accuracy_female"), gaps_2019),
        (_of(wmt24, "accuracy_decided_female", by_system=True), gaps_2024),
    )
    best = [(max(of, key=lambda name: of[name][0]), of, gaps) for of, gaps in women]
    counts = Counter(sentence for of_set in sources for sentence in of_set)
    return "\n".join(
        [
            "- In each year most systems favour men. In 2019, men are right more often in"
            f" {_n_above(gaps_2019)} {_CELLS}, by {_span(gaps_2019)} points; in 2023, where nothing"
            f" tells a gender, most forms are masculine in {_n_above(over_half)}, at rates of"
            f" {_span(rates)} %; in 2024, men are right more often in {_n_above(gaps_2024)}"
            f" systems, by {_span(gaps_2024)} points.",
            "- In 2019 and in 2024, the system that is most often right about women shows that the"
            " gap need not be so wide: "
            + " and ".join(
                f"{text(gaps[name])} points in {year} ({name}, women {text(of[name])})"
                for year, (name, of, gaps) in zip(("2019", "2024"), best, strict=True)
            )
            + ". These figures are of other sentences and judges, and their difference means"
            " nothing.",
            f"- The sets have {_listed(f'{len(s):,}' for s in sources)} different sentences, of"
            f" which {sum(n > 1 for n in counts.values())} are in two sets.",
        ]
    )


def _pairs(ranking: Ranking) -> tuple[int, int]:
    """Return how many pairs of systems are told apart, and how many there are."""
    standings = ranking.ranks.by_system.values()
    return sum(s.first - 1 for s in standings), len(standings) * (len(standings) - 1) // 2


def _decided(result: EvaluationResult, group: str) -> Figure:
    return figure_of(result, f"accuracy_decided_{group}")


def _is_hardest(result: EvaluationResult, role: str) -> bool:
    """Return whether the interval of a role lies below those of all other roles."""
    limits = {name: _decided(result, name)[1] for name in _ROLES}
    of_role = limits.pop(role)
    return all(of_role.high < other.low for other in limits.values())


def _of(results: Results, name: str, *, by_system: bool = False) -> dict[str, Figure]:
    """Return a score of each result, by system and language or by system alone."""
    return {r.system if by_system else _name(r): figure_of(r, name) for r in results}


def _name(result: EvaluationResult) -> str:
    return f"{result.system} into {_language(result.tgt_lang)}"


def _language(code: str) -> str:
    return LANGUAGES[code]


def _figure(estimate: Estimate) -> Figure:
    return estimate.value, estimate.interval


def _moved(interval: Interval, by: float) -> Interval:
    return Interval(interval.low + by, interval.high + by)


def _negative(interval: Interval) -> Interval:
    return Interval(-interval.high, -interval.low)


def _n_above(figures: Mapping[str, Figure]) -> str:
    """Return how many figures are above 0 with their whole interval, in words."""
    n = sum(interval.low > 0 for _, interval in figures.values())
    return f"{n} of {len(figures)}"


def _extremes(figures: Mapping[str, Figure]) -> tuple[str, str]:
    """Return the names of the lowest and the highest figure."""
    order = sorted(figures, key=lambda name: figures[name][0])
    return order[0], order[-1]


def _range(figures: Mapping[str, Figure]) -> str:
    """Return the lowest and the highest figure, and whose they are."""
    low, high = _extremes(figures)
    return f"from {text(figures[low])} for {low} to {text(figures[high])} for {high}"


def _span(figures: Mapping[str, Figure]) -> str:
    """Return the lowest and the highest figure."""
    return " to ".join(text(figures[name]) for name in _extremes(figures))


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
