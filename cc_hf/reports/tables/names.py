"""What `cc-hf list` shows: datasets with their configurations, metrics and evaluators."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import shorten
from typing import Any

from cc_hf import registry
from cc_hf.data.card_sections import card_section
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.download import is_here
from cc_hf.evaluation.calibration_file import shipped_calibrations
from cc_hf.evaluators.suitability import PUBLISHED
from cc_hf.evidence import Evidence, known_evidence
from cc_hf.languages import language_name
from cc_hf.levels import trust_by
from cc_hf.metrics.base import Metric
from cc_hf.models.location import EmbeddedModel
from cc_hf.models.model_format import ModelFormat
from cc_hf.reports.numbers import count, decimal, percent, signed
from cc_hf.reports.report_parts import Line, Piece, ReportTable
from cc_hf.schema import FORMS
from cc_hf.signature import parse

__all__ = [
    "ROWS",
    "about_metric",
    "configurations",
    "dataset_row",
    "listing",
    "metric_row",
    "overview",
]

_MORE = {
    "datasets": "; the configurations of one: cc-hf list datasets NAME",
    "metrics": "; what one does, and its options: cc-hf list metrics NAME",
}


_WIDTH = 50  # of the languages of a dataset, on a line of 80


def listing(kind: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Piece]:
    """Yield the lines of one kind: each name with what is most important, and below it the rest."""
    yield Line(f"{kind}{_MORE.get(kind, '')}\n", "about")
    for row in rows:
        facts = ""
        if kind == "datasets":
            configs = row["configurations"]
            n_here = sum(config["is_here"] for config in configs)
            here = "to be downloaded" if not n_here else f"{n_here} at hand"
            facts = f"  {len(configs)} configurations, default {row['default']}; "
            facts += "at hand" if n_here == len(configs) else here
        yield Line.named(row["name"], facts, indent=2)
        yield Line(row["about"], indent=6)
    yield ""


def overview(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Piece]:
    """Yield datasets with their language pairs, and the numbers of metrics and evaluators."""
    shown = []
    for row in rows["datasets"]:
        targets: dict[str, dict[str, None]] = {}
        for config in row["configurations"]:
            targets.setdefault(config["src_lang"], {}).update(dict.fromkeys(config["tgt_langs"]))
        pairs = (f"{source} → {' '.join(sorted(into))}" for source, into in targets.items())
        shown.append((row["name"], shorten("; ".join(pairs), _WIDTH, placeholder=" ...")))
    yield ReportTable.of("", ("dataset", "languages"), shown, words=("languages",))
    for kind in rows:
        yield f"cc-hf list {kind:<11} describes {len(rows[kind])} {kind}"


def dataset_row(declared: DatasetDeclaration) -> dict[str, Any]:
    """Return a dataset and its configurations as plain data for JSON."""
    fits = _fitting(declared)
    return {
        "name": declared.name,
        "about": declared.description,
        "default": declared.default_config,
        "licence": declared.licence,
        "configurations": [
            {
                "name": config.name,
                "about": config.description,
                "format": FORMS[config.form],
                "examples": dict(config.splits),
                "is_here": _is_here(declared, config),
                "src_lang": config.src_lang,
                "tgt_langs": list(config.tgt_langs),
                "takes_any_target": config.takes_any_target,
                "metrics": {
                    metric: languages[config.name]
                    for metric, languages in fits.items()
                    if languages[config.name]
                },
            }
            for config in declared.configs
        ],
    }


def _is_here(declared: DatasetDeclaration, config: ConfigDeclaration) -> bool:
    """Return whether a configuration can be read without a download."""
    return all(map(is_here, declared.files_of(config.name)))


def _datasets() -> list[dict[str, Any]]:
    return [dataset_row(declared) for declared in registry.load_all("dataset").values()]


def configurations(declared: DatasetDeclaration) -> Iterator[Piece]:
    """Yield a table with one line per configuration, and the metrics that fit."""
    splits = list(dict.fromkeys(split for config in declared.configs for split in config.splits))
    rows = []
    for config in declared.configs:
        others = ", any other" * config.takes_any_target
        sizes = [config.splits.get(split, 0) for split in splits]
        row = (
            f"{config.name}{'*' * (config.name == declared.default_config)}",
            FORMS[config.form],
            *("?" if n is None else count(n) if n else "" for n in sizes),
            f"{config.src_lang} → {' '.join(config.tgt_langs)}{others}",
        )
        rows.append(row)
    sizes_of = ["examples"] if len(splits) == 1 else splits
    yield ReportTable.of(
        f"configurations of {declared.name} (* default; ? not known)",
        ("configuration", "format", *sizes_of, "pair"),
        rows,
        words=("format", "pair"),
    )
    here = [config for config in declared.configs if _is_here(declared, config)]
    known = _names(declared, here) or "none; they are downloaded when first used"
    yield Line.named("at hand", f": {known}", indent=2)
    by_description: dict[str, list[ConfigDeclaration]] = {}
    for config in declared.configs:
        pair = "-".join(map(language_name, (config.src_lang, config.tgt_langs[0])))
        by_description.setdefault(config.description.removeprefix(f"{pair}, "), []).append(config)
    for description, configs in by_description.items():
        yield Line.named(_names(declared, configs), f": {description}", indent=2)
    yield Line("\nmetrics that fit, of those of `cc-hf list metrics`\n", "about")
    for metric, fitting in _fitting(declared).items():
        yield Line.named(metric, f": {_where(declared, fitting)}", indent=2)


def _names(declared: DatasetDeclaration, configs: Sequence[ConfigDeclaration]) -> str:
    """Return names of configurations, with "*" for the languages if all alike are among them."""
    if len(configs) == len(declared.configs):
        return "every configuration"
    chosen = {config.name for config in configs}
    alike: dict[str, list[str]] = {}
    for config in declared.configs:
        alike.setdefault(_pattern(config), []).append(config.name)
    names: dict[str, None] = {}  # keeps the order
    for config in configs:
        pattern = _pattern(config)
        is_whole = len(alike[pattern]) > 1 and chosen.issuperset(alike[pattern])
        names[pattern if is_whole else config.name] = None
    return ", ".join(names)


def _pattern(config: ConfigDeclaration) -> str:
    """Return the name of a configuration with "*" for its languages."""
    if len(config.tgt_langs) > 1:
        return config.name
    src_lang, tgt_lang = config.src_lang, config.tgt_langs[0]
    # The name of a configuration into English has the source language only.
    languages = rf"(?:{src_lang}[-_])?{tgt_lang}|{src_lang}"
    return re.sub(rf"(?<![a-z])(?:{languages})(?![a-z])", "*", config.name)


def _fitting(declared: DatasetDeclaration) -> dict[str, dict[str, list[str]]]:
    """Return the target languages of each configuration in which a metric fits, by metric."""
    fitting = {}
    for name, metric in registry.load_all("metric").items():
        languages = {
            c.name: [
                lang
                for lang in c.tgt_langs
                if not metric.fits(declared.name, c.name, c.form, c.src_lang, lang)
            ]
            for c in declared.configs
        }
        if any(languages.values()):
            fitting[name] = languages
    return fitting


def _where(declared: DatasetDeclaration, languages: Mapping[str, list[str]]) -> str:
    """Say where a metric fits; configurations that lack the same languages are named together."""
    by_limit: dict[str, list[ConfigDeclaration]] = {}
    for config in declared.configs:
        if chosen := languages[config.name]:
            is_whole = chosen == list(config.tgt_langs)
            by_limit.setdefault("" if is_whole else f" (into {' '.join(chosen)})", []).append(
                config
            )
    return "; ".join(f"{_names(declared, configs)}{limit}" for limit, configs in by_limit.items())


def _metrics() -> list[dict[str, Any]]:
    return [
        {"name": name, "about": _about(metric)}
        for name, metric in registry.load_all("metric").items()
    ]


def _about(metric: type[Metric]) -> str:
    about = (sys.modules[metric.__module__].__doc__ or metric.about).strip()
    return " ".join(about.partition("\n\n")[0].split())


def metric_row(name: str, metric: type[Metric], options: Mapping[str, str]) -> dict[str, Any]:
    """Return what a metric does, its options, and where it fits, as plain data for JSON."""
    return {
        "name": name,
        "about": _about(metric),
        "description": " ".join(card_section(name, "metrics", "Description").split()),
        "options": {option: options.get(option, "") for option in metric.option_names()},
        "fits": {
            declared.name: _where(declared, _fitting(declared)[name])
            for declared in registry.load_all("dataset").values()
            if name in _fitting(declared)
        },
    }


def about_metric(row: Mapping[str, Any]) -> Iterator[Piece]:
    """Yield what a metric does, its options, and where it fits, from its `metric_row`."""
    yield Line.named(row["name"], f": {row['about']}")
    if row["description"]:
        yield f"\n{row['description']}"
    for heading, entries in (
        ("options, given as --option NAME=VALUE", row["options"]),
        ("configurations of datasets that it fits", row["fits"]),
    ):
        if entries:
            yield Line(f"\n{heading}\n", "about")
        for key, about in entries.items():
            yield Line.named(key, f": {about}", indent=2)


def _evaluators() -> list[dict[str, Any]]:
    abouts = {}
    embedded: dict[str, EmbeddedModel] = registry.load_all("evaluator")
    for name, shipped in embedded.items():
        abouts[name] = (
            f"{shipped.src_lang} → {shipped.tgt_lang}; ships with the package, a small model for"
            f" tests, demos and first looks. It was made to judge {shipped.made_for}. Measured:"
            f" {'; '.join(map(str, shipped.agreements)) or 'nothing'}"
        )
    for large in PUBLISHED:
        figures = "; ".join(map(str, large.agreements))
        abouts[large.name] = (
            f"{large.src_lang} → {large.tgt_lang}; in the paper: {large.about} {figures}"
            f" ({large.source})"
        )
    formats: dict[str, ModelFormat] = registry.load_all("model format")
    abouts |= {f"{name}:SOURCE-TARGET": of_files.about() for name, of_files in formats.items()}
    for calibration in shipped_calibrations():
        chosen = calibration.choice.report
        name = calibration.evaluator.partition("@")[0]
        known = abouts.get(name, f"{calibration.src_lang} → {calibration.tgt_lang}")
        abouts[name] = (
            f"{known}; calibrated: use the cues {calibration.chosen}; AUC"
            f" {decimal(chosen.auc, digits=3)}, {percent(chosen.accuracy)} % of the decisions"
            f" right, shift {signed(chosen.shift)}, on {chosen.n:,} translations of"
            f" {calibration.data}"
        )
    for name, levels in _levels().items():
        known = f"{abouts[name]}; " if name in abouts else ""
        abouts[name] = f"{known}level by evidence: {', '.join(levels)}"
    families = ", ".join(registry.names("evaluator family"))
    abouts["FOLDER, ORGANISATION/MODEL"] = (
        f"any model of transformers of one of the families {families}, saved to a folder or"
        " from the Hub"
    )
    return [{"name": name, "about": about} for name, about in abouts.items()]


def _levels() -> dict[str, list[str]]:
    """Return the level of each judge with evidence on two verdicts, by test set, language pair and
    cues.
    """
    rows: dict[tuple[str, ...], list[Evidence]] = {}
    for row in known_evidence():
        if not row.threshold:
            judge = row.evaluator.rpartition("@")[0] or row.evaluator
            cues = parse(row.signature)[1].get("cues", "")
            rows.setdefault((judge, row.dataset, row.languages, cues), []).append(row)
    levels: dict[str, list[str]] = {}
    for (name, dataset, pair, cues), of_judge in rows.items():
        has_several = len([key for key in rows if key[:3] == (name, dataset, pair)]) > 1
        text = f"{dataset} {pair}{f' by {cues}' * has_several} {trust_by(of_judge, {}).level}"
        levels.setdefault(name, []).append(text)
    return levels


#: Kind -> a function that returns what there is, as plain data for JSON.
ROWS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "datasets": _datasets,
    "metrics": _metrics,
    "evaluators": _evaluators,
}
