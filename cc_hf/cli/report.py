"""cc-hf report: results as a page, as tables and as plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cc_hf.cli.command import NewFile, Outcome, OutputFile
from cc_hf.cli.options import Bleu, Results
from cc_hf.errors import InputError, UnknownNameError
from cc_hf.files import file_slug, resolved
from cc_hf.writing import STANDARD, check_output

if TYPE_CHECKING:
    from cc_hf.reports.report import Report
    from cc_hf.reports.report_parts import Piece
    from cc_hf.reports.samples import ReportedSystem

__all__ = ["report"]

_SYSTEMS, _DATA = "Systems", "Data"


def report(
    results: Results,
    *,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a page with tables, plots and all samples.",
        ),
        OutputFile(),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the tables as Markdown."),
        OutputFile(),
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=(
                "Write a table for a paper as LaTeX, and all tables to a second file beside it"
                " whose name ends in -all."
            ),
        ),
        OutputFile(),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=(
                "Figure in the LaTeX table, such as min_accuracy, ratio_male_female or bleu;"
                " METRIC:NAME if several metrics have it. May be repeated, up to six. Default:"
                " those that say most by each metric."
            ),
        ),
    ] = None,
    cite: Annotated[
        bool,
        typer.Option(
            "--cite",
            help=(
                "Print what a paper says: a sentence, the figures with intervals, signatures and"
                " BibTeX; or why nothing may be cited."
            ),
        ),
    ] = False,
    plots: Annotated[
        Path | None,
        typer.Option(help="Write the plots to this folder.", metavar="DIR"),
    ] = None,
    plot_format: Annotated[
        str,
        typer.Option("--format", help="File format of the plots: png, svg or pdf.", hidden=True),
    ] = "png",
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            help=(
                "Name of a system, once for each file; files with the same name belong to one"
                " system. Default: the names in the results, else those of the files."
            ),
            rich_help_panel=_SYSTEMS,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            help=(
                "System with which the others are compared: its name or its file. Default: the"
                " first."
            ),
            rich_help_panel=_SYSTEMS,
        ),
    ] = None,
    bleu: Bleu = None,
    weighted: Annotated[
        bool,
        typer.Option(
            "--weighted",
            help=(
                "Show the weighted minimum accuracy against BLEU, as Vamvas & Sennrich (2021),"
                " Figure 5, where a metric has weights."
            ),
            rich_help_panel=_SYSTEMS,
            hidden=True,
        ),
    ] = False,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            help="Files of human labels, as for `compare --by rater`.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help=(
                "Dataset or file that contains the samples. Default: the dataset that the results"
                " name."
            ),
            rich_help_panel=_DATA,
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Print all tables and notes, not only the answer."),
    ] = False,
    attractors: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Table that `cc-hf study disambiguation_bias attractors` wrote: show the words that"
                " go with each sense of the homographs with most errors."
            ),
            rich_help_panel=_DATA,
            hidden=True,
        ),
    ] = None,
) -> Outcome:
    """Show systems side by side, by category and sample by sample.

    Results on several datasets become one page, with a section for each and no samples. Without a
    file to write, the answer is printed; --markdown - prints the tables as Markdown.

    Example: cc-hf report tiny.json other.json --html report.html
    """
    from cc_hf.comparing.people.annotations import read_annotations
    from cc_hf.data.files.quality_scores import read_quality_scores
    from cc_hf.evaluators.judge_cards import separate_cards
    from cc_hf.reports.inputs import read_examples, read_report_systems
    from cc_hf.reports.report import build_report
    from cc_hf.reports.sections import read_section_files

    if figure and latex is None:
        raise InputError("figure: expected --latex FILE with it, whose table shows the figure")
    if latex == STANDARD:
        raise InputError("latex: expected a file, beside which a second one is written, got -")
    _check_folder(plots)
    results, judge_cards = separate_cards(results)
    if not results:
        raise InputError("results: expected results beside the cards of judges, got cards alone")
    groups, notes = read_report_systems(results, names, quality=read_quality_scores(bleu))
    if len(groups) > 1 and (dataset or labels):
        raise InputError(
            "dataset, labels: expected results on one dataset, got results on"
            f" {len(groups)}; make one report for each"
        )
    known = [system.name for systems in groups for system in systems]
    chosen = _baseline(baseline, [system for systems in groups for system in systems])
    if chosen is not None and chosen not in known:
        raise UnknownNameError("baseline", chosen, known)
    annotations = [label for path in labels or [] for label in read_annotations(path)]
    section_inputs = read_section_files({"attractors": attractors})
    reports = []
    for systems in groups:
        examples, example_notes = read_examples(
            next(iter(systems[0].results.values())), dataset=dataset
        )
        reports.append(
            replace(
                build_report(
                    systems,
                    baseline=chosen if chosen in [system.name for system in systems] else None,
                    examples=examples,
                    annotations=annotations,
                    notes=[*notes, *example_notes],
                    section_inputs=section_inputs,
                ),
                is_weighted=weighted,
                judge_cards=judge_cards,
            )
        )
    outputs = {"html": html, "markdown": markdown, "latex": latex}
    contents = {**_texts(reports, outputs, figure or []), **_pictures(reports, plots, plot_format)}
    is_printed = plots is None and not contents and not cite
    return Outcome(
        [report.to_dict() for report in reports],
        lambda: (
            _cited(reports) if cite else _printed(reports, verbose=verbose) if is_printed else ()
        ),
        files=[NewFile(path, content) for path, content in contents.items()],
        # what is printed has the notes
        notes=[]
        if is_printed
        else list(dict.fromkeys(note for report in reports for note in report.notes)),
    )


def _cited(reports: Sequence[Report]) -> Iterable[Piece]:
    from cc_hf.reports.citing import citing

    return [line for report in reports for line in citing(report).lines()]


def _printed(reports: Sequence[Report], *, verbose: bool) -> Iterable[Piece]:
    """Return the answer of one report, or all tables."""
    from cc_hf.reports.formats.markdown import reports_pieces
    from cc_hf.reports.tables.answer import answer

    return reports_pieces(reports) if verbose or len(reports) > 1 else answer(reports[0])


def _texts(
    reports: Sequence[Report], paths: Mapping[str, Path | None], figures: Sequence[str]
) -> dict[Path, str | bytes]:
    from cc_hf.reports.formats.latex import latex_paper_table, latex_report
    from cc_hf.reports.formats.markdown import markdown_reports
    from cc_hf.reports.page.collection_page import reports_page

    writers = {"html": reports_page, "markdown": markdown_reports}
    texts: dict[Path, str | bytes] = {
        path: writers[kind](reports)
        for kind, path in paths.items()
        if path is not None and kind in writers
    }
    if (latex := paths["latex"]) is not None:
        everything = latex.with_name(f"{latex.stem}-all{latex.suffix}")
        check_output(everything, "latex")
        texts[latex] = "\n".join(
            latex_paper_table(report, figures, details=everything.name) for report in reports
        )
        texts[everything] = "\n".join(map(latex_report, reports))
    return texts


def _pictures(
    reports: Sequence[Report], folder: Path | None, file_format: str
) -> dict[Path, bytes]:
    """Return the plots by their paths; with several datasets, their names begin with the data."""
    if folder is None:
        return {}
    from cc_hf.reports.formats.plots import plots

    pictures = {}
    for report in reports:
        first = report.first
        data = file_slug(" ".join((first.dataset, first.config, first.tgt_lang)))
        beginning = f"{data}." if len(reports) > 1 else ""
        for name, content in plots(report, file_format=file_format).items():
            pictures[folder / f"{beginning}{name}"] = content
    folder.mkdir(exist_ok=True)
    return pictures


def _check_folder(folder: Path | None) -> None:
    if folder is None:
        return
    if resolved(folder, "plots").exists() and not folder.is_dir():
        raise InputError(f"plots: expected a folder, {folder} is a file")
    # A file that could be written shows that the folder can be, before anything is drawn.
    check_output(folder / "plot" if folder.is_dir() else folder, "plots")


def _baseline(name_or_path: str | None, systems: Sequence[ReportedSystem]) -> str | None:
    """Return the name of a system, which may be given by its file."""
    if name_or_path in [system.name for system in systems]:
        return name_or_path
    by_path = {path: system.name for system in systems for path in system.files}
    return name_or_path if name_or_path is None else by_path.get(name_or_path, name_or_path)
