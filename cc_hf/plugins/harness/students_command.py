"""cc-hf evaluate students: judge the students of a release of Firefox Translations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cc_hf.cli.command import NewFile, Outcome
from cc_hf.cli.options import DataFields
from cc_hf.errors import InputError
from cc_hf.evaluation.material import DataOptions
from cc_hf.systems.system import DEFAULT_BEAMS

if TYPE_CHECKING:
    from cc_hf.comparing.gate import Gate
    from cc_hf.plugins.harness.students import Judged
    from cc_hf.reports.report_parts import Piece

__all__ = ["students"]

_PAGE = "index.html"


def students(
    *,
    models: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help=(
                "Folder of a release, with a folder for each student, such as enpt-1693087644 or"
                " en-pt. Default: the students that Mozilla published and this machine has."
            ),
        ),
    ] = None,
    language_pair: Annotated[
        list[str] | None,
        typer.Option(
            "--language-pair",
            "-l",
            metavar="PAIR",
            help=(
                "Language pair to judge, such as en-pt, whose published student is downloaded. May"
                " be repeated. Default: all that are found."
            ),
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the release. Default: that of the folder of --output."),
    ] = None,
    num_beams: Annotated[
        int, typer.Option("--num-beams", min=1, help="Number of beams.")
    ] = DEFAULT_BEAMS,
    data: Annotated[DataOptions, replace(DataFields, names="limit data_dir", rare="")],
    before: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder that this command wrote of the release before: see --gate.",
        ),
    ] = None,
    gate: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help=(
                "Drop in accuracy that is tolerated from --before. The exit status is 3 if a larger"
                " one is shown, 4 if it cannot be told."
            ),
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="New folder to write. That of an earlier run is continued.",
            rich_help_panel="Output",
        ),
    ],
    progress: bool = False,
) -> Outcome:
    """Judge students of Firefox Translations in all their pairs.

    Each translates WinoMT, MT-GenEval, MuCoW and SimpleGEN where these have its pair, and is judged
    by words. The folder gets results, a page, and in mozilla the files of their evaluation.

    Example: cc-hf evaluate students -l en-pt -l pt-en -o release
    """
    from cc_hf.files import is_file
    from cc_hf.plugins.harness.students import Release, find_students, gates, results_of

    if (before is None) != (gate is None):
        raise InputError("gate: expected --before and --gate together, got one of them")
    if is_file(output):
        raise InputError(f"output: expected a folder, {output} is a file")
    release = Release(output, name or output.resolve().name, data, num_beams)
    earlier = {} if before is None else results_of(before)
    if release.name in {result.system for result in earlier.values()}:
        raise InputError(f"name: expected another name than that of {before}, got {release.name}")
    chosen = find_students(models, language_pair or ())
    judged = list(release.judge(chosen, progress=progress))
    decided = [] if gate is None else list(gates(earlier, judged, gate / 100))
    results = [of.result for of in judged if of.result is not None]
    page = [NewFile(output / _PAGE, _page(judged))] if results else []
    return Outcome(
        lambda: _row(release.name, judged, decided),
        lambda: _pieces(judged, decided),
        files=page,
        status=_status(judged, decided),
    )


def _page(judged: Sequence[Judged]) -> str:
    from cc_hf.reports.page.collection_page import reports_page
    from cc_hf.reports.tables.answer import report_of
    from cc_hf.results import ResultSet

    return reports_page([report_of([ResultSet((of.result,))], ()) for of in judged if of.result])


def _status(judged: Sequence[Judged], decided: Sequence[tuple[Judged, Gate]]) -> int:
    from cc_hf.comparing.gate import CLOSED

    if not any(of.result for of in judged):
        return 1
    # A gate that fails is worse than one that cannot tell.
    return min((CLOSED[g.verdict] for _, g in decided if g.verdict in CLOSED), default=0)


def _row(
    name: str, judged: Sequence[Judged], decided: Sequence[tuple[Judged, Gate]]
) -> Mapping[str, Any]:
    from cc_hf.metrics.headline import headline

    return {
        "release": name,
        "judged": [
            {
                "test_set": of.test_set,
                "pair": of.pair,
                "metric": of.result.metric,
                "figure": (figure := headline(of.result).main),
                "value": of.result.scores[figure],
                "signature": of.result.signature,
                "is_new": of.is_new,
            }
            for of in judged
            if of.result is not None
        ],
        "not_judged": [
            {"test_set": of.test_set, "pair": of.pair, "reason": of.why_not}
            for of in judged
            if of.result is None
        ],
        "gates": [
            {"test_set": of.test_set, "pair": of.pair, **asdict(decision)}
            for of, decision in decided
        ],
    }


def _pieces(
    judged: Sequence[Judged], decided: Sequence[tuple[Judged, Gate]]
) -> Iterator[Piece | str]:
    from cc_hf.metrics.headline import headline
    from cc_hf.reports.figure_text import figure_label
    from cc_hf.reports.numbers import percent
    from cc_hf.reports.report_parts import Line, ReportTable
    from cc_hf.reports.tables.comparisons import gate_tables

    rows = []
    for of in judged:
        if of.result is None:
            rows.append([of.pair, of.test_set, "", "not judged"])
            continue
        figure = headline(of.result).main
        label = figure_label(of.result.metric, figure)
        rows.append([of.pair, of.test_set, label, percent(of.result.scores[figure])])
    yield ReportTable.of(
        "students of Firefox Translations", ("pair", "test set", "figure", "%"), rows, n_repeated=0
    )
    for of in judged:
        if of.result is None:
            yield Line.named("not judged: ", f"{of.pair} {of.test_set}: {of.why_not}", "alert")
    for of, decision in decided:
        yield Line(f"{of.pair} {of.test_set}: {decision.verdict}", "heading")
        yield from gate_tables(decision)
