"""Sphinx: the site of the documentation, built offline by `make docs`."""

from __future__ import annotations

import gc
import html
import json
import os
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from docutils import nodes

import cc_hf

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]
from archive_board import write_archived_board
from command_pages import command_pages, moved_headings, with_links

from tools.release import project as metadata

gc.disable()  # a quarter of the time of a build, which needs less than 1 GB
_ROOT = Path(__file__).parent.parent

project = "cc_hf"
author = "the authors of cc_hf"
release = version = cc_hf.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
copybutton_prompt_text = "$ "  # is not copied
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "cc_hf"
if urls := metadata(_ROOT).get("urls"):
    html_theme_options = {"source_repository": urls["Source"], "source_branch": "main"}
    html_theme_options["source_directory"] = "docs/"
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")  # for the canonical address
html_show_copyright = False
html_extra_path = ["llms.txt", "../skills/cc-hf/SKILL.md"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
default_role = "code"
smartquotes_action = "qe"  # no dashes, which options begin with


#: Folder of pages and pictures -> that of their copies in docs/: Sphinx reads one folder.
_COPIES = {f"cards/{kind}": f"cards/{kind}" for kind in ("metrics", "datasets", "models")}
_COPIES["studies/docs"] = "studies"
#: Beginnings of links in the repository -> of those to the copies, and from them.
_LINKS = {"../cards/": "cards/", "../studies/docs/": "studies/"}
_LINKS_OF_STUDIES = {
    "../../cards/": "../cards/",
    "../../docs/": "../",
    "../benchmarks/": "../../studies/benchmarks/",
    "../examples/": "../../studies/examples/",
}


def _copy_pages(app: Any) -> None:
    """Copy every card, without its YAML header, and every page of a study."""
    for original, copy in _COPIES.items():
        folder = Path(app.srcdir) / copy
        folder.mkdir(parents=True, exist_ok=True)
        for file in (*(_ROOT / original).glob("*.md"), *(_ROOT / original).glob("*.svg")):
            text = re.sub(r"\A---\n.*?\n---\n", "", file.read_text(encoding="utf-8"), flags=re.S)
            _write_page(folder / file.name, text)


def _write_page(page: Path, text: str) -> None:
    """Write a page, unless it is the same already: Sphinx reads what is newer."""
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8", newline="\n")


def _write_pages_of_commands(app: Any) -> None:
    """Write a page for each command, and delete those of commands that are gone."""
    folder, pages = Path(app.srcdir) / "commands", command_pages()
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        _write_page(folder / name, text)
    for page in folder.glob("*.md"):
        if page.name not in pages:
            page.unlink()


def _link_copies(app: Any, docname: str, source: list[str]) -> None:
    """Replace links to other folders of the repository by those to their copies."""
    links = _LINKS_OF_STUDIES if docname.startswith("studies/") else _LINKS
    for beginning, of_copy in links.items():
        source[0] = source[0].replace(f"]({beginning}", f"]({of_copy}")


def _link_copies_of_included(app: Any, path: Path, docname: str, source: list[str]) -> None:
    """Replace links of CHANGELOG.md, whose others begin with docs/ and are read so."""
    source[0] = source[0].replace("](studies/docs/", "](docs/studies/")


def _toctree(links: str, options: str = "") -> str:
    """Return a hidden list of the pages that Markdown links."""
    pages = "\n".join(re.findall(r"\(([\w/]+)\.md\)", links))
    return f"\n```{{toctree}}\n:hidden:\n{options}\n{pages}\n```\n"


_BOARD = """<iframe class="board" src="board/index.html" title="Board of archived systems"></iframe>
<p><a href="board/index.html">Open the board on a page of its own.</a></p>
"""


def _add_parts(app: Any, docname: str, source: list[str]) -> None:
    """Add the navigation: the lists of the start page, the studies, the commands, and the cards of
    each kind; and the board of archived systems.
    """
    # The lists are not in the pages themselves, because GitHub would show them as raw text.
    if docname == "index":
        for caption, links in re.findall(r"^## (.+)\n((?:- .+\n)+)", source[0], re.MULTILINE):
            source[0] += _toctree(links, f":caption: {caption}\n")
    if docname == "cli":
        source[0] = with_links(source[0])
    if docname == "leaderboards":
        source[0] = source[0].replace("<!-- board -->", _BOARD)
    if docname == "studies/index":
        source[0] += _toctree(source[0])
    kinds = {"metrics": ("metrics", "datasets"), "evaluators": ("models",)}.get(docname, ())
    for kind in kinds:
        source[0] += (
            f"\n```{{toctree}}\n:glob:\n:maxdepth: 1\n:caption: Cards\n\ncards/{kind}/*\n```\n"
        )


def _describe(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Add the first paragraph of a page to its head, as search engines show it."""
    if tree is None:
        return
    text = next((" ".join(p.astext().split()) for p in tree.findall(nodes.paragraph)), "")
    short = html.escape(textwrap.shorten(text, 160, placeholder=" ..."))
    if short:
        context["metatags"] += f'\n<meta name="description" content="{short}">'


def _moved() -> dict[str, dict[str, str]]:
    """Return where addresses lead that have changed: old page -> anchor, or "" -> new address.

    Each command had a heading on the page of commands before it had a page.
    """
    rows = (Path(__file__).parent / "addresses.tsv").read_text(encoding="utf-8").splitlines()[1:]
    moved: dict[str, dict[str, str]] = {"cli": moved_headings()}
    for old, new in (row.split("\t") for row in rows):
        page, _, anchor = old.partition("#")
        if old != new:
            moved.setdefault(page, {})[anchor] = re.sub(r"(#|$)", r".html\1", new, count=1)
    return moved


_LEAD = """const moved = {map};
const lead = () => {{
  const to = moved[location.hash.slice(1)] ?? {default};
  if (to) location.replace(to);
}};
addEventListener("hashchange", lead);
lead();
"""
_REDIRECT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{page} has moved</title>
<link rel="canonical" href="{to}">
<script>{script}</script>
<noscript><meta http-equiv="refresh" content="0; url={to}"></noscript>
</head>
<body><main><h1>This page has moved</h1><p>It is now <a href="{to}">here</a>.</p></main></body>
</html>
"""


def _lead_on(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let a page lead from anchors that it had to where they are now."""
    if tree is not None and page in (moved := _moved()):
        app.add_js_file(None, body=_LEAD.format(map=json.dumps(moved[page]), default="null"))


def _write_redirects(app: Any, error: Exception | None) -> None:
    """Write a page at each address that a page had; it leads to the new one."""
    for page, anchors in _moved().items():
        file = Path(app.outdir) / f"{page}.html"
        if error is None and not (Path(app.srcdir) / f"{page}.md").exists():
            script = _LEAD.format(map=json.dumps(anchors), default=json.dumps(anchors[""]))
            text = _REDIRECT.format(page=page, to=anchors[""], script=script)
            file.write_text(text, encoding="utf-8", newline="\n")


def _write_board(app: Any, error: Exception | None) -> None:
    """Write the board that the page of leaderboards shows."""
    if error is None and app.builder.format == "html":
        write_archived_board(Path(app.outdir) / "board")


def setup(app: Any) -> None:
    """Connect the functions above; Sphinx calls this."""
    app.connect("builder-inited", _copy_pages)
    app.connect("builder-inited", _write_pages_of_commands)
    app.connect("source-read", _link_copies)
    app.connect("include-read", _link_copies_of_included)
    app.connect("source-read", _add_parts)
    app.connect("html-page-context", _describe)
    app.connect("html-page-context", _lead_on)
    app.connect("build-finished", _write_redirects)
    app.connect("build-finished", _write_board)
