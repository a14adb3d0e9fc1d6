"""cc-hf list: show what is registered."""

from __future__ import annotations

import importlib
from enum import Enum
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from cc_hf import registry
from cc_hf.cli.output import Console
from cc_hf.cue_building.calibration_file import shipped_calibrations
from cc_hf.data.declaration import ConfigDeclaration, DatasetDeclaration
from cc_hf.data.loading import declaration
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.evaluators.suitability import RECOMMENDED
from cc_hf.models.bergamot.published import LICENCE, PREFIX, STUDENTS
from cc_hf.models.location import EmbeddedModel
from cc_hf.schema import FORMS

__all__ = ["Kind", "list_names"]


_WIDE = 120  # columns


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
) -> None:
    """List datasets, the configurations of a dataset, metrics and evaluators."""
    console = Console()
    chosen = None if kind is None else _kind(kind)
    if name is not None:
        if chosen is not Kind.datasets:
            raise InputError(
                f"expected a name after `datasets` only, got {name!r} after"
                f" {chosen.value if chosen else 'nothing'}"
            )
        console.print(_configurations(name, is_wide=console.width >= _WIDE))
        return
    for listed in [chosen] if chosen else list(Kind):
        console.print(_TABLES[listed]())


def _kind(text: str) -> Kind:
    """Return the kind that a word names, in the plural or the singular.

    Raises:
        UnknownNameError: for another word; the message says how to list a dataset.
    """
    kinds = [kind.value for kind in Kind]
    for kind in (text, f"{text}s"):
        if kind in kinds:
            return Kind(kind)
    is_dataset = text in registry.DATASETS
    remedy = f"; the configurations of a dataset: cc-hf list datasets {text}" * is_dataset
    raise UnknownNameError("kind", text, kinds, remedy=remedy)


def _datasets() -> Table:
    table = _table(
        "datasets; the configurations of one: cc-hf list datasets NAME",
        "dataset",
        "default",
        "configurations",
        "about",
    )
    for name in registry.names("dataset"):
        declared = declaration(name)
        table.add_row(
            name, declared.default_config, str(len(declared.configs)), Text(declared.description)
        )
    return table


def _configurations(name: str, *, is_wide: bool) -> Table:
    """Return a table with one line per configuration, and with descriptions if the terminal is wide
    enough.
    """
    declared = declaration(name)
    columns = ("configuration", "format", "examples", "pair", *(("about",) if is_wide else ()))
    table = _table(f"configurations of {name} (* default; ? not known)", *columns)
    for config in declared.configs:
        default = "*" if config.name == declared.default_config else ""
        languages = f"{config.src_lang} → {' '.join(config.tgt_langs)}"
        about = (Text(config.description),) if is_wide else ()
        table.add_row(
            f"{config.name}{default}", FORMS[config.form], _sizes(config), languages, *about
        )
    table.caption = Text(
        "metrics that fit, of those of `cc-hf list metrics`:\n" + "\n".join(_fitting(declared))
    )
    table.caption_justify = "left"
    return table


def _fitting(declared: DatasetDeclaration) -> list[str]:
    """Return one line for each metric that fits a configuration in one of its languages, and which
    these are.
    """
    lines = []
    for name in registry.names("metric"):
        fits = registry.resolve("metric", name).fits
        languages = {
            c.name: [
                lang
                for lang in c.tgt_langs
                if not fits(declared.name, c.name, c.form, c.src_lang, lang)
            ]
            for c in declared.configs
        }
        if all(languages[c.name] == list(c.tgt_langs) for c in declared.configs):
            lines.append(f"{name}: all")
        elif any(languages.values()):
            parts = [
                (
                    c.name
                    if languages[c.name] == list(c.tgt_langs)
                    else f"{c.name} ({' '.join(languages[c.name])})"
                )
                for c in declared.configs
                if languages[c.name]
            ]
            lines.append(f"{name}: {', '.join(parts)}")
    return lines or ["none"]


def _sizes(config: ConfigDeclaration) -> str:
    """Return the number of examples, by split if there are several."""
    numbers = {split: "?" if n is None else str(n) for split, n in config.splits.items()}
    return (
        ", ".join(f"{split} {n}" for split, n in numbers.items())
        if len(numbers) > 1
        else next(iter(numbers.values()))
    )


def _table(title: str, *columns: str) -> Table:
    """Return a table whose columns before the last are never cut, because users copy names and
    numbers from them.
    """
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number < len(columns) - 1, overflow="fold")
    return table


def _metrics() -> Table:
    table = _table("metrics", "metric", "about")
    for name in registry.names("metric"):
        core = importlib.import_module(registry.METRICS[name].partition(":")[0])
        table.add_row(name, Text((core.__doc__ or "").strip().splitlines()[0]))
    return table


def _evaluators() -> Table:
    table = _table("evaluators", "evaluator", "what it is")
    for name in registry.names("evaluator"):
        shipped: EmbeddedModel = registry.resolve("evaluator", name)
        pair, figures = (
            f"{shipped.src_lang} → {shipped.tgt_lang}",
            "; ".join(map(str, shipped.agreements)),
        )
        table.add_row(
            name,
            Text(
                f"{pair}; ships with the package, a small model for tests, demos and first looks."
                f" It was made to judge {shipped.made_for}. Measured: {figures}"
            ),
        )
    for large in RECOMMENDED:
        figures = "; ".join(map(str, large.agreements))
        table.add_row(
            large.name,
            Text(
                f"{large.src_lang} → {large.tgt_lang}; recommended: {large.about} {figures}"
                f" ({large.source})"
            ),
        )
    pairs = ", ".join(
        f"{student.src_lang}-{student.tgt_lang}{'' if student.stage == 'prod' else '*'}"
        for student in STUDENTS.values()
    )
    sizes = sorted({round(student.size / 1e6) for student in STUDENTS.values()})
    table.add_row(
        Text(f"{PREFIX}SOURCE-TARGET"),
        Text(
            "a student of Bergamot, which Firefox translates with; downloaded once and verified,"
            f" {sizes[0]} to {sizes[-1]} MB, {LICENCE}. Pairs: {pairs} (* a model that Mozilla does"
            " not call finished). Brackets suit few of them as cues, so compare the wordings first"
            " (`cc-hf cues calibrate`)"
        ),
    )
    for calibration in shipped_calibrations():
        chosen = calibration.choice.report
        table.add_row(
            Text(f"  {calibration.evaluator.partition('@')[0]}"),
            Text(
                f"{calibration.src_lang} → {calibration.tgt_lang}; calibrated: use the cues"
                f" {calibration.chosen}; AUC {chosen.auc:.3f}, {100 * chosen.accuracy:.1f} % of the"
                f" decisions right, shift {chosen.shift:+.3f}, on {chosen.n:,} translations of"
                f" {calibration.data}"
            ),
        )
    families = ", ".join(registry.names("evaluator family"))
    table.add_row(
        Text("FOLDER, ORGANISATION/MODEL"),
        Text(
            f"any model of transformers of one of the families {families}, saved to a folder or"
            " from the Hub"
        ),
    )
    return table


_TABLES = {Kind.datasets: _datasets, Kind.metrics: _metrics, Kind.evaluators: _evaluators}
