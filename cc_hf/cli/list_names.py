"""cc-hf list: show what is registered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from cc_hf import registry
from cc_hf.cli.command import Outcome
from cc_hf.cli.options import PairOfRows, chosen_data
from cc_hf.data.files.custom import is_custom
from cc_hf.docstrings import attribute_texts
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.metrics.base import Metric
from cc_hf.reports.citing import bibtex as paper_bibtex
from cc_hf.reports.citing import distinct_entries, judge_bibtex, named_judges
from cc_hf.reports.report_parts import Line
from cc_hf.reports.tables.names import (
    ROWS,
    about_metric,
    configurations,
    dataset_row,
    listing,
    metric_row,
    overview,
)

__all__ = ["list_names"]


def list_names(
    kind: Annotated[
        str | None,
        typer.Argument(help="What to list: datasets, metrics or evaluators. Default: everything."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(help="A dataset, of which the configurations are listed, or a metric."),
    ] = None,
    *,
    language_pair: PairOfRows = None,
    bibtex: Annotated[
        bool,
        typer.Option("--bibtex", help="Print BibTeX of what would be listed, to cite it."),
    ] = False,
) -> Outcome:
    """List datasets and their configurations, metrics and evaluators.

    Example: cc-hf list datasets winomt
    """
    chosen = None if kind is None else _kind(kind)
    if language_pair is not None and not (chosen == "datasets" and is_custom(name or "")):
        raise InputError(
            "language_pair: expected a file of your own with it, whose rows name no languages;"
            " leave it out"
        )
    if name is not None:
        if chosen == "metrics":
            metric: type[Metric] = registry.resolve("metric", name)
            if bibtex:
                return _bibtex([paper_bibtex(name)])
            row = metric_row(name, metric, attribute_texts(metric))
            return Outcome(row, lambda: about_metric(row))
        if chosen != "datasets":
            raise InputError(
                f"expected a name after `datasets` or `metrics` only, got {name!r} after"
                f" {chosen or 'nothing'}"
            )
        declared, _ = chosen_data(name, ["all"], language_pair)
        if bibtex:
            return _bibtex([paper_bibtex(declared)])
        return Outcome(dataset_row(declared), lambda: configurations(declared))
    if bibtex:
        return _bibtex(
            entry for listed in ([chosen] if chosen else _BIBTEX) for entry in _BIBTEX[listed]()
        )
    rows = {listed: ROWS[listed]() for listed in ([chosen] if chosen else ROWS)}
    return Outcome(
        rows, lambda: overview(rows) if chosen is None else listing(chosen, rows[chosen])
    )


#: Kind -> a function that returns BibTeX of each name of it.
_BIBTEX: dict[str, Callable[[], Iterable[str]]] = {
    "datasets": lambda: map(paper_bibtex, registry.load_all("dataset").values()),
    "metrics": lambda: map(paper_bibtex, registry.load_all("metric")),
    "evaluators": lambda: map(judge_bibtex, named_judges()),
}


def _bibtex(texts: Iterable[str]) -> Outcome:
    entries = distinct_entries(texts)
    return Outcome(entries, lambda: [Line("\n\n".join(entries), "whole")])


def _kind(text: str) -> str:
    """Return the kind that a word names, in the plural or the singular; models are evaluators."""
    for kind in ("evaluators" if text in ("model", "models") else text, f"{text}s"):
        if kind in ROWS:
            return kind
    is_dataset = text in registry.names("dataset")
    remedy = f"; the configurations of a dataset: cc-hf list datasets {text}" * is_dataset
    raise UnknownNameError("kind", text, list(ROWS), remedy=remedy)
