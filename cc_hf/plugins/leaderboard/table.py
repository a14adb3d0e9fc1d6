"""The table of systems: rows from results, the choice that is shown, ranks, and CSV and JSON.

Figures are in [0, 1]; the page shows them in percent.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from cc_hf import registry, signature
from cc_hf.comparing.bands import Ranks
from cc_hf.comparing.bands import ranks as ranks_of
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.evaluators.judge_cards import JudgeCard
from cc_hf.levels import Trust
from cc_hf.metrics.headline import key_names, shown_figures, why_not_ranked
from cc_hf.plugins.leaderboard.store import Store, StoredResult
from cc_hf.reports.evaluators import facts_of_results
from cc_hf.reports.figure_text import data_title, figure_name, figure_rows
from cc_hf.reports.what_to_cite import UNFIT
from cc_hf.results import Interval, difference_of_data, different_options

__all__ = [
    "BoardChoice",
    "Figure",
    "LeaderboardRow",
    "comparable_rows",
    "judge_levels",
    "leaderboard_rows",
    "ranked",
    "ranking_figures",
    "rows_of",
    "to_csv",
]

# Full-width characters are included, because spreadsheets accept them in East Asian locales.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")


class Figure(NamedTuple):
    """A figure with the limits of its 95 % interval, or None, all in the unit of the result."""

    value: float
    low: float | None = None
    high: float | None = None


class BoardChoice(NamedTuple):
    """What can be ranked together: a configuration, a language pair, and a metric."""

    data: tuple[str, str]  # dataset and configuration
    language: str  # "source-target", or only the target
    metric: str


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One system on one dataset by one metric."""

    system: str
    dataset: str
    config: str
    language: str  # "source-target", or only the target
    metric: str
    # Every score in the order of reports, and figures to cite and gaps that follow from them.
    figures: Mapping[str, Figure]
    n: int
    bleu: float | None  # in [0, 1]
    evaluator: str  # "" for a metric that uses none
    prompt: str  # "" for systems that are not asked in words
    date: str  # YYYY-MM-DD
    notes: tuple[str, ...]
    signature: str
    file: str
    # Figure by which the system may not be ranked -> why.
    unfit: Mapping[str, str] = field(default_factory=dict)
    uncited: tuple[str, ...] = ()  # figures with ranks that are not fit to be cited
    trust: Trust | None = field(default=None, repr=False)
    declared: DatasetDeclaration | None = field(default=None, repr=False)
    shown: tuple[str, ...] = ()  # the figures that say most
    ranks: Ranks = field(default_factory=Ranks, repr=False)
    name: str = ""  # the system's in `ranks`

    @property
    def title(self) -> str:
        """Dataset and configuration in words."""
        return data_title(self.declared or self.dataset, self.config)

    @property
    def choice(self) -> BoardChoice:
        """The choice under which the row is shown."""
        return BoardChoice((self.dataset, self.config), self.language, self.metric)

    @property
    def level(self) -> str:
        """How far the judge is trusted, such as "ranks only"; "" for a metric that uses none."""
        return self.trust.level if self.trust else ""

    @property
    def is_screen(self) -> bool:
        """Whether too little is known of the judge to rank systems by any of its figures."""
        is_unranked = self.figures.keys() <= self.unfit.keys()
        return self.trust is not None and self.trust.is_screen and is_unranked

    def remark(self, figure: str) -> str:
        """Return the badge of a figure that is not fit to be cited; "" for another."""
        return UNFIT if figure in self.unfit else self.level if figure in self.uncited else ""


