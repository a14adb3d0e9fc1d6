"""Rankings of the static leaderboard: which results can be compared, and how systems stand.

A ranking holds results on the same data by the same metric, judge and options, so that what cannot
be compared never stands in one table. Nothing is formatted here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cc_hf._version import __version__
from cc_hf.comparing.bands import Ranks
from cc_hf.errors import InputError
from cc_hf.evaluators.judge_cards import JudgeCard
from cc_hf.files import file_slug
from cc_hf.plugins.leaderboard.static.origins import SystemOrigin, read_origins
from cc_hf.plugins.leaderboard.store import Store, read_shown
from cc_hf.plugins.leaderboard.table import (
    LeaderboardRow,
    comparable_rows,
    leaderboard_rows,
    ranked,
)
from cc_hf.reports.figure_text import data_name, metric_name
from cc_hf.results import EvaluationResult

__all__ = ["Board", "Ranking", "build_board", "read_board"]


@dataclass(frozen=True)
class Ranking:
    """Systems that can be compared."""

    name: str  # which no other ranking of the board has
    # In the order in which they are shown: those with a standing by band, then others by `by`, then
    # those that may not be ranked.
    results: Mapping[str, EvaluationResult] = field(repr=False)
    rows: Mapping[str, LeaderboardRow] = field(repr=False)  # in the same order
    by: str  # "" where no figure is good or bad
    columns: tuple[str, ...]
    ranks: Ranks

    @property
    def first(self) -> EvaluationResult:
        """A result, which names the shared data and the metric."""
        return next(iter(self.results.values()))

    @property
    def first_row(self) -> LeaderboardRow:
        """A row, which names the shared evaluator."""
        return next(iter(self.rows.values()))

    @property
    def judge(self) -> str:
        """The evaluator, or the metric that needs none, in words."""
        return self.first_row.evaluator or metric_name(self.first.metric)

    @property
    def is_screen(self) -> bool:
        """Whether too little is known of the judge to rank systems."""
        return all(row.is_screen for row in self.rows.values())

    @property
    def has_translations(self) -> bool:
        """Whether there is a sentence to show; results may be without their translations."""
        results = self.results.values()
        return any(j.translation for result in results for j in result.judgements) or any(
            reading.translation for result in results for reading in result.readings
        )

    @property
    def title(self) -> str:
        """Data, languages and judge in words."""
        return f"{data_name(self.first)}: {self.judge}"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data for JSON."""
        first = self.first_row
        return {
            "name": self.name,
            "dataset": first.dataset,
            "config": first.config,
            "language": first.language,
            "metric": first.metric,
            "evaluator": first.evaluator,
            "by": self.by,
            "columns": list(self.columns),
            "n_shared": self.ranks.n_samples,
            "shared": "decided" if self.ranks.is_shared else "all",
            "systems": [
                {
                    "system": system,
                    "standing": (
                        asdict(standing) if (standing := self.ranks.by_system.get(system)) else None
                    ),
                    "figures": {name: list(value) for name, value in row.figures.items()},
                    "n": row.n,
                    "bleu": row.bleu,
                    "date": row.date,
                    "level": row.level,
                    "evidence": row.trust.labels if row.trust else "",
                    "unfit": dict(row.unfit),
                    "notes": list(row.notes),
                    "signature": row.signature,
                }
                for system, row in self.rows.items()
            ],
        }


@dataclass(frozen=True)
class Board:
    """All rankings of a folder of results."""

    title: str
    rankings: tuple[Ranking, ...]
    origins: Mapping[str, SystemOrigin]
    # File name -> why it could not be read.
    broken: Mapping[str, str] = field(default_factory=dict)
    judge_cards: tuple[JudgeCard, ...] = ()
    notes: tuple[str, ...] = ()  # why sources are not shown, once the page is written

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data for JSON."""
        return {
            "version": __version__,
            "title": self.title,
            "rankings": [ranking.to_dict() for ranking in self.rankings],
            "systems": [asdict(origin) for origin in self.origins.values()],
            "broken": dict(self.broken),
        }


def read_board(
    results: str | Path,
    *,
    title: str = "Disambiguation leaderboard",
    quality: str | Path | Sequence[str | Path] | None = None,
) -> Board:
    """Read a folder of results with their judgements."""
    return build_board(
        read_shown(results, title, has_judgements=True),
        title=title,
        quality=quality,
        origins=read_origins(Path(results)),
    )


def build_board(
    store: Store,
    *,
    title: str,
    quality: str | Path | Sequence[str | Path] | None = None,
    origins: Mapping[str, SystemOrigin] | None = None,
) -> Board:
    """Divide results into rankings.

    Examples:
        >>> from cc_hf.plugins.leaderboard.store import StoredResult
        >>> scores = {"accuracy": 0.5}
        >>> entries = tuple(
        ...     StoredResult(
        ...         "a",
        ...         "a.json",
        ...         EvaluationResult("", "", lang, "own", "own|n:2", 2, scores, {}, (), ()),
        ...     )
        ...     for lang in ("de", "fr")
        ... )
        >>> board = build_board(Store(entries), title="two")
        >>> [(ranking.name, list(ranking.results)) for ranking in board.rankings]
        [('own-data-de-own', ['a']), ('own-data-fr-own', ['a'])]
    """
    rows = leaderboard_rows(store, quality)
    names: set[str] = set()
    rankings = [
        _ranking([(store.entries[index].result, rows[index]) for index in group], names)
        for group in comparable_rows(store.entries, rows)
    ]
    systems = dict.fromkeys(row.system for row in rows)
    known = origins or {}
    if lost := [name for name in known if name not in systems]:
        raise InputError(
            f"systems.tsv: expected systems of the results, got {lost[0]!r}; the results are of"
            f" {', '.join(systems)}"
        )

    def key(ranking: Ranking) -> tuple[bool, bool, int, int, str]:
        n_fit = sum(ranking.by not in row.unfit for row in ranking.rows.values())
        # Figures that may be cited come before those by judges for rankings only.
        are_uncited = all(row.remark(ranking.by) for row in ranking.rows.values())
        return ranking.is_screen, are_uncited, -n_fit, -len(ranking.rows), ranking.name

    return Board(
        title,
        tuple(sorted(rankings, key=key)),
        {name: known.get(name, SystemOrigin(name)) for name in systems},
        store.broken,
        store.judge_cards,
    )


def _ranking(group: Sequence[tuple[EvaluationResult, LeaderboardRow]], names: set[str]) -> Ranking:
    """Return the ranking of comparable results."""
    first = group[0][1]
    of_row = {row.name: result for result, row in group}
    rows = ranked([row for _, row in group], first.ranks.by)
    base = _slug(*first.choice.data, first.language, first.metric, first.evaluator)
    # A name with a number may be the name of another judge, such as teacher-2.
    numbered = (f"{base}-{number}" for number in itertools.count(2))
    name = next(name for name in itertools.chain([base], numbered) if name not in names)
    names.add(name)
    return Ranking(
        name,
        {row.name: of_row[row.name] for row in rows},
        {row.name: row for row in rows},
        first.ranks.by,
        tuple(dict.fromkeys(name for row in rows for name in row.shown)),
        first.ranks,
    )


def _slug(*words: str) -> str:
    parts = (re.sub(r"[^a-z0-9.]+", "-", word.lower()).strip("-") for word in words)
    return file_slug("-".join(filter(None, dict.fromkeys(parts))))
