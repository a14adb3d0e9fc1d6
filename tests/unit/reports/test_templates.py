import ast
import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from cc_hf.leaderboard.html import message, side_by_side
from cc_hf.reports.templates import render_page, render_piece
from tests.helpers.refusals import fails

EVIL = "</div><script>alert(1)</script>&\"'{{ 7 * 7 }}"


def test_texts_are_escaped_exactly_once() -> None:
    escaped = "&lt;/div&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#34;&#39;{{ 7 * 7 }}"
    piece = message(EVIL)
    assert piece == f'<div class="cc-error" role="alert">{escaped}</div>'
    assert str(piece) in side_by_side([piece])
    assert escaped in side_by_side([EVIL])  # type: ignore[list-item]


def test_a_missing_template_value_raises() -> None:
    fails(UndefinedError, "text", render_piece, "leaderboard/pieces.html.jinja", "message")
    with pytest.raises(UndefinedError):
        render_page("reports/page/explanation_page.html.jinja", title="a title")


def test_templates_mark_no_value_as_safe(root: Path) -> None:
    templates = list((root / "cc_hf").rglob("*.jinja"))
    assert len(templates) > 3
    for path in templates:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|Markup", text), path


def test_only_package_files_and_json_are_marked_as_html(root: Path) -> None:
    """Everything else becomes `Markup` by a template."""
    made = set()
    for path in (root / "cc_hf").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Markup"):
                made.add(path.name)
    assert made == {"explanations.py", "island.py", "page.py"}
