"""cc-hf list: what is registered."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cc_hf import registry

__all__ = ["Kind", "list_names"]


class Kind(str, Enum):
    """What can be listed."""

    datasets = "datasets"
    metrics = "metrics"
    evaluators = "evaluators"


def list_names(kind: Annotated[Kind | None, typer.Argument(help="What to list; default: all.")] = None) -> None:
    """List datasets with their configurations, metrics and evaluators."""
    console = Console()
    for shown in [kind] if kind else list(Kind):
        console.print(_TABLES[shown]())


def _datasets() -> Table:
    table = Table(title="datasets", title_justify="left")
    for column in ("dataset", "configuration", "examples", "target languages", "licence", "about"):
        table.add_column(column)
    for name in registry.names("dataset"):
        declaration = registry.resolve("dataset", name)
        for config in declaration.configs:
            default = " (default)" if config.name == declaration.default_config else ""
            table.add_row(name, Text(config.name + default), str(config.n_examples), " ".join(config.tgt_langs), declaration.licence, Text(config.description))
    return table


def _metrics() -> Table:
    table = Table(title="metrics", title_justify="left")
    for column in ("metric", "about"):
        table.add_column(column)
    for name in registry.names("metric"):
        core = registry.METRICS[name].partition(":")[0]
        table.add_row(name, Text((__import__(core, fromlist=["__doc__"]).__doc__ or "").strip().splitlines()[0]))
    return table


def _evaluators() -> Table:
    table = Table(title="evaluators that ship with the package (others: a folder or organisation/model of the Hub)", title_justify="left")
    for column in ("evaluator", "families"):
        table.add_column(column)
    for name in registry.names("evaluator"):
        table.add_row(name, " ".join(registry.names("evaluator family")))
    return table


_TABLES = {Kind.datasets: _datasets, Kind.metrics: _metrics, Kind.evaluators: _evaluators}
