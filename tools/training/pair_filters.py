"""Sentence pairs for training: read from two files, and filtered with counts of what is dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import InputError
from cc_hf.normalization import is_blank
from cc_hf.reading import read_lines

__all__ = ["FilteredPairs", "filter_pairs", "read_pairs"]

#: Why a pair is left out.
_REASONS = ("n_blank", "n_too_long", "n_length_ratio")


@dataclass(frozen=True)
class FilteredPairs:
    """Pairs that were kept.

    Attributes:
        pairs: source and translation.
        rows: 0-based number of each kept pair among all.
        counts: n_pairs, n_kept, and why others were left out: n_blank (no text on a side),
            n_too_long, n_length_ratio.
    """

    pairs: tuple[tuple[str, str], ...]
    rows: tuple[int, ...]
    counts: dict[str, int]


def filter_pairs(
    pairs: Iterable[tuple[str, str]],
    *,
    max_tokens: int | None = 250,
    max_length_ratio: float | None = 1.5,
    n_tokens: Callable[[str], int] = lambda text: len(text.split()),
) -> FilteredPairs:
    """Leave out pairs that are blank, too long or too different in length.

    The defaults are those of Vamvas & Sennrich (2021), section 4.2.

    Args:
        pairs: source and translation.
        max_tokens: largest number of tokens of a side; None for any.
        max_length_ratio: largest ratio of the numbers of tokens of both sides; None for any.
        n_tokens: the number of tokens of a text; by default of parts between spaces. The paper
            counts pieces of its vocabulary.

    Returns:
        The pairs that are kept, in their order, with the numbers of the others.

    Raises:
        InputError: for a limit out of range.

    Examples:
        >>> filter_pairs([("a b", "c d"), ("a", "b c d"), ("a", " ")]).counts
        {'n_pairs': 3, 'n_kept': 1, 'n_blank': 1, 'n_too_long': 0, 'n_length_ratio': 1}
    """
    if max_tokens is not None and max_tokens < 1:
        raise InputError(f"max_tokens: expected 1 or more, got {max_tokens}")
    if max_length_ratio is not None and not max_length_ratio >= 1:
        raise InputError(f"max_length_ratio: expected 1 or more, got {max_length_ratio}")
    kept: list[tuple[str, str]] = []
    rows: list[int] = []
    reasons: Counter[str] = Counter()
    n_pairs = 0
    for row, pair in enumerate(pairs):
        n_pairs += 1
        shorter, longer = sorted(map(n_tokens, pair))
        if any(map(is_blank, pair)) or shorter < 1:
            reasons["n_blank"] += 1
        elif max_tokens is not None and longer > max_tokens:
            reasons["n_too_long"] += 1
        elif max_length_ratio is not None and longer > max_length_ratio * shorter:
            reasons["n_length_ratio"] += 1
        else:
            kept.append(pair)
            rows.append(row)
    counts = {"n_pairs": n_pairs, "n_kept": len(kept), **{name: reasons[name] for name in _REASONS}}
    return FilteredPairs(tuple(kept), tuple(rows), counts)


def read_pairs(source: str | Path, target: str | Path) -> list[tuple[str, str]]:
    """Return the pairs of two files, one per line, blank lines included.

    Args:
        source: UTF-8 file with one sentence per line.
        target: the translation of each line.

    Returns:
        Source and translation of each line.

    Raises:
        InputError: for a file that does not exist or is not UTF-8, or files of different lengths.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paths = [Path(folder, name) for name in ("a.en", "a.de")]
        ...     _ = [path.write_text("Bat.\\n\\n", encoding="utf-8") for path in paths]
        ...     read_pairs(*paths)
        [('Bat.', 'Bat.'), ('', '')]
    """
    sources, targets = (read_lines(Path(path), keeps_end=True) for path in (source, target))
    if len(sources) != len(targets):
        raise InputError(
            f"{source}, {target}: expected as many lines in both, got {len(sources)} and"
            f" {len(targets)}; line N of the second must be the translation of line N of the first"
        )
    return list(zip(sources, targets, strict=True))
