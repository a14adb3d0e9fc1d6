"""The templates that make HTML, as `*.html.jinja` beside the code that uses them.

Every value is escaped where it enters a template. The exception is `Markup`, which says that a text
is HTML already: what a template made, and files of this package.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cc_hf.reports.figure_text import percent

__all__ = ["render_page", "render_piece"]


def render_page(template: str, **values: object) -> str:
    """Return a whole page.

    Args:
        template: a path below `cc_hf`, with forward slashes.
        values: by their names in the template; all that it uses must be there.
    """
    return f"{_environment().get_template(template).render(values)}\n"


def render_piece(template: str, macro: str, **values: object) -> Markup:
    """Return a piece of a page, which may enter other templates.

    Args:
        template: a path below `cc_hf`, with forward slashes.
        macro: the name of a macro in this template.
        values: the arguments of the macro.
    """
    piece: Markup = getattr(_environment().get_template(template).module, macro)(**values)
    return piece


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("cc_hf", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = percent
    return environment
