"""Files of n-best lists.

Three forms are read: Moses's `index ||| hypothesis ||| score`, JSONL with `index`, `text` and
`score`, and plain text with the same number of lines for each source.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cc_hf.data.files.nbest import Hypothesis
from cc_hf.errors import FileError
from cc_hf.normalization import is_blank
from cc_hf.reading import Place, finite_number, read_lines, whole_number
from cc_hf.records import COUNT
from cc_hf.tables.rows import read_rows

__all__ = ["read_nbest"]

_BAR = "|||"


def read_nbest(path: str | Path, n_sources: int | None = None) -> list[tuple[Hypothesis, ...]]:
    r"""Read n-best lists.

    Equal and blank hypotheses are kept, and lists may differ in length. A blank hypothesis needs no
    score.

    Args:
        path: a .jsonl file with the objects `{"index": 0, "text": ..., "score": ...}`, or a text
            file with lines `index ||| hypothesis ||| score`. Indices are 0-based and do not fall.
            Of further columns, as Moses writes them, the last number is the score. A file without
            scores is in the order of preference.
        n_sources: number of sources, by which the lines of a file of hypotheses alone are divided;
            None where the file has indices.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "lists.txt")
        ...     _ = path.write_text("0 ||| Der Arzt ||| -1.5\n0 ||| Die Ärztin ||| -2\n")
        ...     read_nbest(path)
        [(Hypothesis(text='Der Arzt', score=-1.5), Hypothesis(text='Die Ärztin', score=-2.0))]
    """
    path = Path(path)
    is_jsonl = path.suffix.lower() == ".jsonl"
    if n_sources and not is_jsonl and not any(_BAR in line for line in read_lines(path)):
        return _plain(path, n_sources)
    rows = _objects(path) if is_jsonl else _columns(path)
    lists: list[list[Hypothesis]] = []
    has_scores: bool | None = None
    for where, index, hypothesis in rows:
        if index < len(lists) - 1:
            raise FileError(where, f"expected an index of at least {len(lists) - 1}, got {index}")
        if index > len(lists):
            raise FileError(
                where,
                f"expected hypotheses of the source {len(lists)}, got those of {index}: every"
                " source needs at least one",
            )
        if index == len(lists):
            lists.append([])
        if not is_blank(hypothesis.text):
            if has_scores not in (None, hypothesis.score is not None):
                raise FileError(where, "expected a score on every line with a text, or on none")
            has_scores = hypothesis.score is not None
        lists[-1].append(hypothesis)
    if not lists:
        raise FileError(path, "expected hypotheses, got an empty file")
    return [tuple(hypotheses) for hypotheses in lists]


def _plain(path: Path, n_sources: int) -> list[tuple[Hypothesis, ...]]:
    lines = read_lines(path, keeps_end=True)
    n, rest = divmod(len(lines), n_sources)
    if rest or not n:
        raise FileError(
            path,
            f"expected index {_BAR} hypothesis {_BAR} score, or as many lines for each of"
            f" {n_sources:,} sources, got {len(lines):,} lines without {_BAR}",
        )
    texts = [Hypothesis(line.strip()) for line in lines]
    return [tuple(texts[start : start + n]) for start in range(0, len(texts), n)]


def _objects(path: Path) -> Iterator[tuple[Place, int, Hypothesis]]:
    form = {"index": COUNT, "text": str, "score?": float}
    for where, row in read_rows(path, (".jsonl",), form):
        score = row.get("score")
        yield (
            where,
            row["index"],
            Hypothesis(row["text"].strip(), None if score is None else float(score)),
        )


def _columns(path: Path) -> Iterator[tuple[Place, int, Hypothesis]]:
    for number, line in enumerate(read_lines(path), 1):
        where, cells = Place(path, number), [cell.strip() for cell in line.split(_BAR)]
        index = whole_number(cells[0])
        if len(cells) < 2 or index is None:
            raise FileError(
                where,
                f"expected index {_BAR} hypothesis {_BAR} score, got {line[:80]!r}",
            )
        scores = [value for cell in cells[2:] if (value := finite_number(cell)) is not None]
        if cells[2:] and not scores:
            raise FileError(where, f"expected a number as the score, got {cells[-1]!r}")
        yield where, index, Hypothesis(cells[1], scores[-1] if scores else None)
