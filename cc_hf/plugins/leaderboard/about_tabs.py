"""The tabs About, Citation and Submit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from cc_hf import registry
from cc_hf._version import __version__
from cc_hf.data.card_sections import card_section, plain_text
from cc_hf.data.declaration import DatasetDeclaration
from cc_hf.data.files.result_files import read_result_file
from cc_hf.errors import InputError
from cc_hf.plugins.leaderboard.html import (
    about_html,
    citation_html,
    lead,
    message,
    result_html,
    submit_html,
)
from cc_hf.plugins.leaderboard.live import MAX_UPLOAD
from cc_hf.plugins.leaderboard.store import Store, StoredResult, without_translations
from cc_hf.plugins.leaderboard.table import (
    LeaderboardRow,
    leaderboard_rows,
    ranked,
    ranking_figures,
    rows_of,
)
from cc_hf.plugins.leaderboard.visitor_files import VisitorFiles
from cc_hf.reports.figure_text import data_title, figure_name, metric_meaning, metric_name
from cc_hf.reports.what_to_cite import UNFIT

__all__ = ["Described", "about_tab", "citation_tab", "described", "papers", "submit_tab"]

_SOFTWARE = f"""@software{{cc_hf,
    title = "cc_hf: contrastive conditioning and its neighbours for Hugging Face",
    author = "{{The cc_hf authors}}",
    version = "{__version__}",
    year = "2026",
}}"""
_ENTRY = re.compile(r"^@\w+\{.*?^\}", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r'^ *url = "(https://[^"]+)"', re.MULTILINE)


class Described(NamedTuple):
    """A dataset or metric of the table, with a plain text and the addresses of its papers."""

    title: str
    text: str
    links: tuple[str, ...]


def described(rows: Sequence[LeaderboardRow]) -> dict[str, list[Described]]:
    """Return the datasets and the metrics of the table, in words."""
    datasets = [
        Described(data_title(dataset, ""), dataset.description, _links(_citations(dataset)))
        for dataset in _datasets(rows)
    ]
    metrics = [
        Described(
            metric_name(name),
            plain_text(card_section(name, "metrics", "Description").partition("\n\n")[0])
            or metric_meaning(name),
            _links(card_section(name, "metrics", "Citation")),
        )
        for name in _metrics(rows)
    ]
    return {"datasets": datasets, "metrics": metrics}


def papers(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Return BibTeX of this program and of the papers behind the table, each entry once."""
    cards = [card_section(name, "metrics", "Citation") for name in _metrics(rows)]
    cards += map(_citations, _datasets(rows))
    entries = (entry for card in cards for entry in _ENTRY.findall(card))
    return list(dict.fromkeys((_SOFTWARE, *entries)))


def _datasets(rows: Sequence[LeaderboardRow]) -> list[DatasetDeclaration]:
    declared = {row.dataset: row.declared for row in rows if row.declared is not None}
    return [declared[name] for name in sorted(declared)]


def _metrics(rows: Sequence[LeaderboardRow]) -> list[str]:
    return sorted(name for name in {row.metric for row in rows} if registry.find("metric", name))


def _citations(dataset: DatasetDeclaration) -> str:
    """Return the BibTeX of a card, or of the declaration if the dataset is of another package."""
    if dataset.name in registry.DATASETS:
        return card_section(dataset.name, "datasets", "Citation")
    return dataset.bibtex


def _links(bibtex: str) -> tuple[str, ...]:
    return tuple(_ADDRESS.findall(bibtex))


def about_tab(gr: Any, rows: Sequence[LeaderboardRow]) -> None:
    """Fill the gradio tab that is currently open with what the figures mean."""
    gr.HTML(about_html(**described(rows)), elem_id="cc-about")


def citation_tab(gr: Any, rows: Sequence[LeaderboardRow]) -> None:
    """Fill the gradio tab that is currently open with the BibTeX of the papers."""
    gr.HTML(citation_html("\n\n".join(papers(rows))), elem_id="cc-citation")


def submit_tab(gr: Any, rows: Sequence[LeaderboardRow], files: VisitorFiles) -> None:
    """Fill the open gradio tab with how results are handed in, and a form that checks them."""

    def checked(file: str | None) -> tuple[str, Any]:
        hidden = gr.update(visible=False)
        if not file:
            return message("expected a file of results, got none"), hidden
        try:
            html, text = _checked(Path(file), rows)
        except InputError as error:
            return message(str(error)), hidden
        return html, gr.update(value=files.write(Path(file).name, text), visible=True)

    gr.HTML(submit_html(), elem_id="cc-submit-text")
    with gr.Row():
        with gr.Column(scale=1, min_width=280):
            file = gr.File(
                label="results (JSON)", file_types=[".json"], type="filepath", elem_id="cc-submit"
            )
            button = gr.Button("Check", variant="primary", elem_id="cc-submit-check")
        with gr.Column(scale=3, min_width=280):
            answer = gr.HTML("", elem_id="cc-submit-answer")
            download = gr.DownloadButton(
                "Download without translations",
                visible=False,
                size="sm",
                elem_id="cc-submit-download",
            )
    button.click(checked, file, [answer, download], api_name="check_results", concurrency_limit=1)


def _checked(path: Path, rows: Sequence[LeaderboardRow]) -> tuple[str, str]:
    """Return a file's rows as HTML with ranks, and its results without translations as JSON."""
    if path.stat().st_size > MAX_UPLOAD:
        raise InputError(f"{path.name}: expected at most {MAX_UPLOAD // 1024 // 1024} MB")
    try:
        contents = read_result_file(path)
    except InputError as error:
        raise InputError(str(error).replace(str(path), path.name)) from error
    # What a stranger's file says of its judge is no evidence here.
    bare = replace(
        contents,
        results=tuple(replace(without_translations(r), evidence=()) for r in contents.results),
    )
    store = Store(tuple(StoredResult.of(path.stem, path, result) for result in bare.results))
    parts = []
    for row, entry in zip(leaderboard_rows(store), store.entries, strict=True):
        others = rows_of(rows, row.choice)
        by = next(iter(ranking_figures([*others, row])), "")
        parts += [lead(_place(row, others, by)), result_html(entry.result)]
    return "".join(parts), bare.to_json()


def _place(row: LeaderboardRow, others: Sequence[LeaderboardRow], by: str) -> str:
    """Say which rank a row would have among others of its data, languages and metric."""
    if (why := row.unfit.get(by)) is not None:
        return f"{row.system} would have no rank, since its figures are {UNFIT}: {why}"
    if by not in row.figures:
        return f"{row.system} would have no rank"
    ordered = ranked([*others, row], by)
    number = 1 + next(i for i, other in enumerate(ordered) if other is row)
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 * (number % 100 not in (11, 12, 13)), "th")
    label = figure_name(row.metric, by).label
    return (
        f"{row.system} would be listed {number}{ending} of {len(others) + 1} by {label}; its band"
        " follows from the verdicts on all sentences"
    )
