"""cc-hf judge: how far an evaluator can be trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from cc_hf.cli.command import CommandGroup, Outcome, add_command
from cc_hf.cli.options import DataFields, EvaluatorFields, MetricOptions
from cc_hf.evaluation.material import DataOptions
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.reading import pairs_of

__all__ = ["app"]

app = typer.Typer(cls=CommandGroup, help="Check how far an evaluator can be trusted.")


def check(
    evaluator: Annotated[
        list[str],
        typer.Argument(
            metavar="EVALUATOR [DATASET]",
            help=(
                "Evaluator model: a name, a folder, a model on the Hub, or server:URL#MODEL; and"
                " optionally the test set whose labels are judged (default: all of the pair)."
            ),
        ),
    ],
    *,
    option: MetricOptions = None,
    judges_all: Annotated[
        bool,
        typer.Option("--all", help="Judge all labelled examples, not 300 of each set."),
    ] = False,
    loading: Annotated[LoadingOptions, EvaluatorFields],
    data: Annotated[DataOptions, replace(DataFields, names="language_pair", rare="data_dir cues")],
    progress: bool = False,
) -> Outcome:
    """Count how often an evaluator is right on labelled translations, as evidence for its figures.

    Later results by the evaluator find the evidence, and say what may be cited.

    Example: cc-hf judge check cc-tiny-en-de winomt -l en-de
    """
    from cc_hf.errors import InputError
    from cc_hf.plugins.judges.judge_check import check_judge
    from cc_hf.plugins.judges.table import judge_check_row, judge_check_tables

    if len(evaluator) > 2:
        raise InputError(
            f"expected an evaluator and one test set, got {len(evaluator)} names:"
            f" {', '.join(evaluator)}"
        )
    if data.language_pair is None:
        raise InputError("--language-pair: expected source and target language, such as en-de")
    checked = check_judge(
        evaluator[0],
        evaluator[1] if len(evaluator) > 1 else None,
        language_pair=data.language_pair,
        cues=data.cues,
        options=pairs_of(option, "option"),
        loading=loading,
        data_dir=data.data_dir,
        judges_all=judges_all,
        progress=progress,
    )
    return Outcome(
        judge_check_row(checked),
        lambda: judge_check_tables(checked),
        notes=[f"evidence for later results: {checked.file}"] if checked.file else [],
        warnings=[f"{name} was not judged: {why}" for name, why in checked.not_run.items()],
    )


add_command(app, "check", check)
