"""The tab with the table: one choice of dataset, language and metric, ranked; the columns; the
chart; and downloads of all results.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from cc_hf.languages import pair_codes
from cc_hf.plugins.leaderboard.html import board_html, plot_html, system_order
from cc_hf.plugins.leaderboard.table import (
    FACTS,
    BoardChoice,
    LeaderboardRow,
    columns_of,
    default_columns,
    first_choice,
    nearest_choice,
    ranking_figures,
    rows_of,
    to_csv,
    to_json,
)
from cc_hf.plugins.leaderboard.visitor_files import VisitorFiles
from cc_hf.reports.figure_text import figure_name, language_pair, metric_name

__all__ = ["table_tab"]

_TABLES_AT_ONCE = 8
_MAX_SEARCH = 200  # characters
_MAX_ADDRESS = 2000  # characters
_IN_ADDRESS = ("data", "language", "metric", "by", "search")
_WRITE_ADDRESS = f"(...values) => ccWriteAddress({list(_IN_ADDRESS)}, values)"
_SEPARATOR = "/"  # between dataset and configuration, in the values of the first list


def table_tab(
    gr: Any,
    page: Any,
    rows: list[LeaderboardRow],
    notes: str,
    files: VisitorFiles,
    *,
    language: str = "",
) -> None:
    """Fill the gradio tab that is currently open. The address of the page holds what is shown.

    Args:
        page: the `gradio.Blocks` that the tab is in.
        notes: HTML on what the table does not show.
        files: where files for download are written.
        language: languages that are shown first if as many systems have results for them as for
            others; "source-target".
    """
    choice = first_choice(rows, language)
    if choice is None:
        gr.HTML(notes, elem_id="cc-notes")
        return
    systems = system_order(rows)

    def shown(
        before: BoardChoice, data: str, language: str, metric: str, by: str, text: str, columns: Any
    ) -> tuple[Any, ...]:
        """Return the choice, the lists and the table. Lists change only with the choice, which
        resets ranking and columns.
        """
        near = nearest_choice(rows, _data(data), language or "", metric or "") or choice
        updates = [gr.skip()] * 5
        if near != before:
            options = _lists(rows, near)
            updates = [gr.update(choices=c, value=v) for c, v in options]
            by, columns = options[3][1], options[4][1]
        return near, *updates, *_tables(rows, systems, near, (by, text or "", columns or []))

    *lists, text = _fields(gr, rows, choice)
    html, svg = _tables(rows, systems, choice, (lists[3].value, "", lists[4].value))
    state = gr.State(choice)
    board = gr.HTML(html, elem_id="cc-board")
    plot = gr.HTML(svg, elem_id="cc-plot")
    _downloads(gr, rows, files)
    gr.HTML(notes, elem_id="cc-notes")
    address = gr.Textbox(visible="hidden")
    page.load(None, None, address, js="() => location.hash.slice(1)").then(
        lambda text: _of_address(gr, rows, choice, text),
        address,
        [state, *lists, text, board, plot],
        api_name="table_of_address",
        show_progress="hidden",
    )
    # One event for all fields: gradio then runs one at a time, so that no late answer of an earlier
    # one replaces the table of a later one.
    gr.on(
        [*(field.input for field in lists), text.change],
        shown,
        inputs=[state, *lists[:4], text, lists[4]],
        outputs=[state, *lists, board, plot],
        api_name="table",
        show_progress="hidden",
        concurrency_limit=_TABLES_AT_ONCE,
        trigger_mode="always_last",
    ).then(None, [*lists[:4], text], None, js=_WRITE_ADDRESS)


def _of_address(
    gr: Any, rows: list[LeaderboardRow], choice: BoardChoice, address: str
) -> tuple[Any, ...]:
    """Return the choice, the lists, the words to search for and the table of an address.

    Args:
        choice: the choice where the address names none that has rows.
        address: what follows "#".
    """
    named = {key: values[0] for key, values in parse_qs(address[:_MAX_ADDRESS]).items()}
    data, language, metric, by, words = (named.get(key, "") for key in _IN_ADDRESS)
    if not named.keys() & {*_IN_ADDRESS}:
        return tuple(gr.skip() for _ in range(9))
    near = nearest_choice(rows, _data(data), language, metric) or choice
    options = _lists(rows, near)
    by = by if by in {value for _, value in options[3][0]} else options[3][1]
    updates = [gr.update(choices=choices, value=value) for choices, value in options]
    updates[3] = gr.update(choices=options[3][0], value=by)
    tables = _tables(rows, system_order(rows), near, (by, words, options[4][1]))
    return near, *updates, words or gr.skip(), *tables


def _downloads(gr: Any, rows: list[LeaderboardRow], files: VisitorFiles) -> None:
    """Add buttons for files with all results."""
    with gr.Row():
        for name, content in (("CSV", to_csv(rows)), ("JSON", to_json(rows))):
            gr.DownloadButton(
                f"Download all results ({name})",
                value=files.write(f"leaderboard.{name.lower()}", content),
                size="sm",
                elem_id=f"cc-{name.lower()}",
            )


def _tables(
    rows: list[LeaderboardRow],
    systems: list[str],
    choice: BoardChoice,
    view: tuple[str, str, list[str]],
) -> tuple[str, str]:
    """Return table and chart of a choice.

    Args:
        systems: all systems, in the order of their colours.
        view: the figure by which systems are ranked, words to search for, and columns.
    """
    by, text, columns = view
    chosen = rows_of(rows, choice, text[:_MAX_SEARCH])
    figures = ranking_figures(chosen)
    by = by if by in figures else next(iter(figures), "")
    return board_html(chosen, by, columns, systems), plot_html(chosen, systems, by)


def _fields(gr: Any, rows: list[LeaderboardRow], choice: BoardChoice) -> list[Any]:
    """Return new fields for data, language, metric, the figure to rank by, columns and search."""
    labels = ("dataset", "languages", "metric", "order by")
    names = ("dataset", "language", "metric", "by")
    *lists, (columns, shown) = _lists(rows, choice)
    with gr.Row(elem_classes="cc-filters"):
        dropdowns = [
            gr.Dropdown(
                choices,
                value=value,
                label=label,
                elem_id=f"cc-{name}",
                min_width=width,
                # A late event may bring a value of the lists before, and gradio would show an
                # error instead of the nearest choice.
                allow_custom_value=True,
            )
            for label, name, width, (choices, value) in zip(
                labels, names, (90, 150, 250, 250), lists, strict=True
            )
        ]
    with gr.Accordion("Search and columns", open=False, elem_id="cc-more"):
        text = gr.Textbox(
            label="search",
            placeholder="system, evaluator, signature, …",
            max_lines=1,
            max_length=_MAX_SEARCH,
            elem_id="cc-search",
        )
        boxes = gr.CheckboxGroup(columns, value=shown, label="columns", elem_id="cc-columns")
    return [*dropdowns, boxes, text]


def _lists(
    rows: list[LeaderboardRow], choice: BoardChoice
) -> list[tuple[list[tuple[str, str]], Any]]:
    """Return the options of each list, as (label, value), with the value that is chosen: data,
    languages and metrics given those before, figures to rank by, columns.
    """
    same_data = [row for row in rows if row.choice.data == choice.data]
    same_language = [row for row in same_data if row.language == choice.language]
    chosen = rows_of(rows, choice)
    data = sorted({(row.title, _key(row.choice)) for row in rows})
    languages = sorted({(_languages(row.language), row.language) for row in same_data})
    metrics = sorted({(metric_name(row.metric), row.metric) for row in same_language})
    figures = ranking_figures(chosen)
    columns = [
        (FACTS.get(name) or figure_name(choice.metric, name).label, name)
        for name in columns_of(chosen)
    ]
    return [
        (data, _key(choice)),
        (languages, choice.language),
        (metrics, choice.metric),
        (
            [(figure_name(choice.metric, name).label, name) for name in figures],
            next(iter(figures), ""),
        ),
        (columns, default_columns(chosen)),
    ]


def _key(choice: BoardChoice) -> str:
    return _SEPARATOR.join(choice.data)


def _data(key: str) -> tuple[str, str]:
    dataset, _, config = (key or "").partition(_SEPARATOR)
    return dataset, config


def _languages(pair: str) -> str:
    return language_pair(*pair_codes(pair))
