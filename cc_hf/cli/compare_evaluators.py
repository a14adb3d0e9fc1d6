"""cc-hf compare --by evaluator: do evaluators rank systems alike?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cc_hf.cli.command import Outcome
from cc_hf.cli.options import OneMetric, Resampling, Results
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = ["evaluators"]


def evaluators(
    results: Results,
    *,
    figure: Annotated[
        str, typer.Option(help="Score by which systems are ranked, such as min_accuracy.")
    ] = "accuracy",
    metric: OneMetric = None,
    bootstrap: Annotated[Bootstrap, Resampling],
) -> Outcome:
    """Correlate how evaluators rank systems.

    Each of several evaluators must have judged each of three systems or more. The method is that of
    Vamvas & Sennrich (2021), section 3.5.

    Example: cc-hf compare --by evaluator results
    """
    from cc_hf.comparing.metrics import evaluator_agreement
    from cc_hf.comparing.systems import read_results
    from cc_hf.reports.report_parts import Line
    from cc_hf.reports.tables.base import unfit_reasons
    from cc_hf.reports.tables.comparisons import evaluator_agreement_tables

    read = read_results(results, metric=metric)
    agreement = evaluator_agreement(read, figure=figure, **bootstrap.options)
    return Outcome(
        asdict(agreement),
        lambda: [
            *evaluator_agreement_tables(agreement),
            *(Line(reason, "unfit") for reason in unfit_reasons(read.items())),
        ],
    )
