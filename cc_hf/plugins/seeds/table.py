"""Tables of systems in percent: for people, and text for `cc_hf.plugins.seeds.system_table`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cc_hf.errors import InputError, UnknownNameError
from cc_hf.plugins.seeds.system_rows import SystemMean, SystemRow
from cc_hf.reports.figure_text import (
    data_title,
    figure_label,
    language_pair,
    pair_of_data,
    ratio_text,
    with_interval,
)
from cc_hf.reports.numbers import percent
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.reports.tables.base import unfit_reasons
from cc_hf.results import Interval
from cc_hf.statistics.gender_ratios import RATIO
from cc_hf.statistics.seeds import SeedFigure

__all__ = [
    "chosen_figures",
    "drawn_figures",
    "figure_title",
    "is_ratio",
    "mean_columns",
    "row_columns",
    "systems_json",
    "systems_tables",
    "table_text",
    "title_of_language",
]

#: Figures that are shown where none is named.
_SHOWN = ("min_accuracy", "accuracy")
_SD = "_sd"  # what the name of a column of standard deviations ends in
_TIMING = ("tokens_per_second", "precision", "backend", "beams")


def row_columns(rows: Sequence[SystemRow]) -> list[dict[str, str]]:
    """Return a table with a line for each system and seed; figures and BLEU are in percent.

    The columns are system, group, size, seed, seqkd (1 or 0), tgt_lang, bleu, seconds; what else is
    known of the time; all figures; all counts. A cell is "" if there is no value.

    Examples:
        >>> (row,) = row_columns([SystemRow("a", "1", "de", bleu=0.3, figures={"accuracy": 0.796})])
        >>> row["seqkd"], row["bleu"], row["accuracy"]
        ('0', '30', '79.6')
    """
    return _filled(
        [
            {
                **_labels(row, seed=row.seed),
                "bleu": _points(row.bleu),
                "seconds": _number(row.timing.seconds if row.timing else None),
                **_timing(row),
            }
            for row in rows
        ],
        [{name: _points(value) for name, value in row.figures.items()} for row in rows],
        [{name: _number(value) for name, value in row.counts.items()} for row in rows],
    )


def mean_columns(means: Sequence[SystemMean]) -> list[dict[str, str]]:
    """Return a table with a line for each system, and standard deviations over seeds.

    The columns are those of `row_columns`, with n_seeds in place of seed, and NAME_sd beside each
    figure.
    """
    return _filled(
        [
            {
                **_labels(mean.first, n_seeds=str(len(mean.seeds))),
                **_with_deviation("bleu", mean.bleu, _points),
                **_with_deviation("seconds", mean.seconds, _number),
                **{key: text for key, text in _timing(mean.first).items() if key != _TIMING[0]},
            }
            for mean in means
        ],
        [
            {
                key: text
                for name, figure in mean.figures.items()
                for key, text in _with_deviation(
                    name, figure, _number if is_ratio(name) else _points
                ).items()
            }
            for mean in means
        ],
        [{name: _number(figure.mean) for name, figure in mean.counts.items()} for mean in means],
    )


def table_text(rows: Sequence[Mapping[str, str]], *, delimiter: str = "\t") -> str:
    r"""Return the text of a table, which `read_system_table` reads.

    Examples:
        >>> table_text([{"system": "a", "bleu": "30"}])
        'system\tbleu\na\t30\n'
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def systems_json(rows: Sequence[SystemRow], means: Sequence[SystemMean]) -> dict[str, Any]:
    """Return systems and their means as plain data for JSON, not in percent."""
    return {
        "systems": [
            {
                **_labels(row, seed=row.seed),
                "seqkd": row.is_seqkd,
                "bleu": row.bleu,
                "seconds": row.timing.seconds if row.timing else None,
                "figures": dict(row.figures),
                "intervals": {
                    name: [interval.low, interval.high]
                    for name, interval in row.intervals.items()
                    if isinstance(interval, Interval)
                },
                "counts": dict(row.counts),
                "signatures": {name: result.signature for name, result in row.results.items()},
            }
            for row in rows
        ],
        "means": [
            {
                **_labels(mean.first, n_seeds=str(len(mean.seeds))),
                "n_seeds": len(mean.seeds),
                "seeds": list(mean.seeds),
                "seqkd": mean.first.is_seqkd,
                "bleu": _mean_json(mean.bleu),
                "seconds": _mean_json(mean.seconds),
                "figures": {name: _mean_json(figure) for name, figure in mean.figures.items()},
                "incomplete": dict(mean.incomplete),
            }
            for mean in means
        ],
    }


