"""Sheets as a campaign of Pearmut, which shows them in a browser (Zouhar & Kocmi 2026).

A row is a form with a menu for each question, and names no system: what Pearmut shows as a
translation would carry the name of its system to the browser. As of version 1.1.6.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from typing import Any

from cc_hf.plugins.raters.pearmut_log import CELL, COLUMN, ROW
from cc_hf.plugins.raters.sheets import SheetForm, SheetKey, SheetRow, rows_of_raters

__all__ = ["campaign_text"]


def campaign_text(key: SheetKey, name: str, *, n_raters: int = 2, seed: int = 0) -> str:
    """Return the campaign as JSON, which `pearmut add` takes.

    Args:
        name: the name of the campaign.
        seed: decides the order of the rows of each rater.
    """
    raters = rows_of_raters(key, n_raters=n_raters, seed=seed)
    guidelines = "\n".join(_guidelines(key.form))
    info = {
        "assignment": "task-based",
        "protocol": "DA",
        "instructions": guidelines,  # in place of those for scores
        "users": list(raters),
    }
    campaign = {
        "campaign_id": name,
        "info": info,
        # Version 1.1.6 does not show instructions above forms.
        "data_welcome": [[{"text": guidelines, "form": None}]],
        "data": [[_document(key.form, row) for row in rows] for rows in raters.values()],
    }
    return json.dumps(campaign, ensure_ascii=False, indent=1) + "\n"


def _document(form: SheetForm, row: SheetRow) -> list[dict[str, Any]]:
    """Return the items of a row: each cell, and a menu for each question."""
    shown = [
        {ROW: row.id, "text": _line(column, text), "form": None, COLUMN: column, CELL: text}
        for column, text in zip(form.columns, row.cells, strict=True)
    ]
    asked = [
        {
            ROW: row.id,
            "text": f"<b>{_html(question)}</b>",
            "form": "choices",
            # The browser answers with the text, not with its HTML.
            "choices": [_html(label) for label in labels],
            COLUMN: question,
        }
        for question, labels in form.questions.items()
    ]
    return [*shown, *asked]


def _guidelines(form: SheetForm) -> Iterator[str]:
    yield f"<p>{_html(form.goal)}</p>"
    yield _list([_line(name, text) for name, text in form.columns.items()])
    for question, labels in form.questions.items():
        yield f"<p><b>{_html(question)}</b>: choose one of these labels.</p>"
        yield _list([_line(label, text) for label, text in labels.items()])
    if form.remarks:
        yield _list([_html(remark) for remark in form.remarks])


def _list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _line(name: str, text: str) -> str:
    return f"<b>{_html(name)}</b>: {_html(text)}"


def _html(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")
