"""Say where every figure of the documents comes from: python -m tools.figures lists the passages of
which the ledger does not, and its lines that fit no passage. The ledger is docs/figures.tsv, and
studies/docs/NAME.figures.tsv for the pages of a study.

A figure is a percentage, a decimal, or a number with a thousands separator in README.md, docs/,
studies/docs/ or cards/. No figures are: generated blocks, code, words in back-ticks, addresses,
versions, names of licences and models, sizes of files, the level of intervals (95 %), and numbers
after such words as Table or section.

A line of it has the page, the heading and the first words of a passage (* stands for
any text), and the sources of its figures, separated by "; ". Each source begins with its kind:

- test: a test that holds the figures, as pytest names it without parameters.
- command: what prints them, or trains and measures what they are of.
- paper: where they are printed, with table, figure, section or page.
- setting: a constant of the program or of an example.
- arithmetic: what follows from the passage itself.
- column: the table itself names the source of each row.
"""

from __future__ import annotations

import csv
import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

_ROOT = Path(__file__).parent.parent
KINDS = ("test", "command", "paper", "setting", "arithmetic", "column")

_NUMBERS = r"[A-Z]?\d[\d.]*(?:(?:, | and | to |, and | or |–)[A-Z]?\d+[\d.]*)*"
_NO_FIGURES = re.compile(
    r"<!-- [\w-]+: generated -->.*?<!-- end -->|\A---\n.*?\n---\n|```.*?```|`[^`\n]*`|\]\([^)]*\)"
    r"|https?://\S+|\b[A-Za-z]+-\d[\w.]*|\b[vV]?\d+\.\d+\.\d[\w.]*|\d[\d.,]* ?[kMGT]i?B\b"
    r"|\b(?:Tables?|tables?|Figures?|[Ss]ections?|[Cc]hapters?|eq\.|Python|CC BY(?:-SA)?)"
    rf" {_NUMBERS}"
    r"|\b95 %",
    re.DOTALL,
)
_FIGURE = re.compile(
    r"(?<![\w.,/-])[−-]?(?:\d+(?:\.\d+)? ?%|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+)(?![\w/]|\.\d)"
)
_HEADING = re.compile(r"#+ (.+)")
_BLOCK = re.compile(r"^#+ .+\n?|(?:^(?!#+ ).*\S.*\n?)+", re.MULTILINE)


@dataclass(frozen=True)
class Passage:
    """A heading, paragraph, list or table with figures, and its first six words."""

    page: str
    heading: str
    begins: str
    figures: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}\t{self.heading}\t{self.begins} ({', '.join(self.figures[:8])})"


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: where the figures of a passage come from.

    Attributes:
        page, heading, begins: as in `Passage`; patterns with * for several passages.
        sources: one or more, each a kind of `KINDS` and what it is.
    """

    page: str
    heading: str
    begins: str
    sources: tuple[str, ...]

    def fits(self, passage: Passage) -> bool:
        """Return whether the entry is about a passage."""
        return all(
            fnmatch.fnmatchcase(value, pattern)
            for value, pattern in (
                (passage.page, self.page),
                (passage.heading, self.heading),
                (passage.begins, self.begins),
            )
        )


def passages(page: str, text: str) -> Iterator[Passage]:
    """Yield the passages of a page that have figures."""
    heading = ""
    # Blanks in place of what holds no figures keep the positions and the lines.
    figures_only = _NO_FIGURES.sub(lambda match: re.sub(r"\S", " ", match[0]), text)
    for block in _BLOCK.finditer(text):
        lines = block[0]
        title = _HEADING.match(lines) if figures_only[block.start()] == "#" else None
        if title:
            heading = title[1].strip()
        if figures := _FIGURE.findall(figures_only[block.start() : block.end()]):
            body = lines[title.end() if title else 0 :]
            words = re.findall(r"[^\W_]+", body)
            yield Passage(page, heading, " ".join(words[:6]), tuple(figures))


def all_passages() -> list[Passage]:
    """Return the passages with figures of all pages that people write."""
    patterns = ("README.md", "docs/*.md", "studies/docs/*.md", "cards/*/*.md")
    pages = [page for pattern in patterns for page in _ROOT.glob(pattern)]
    names = sorted(page.relative_to(_ROOT).as_posix() for page in pages if page.name != "cli.md")
    return [
        passage
        for name in names
        for passage in passages(name, (_ROOT / name).read_text(encoding="utf-8"))
    ]


def ledger() -> list[Entry]:
    """Return the entries of docs/figures.tsv, and of the file of each study."""
    paths = [_ROOT / "docs/figures.tsv", *sorted((_ROOT / "studies/docs").glob("*.figures.tsv"))]
    return [entry for path in paths for entry in _entries(path)]


def _entries(path: Path) -> Iterator[Entry]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)  # the names of the columns
        for page, heading, begins, sources in rows:
            yield Entry(page, heading, begins, tuple(sources.split("; ")))


def problems(known: list[Passage], entries: list[Entry]) -> list[str]:
    """Return passages without an entry, and entries without a passage."""
    unknown = [p for p in known if not any(entry.fits(p) for entry in entries)]
    unused = [entry for entry in entries if not any(entry.fits(p) for p in known)]
    return [f"no source: {passage}" for passage in unknown] + [
        f"fits no figure: {entry.page}\t{entry.heading}\t{entry.begins}" for entry in unused
    ]


if __name__ == "__main__":
    messages = problems(all_passages(), ledger())
    typer.echo("\n".join(messages) or "every figure has a source")
    raise SystemExit(bool(messages))
