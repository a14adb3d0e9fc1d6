"""Test sets with translations as WMT publishes them: XML since 2021, SGM before."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from cc_hf.errors import FileError
from cc_hf.reading import Place
from cc_hf.tables.markup import parse_xml

__all__ = ["WmtSegment", "is_wmt", "wmt_segments"]

_ROOTS = ("dataset", "tstset", "refset", "srcset", "hypset", "mteval")
#: Elements whose segments are a source, a reference or the translation of a system.
_SIDES = {
    **{"src": "src", "ref": "ref", "hyp": "hyp"},
    **{"srcset": "src", "refset": "ref", "tstset": "hyp", "hypset": "hyp"},
}
_NAMES = ("system", "sysid", "translator")  # attributes that name who translated
_BEGINNING = re.compile(
    rf"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>\s*)?<(?P<root>{'|'.join(_ROOTS)})\b",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"<(/?)([A-Za-z]+)([^<>]*)>")
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class WmtSegment(NamedTuple):
    """A translated segment; its source is None if the file has no sources."""

    where: Place
    translation: str
    source: str | None


class _Parsed:
    """Collects the segments of each side, by their document and id."""

    def __init__(self, path: object) -> None:
        self.path = path
        self.sources: dict[tuple[str, str], str] = {}
        self.texts: dict[tuple[str, str], dict[tuple[str, str], tuple[int, str]]] = {}
        self._document = self._side = self._name = ""
        self._segment: str | None = None
        self._line = 0
        self._pieces: list[str] = []

    def start(self, element: str, attributes: Mapping[str, str], line: Callable[[], int]) -> None:
        element = element.lower()
        named = next((attributes[key] for key in _NAMES if key in attributes), None)
        if element == "doc":
            self._document = attributes.get("docid") or attributes.get("id", "")
            self._name = named or self._name
        elif element in _SIDES:
            self._side, self._name = _SIDES[element], named or ""
        elif element == "seg":
            self._segment, self._line = attributes.get("id", ""), line()
            self._pieces.clear()

    def text(self, piece: str) -> None:
        if self._segment is not None:
            self._pieces.append(piece)

    def end(self, element: str) -> None:
        if element.lower() != "seg" or self._segment is None:
            return
        key, self._segment = (self._document, self._segment), None
        text = " ".join("".join(self._pieces).split())
        if self._side == "src":
            self.sources[key] = text
            return
        texts = self.texts.setdefault((self._side, self._name), {})
        if key in texts:
            raise FileError(
                Place(str(self.path), self._line),
                f"segment {key[1]!r} of document {key[0]!r}: expected one translation, got"
                f" another in line {texts[key][0]}; give each system its own name",
            )
        texts[key] = self._line, text


def is_wmt(text: str) -> bool:
    """Return whether a text begins as the files of WMT do.

    Examples:
        >>> is_wmt('<tstset setid="x">'), is_wmt("<tmx>")
        (True, False)
    """
    return _BEGINNING.match(text[:4096].lstrip("\ufeff")) is not None


def wmt_segments(text: str, path: object, system: str | None = None) -> list[WmtSegment]:
    """Return the segments of one system.

    Args:
        system: the name of a system, or of who translated a reference; None for the only system.

    Examples:
        >>> text = '<tstset sysid="A"><doc docid="d"><seg id="1"> Ja. </seg></doc></tstset>'
        >>> [segment.translation for segment in wmt_segments(text, "x.sgm")]
        ['Ja.']
    """
    parsed = _Parsed(path)
    beginning = _BEGINNING.match(text[:4096].lstrip("\ufeff"))
    if beginning and ("<?xml" in beginning[0] or beginning["root"].lower() == _ROOTS[0]):
        parse_xml(text, path, start=parsed.start, end=parsed.end, text=parsed.text)
    else:
        _parse_sgm(text, path, parsed)
    if system is None:
        chosen = [key for key in parsed.texts if key[0] == "hyp"]
    else:
        chosen = [key for key in parsed.texts if key[1] == system]
    if len(chosen) == 1:
        return list(_segments(parsed, chosen[0]))
    names = [
        f"{name or '(no name)'}{' (a reference)' * (side == 'ref')}" for side, name in parsed.texts
    ]
    wanted = "one system" if system is None else f"the system {system!r}"
    first = next((name for _, name in chosen or parsed.texts if name), "")
    remedy = f"; name it, such as {path}#{first}" if first else ""
    raise FileError(path, f"expected {wanted}, got {', '.join(names) or 'none'}{remedy}")


def _segments(parsed: _Parsed, key: tuple[str, str]) -> Iterator[WmtSegment]:
    for segment, (line, text) in parsed.texts[key].items():
        source = parsed.sources.get(segment)
        if source is None and parsed.sources:
            raise FileError(
                Place(str(parsed.path), line),
                f"segment {segment[1]!r} of document {segment[0]!r}: expected a source, got none",
            )
        yield WmtSegment(Place(str(parsed.path), line), text, source)


def _parse_sgm(text: str, path: object, parsed: _Parsed) -> None:
    """Parse SGM, which may hold "&" and "<" that no XML could."""
    line, end, open_line = 1, 0, 0
    for tag in _TAG.finditer(text):
        before = text[end : tag.start()]
        if before:
            parsed.text(html.unescape(before))
            line += before.count("\n")
        closes, name, attributes = tag.groups()
        if name.lower() == "seg":
            if not closes and open_line:
                raise FileError(
                    Place(str(path), open_line), "expected </seg> before the next <seg>, got none"
                )
            open_line = 0 if closes else line
        if closes:
            parsed.end(name)
        else:
            values = {
                key.lower(): html.unescape(double or single)
                for key, double, single in _ATTRIBUTE.findall(attributes)
            }
            parsed.start(name, values, partial(int, line))
        line += tag[0].count("\n")
        end = tag.end()
    if open_line:
        raise FileError(Place(str(path), open_line), "expected </seg>, got the end of the file")
