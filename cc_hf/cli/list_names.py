"""cc-hf list: show what is registered."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any

import typer
from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cc_hf import registry
from cc_hf.cli.command import Outcome
from cc_hf.cue_building.calibration_file import shipped_calibrations
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.loading import declaration
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.evaluators.suitability import RECOMMENDED
from cc_hf.languages import LANGUAGES
from cc_hf.models.bergamot.published import LICENCE, PREFIX, STUDENTS
from cc_hf.models.location import EmbeddedModel
from cc_hf.reports.numbers import count, decimal, percent, signed
from cc_hf.schema import FORMS

__all__ = ["Kind", "list_names"]


class Kind(str, Enum):
    """The kinds of things that can be listed."""

    datasets = "datasets"
    metrics = "metrics"
    evaluators = "evaluators"


def list_names(
    kind: Annotated[
        str | None,
        typer.Argument(help="What to list: datasets, metrics or evaluators. Default: everything."),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(help="Name of a dataset whose configurations are listed.")
    ] = None,
) -> Outcome:
    """List datasets and their configurations, metrics and evaluators.

    Example: cc-hf list datasets winomt
    """
    chosen = None if kind is None else _kind(kind)
    if name is not None:
        if chosen is not Kind.datasets:
            raise InputError(
                f"expected a name after `datasets` only, got {name!r} after"
                f" {chosen.value if chosen else 'nothing'}"
            )
        declared = declaration(name)
        return Outcome(_dataset_row(declared), lambda: _configurations(declared))
    rows = {listed.value: _ROWS[listed]() for listed in ([chosen] if chosen else list(Kind))}
    return Outcome(
        rows, lambda: [part for listed in rows for part in _listing(Kind(listed), rows[listed])]
    )


def _kind(text: str) -> Kind:
    """Return the kind that a word names, in the plural or the singular; models are evaluators."""
    kinds = [kind.value for kind in Kind]
    for kind in ("evaluators" if text in ("model", "models") else text, f"{text}s"):
        if kind in kinds:
            return Kind(kind)
    is_dataset = text in registry.names("dataset")
    remedy = f"; the configurations of a dataset: cc-hf list datasets {text}" * is_dataset
    raise UnknownNameError("kind", text, kinds, remedy=remedy)


def _listing(kind: Kind, rows: list[dict[str, Any]]) -> Iterator[Table | Padding | Text]:
    """Yield the lines of one kind: each name with what is most important, and below it the rest."""
    more = "; the configurations of one: cc-hf list datasets NAME" * (kind is Kind.datasets)
    yield Text(f"{kind.value}{more}\n", style="italic")
    for row in rows:
        facts = ""
        if kind is Kind.datasets:
            n = len(row["configurations"])
            facts = f"  {n} configurations, default {row['default']}"
        yield Text.assemble("  ", (row["name"], "bold"), facts)
        yield Padding.indent(Text(row["about"]), 6)
    yield Text("")


def _dataset_row(declared: DatasetDeclaration) -> dict[str, Any]:
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
                "src_lang": config.src_lang,
                "tgt_langs": list(config.tgt_langs),
                "metrics": {
                    metric: languages[config.name]
                    for metric, languages in fits.items()
                    if languages[config.name]
                },
            }
            for config in declared.configs
        ],
    }


def _datasets() -> list[dict[str, Any]]:
    return [_dataset_row(declared) for declared in registry.load_all("dataset").values()]


def _configurations(declared: DatasetDeclaration) -> Iterator[Table | Padding | Text]:
    """Yield a table with one line per configuration, and the metrics that fit."""
    yield Text(f"configurations of {declared.name} (* default; ? not known)", style="italic")
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("configuration", no_wrap=True)
    table.add_column("format", no_wrap=True)
    splits = list(dict.fromkeys(split for config in declared.configs for split in config.splits))
    for split in splits:
        table.add_column("examples" if len(splits) == 1 else split, justify="right", no_wrap=True)
    table.add_column("pair", overflow="fold")
    for config in declared.configs:
        default = "*" if config.name == declared.default_config else ""
        languages = f"{config.src_lang} → {' '.join(config.tgt_langs)}"
        sizes = [config.splits.get(split, 0) for split in splits]
        table.add_row(
            f"{config.name}{default}",
            FORMS[config.form],
            *("?" if n is None else count(n) if n else "" for n in sizes),
            languages,
        )
    yield table
    by_description: dict[str, list[ConfigDeclaration]] = {}
    for config in declared.configs:
        pair = "-".join(LANGUAGES[code] for code in (config.src_lang, config.tgt_langs[0]))
        by_description.setdefault(config.description.removeprefix(f"{pair}, "), []).append(config)
    for description, configs in by_description.items():
        yield _entry(_names(declared, configs), description)
    yield Text("\nmetrics that fit, of those of `cc-hf list metrics`\n", style="italic")
    for metric, fitting in _fitting(declared).items():
        yield _entry(metric, _where(declared, fitting))


def _entry(name: str, about: str) -> Padding:
    return Padding.indent(Text.assemble((name, "bold"), f": {about}"), 2)


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
    languages = rf"(?:{config.src_lang}[-_])?{config.tgt_langs[0]}"
    return re.sub(rf"(?<![a-z]){languages}(?![a-z])", "*", config.name)


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
    rows = []
    for name, metric in registry.load_all("metric").items():
        about = (sys.modules[metric.__module__].__doc__ or metric.about).strip()
        paragraph = about.partition("\n\n")[0]
        rows.append({"name": name, "about": " ".join(paragraph.split())})
    return rows


def _evaluators() -> list[dict[str, Any]]:
    abouts = {}
    for name in registry.names("evaluator"):
        shipped: EmbeddedModel = registry.resolve("evaluator", name)
        abouts[name] = (
            f"{shipped.src_lang} → {shipped.tgt_lang}; ships with the package, a small model for"
            f" tests, demos and first looks. It was made to judge {shipped.made_for}. Measured:"
            f" {'; '.join(map(str, shipped.agreements))}"
        )
    for large in RECOMMENDED:
        figures = "; ".join(map(str, large.agreements))
        abouts[large.name] = (
            f"{large.src_lang} → {large.tgt_lang}; recommended: {large.about} {figures}"
            f" ({large.source})"
        )
    pairs = ", ".join(
        f"{student.src_lang}-{student.tgt_lang}{'' if student.stage == 'prod' else '*'}"
        for student in STUDENTS.values()
    )
    sizes = sorted({round(student.size / 1e6) for student in STUDENTS.values()})
    abouts[f"{PREFIX}SOURCE-TARGET"] = (
        "a student of Bergamot, which Firefox translates with; downloaded once and verified,"
        f" {sizes[0]} to {sizes[-1]} MB, {LICENCE}. Pairs: {pairs} (* a model that Mozilla does"
        " not call finished). Brackets suit few of them as cues, so compare the wordings first"
        " (`cc-hf cues calibrate`)"
    )
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
    families = ", ".join(registry.names("evaluator family"))
    abouts["FOLDER, ORGANISATION/MODEL"] = (
        f"any model of transformers of one of the families {families}, saved to a folder or"
        " from the Hub"
    )
    return [{"name": name, "about": about} for name, about in abouts.items()]


_ROWS = {Kind.datasets: _datasets, Kind.metrics: _metrics, Kind.evaluators: _evaluators}
