"""`cc-hf evaluate --witness`: the same translations are also read by a dictionary."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated, Any

import typer

from cc_hf import registry
from cc_hf.cli.command import Outcome
from cc_hf.reports.report_parts import ReportTable
from cc_hf.results import EvaluationResult, ResultSet
from cc_hf.writing import json_text

__all__ = ["evaluate_witness"]

_JUDGE, _WITNESS = "contrastive_conditioning", "gender_reading"


def evaluate_witness(
    evaluate: Callable[..., Outcome],
    /,
    *,
    witness: Annotated[
        str | None,
        typer.Option(
            metavar="READER",
            help=(
                "A second witness beside the evaluator: reads the gender of each translation in a"
                " dictionary, apertium, german-nouns or pymorphy3, or by spacy. The report shows"
                " where they differ."
            ),
            rich_help_panel="The evaluator's mistakes",
        ),
    ] = None,
) -> Callable[..., Outcome]:
    """Return what runs `cc-hf evaluate`, with a metric more where a witness is named."""
    return evaluate if witness is None else functools.partial(_with_witness, evaluate, witness)


def _with_witness(evaluate: Callable[..., Outcome], witness: str, /, **arguments: Any) -> Outcome:
    registry.resolve("morphology reader", witness)  # before anything is scored
    metrics = [arguments["metric"] or _JUDGE, _WITNESS]
    options = [*(arguments["option"] or ()), f"reader={witness}"]
    outcome = evaluate(**{**arguments, "metric": ",".join(metrics), "option": options})
    return (
        outcome
        if arguments["figure_only"]
        else replace(outcome, tables=lambda: [*outcome.tables(), *_tables(outcome)])
    )


def _tables(outcome: Outcome) -> Iterator[ReportTable]:
    """Yield the tables of each judge beside the witness."""
    from cc_hf.plugins.gender_reading.witness import witness_tables

    systems: dict[str, dict[str, EvaluationResult]] = {}
    row = outcome.row()
    for of_system in row if isinstance(row, list) else [row]:
        text = of_system if isinstance(of_system, str) else json_text(of_system)
        for result in ResultSet.from_json(text).results:
            systems.setdefault(result.system, {})[result.metric] = result
    for table, _ in witness_tables(systems):
        yield table