def leaderboard_rows(
    store: Store, quality: str | Path | Sequence[str | Path] | None = None
) -> list[LeaderboardRow]:
    """Return one row per result, in the order of the store."""
    declared = {
        name: registry.find("dataset", name)
        for name in {entry.result.dataset for entry in store.entries}
    }
    scores = read_quality_scores(quality)
    rows = []
    for entry in store.entries:
        result = entry.result
        bleu = scores.of(entry.system, result.dataset, result.tgt_lang)
        rows.append(_row(entry, bleu, declared[result.dataset], store.judge_cards))
    for group in comparable_rows(store.entries, rows):
        systems = [rows[index].system for index in group]
        named = {
            name if systems.count(name) == 1 else f"{name} ({rows[index].file})": index
            for name, index in zip(systems, group, strict=True)
        }
        entries = {name: store.entries[index] for name, index in named.items()}
        results = {name: entry.result for name, entry in entries.items()}
        unproved = [name for name, entry in entries.items() if entry.not_proved]
        ranks = ranks_of(results, unproved=unproved)
        for name, index in named.items():
            why = ranks.why_not.get(name, "")
            unfit = {**rows[index].unfit, **({ranks.by: why} if why and ranks.by else {})}
            rows[index] = replace(rows[index], ranks=ranks, name=name, unfit=unfit)
    return rows


def judge_levels(rows: Iterable[LeaderboardRow]) -> list[tuple[str, Trust]]:
    """Return each judge at each of its levels, with the trust in the figures of its systems."""
    trusts: dict[tuple[str, str], list[Trust]] = {}
    for row in rows:
        if row.trust is not None:
            trusts.setdefault((row.evaluator, row.level), []).append(row.trust)
    return [(name, of[0].with_others(of)) for (name, _), of in trusts.items()]


def comparable_rows(
    entries: Sequence[StoredResult], rows: Sequence[LeaderboardRow]
) -> list[list[int]]:
    """Return the numbers of rows that can be compared: of the same data, metric, judge, options."""
    groups: list[list[int]] = []
    for index, (entry, row) in enumerate(zip(entries, rows, strict=True)):
        for group in groups:
            results = {"first": entries[group[0]].result, "second": entry.result}
            if (
                rows[group[0]].choice == row.choice
                and not different_options(*results.values())
                and not difference_of_data(results)
            ):
                group.append(index)
                break
        else:
            groups.append([index])
    return groups


def _row(
    entry: StoredResult,
    bleu: float | None,
    declared: DatasetDeclaration | None,
    others: Sequence[JudgeCard],
) -> LeaderboardRow:
    result = entry.result
    shown = shown_figures([result])
    figures: dict[str, Figure] = {}
    for row in figure_rows(result):
        if row.name in result.scores or row.name in shown:
            interval = row.interval if isinstance(row.interval, Interval) else None
            limits = (interval.low, interval.high) if interval else (None, None)
            figures.setdefault(row.name, Figure(row.value, *limits))
    fields = signature.parse(result.signature)[1] if result.signature else {}
    pair = fields.get("langs", "")
    why_not = {
        name: why
        for name in figures
        if (why := "; ".join(filter(None, [entry.not_proved, why_not_ranked(result, name)])))
    }
    return LeaderboardRow(
        system=entry.system,
        dataset=result.dataset or _unnamed_data(fields.get("data", "")),
        config=result.config,
        language=pair if pair.endswith(f"-{result.tgt_lang}") else result.tgt_lang,
        metric=result.metric,
        figures=figures,
        n=result.n,
        bleu=bleu,
        evaluator=re.sub(r"@[^+]*", "", fields.get("eval", "")),
        prompt=_prompt(fields),
        date=entry.date,
        notes=(
            *(card.text for fact in facts_of_results([result], others) for card in fact.cards),
            *(note for note in result.notes if note.lower() != entry.not_proved.lower()),
        ),
        signature=result.signature,
        file=entry.file,
        unfit=why_not,
        uncited=tuple(n for n in figures if n not in why_not and result.why_unfit(n)),
        trust=result.trust,
        declared=declared,
        shown=tuple(name for name in shown if name in figures),
    )


def _prompt(fields: Mapping[str, str]) -> str:
    """Return how a model was asked, such as "basic, 6 demonstrations, both orders"."""
    if not {"prompt", "shots"} <= fields.keys():
        return ""
    strategy, _, others = fields["prompt"].partition(".")
    parts = [strategy, f"{fields['shots']} demonstrations"]
    parts += ["both orders"] * (fields.get("orders") == "both")
    parts += ["by log-probability"] * others.endswith(".logprob")
    return ", ".join(parts)