def chosen_figures(
    means: Sequence[SystemMean], names: Sequence[str] = (), *, is_weighted: bool = False
) -> list[str]:
    """Return the figures that tables and charts show."""
    known = list(dict.fromkeys(name for mean in means for name in mean.figures))
    for name in names:
        if name not in known:
            raise UnknownNameError("figure", name, known)
    if names:
        return list(dict.fromkeys(names))
    if is_weighted and not any(name.rpartition(":")[2].startswith("weighted_") for name in known):
        raise InputError(
            "weighted: expected results with weighted accuracies, such as those of"
            " contrastive_conditioning, got none"
        )
    order = ("weighted_", "") if is_weighted else ("", "weighted_")
    chosen = []
    for prefix in dict.fromkeys(_prefix(name) for name in known):
        for shown in _SHOWN:
            spellings = [f"{prefix}{beginning}{shown}" for beginning in order]
            chosen += [name for name in spellings if name in known][:1]
    return chosen


def drawn_figures(figures: Sequence[str]) -> list[str]:
    """Return the figures of a chart where none is named: minimum accuracies, else all.

    Examples:
        >>> drawn_figures(["min_accuracy", "accuracy"])
        ['min_accuracy']
    """
    return [name for name in figures if name.endswith(_SHOWN[0])] or list(figures)


def systems_tables(means: Sequence[SystemMean], figures: Sequence[str]) -> Iterator[Piece]:
    """Yield tables of systems with BLEU and time, and of their figures, by target language."""
    for tgt_lang in dict.fromkeys(mean.first.tgt_lang for mean in means):
        systems = [mean for mean in means if mean.first.tgt_lang == tgt_lang]
        title = title_of_language(systems[0].first)
        yield _systems_table(systems, f"{title}: systems")
        for prefix in dict.fromkeys(map(_prefix, figures)):
            names = [name for name in figures if _prefix(name) == prefix]
            if any(name in mean.figures for mean in systems for name in names):
                of = f", {_prefix_title(prefix, systems)}" if prefix else ""
                columns = ("", *(name.rpartition(":")[2] for name in names))
                rows = [
                    (m.first.system, *(_figure_text(name, m) for name in names)) for m in systems
                ]
                yield ReportTable.of(f"{title}{of}: percent", columns, rows)
    if any(len(mean.seeds) > 1 for mean in means):
        yield Line(
            "± standard deviation over seeds; differences, minima and ratios are computed from the"
            " means",
            "about",
        )
    for mean in means:
        for name, n in mean.incomplete.items():
            if name in (*figures, "bleu", "seconds"):
                known = f"{n} of {len(mean.seeds)} seeds"
                yield f"{mean.first.system}: {name} is known for {known}: no mean"
    reasons = unfit_reasons(
        (mean.first.system, result) for mean in means for result in mean.first.results.values()
    )
    yield from (Line(reason, "unfit") for reason in reasons)


def title_of_language(row: SystemRow) -> str:
    """Return the languages of a system in words."""
    for result in row.results.values():
        if pair := pair_of_data(result):
            return pair
    # Without results it is a system of a paper, from English.
    return language_pair("" if row.results else "en", row.tgt_lang) or "systems"


def is_ratio(name: str) -> bool:
    """Return whether a figure of a table is a ratio, which is not in percent.

    Examples:
        >>> is_ratio("winomt:ratio_male_female"), is_ratio("accuracy")
        (True, False)
    """
    return name.rpartition(":")[2] == RATIO


