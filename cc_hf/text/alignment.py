"""Word alignment with one protocol: fast_align's model (built in), eflomal if it is installed, or
given alignments.

Tokens are separated by spaces and tabs, for every aligner.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from cc_hf.errors import DataError, InputError, MissingDependencyError, UnknownNameError
from cc_hf.text.fast_align import Alignment, fast_align

__all__ = [
    "ALIGNERS",
    "Aligner",
    "Alignment",
    "Eflomal",
    "FastAlign",
    "GivenAlignments",
    "find_aligner",
    "given_links",
    "parse_pharaoh",
    "space_tokens",
    "to_pharaoh",
]


def space_tokens(text: str) -> list[str]:
    """Split a text at spaces and tabs; other white space is part of a token.

    Examples:
        >>> space_tokens("The  cook left.")
        ['The', 'cook', 'left.']
    """
    # `split()` would also split at no-break spaces, which fast_align takes for letters.
    return [token for token in text.replace("\t", " ").split(" ") if token]


@runtime_checkable
class Aligner(Protocol):
    """A word aligner. An alignment may depend on all pairs that are aligned together."""

    @property
    def signature_name(self) -> str:
        """The aligner's name with its version or content, as the signature of a result holds it."""

    def align(self, sources: Sequence[str], translations: Sequence[str]) -> Sequence[Alignment]:
        """Align each pair of source and translation.

        Returns:
            n alignments, as pairs of indices of `space_tokens`.
        """


@dataclass(frozen=True)
class FastAlign:
    """The forward model of fast_align with the options -d -o -v (`cc_hf.text.fast_align`)."""

    @property
    def signature_name(self) -> str:
        """The name `fast_align`; its options are fixed."""
        return "fast_align"

    def align(self, sources: Sequence[str], translations: Sequence[str]) -> list[Alignment]:
        """Align each source with its translation; the model is estimated on all pairs."""
        return fast_align(
            [space_tokens(source) for source in sources],
            [space_tokens(translation) for translation in translations],
        )


@dataclass(frozen=True)
class Eflomal:
    """The aligner eflomal (Östling & Tiedemann 2016), forward, with its default options.

    It samples and cannot be seeded, so two runs may differ.
    """

    @property
    def signature_name(self) -> str:
        """The name `eflomal` with its version."""
        try:
            return f"eflomal-{importlib.metadata.version('eflomal')}"
        except importlib.metadata.PackageNotFoundError:
            raise MissingDependencyError("eflomal", install="pip install eflomal") from None

    def align(self, sources: Sequence[str], translations: Sequence[str]) -> list[Alignment]:
        """Return the forward links of each pair; a pair with an empty side has none."""
        try:
            import eflomal
        except ImportError:
            raise MissingDependencyError("eflomal", install="pip install eflomal") from None
        pairs = [
            row
            for row, pair in enumerate(zip(sources, translations, strict=True))
            if all(map(space_tokens, pair))
        ]
        alignments: list[Alignment] = [()] * len(sources)
        if pairs:
            with tempfile.TemporaryDirectory() as folder:
                links = Path(folder) / "links"
                left, right = (
                    [self._line(side[row]) for row in pairs] for side in (sources, translations)
                )
                eflomal.Aligner().align(left, right, links_filename_fwd=str(links), quiet=True)
                forward = parse_pharaoh(
                    # The file ends with a line break, after which `split` finds one more line.
                    links.read_text(encoding="ascii").split("\n")[: len(pairs)],
                    name="eflomal",
                )
            for row, alignment in zip(pairs, forward, strict=True):
                alignments[row] = alignment
        return alignments

    @staticmethod
    def _line(text: str) -> str:
        """Return a text without white space within tokens, at which eflomal would split them."""
        return " ".join(re.sub(r"\s", "_", token) for token in space_tokens(text))


@dataclass(frozen=True)
class GivenAlignments:
    """Alignments that were made elsewhere, one per translation, in their order."""

    alignments: tuple[Alignment, ...]
    name: str = "given"

    @property
    def signature_name(self) -> str:
        """The name `given` with a hash of the links."""
        return (
            "given."
            + hashlib.sha256("\n".join(map(to_pharaoh, self.alignments)).encode()).hexdigest()[:7]
        )

    def align(self, sources: Sequence[str], translations: Sequence[str]) -> tuple[Alignment, ...]:
        """Return the alignments if they fit the sentences."""
        if len(self.alignments) != len(translations):
            raise InputError(
                f"{self.name}: expected one line of alignments per translation, {len(translations)}"
                f" in all, got {len(self.alignments)}"
            )
        for row, (alignment, source, translation) in enumerate(
            zip(self.alignments, sources, translations, strict=True)
        ):
            _check_links(alignment, source, translation, where=f"{self.name}: line {row + 1}")
        return self.alignments


def parse_pharaoh(
    lines: Sequence[str], *, name: str = "alignments", first: int = 1
) -> tuple[Alignment, ...]:
    """Read links in Pharaoh format, such as "0-0 2-1": source and target token, counted from 0."""
    alignments = []
    for number, line in enumerate(lines, first):
        links = []
        for word in line.split():
            # Nine digits: no sentence is as long, and `int` of a long number is slow.
            link = re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})", word)
            if link is None:
                raise DataError(
                    f"{name}: line {number}: expected links such as 0-0 2-1 (source-target, from"
                    f" 0), got {word[:80]!r}"
                )
            links.append((int(link[1]), int(link[2])))
        alignments.append(tuple(links))
    return tuple(alignments)


def given_links(line: str, source: str, translation: str, *, name: str, number: int) -> Alignment:
    """Return the links of one pair from its line of a file in Pharaoh format.

    Raises:
        DataError: for a line in any other format.
        InputError: for a link that points after the end of a sentence.
    """
    (alignment,) = parse_pharaoh([line], name=name, first=number)
    _check_links(alignment, source, translation, where=f"{name}: line {number}")
    return alignment


def _check_links(alignment: Alignment, source: str, translation: str, *, where: str) -> None:
    """Refuse a link that points after the end of a sentence; the message begins with `where`."""
    n, m = len(space_tokens(source)), len(space_tokens(translation))
    if bad := [f"{i}-{j}" for i, j in alignment if i >= n or j >= m]:
        raise InputError(
            f"{where}: expected links between {n} source and {m} target tokens (split at spaces,"
            f" from 0), got {bad[0]}; are these the alignments of {translation!r}?"
        )


def to_pharaoh(alignment: Alignment) -> str:
    """Return links as a line of a Pharaoh file: source and target token, counted from 0."""
    return " ".join(f"{i}-{j}" for i, j in alignment)


#: Aligners by name.
ALIGNERS: dict[str, type[FastAlign] | type[Eflomal]] = {"eflomal": Eflomal, "fast_align": FastAlign}


def find_aligner(aligner: str | Aligner) -> Aligner:
    """Return an aligner by name; return an Aligner as it is.

    Raises:
        UnknownNameError: for a name that is not in `ALIGNERS`.
        InputError: for anything that is neither a name nor an Aligner.
    """
    if isinstance(aligner, str):
        if aligner not in ALIGNERS:
            raise UnknownNameError("aligner", aligner, ALIGNERS)
        return ALIGNERS[aligner]()
    # A class has the methods as well, but no instance to call them on.
    if not isinstance(aligner, Aligner) or isinstance(aligner, type):
        raise InputError(
            f"aligner: expected a name ({', '.join(ALIGNERS)}) or an Aligner, got"
            f" {type(aligner).__name__}"
        )
    return aligner