def _unnamed_data(data: str) -> str:
    """Return a name for data without one, made unique by the digest of their references."""
    return f"own data {data.partition('@')[2]}".strip()


def rows_of(rows: Iterable[LeaderboardRow], choice: BoardChoice) -> list[LeaderboardRow]:
    """Return the rows of a choice."""
    return [row for row in rows if row.choice == choice]


def ranking_figures(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Return the figures that can order rows of one choice, that of their bands first."""
    metric = rows[0].metric if rows else ""
    figures = dict.fromkeys(name for row in rows for name in row.figures)
    of_bands = sorted(
        (row.ranks.by for row in rows), key=lambda name: not all(name in r.figures for r in rows)
    )
    names = [*of_bands, *(name for row in rows for name in row.shown), *key_names(metric, figures)]
    return [
        name
        for name in dict.fromkeys(names)
        # Figures that are neither good nor bad are left out.
        if name in figures and figure_name(metric, name).distance(1.0) is not None
    ]


def _common_ranks(rows: Iterable[LeaderboardRow], by: str) -> Ranks | None:
    """Return how systems stand by a figure; None where none does, or judges differ."""
    ranks = (row.ranks for row in rows if row.name in row.ranks.by_system)
    distinct = {id(of_row): of_row for of_row in ranks if of_row.by == by}
    return next(iter(distinct.values())) if len(distinct) == 1 else None


def ranked(rows: Iterable[LeaderboardRow], by: str) -> list[LeaderboardRow]:
    """Return rows in the order of a figure: by band where systems stand by it, then best first.

    Equally good figures are ordered by system. Rows that may not be ranked, those without the
    figure, and screens come last, each by name.
    """

    rows = list(rows)
    ranks = _common_ranks(rows, by)

    def key(row: LeaderboardRow) -> tuple[bool, bool, bool, int, float]:
        figure, is_unfit = row.figures.get(by), by in row.unfit
        distance = None if figure is None else figure_name(row.metric, by).distance(figure.value)
        standing = row.ranks.by_system.get(row.name) if ranks is not None else None
        if standing is not None:
            return False, False, False, standing.band, -standing.accuracy
        after_bands = 1 + len(row.ranks.by_system)
        order = 0.0 if is_unfit else distance or 0.0
        return row.is_screen, not row.is_screen and distance is None, is_unfit, after_bands, order

    ordered = sorted(rows, key=lambda row: (row.system.casefold(), row.evaluator, row.file))
    return sorted(ordered, key=key)


def to_csv(rows: Sequence[LeaderboardRow]) -> str:
    """Return the rows as CSV with a header, and three columns per figure; "" for unknown values.

    Texts that a spreadsheet would read as a formula are preceded by an apostrophe.
    """
    out = io.StringIO()
    records = _records(rows)
    writer = csv.DictWriter(out, list(records[0]) if records else ["system"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _harmless(cell) for key, cell in row.items()} for row in records)
    return out.getvalue()


def _harmless(cell: object) -> object:
    is_formula = isinstance(cell, str) and cell.startswith(_FORMULA)
    return f"'{cell}" if is_formula else "" if cell is None else cell


def _records(rows: Sequence[LeaderboardRow]) -> list[dict[str, object]]:
    """Return the rows with one value per column, all with the same columns."""
    facts = ("dataset", "config", "language", "metric", "evaluator", "prompt", "date", "n", "bleu")
    names = dict.fromkeys(name for row in rows for name in row.figures)
    records = []
    for row in rows:
        record: dict[str, object] = {"system": row.system}
        record |= {fact: getattr(row, fact) for fact in facts}
        for name in names:
            values = row.figures.get(name, (None, None, None))
            ends = ("", "_low", "_high")
            record |= {f"{name}{end}": value for end, value in zip(ends, values, strict=True)}
        unfit = "; ".join(dict.fromkeys(row.unfit.values()))
        evidence = row.trust.labels if row.trust else ""
        record |= {"level": row.level, "evidence": evidence, "unfit": unfit}
        record |= {"notes": " ".join(row.notes), "signature": row.signature, "file": row.file}
        records.append(record)
    return records
