"""The reader of .tmx, the memories of translation programs: a source and a translation in each
unit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from cc_hf.errors import FileError
from cc_hf.reading import Place

__all__ = ["read"]


def read(path: Path, columns: Collection[str]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the units of a file, each with its place. All columns that there are are given."""
    try:
        units = list(ET.parse(path).iter("tu"))
    except (OSError, ET.ParseError) as error:
        raise FileError(path, f"expected TMX, got a file that cannot be read ({error})") from error
    for number, unit in enumerate(units, 1):
        source, translation = ("".join(segment.itertext()) for segment in unit.iter("seg"))
        yield Place(path, number, "item"), {"source": source, "translation": translation}
