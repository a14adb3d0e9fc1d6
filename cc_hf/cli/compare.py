"""cc-hf compare: results side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, PictureFile
from cc_hf.cli.options import OneMetric, Resampling, Results
from cc_hf.errors import InputError
from cc_hf.statistics.bootstrap import Bootstrap

if TYPE_CHECKING:
    from cc_hf.comparing.systems import Comparison
    from cc_hf.reports.report_parts import Piece
    from cc_hf.results import EvaluationResult

__all__ = ["compare"]


def compare(
    results: Results,
    metric: OneMetric = None,
    shared: Annotated[
        str | None,
        typer.Option(
            help=(
                "Compare on shared samples only: answered, those for which every result has a"
                " translation or a valid choice; or decided, those on which every result has a"
                " verdict other than inconclusive, which leaves out translations in which a metric"
                " recognises nothing. Default: all samples, which every result must have."
            ),
        ),
    ] = None,
    right_alone: Annotated[
        bool,
        typer.Option(
            "--right-alone", help="Also list the samples that one result has right and no other."
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw figures on different data as bars in this .svg, .png or .pdf file.",
        ),
        PictureFile(),
    ] = None,
    gate: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help=(
                "May the second file take the place of the first? A drop in accuracy of so many"
                " percentage points is tolerated, in all samples and in each category. Exit status:"
                " 0 pass, 3 fail, 4 cannot tell, with the number of samples needed."
            ),
        ),
    ] = None,
    gate_category: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS", help="The drop that --gate tolerates in a category, if it is another."
        ),
    ] = None,
    *,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Also show all figures, categories, agreement of metrics, notes.",
        ),
    ] = False,
    bootstrap: Annotated[Bootstrap, Resampling],
) -> Outcome:
    """Compare systems, or metrics that judged the same translations.

    The first file is the baseline. A difference between systems has an interval, and p by paired
    randomisation, which is exact for accuracies, and of --resamples random exchanges for other
    figures. Results on different data, scores of
    `cc-hf score` and figures of studies stand side by side, untested, with means of scores.

    Example: cc-hf compare tiny.json other.json
    """
    from cc_hf.comparing.systems import compare as compare_results
    from cc_hf.comparing.systems import read_results
    from cc_hf.reports.side_by_side import (
        of_several_data,
        read_contents,
        side_by_side,
        side_by_side_chart,
        side_by_side_tables,
    )
    from cc_hf.reports.tables.answer import answer, compared_report

    if gate is not None:
        if shared or right_alone or plot is not None:
            raise InputError("gate: expected none of --shared, --right-alone and --plot beside it")
        return _gated(read_results(results, metric=metric), gate, gate_category)
    if gate_category is not None:
        raise InputError("gate_category: expected --gate beside it")
    contents = read_contents(results)
    if of_several_data(contents):
        if shared or right_alone:
            raise InputError("shared, right_alone: expected results on the same data")
        shown = side_by_side(contents, metric=metric)
        files = []
        if plot is not None:
            picture = side_by_side_chart(shown, file_format=PictureFile.format_of(plot))
            files.append(NewFile(plot, picture))
        row = {"tables": shown.to_json()}
        return Outcome(row, lambda: side_by_side_tables(shown), files=files)
    if plot is not None:
        raise InputError(
            "plot: expected results on different data, got results on the same; `cc-hf report`"
            " draws these with --plots"
        )
    known = read_results(results, metric=metric, contents=contents)
    comparison = compare_results(
        known,
        shared=shared,
        lists_right_alone=right_alone,
        **bootstrap.options,
    )
    is_answered = bool(comparison.systems) and not (shared or right_alone)
    return Outcome(
        comparison.to_json(),
        lambda: [
            *(answer(compared_report(comparison, known)) if is_answered else ()),
            *(
                _details(comparison)
                if verbose or not is_answered
                else (f"not compared: {a}: {b}" for a, b in comparison.not_compared.items())
            ),
        ],
    )


def _details(comparison: Comparison) -> Iterator[Piece]:
    from cc_hf.reports.tables.comparisons import comparison_tables

    yield from comparison_tables(comparison)
    yield from map(": ".join, comparison.signatures.items())
    yield f"signature: {comparison.signature}"


def _gated(
    results: Mapping[str, EvaluationResult], points: float, of_category: float | None
) -> Outcome:
    from cc_hf.comparing.gate import CLOSED
    from cc_hf.comparing.gate import gate as decide
    from cc_hf.reports.tables.comparisons import gate_tables

    of_category = None if of_category is None else of_category / 100
    decided = decide(results, margin=points / 100, category_margin=of_category)
    status = CLOSED.get(decided.verdict, 0)
    return Outcome(
        decided.to_json(),
        lambda: gate_tables(decided),
        warnings=[f"not fit to cite: {why}" for why in decided.unfit],
        status=status,
    )
