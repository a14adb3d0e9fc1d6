"""Pairs of MT-GenEval's counterfactual subset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cc_hf.data.files.aligned_files import aligned_lines
from cc_hf.errors import DataError
from cc_hf.schema import Focus

__all__ = ["Side", "counterfactual_pairs", "marked_focus", "unquoted"]

_SENTENCES = "data/sentences/{split}/{folder}geneval-sentences-{gender}-{split}.en_{lang}.{end}"
_TAG = re.compile(r"(</?[FM]>)")
_GENDERS = {"male": "masculine", "female": "feminine"}


@dataclass(frozen=True, slots=True)
class Side:
    """A row of the masculine or the feminine files.

    Attributes:
        path: the annotated English file.
        reference_raw: the upstream line of the other language.
        annotated_source, annotated_reference: both with tags around gendered words.
    """

    path: Path
    gender: str
    source: str
    reference_raw: str
    annotated_source: str
    annotated_reference: str

    @property
    def reference(self) -> str:
        """The reference without the quotes of a CSV field."""
        return unquoted(self.reference_raw)


def counterfactual_pairs(
    paths: Mapping[str, Path], lang: str, split: str
) -> Iterator[tuple[int, Side, Side]]:
    """Yield the number of the pair, the row itself and its counterfactual, the male row first."""
    parts = [
        (gender, folder, end)
        for gender in _GENDERS.values()
        for folder in ("", "annotated/")
        for end in ("en", lang)
    ]
    files = [
        paths[_SENTENCES.format(split=split, folder=folder, gender=gender, lang=lang, end=end)]
        for gender, folder, end in parts
    ]
    for pair, lines in enumerate(aligned_lines(*files, is_blank_allowed=False)):
        male, female = (
            Side(files[first + 2], gender, *lines[first : first + 4])
            for gender, first in (("male", 0), ("female", 4))
        )
        if male.source == female.source:
            raise DataError(
                f"{files[4]}: line {pair + 1}: expected a source with the other gender, got the"
                f" masculine one: {female.source[:80]!r}"
            )
        yield pair, male, female
        yield pair, female, male


def marked_focus(path: Path, number: int, source: str, annotated: str) -> Focus:
    """Return the first words that upstream marks as gendered."""
    spans: list[tuple[int, int]] = []
    # Both lines are walked in parallel, so that a tag that the source contains too counts as its
    # text.
    position, start = 0, -1
    for piece in _TAG.split(annotated):
        if source.startswith(piece, position):
            position += len(piece)
        elif piece in ("<F>", "<M>") and start < 0:
            start = position
        elif piece in ("</F>", "</M>") and 0 <= start < position:
            spans.append((start, position))
            start = -1
        else:
            raise DataError(
                f"{path}: line {number}: expected the source with <F> or <M> around words, got"
                f" {piece[:40]!r} at character {position} of {source!r}"
            )
    if position != len(source) or start >= 0 or not spans:
        raise DataError(
            f"{path}: line {number}: expected the whole source with <F> or <M> around some words,"
            f" got {annotated!r}"
        )
    return Focus(source[slice(*spans[0])], spans[0][0])


def unquoted(line: str) -> str:
    """Return the text of a line without outer blanks and without the quotes of a CSV field.

    Examples:
        >>> unquoted('"Sie sagt ""ja""."')
        'Sie sagt "ja".'
        >>> unquoted('"Ja", sagt sie, "ja"')
        '"Ja", sagt sie, "ja"'
    """
    text = line.strip()
    inner = text[1:-1]
    is_field = text[:1] == text[-1:] == '"' and '""' in inner and '"' not in inner.replace('""', "")
    return inner.replace('""', '"').strip() if is_field else text
