"""XML that others wrote, read without entities of its own; and formats that are named, not read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.parsers import expat

from cc_hf.errors import FileError
from cc_hf.reading import Place

__all__ = ["check_readable", "parse_xml"]

_TABLE = "a table with the columns source and translation"
_NAMED = (
    (r"(<\?xml.*?)?<tmx\b", f"a TMX file; export it as {_TABLE}"),
    (r"(<\?xml.*?)?<xliff\b", f"an XLIFF file; export it as {_TABLE}"),
    (
        r'(?:#[^\n]*\n|\s)*msg(?:ctxt|id)\s*"',
        f"a PO file of gettext; convert it, for example with po2csv, to {_TABLE}",
    ),
    (r"(<!--.*?-->\s*)?<(!doctype\s+html|html)\b", f"a page of HTML; save it as {_TABLE}"),
    (r"<\?xml\b", f"XML of another program; save it as {_TABLE}"),
)


def check_readable(text: str, path: object) -> None:
    """Refuse a text in a format that holds translations, and that is not read here.

    Examples:
        >>> check_readable("<tmx version='1.4'>", "memory.tmx")
        Traceback (most recent call last):
            ...
        cc_hf.errors.FileError: memory.tmx: expected lines, a table, JSON or XML of WMT, got a TMX file; export it as a table with the columns source and translation
    """  # noqa: E501
    text = text[:4096].lstrip("\ufeff \t\r\n")
    for pattern, name in _NAMED:
        if re.match(pattern, text, re.IGNORECASE | re.DOTALL):
            raise FileError(path, f"expected lines, a table, JSON or XML of WMT, got {name}")


class _LocalNames(dict[str, str]):
    """Names of elements -> names without their prefixes, which are cut off once for each name."""

    def __missing__(self, name: str) -> str:
        self[name] = name.rpartition(":")[2]
        return self[name]


def parse_xml(
    document: str | bytes,
    path: object,
    *,
    start: Callable[[str, Mapping[str, str], Callable[[], int]], Any],
    end: Callable[[str], Any],
    text: Callable[[str], Any],
) -> None:
    """Parse XML, element by element.

    Examples:
        >>> texts = []
        >>> ignore = lambda *_: None
        >>> parse_xml(b"<a>x &amp; y</a>", "a.xml", start=ignore, end=ignore, text=texts.append)
        >>> "".join(texts)
        'x & y'
    """

    def refuse(name: str, *_: Any) -> None:
        where = Place(str(path), parser.CurrentLineNumber)
        raise FileError(where, f"expected no entity declarations, got {name!r}; write the texts")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.EntityDeclHandler = refuse

    def line() -> int:
        return parser.CurrentLineNumber

    names = _LocalNames()
    parser.StartElementHandler = lambda name, attributes: start(names[name], attributes, line)
    parser.EndElementHandler = lambda name: end(names[name])
    parser.CharacterDataHandler = text
    try:
        parser.Parse(document, True)
    except expat.ExpatError as error:
        where = Place(str(path), error.lineno)
        raise FileError(
            where, f"expected XML that is complete, got {expat.ErrorString(error.code)}"
        ) from None
