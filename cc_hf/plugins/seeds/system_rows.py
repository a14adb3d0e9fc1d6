"""Systems with all that is known of them, from files of results: a row for each system and seed,
and means over seeds.

Figures are named as in the results. Where the results are on several datasets or configurations,
or by several metrics of one dataset, these are put before the name: `winomt:min_accuracy`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from cc_hf.data.files.quality_scores import QualityScores
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.plugins.seeds.seeds import (
    check_seeds,
    differences_of,
    minima_of,
    name_without_seed,
    seed_of_name,
)
from cc_hf.plugins.seeds.timings import Timing, Timings
from cc_hf.results import EvaluationResult, Interval
from cc_hf.statistics.gender_ratios import MALE_FEMALE, RATIO
from cc_hf.statistics.seeds import SeedFigure, average_over_seeds

__all__ = [
    "SystemLabels",
    "SystemMean",
    "SystemRow",
    "join_figure",
    "mean_rows",
    "ordered_sizes",
    "system_rows",
]

_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmbg]?)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class SystemLabels:
    """What is known of systems beyond their results.

    A name is that of a system, with or without the part that names its seed, or a pattern such as
    "student-*".
    """

    # What systems have in common, such as the teacher; charts join them by a line.
    groups: Mapping[str, str] = field(default_factory=dict)
    # In words or numbers, such as "small" or "50.9M".
    sizes: Mapping[str, str] = field(default_factory=dict)
    seqkd: Collection[str] = ()  # trained by sequence-level knowledge distillation


@dataclass(frozen=True)
class SystemRow:
    """A system of one seed."""

    system: str  # without the seed
    seed: str  # "" if the name has none
    tgt_lang: str
    group: str = ""
    size: str = ""
    is_seqkd: bool = False
    bleu: float | None = None  # in [0, 1]
    timing: Timing | None = None
    figures: Mapping[str, float] = field(default_factory=dict)  # in [0, 1] or [-1, 1]
    counts: Mapping[str, int] = field(default_factory=dict)  # such as n and n_female
    # Figures that follow from others, as `average_over_seeds` takes them.
    differences: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    minima: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # By what stands before the names of their figures.
    results: Mapping[str, EvaluationResult] = field(default_factory=dict, repr=False)

    @property
    def intervals(self) -> dict[str, Interval]:
        """Figure -> its interval."""
        return {
            join_figure(prefix, name): interval
            for prefix, result in self.results.items()
            for name, interval in result.intervals.items()
        }


@dataclass(frozen=True)
class SystemMean:
    """The mean of a system over its seeds."""

    first: SystemRow  # which has the labels of all
    seeds: tuple[str, ...]
    bleu: SeedFigure | None  # in [0, 1]; None if a seed has none
    seconds: SeedFigure | None  # None if a seed has none
    # Differences, minima and the ratio M:F are computed from means of other figures.
    figures: Mapping[str, SeedFigure]
    counts: Mapping[str, SeedFigure]
    # Figure, "bleu" or "seconds" -> number of seeds that have it, where some lack it.
    incomplete: Mapping[str, int] = field(default_factory=dict)

    @property
    def intervals(self) -> dict[str, Interval]:
        """Figure -> its interval, for a single seed; there is none of a mean."""
        return self.first.intervals if len(self.seeds) == 1 else {}


def system_rows(
    results: Sequence[tuple[str, EvaluationResult]],
    *,
    labels: SystemLabels | None = None,
    quality: QualityScores | None = None,
    timings: Timings | None = None,
) -> list[SystemRow]:
    """Return a row for each system, seed and target language.

    Examples:
        >>> result = EvaluationResult(
        ...     "winomt", "default", "de", "own", "own|n:2", 2, {"accuracy": 0.5}, {}, (), ()
        ... )
        >>> (row,) = system_rows([("small-seed1", result)])
        >>> row.system, row.seed, row.figures
        ('small', '1', {'accuracy': 0.5})
    """
    if not results:
        raise InputError("results: expected at least one, got none")
    labels, quality = labels or SystemLabels(), quality or QualityScores()
    times = timings.systems if timings else {}
    names = list(dict.fromkeys(name for name, _ in results))
    for what, known in (("a time", times), ("a BLEU", quality.systems)):
        for name in known:
            if name not in names:
                raise UnknownNameError(f"system (of {what})", name, names)
    groups = _assigned(labels.groups, "a group", names)
    sizes = _assigned(labels.sizes, "a size", names)
    seqkd = _assigned(dict.fromkeys(labels.seqkd, "1"), "seqkd", names)
    prefixes = _prefixes([result for _, result in results])
    of_rows: dict[tuple[str, str], dict[str, EvaluationResult]] = {}
    for (name, result), prefix in zip(results, prefixes, strict=True):
        if prefix in (of_row := of_rows.setdefault((name, result.tgt_lang), {})):
            raise InputError(
                f"{name}: expected one result by {result.metric} on {prefix or 'the same data'},"
                " got two; give each system and seed a name of its own"
            )
        of_row[prefix] = result
    rows = [
        SystemRow(
            name_without_seed(name),
            seed_of_name(name),
            tgt_lang,
            groups.get(name, ""),
            sizes.get(name, ""),
            name in seqkd,
            _bleu(quality, name, tgt_lang, of_row),
            times.get(name),
            *_figures(of_row),
            results=of_row,
        )
        for (name, tgt_lang), of_row in of_rows.items()
    ]
    _check_distinct(rows)
    return rows


def mean_rows(rows: Sequence[SystemRow]) -> list[SystemMean]:
    """Average the rows of each system and target language over its seeds."""
    systems: dict[tuple[str, str], list[SystemRow]] = {}
    for row in rows:
        systems.setdefault((row.system, row.tgt_lang), []).append(row)
    return [_mean(of_system) for of_system in systems.values()]


def ordered_sizes(rows: Sequence[SystemRow], first: Sequence[str] = ()) -> list[str]:
    """Return the sizes of systems in order: by number if all are numbers, else as they come."""
    sizes = list(dict.fromkeys(row.size for row in rows if row.size))
    numbers = {size: _SIZE.fullmatch(size.strip()) for size in sizes}
    values = {
        size: float(match[1]) * _SCALES[match[2].lower()]
        for size, match in numbers.items()
        if match
    }
    if len(values) == len(sizes):
        return sorted(sizes, key=lambda size: values[size])
    named = [size for size in dict.fromkeys(first) if size in sizes]
    return [*named, *(size for size in sizes if size not in named)]


def join_figure(prefix: str, name: str) -> str:
    """Return the name of a figure in a table.

    Args:
        prefix: dataset, configuration or metric; "" if all figures are of the same.

    Examples:
        >>> join_figure("winomt", "accuracy"), join_figure("", "accuracy")
        ('winomt:accuracy', 'accuracy')
    """
    return f"{prefix}:{name}" if prefix else name


def _prefixes(results: Sequence[EvaluationResult]) -> list[str]:
    """Return for each result the least that tells its figures from others."""
    # Dataset, configuration and metric, as far as they differ. A configuration that goes with the
    # language says nothing.
    datasets = {r.dataset for r in results}
    configs: dict[tuple[str, str], set[str]] = {}
    metrics: dict[str, set[str]] = {}
    for r in results:
        configs.setdefault((r.dataset, r.tgt_lang), set()).add(r.config)
        metrics.setdefault(r.dataset, set()).add(r.metric)
    has_configs = {key[0] for key, names in configs.items() if len(names) > 1}
    return [
        ":".join(
            [
                *[r.dataset or "own"] * (len(datasets) > 1),
                *[r.config or "-"] * (r.dataset in has_configs),
                *[r.metric] * (len(metrics[r.dataset]) > 1),
            ]
        )
        for r in results
    ]


def _figures(
    results: Mapping[str, EvaluationResult],
) -> tuple[dict[str, float], dict[str, int], dict[str, tuple[str, str]], dict[str, Sequence[str]]]:
    """Return figures, counts, differences and minima of all results under the names of a table."""
    figures: dict[str, float] = {}
    counts: dict[str, int] = {}
    differences: dict[str, tuple[str, str]] = {}
    minima: dict[str, Sequence[str]] = {}
    for prefix, result in results.items():
        sizes = {f"n_{category.category}": category.n for category in result.categories}
        for name, value in result.scores.items():
            figures[join_figure(prefix, name)] = value
        for name, number in {"n": result.n, **sizes, **result.counts}.items():
            counts[join_figure(prefix, name)] = number
        for name, (left, right) in differences_of(result).items():
            pair = join_figure(prefix, left), join_figure(prefix, right)
            differences[join_figure(prefix, name)] = pair
        for name, parts in minima_of(result).items():
            minima[join_figure(prefix, name)] = [join_figure(prefix, part) for part in parts]
    return figures, counts, differences, minima


def _assigned(values: Mapping[str, str], what: str, names: Sequence[str]) -> dict[str, str]:
    """Return the value of each system that has one."""
    known = dict.fromkeys([*names, *map(name_without_seed, names)])
    for key in values:
        if not any(key == name or fnmatchcase(name, key) for name in known):
            raise UnknownNameError(f"system (of {what})", key, known)
    assigned = {}
    for name in names:
        # By its name, else by its name without the seed, else by the first pattern that it fits.
        spellings = (name, name_without_seed(name))
        patterns = [key for key in values if any(fnmatchcase(s, key) for s in spellings)]
        keys = [*(s for s in spellings if s in values), *patterns]
        if keys:
            assigned[name] = values[keys[0]]
    return assigned


def _bleu(
    quality: QualityScores, name: str, tgt_lang: str, results: Mapping[str, EvaluationResult]
) -> float | None:
    known = {quality.of(name, result.dataset, tgt_lang) for result in results.values()} - {None}
    if len(known) > 1:
        raise InputError(
            f"bleu: {name}: expected one figure for all datasets of a row, got different ones;"
            " make a table for each dataset"
        )
    return next(iter(known), None)


def _check_distinct(rows: Sequence[SystemRow]) -> None:
    seen = set()
    for row in rows:
        key = row.system, row.seed, row.tgt_lang
        if key in seen:
            raise InputError(
                f"{row.system}: expected each seed once, got seed {row.seed!r} under two names"
            )
        seen.add(key)


def _mean(rows: Sequence[SystemRow]) -> SystemMean:
    first = rows[0]
    for row in rows[1:]:
        for what, values in {
            "group": (first.group, row.group),
            "size": (first.size, row.size),
            "seqkd": (first.is_seqkd, row.is_seqkd),
            "way of timing": (_way(first.timing), _way(row.timing)),
        }.items():
            if len(set(values) - {None}) > 1:
                raise InputError(
                    f"{first.system}: expected the same {what} for all seeds, got {values[0]!r} for"
                    f" seed {first.seed!r} and {values[1]!r} for seed {row.seed!r}"
                )
    for prefix in dict.fromkeys(prefix for row in rows for prefix in row.results):
        same = [row.results[prefix] for row in rows if prefix in row.results]
        check_seeds(same, system=first.system)
    extra = [
        {
            name: value
            for name, value in {
                "bleu": row.bleu,
                "seconds": row.timing.seconds if row.timing else None,
            }.items()
            if value is not None
        }
        for row in rows
    ]
    names = dict.fromkeys(
        name for row, more in zip(rows, extra, strict=True) for name in (*more, *row.figures)
    )
    numbers = {
        name: sum(
            name in row.figures or name in more for row, more in zip(rows, extra, strict=True)
        )
        for name in names
    }
    quality = average_over_seeds(extra)
    return SystemMean(
        first,
        tuple(row.seed for row in rows),
        quality.get("bleu"),
        quality.get("seconds"),
        average_over_seeds(
            [row.figures for row in rows],
            differences=first.differences,
            minima=first.minima,
            ratios={
                join_figure(prefix, RATIO): (
                    join_figure(prefix, MALE_FEMALE[0]),
                    join_figure(prefix, MALE_FEMALE[1]),
                )
                for prefix in first.results
            },
        ),
        average_over_seeds([row.counts for row in rows]),
        {name: n for name, n in numbers.items() if n < len(rows)},
    )


def _way(timing: Timing | None) -> tuple[str, str, int | None] | None:
    return None if timing is None else (timing.precision, timing.backend, timing.beams)