def figure_title(mean: SystemMean, name: str) -> str:
    """Return a figure in words, with the data that it is of.

    Examples:
        >>> row = SystemRow("a", "1", "de", figures={"winomt:weighted_min_accuracy": 0.5})
        >>> mean = SystemMean(row, ("1",), None, None, {}, {})
        >>> figure_title(mean, "winomt:weighted_min_accuracy")
        'WinoMT: weighted minimum accuracy'
    """
    prefix = _prefix(name)
    result = mean.first.results.get(prefix.removesuffix(":"))
    # Systems without results are those of the paper that introduced this metric.
    metric = result.metric if result else "contrastive_conditioning"
    label = "ratio M:F" if is_ratio(name) else figure_label(metric, name.removeprefix(prefix))
    return f"{_prefix_title(prefix, [mean])}: {label}" if prefix else label


def _systems_table(systems: Sequence[SystemMean], title: str) -> ReportTable:
    columns = {
        "size": [mean.first.size for mean in systems],
        "seeds": [str(len(mean.seeds)) for mean in systems],
        "SeqKD": ["yes" if mean.first.is_seqkd else "" for mean in systems],
        "BLEU": [_mean_text(mean.bleu, 100) for mean in systems],
        "time, s": [_mean_text(mean.seconds) for mean in systems],
        "group": [mean.first.group for mean in systems],
    }
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    rows = zip([mean.first.system for mean in systems], *columns.values(), strict=True)
    return ReportTable.of(title, ("", *columns), rows, words=("group",))


def _figure_text(name: str, mean: SystemMean) -> str:
    figure = mean.figures.get(name)
    if figure is None:
        return ""
    if figure.sd is None and not is_ratio(name):
        return with_interval(figure.mean, mean.intervals.get(name))
    texts = [
        ratio_text(value, None) if is_ratio(name) else percent(value)
        for value in (figure.mean, figure.sd)
        if value is not None
    ]
    return " ± ".join(texts).replace("-", "−")


def _mean_text(figure: SeedFigure | None, factor: float = 1) -> str:
    if figure is None:
        return ""
    deviation = "" if figure.sd is None else f" ± {factor * figure.sd:.1f}"
    return f"{factor * figure.mean:,.1f}{deviation}"


def _prefix(name: str) -> str:
    """Return what stands before a figure, with its colon; "" if nothing does."""
    return name[: name.rfind(":") + 1]


def _prefix_title(prefix: str, systems: Sequence[SystemMean]) -> str:
    dataset, *others = prefix.removesuffix(":").split(":")
    of_data = (r for mean in systems for r in mean.first.results.values() if r.dataset == dataset)
    known = next((result.declared for result in of_data), None)
    return ", ".join([data_title(known or dataset, ""), *others])


def _labels(row: SystemRow, **seeds: str) -> dict[str, str]:
    return {
        "system": row.system,
        "group": row.group,
        "size": row.size,
        **seeds,
        "seqkd": str(int(row.is_seqkd)),
        "tgt_lang": row.tgt_lang,
    }


def _timing(row: SystemRow) -> dict[str, str]:
    if row.timing is None:
        return {}
    values = [getattr(row.timing, name) for name in _TIMING]
    texts = [value if isinstance(value, str) else _number(value) for value in values]
    return dict(zip(_TIMING, texts, strict=True))


def _with_deviation(name: str, figure: SeedFigure | None, write: Any) -> dict[str, str]:
    if figure is None:
        return {name: "", f"{name}{_SD}": ""}
    return {name: write(figure.mean), f"{name}{_SD}": write(figure.sd)}


def _mean_json(figure: SeedFigure | None) -> dict[str, Any] | None:
    if figure is None:
        return None
    return {"mean": figure.mean, "sd": figure.sd, "values": list(figure.values)}


def _filled(*parts: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return rows that have the cells of all parts, and all the columns of each part."""
    names = [dict.fromkeys(name for cells in part for name in cells) for part in parts]
    return [
        {
            name: cells.get(name, "")
            for of_part, cells in zip(names, row, strict=True)
            for name in of_part
        }
        for row in zip(*parts, strict=True)
    ]


def _points(value: float | None) -> str:
    # Rounding removes what floating point adds to a figure of few digits: 79.60000000000001.
    return "" if value is None else _number(round(100 * value, 10))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.12g}"
