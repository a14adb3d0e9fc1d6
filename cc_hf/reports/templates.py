"""Render the HTML templates, which are files `*.html.jinja` beside the code that uses them.

Every value is escaped when it enters a template. The exception is `Markup`, which marks text that
is already HTML: the output of templates, and files of this package.
"""

from __future__ import annotations

from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from cc_hf.reports.numbers import percent

__all__ = ["render_page", "render_piece"]


def render_page(template: str, **values: object) -> str:
    """Return a whole page."""
    return f"{_found(template).render(values)}\n"


def render_piece(template: str, macro: str, **values: object) -> Markup:
    """Return a part of a page, which other templates may include."""
    piece: Markup = getattr(_found(template).module, macro)(**values)
    return piece


def _found(template: str) -> Template:
    package, _, path = template.rpartition(":")
    return _environment(package or "cc_hf").get_template(path)


@cache
def _environment(package: str) -> Environment:
    loaders = [PackageLoader(name, ".") for name in dict.fromkeys((package, "cc_hf"))]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = percent
    return environment
