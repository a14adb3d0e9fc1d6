"""cc-hf report: results as a page, as tables and as plots."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cc_hf.cli.options import DataDir, Quiet
from cc_hf.cli.output import Console, check_output, write_atomically
from cc_hf.errors import InputError
from cc_hf.files import resolved

if TYPE_CHECKING:
    from cc_hf.reports.report import Report

__all__ = ["report"]


def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="JSON files that `cc-hf evaluate --output` wrote, one for each system.",
            metavar="RESULT...",
        ),
    ],
    html: Annotated[
        Path | None,
        typer.Option(help="Write one page that needs no network: tables, plots and all samples."),
    ] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables in Markdown.")] = None,
    latex: Annotated[
        Path | None, typer.Option(help="Write the tables in LaTeX, for booktabs.")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(help="Write the plots to this folder.", metavar="DIR")
    ] = None,
    plot_format: Annotated[str, typer.Option("--format", help="Of the plots: png or svg.")] = "png",
    baseline: Annotated[
        str | None,
        typer.Option(
            help="File or name of the system that the others are compared to; default: the first."
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Name of a system, once for each file; files of the same name are of one system."
                " Default: those of the files."
            )
        ),
    ] = None,
    bleu: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "NAME=POINTS, or a file with BLEU by system, 0 to 100 (.tsv: columns system, bleu,"
                " if wanted dataset, tgt_lang; .json: an object); may be repeated."
            )
        ),
    ] = None,
    annotations: Annotated[
        list[Path] | None,
        typer.Option(
            help=(
                "Human labels of translations, JSONL as in `cc-hf analyze human-agreement`; may be"
                " repeated."
            )
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help=(
                "Where the samples are from, if not where the results say: such as your own file of"
                " sources and cues."
            )
        ),
    ] = None,
    data_dir: DataDir = None,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples of the bootstrap.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Show results: systems side by side, by category, and sample by sample."""
    from cc_hf.data.quality_scores import read_quality_scores
    from cc_hf.reports.inputs import read_examples, read_systems
    from cc_hf.reports.report import build_report
    from cc_hf.studies.human_agreement.annotations import read_annotations

    outputs = {"html": html, "markdown": markdown, "latex": latex}
    if plots is None and not any(outputs.values()):
        raise InputError(
            "expected something to write, got nothing; name a file with --html, --markdown or"
            " --latex, or a folder with --plots"
        )
    for kind, path in outputs.items():
        check_output(path, kind)
    _check_folder(plots)
    systems, notes = read_systems(results, name, quality=read_quality_scores(bleu or []))
    examples, missing = read_examples(
        next(iter(systems[0].results.values())), dataset=dataset, data_dir=data_dir
    )
    labels = [label for path in annotations or [] for label in read_annotations(path)]
    chosen = _baseline(baseline, results, name)
    found = build_report(
        systems,
        baseline=chosen,
        examples=examples,
        annotations=labels,
        notes=[*notes, *missing],
        n_resamples=resamples,
        seed=seed,
    )
    written: dict[Path, str | bytes] = _texts(found, outputs)
    pictures = _pictures(found, plots, plot_format)
    for path, content in {**written, **pictures}.items():
        write_atomically(path, content)
    if not quiet:
        console = Console(stderr=True)
        for note in found.notes:
            console.print(Text(f"note: {note}"), soft_wrap=True)
        for path in [*written, *pictures]:
            console.print(Text(f"written: {path}"), soft_wrap=True)


def _texts(found: Report, paths: Mapping[str, Path | None]) -> dict[Path, str | bytes]:
    from cc_hf.reports.formats.latex import latex_report
    from cc_hf.reports.formats.markdown import markdown_report
    from cc_hf.reports.page.page import html_page

    writers = {"html": html_page, "markdown": markdown_report, "latex": latex_report}
    return {path: writers[kind](found) for kind, path in paths.items() if path is not None}


def _pictures(found: Report, folder: Path | None, file_format: str) -> dict[Path, bytes]:
    if folder is None:
        return {}
    from cc_hf.reports.formats.plots import plots

    pictures = plots(found, file_format=file_format)
    folder.mkdir(exist_ok=True)
    return {folder / name: content for name, content in pictures.items()}


def _check_folder(folder: Path | None) -> None:
    if folder is None:
        return
    if resolved(folder, "plots").exists() and not folder.is_dir():
        raise InputError(f"plots: expected a folder, {folder} is a file")
    check_output(folder / "plot" if folder.is_dir() else folder, "plots")


def _baseline(given: str | None, paths: list[Path], names: list[str] | None) -> str | None:
    """Return the name of a system, which may be given by its file."""
    by_path = {
        str(path): name
        for path, name in zip(paths, names or [path.stem for path in paths], strict=True)
    }
    return given if given is None else by_path.get(given, given)
