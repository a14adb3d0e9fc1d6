"""The tab with the table: filters, rows, downloads of all rows, the chart and the notes."""

from __future__ import annotations

from typing import Any

from cc_hf.leaderboard.html import plot_html
from cc_hf.leaderboard.table import (
    HEADERS,
    PERCENT_HEADERS,
    SORT_KEYS,
    LeaderboardRow,
    choices,
    display_cells,
    filtered,
    sorted_rows,
    to_csv,
    to_json,
)
from cc_hf.leaderboard.visitor_files import VisitorFiles

__all__ = ["table_tab"]

_ANY = "all"
_FIRST_SORT = "minimum accuracy"
_TABLES_AT_ONCE = 8
_MAX_SEARCH = 200  # characters
_DATATYPES = ["str"] * 4 + ["number", "str"] * 3 + ["number", "number", "str", "str", "str"]
_WIDTHS = [
    "150px",
    "150px",
    "95px",
    "215px",
    "130px",
    "115px",
    "100px",
    "115px",
    "100px",
    "130px",
    "70px",
    "75px",
    "260px",
    "420px",
    "420px",
]


def table_tab(gr: Any, rows: list[LeaderboardRow], notes: str, files: VisitorFiles) -> None:
    """Fill the gradio tab that is currently open.

    Args:
        gr: the module gradio.
        rows: the rows of all results.
        notes: HTML on what the table does not show.
        files: where files for download are written.
    """

    def filtered_table(
        dataset: str, language: str, metric: str, text: str, by: str, order: str
    ) -> tuple[Any, str]:
        conditions = {"dataset": dataset, "language": language, "metric": metric}
        chosen = filtered(
            rows,
            text=(text or "")[:_MAX_SEARCH],
            **{name: "" if value == _ANY else value for name, value in conditions.items()},
        )
        ordered = sorted_rows(chosen, by, descending=order == "descending")
        return _styled(ordered), plot_html(ordered)

    filters = _filters(gr, rows)
    value, svg = filtered_table(_ANY, _ANY, _ANY, "", _FIRST_SORT, "descending")
    table = gr.Dataframe(
        value,
        headers=list(HEADERS),
        datatype=_DATATYPES,
        column_widths=_WIDTHS,
        interactive=False,
        label=(
            "figures in percent, with 95 % intervals by bootstrap; the menu ⋮ of a header sorts and"
            " filters, too"
        ),
        elem_id="cc-table",
        max_height=560,
        pinned_columns=1,
        line_breaks=False,
        type="array",
    )
    with gr.Row():
        for name, content in (("CSV", to_csv(rows)), ("JSON", to_json(rows))):
            gr.DownloadButton(
                f"Download the whole table ({name})",
                value=files.write(f"leaderboard.{name.lower()}", content),
                size="sm",
                elem_id=f"cc-{name.lower()}",
            )
    plot = gr.HTML(svg, elem_id="cc-plot")
    gr.HTML(notes, elem_id="cc-notes")
    gr.on(
        [field.change for field in filters],
        filtered_table,
        inputs=filters,
        outputs=[table, plot],
        api_name="table",
        show_progress="hidden",
        concurrency_limit=_TABLES_AT_ONCE,
    )


def _filters(gr: Any, rows: list[LeaderboardRow]) -> list[Any]:
    """Return new fields for dataset, language, metric, search words, sort key and order."""
    with gr.Row(elem_classes="cc-filters"):
        lists = [
            gr.Dropdown(
                [_ANY, *choices(rows, name)],
                value=_ANY,
                label=name,
                elem_id=f"cc-{name}",
                min_width=120,
            )
            for name in ("dataset", "language", "metric")
        ]
        text = gr.Textbox(
            label="search",
            placeholder="system, signature, …",
            max_lines=1,
            max_length=_MAX_SEARCH,
            elem_id="cc-search",
            min_width=160,
        )
        by = gr.Dropdown(
            list(SORT_KEYS), value=_FIRST_SORT, label="sort by", elem_id="cc-sort", min_width=210
        )
        order = gr.Radio(
            ["descending", "ascending"],
            value="descending",
            label="order",
            elem_id="cc-order",
            min_width=280,
        )
    return [*lists, text, by, order]


def _styled(rows: list[LeaderboardRow]) -> Any:
    """Return the rows as a table whose percentages are sorted as numbers and shown with one
    decimal.
    """
    if not rows:
        return {"headers": list(HEADERS), "data": []}
    import pandas

    numbers = dict.fromkeys(PERCENT_HEADERS, "{:.1f}")
    frame = pandas.DataFrame([display_cells(row) for row in rows], columns=list(HEADERS)).astype(
        dict.fromkeys(PERCENT_HEADERS, float)
    )
    return frame.style.format(numbers, na_rep="")
