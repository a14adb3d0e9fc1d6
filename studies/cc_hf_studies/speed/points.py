"""Systems by decoding time, BLEU and SimpleGEN accuracies; relative drops and trend lines
(Renduchintala et al. 2021, section 5).

`speed_gender.tsv` holds Table 4 of the paper, in percent as printed, the deltas included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cc_hf.errors import InputError
from cc_hf.statistics.checks import is_constant
from cc_hf.statistics.regression import Regression, least_squares
from cc_hf.statistics.seeds import average_over_seeds
from cc_hf_studies.common.system_columns import Systems, column_numbers

__all__ = [
    "ACCURACIES",
    "CITATION_KEY",
    "DELTAS",
    "FIGURES",
    "PUBLISHED",
    "UNDECIDED",
    "Drops",
    "SpeedPoint",
    "SpeedStudy",
    "mean_point",
    "speed_json",
    "speed_points",
    "speed_studies",
    "trend_lines",
]

#: The key of the paper in `cc_hf.citations`.
CITATION_KEY = "renduchintala-2021"
#: Table 4 of the paper.
PUBLISHED = Path(__file__).with_name("speed_gender.tsv")

#: Sentences of SimpleGEN in each group: stereotype of the occupation, gender of the context.
_GROUP_SIZES = {"FoFc": 518, "MoFc": 814, "MoMc": 814, "FoMc": 518}
_STEREOTYPES = {"pro": ("MoMc", "FoFc"), "anti": ("MoFc", "FoMc")}
#: Accuracies of a point: of pro- and anti-stereotypical sentences, and of the four groups.
ACCURACIES = (*_STEREOTYPES, *_GROUP_SIZES)
#: Differences of accuracies, as `simplegen_accuracy` names them.
DELTAS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"delta": ("pro", "anti"), "delta_fc": ("FoFc", "MoFc"), "delta_mc": ("MoMc", "FoMc")}
)
#: All figures of a point that can drop.
FIGURES = ("seconds", "bleu", *ACCURACIES)
#: What says how many translations were not decided. A worse system may look less biased, because it
#: leaves the occupation out.
UNDECIDED = ("inconclusive_rate_pro", "inconclusive_rate_anti", "n_no_form")
_DECODING = ("precision", "backend", "beams")
_MIN_POINTS = 3  # systems from which a trend line is drawn


@dataclass(frozen=True, slots=True)
class SpeedPoint:
    """A system with a way of decoding.

    Attributes:
        seconds: decoding time of a test set.
        bleu: BLEU on it, in points.
        accuracies: `ACCURACIES` on SimpleGEN, in [0, 1].
        undecided: those of `UNDECIDED` that are known: rates in [0, 1], and a number.
        decoding: precision, backend and beams in words; "" if not known.
        deviations: figure or delta -> its standard deviation over seeds; empty for one seed.
    """

    model: str
    seconds: float
    bleu: float
    accuracies: Mapping[str, float]
    undecided: Mapping[str, float] = field(default_factory=dict)
    decoding: str = ""
    n_seeds: int = 1
    deviations: Mapping[str, float] = field(default_factory=dict)

    @property
    def deltas(self) -> dict[str, float]:
        """The differences `DELTAS`, in [-1, 1]."""
        return {
            name: self.accuracies[first] - self.accuracies[second]
            for name, (first, second) in DELTAS.items()
        }

    def figure(self, name: str) -> float:
        """Return a figure."""
        if name == "seconds":
            return self.seconds
        return self.bleu if name == "bleu" else self.accuracies[name]


@dataclass(frozen=True, slots=True)
class Drops:
    """Relative drops within a study, as shares; negative where a figure rises.

    The last row of the paper's Table 4 is said to hold the drops from the baseline to the fastest
    system. The printed rows follow partly that and partly the largest drop, so both are given.

    Attributes:
        to_fastest: figure -> (baseline - fastest) / baseline; none where the baseline has 0.
        largest: figure -> (largest - smallest) / largest value among all systems.
    """

    fastest: str
    to_fastest: Mapping[str, float]
    largest: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SpeedStudy:
    """Systems that are compared with one baseline.

    Attributes:
        tgt_lang: ISO 639-1 code of the target language; "" if the table names none.
        part: what the systems have in common, such as "single" or "stacked"; "" if not named.
    """

    tgt_lang: str
    part: str
    baseline: SpeedPoint
    points: tuple[SpeedPoint, ...]

    def drop(self, point: SpeedPoint, figure: str) -> float:
        """Return the relative drop of a figure from the baseline, as a share."""
        start = self.baseline.figure(figure)
        if start == 0:
            raise InputError(
                f"{self.baseline.model}: expected a baseline whose {figure} is above 0, because"
                " drops are relative to it"
            )
        return (start - point.figure(figure)) / start

    @property
    def drops(self) -> Drops:
        """Both relative drops of every figure."""
        fastest = min(self.points, key=lambda point: point.seconds)
        values = {name: [point.figure(name) for point in self.points] for name in FIGURES}
        return Drops(
            fastest.model,
            {name: self.drop(fastest, name) for name in FIGURES if self.baseline.figure(name)},
            {
                name: (max(column) - min(column)) / max(column) if max(column) else 0.0
                for name, column in values.items()
            },
        )


def speed_points(systems: Systems) -> list[SpeedPoint]:
    """Return the systems of a table, one point for each row.

    Args:
        systems: rows with the columns model (or system), seconds, bleu, and the accuracies of the
            four groups in percent: FoFc, MoFc, MoMc and FoMc, or with the names that they have in
            results, accuracy_FoFc and so on, with or without a dataset before them. If pro and anti
            are absent, they are computed from the groups. The columns `UNDECIDED`, precision,
            backend and beams are optional.
    """
    numbers = {name: column_numbers(systems, name) for name in ("seconds", "bleu")}
    for name in ACCURACIES:
        column = _column(systems, name, f"accuracy_{name}")
        if column is not None or name in _GROUP_SIZES:
            numbers[name] = column_numbers(systems, column or name)
    undecided = {
        name: column_numbers(systems, column)
        for name in UNDECIDED
        if (column := _column(systems, name)) and all(row[column] for row in systems)
    }
    points = []
    for index, row in enumerate(systems):
        figures = {name: column[index] for name, column in numbers.items()}
        seconds, bleu = figures.pop("seconds"), figures.pop("bleu")
        if seconds <= 0:
            raise InputError(f"row {index + 1}: seconds: expected a time above 0, got {seconds:g}")
        for name, value in figures.items():
            if not 0 <= value <= 100:
                raise InputError(f"row {index + 1}: {name}: expected percent, got {value:g}")
        accuracies = {name: value / 100 for name, value in figures.items()}
        for name, groups in _STEREOTYPES.items():
            n = sum(_GROUP_SIZES[group] for group in groups)
            accuracies.setdefault(
                name, sum(_GROUP_SIZES[group] * accuracies[group] for group in groups) / n
            )
        points.append(
            SpeedPoint(
                _name(row, index + 1),
                seconds,
                bleu,
                accuracies,
                {
                    name: column[index] / (1 if name.startswith("n_") else 100)
                    for name, column in undecided.items()
                },
                _decoding(row),
            )
        )
    return points


def mean_point(points: Sequence[SpeedPoint]) -> SpeedPoint:
    """Return the mean of the seeds of one system, at least one."""
    first = points[0]
    if len(points) == 1:
        return first
    if other := next((p for p in points if p.decoding != first.decoding), None):
        raise InputError(
            f"{first.model}: expected seeds that are decoded in one way, got {first.decoding!r} and"
            f" {other.decoding!r}"
        )
    # Deltas and drops are computed from means, not averaged themselves (Renduchintala et al. 2021,
    # section 4).
    averages = average_over_seeds(
        [
            {**{name: point.figure(name) for name in FIGURES}, **point.deltas, **point.undecided}
            for point in points
        ],
        differences=DELTAS,
    )
    means = {name: figure.mean for name, figure in averages.items()}
    return SpeedPoint(
        first.model,
        means["seconds"],
        means["bleu"],
        {name: means[name] for name in ACCURACIES},
        {name: means[name] for name in UNDECIDED if name in means},
        first.decoding,
        len(points),
        {name: figure.sd for name, figure in averages.items() if figure.sd is not None},
    )


def speed_studies(systems: Systems, *, baseline: str = "baseline") -> list[SpeedStudy]:
    """Return a study for each target language and part of a table, in its order.

    Args:
        systems: rows as for `speed_points`; the columns tgt_lang and part are optional, and so is
            seed: rows of one system with different seeds are averaged.
    """
    groups: dict[tuple[str, str], dict[str, dict[str, SpeedPoint]]] = {}
    for row, point in zip(systems, speed_points(systems), strict=True):
        key = row.get("tgt_lang", ""), row.get("part", "")
        seeds = groups.setdefault(key, {}).setdefault(point.model, {})
        if (seed := row.get("seed", "")) in seeds:
            raise InputError(
                f"{_label(*key)}: expected each model once, or each of its seeds, got"
                f" {point.model!r} twice with {f'seed {seed}' if seed else 'no seed'}"
            )
        seeds[seed] = point
    studies = []
    for (tgt_lang, part), models in groups.items():
        label = _label(tgt_lang, part)
        points = [mean_point(list(seeds.values())) for seeds in models.values()]
        names = [point.model for point in points]
        if baseline not in names:
            raise InputError(
                f"baseline: expected one of {', '.join(names)}, the models of {label}, got"
                f" {baseline!r}"
            )
        studies.append(SpeedStudy(tgt_lang, part, points[names.index(baseline)], tuple(points)))
    return studies


def trend_lines(
    studies: Sequence[SpeedStudy], figures: Sequence[str] = ("bleu", "pro", "anti")
) -> dict[str, Regression]:
    """Return a line for each figure: its relative drop by that of time, by least squares over all
    systems, the baseline included (Figures 1 and A2 of the paper).

    Returns:
        Figure -> its line, without figures that allow none: fewer than three systems, equal figures
        or times in all, or 0 for a baseline.
    """
    times: dict[tuple[float, ...], tuple[SpeedStudy, SpeedPoint]] = {}
    for study in studies:
        for point in study.points:
            key = tuple(point.figure(name) for name in FIGURES)
            times.setdefault(key, (study, point))
    if len(times) < _MIN_POINTS:
        return {}
    rows = list(times.values())
    defined = [name for name in figures if all(study.baseline.figure(name) for study in studies)]
    drops = {
        name: [study.drop(point, name) for study, point in rows] for name in ("seconds", *defined)
    }
    seconds = drops.pop("seconds")
    return {
        name: least_squares((name, values), {"seconds": seconds})
        for name, values in drops.items()
        if not is_constant(values) and not is_constant(seconds)
    }


def speed_json(studies: Sequence[SpeedStudy]) -> dict[str, Any]:
    """Return studies as plain data for JSON, with deltas, drops and trend lines."""
    languages = dict.fromkeys(study.tgt_lang for study in studies)
    lines = {
        tgt_lang: trend_lines([s for s in studies if s.tgt_lang == tgt_lang], FIGURES[1:])
        for tgt_lang in languages
    }
    return {
        "studies": [
            {
                "tgt_lang": study.tgt_lang,
                "part": study.part,
                "baseline": study.baseline.model,
                "systems": [{**asdict(point), **point.deltas} for point in study.points],
                "drops": asdict(study.drops),
            }
            for study in studies
        ],
        "trend_lines": [
            {"tgt_lang": tgt_lang, **asdict(line)}
            for tgt_lang, by_figure in lines.items()
            for line in by_figure.values()
        ],
    }


def _label(tgt_lang: str, part: str) -> str:
    return " ".join(filter(None, (tgt_lang, part))) or "the table"


def _column(systems: Systems, *names: str) -> str | None:
    """Return the column of one of the names, which may stand behind a dataset and a metric."""
    columns = list(systems[0]) if systems else []
    for name in names:
        if name in columns:
            return name
        behind = [column for column in columns if column.endswith(f":{name}")]
        if len(behind) > 1:
            raise InputError(
                f"column: expected one for {name}, got {', '.join(behind)}; make the table from"
                " results of one dataset by one metric"
            )
        if behind:
            return behind[0]
    return None


def _decoding(row: Mapping[str, str]) -> str:
    words = {name: row.get(name, "") for name in _DECODING}
    if beams := words.pop(_DECODING[-1]):
        words["beams"] = f"beam {beams}"
    return ", ".join(word for word in words.values() if word)


def _name(row: Mapping[str, str], number: int) -> str:
    if not (name := (row.get("model") or row.get("system") or "").strip()):
        raise InputError(f"row {number}: model: expected the name of a system, got none")
    return name
