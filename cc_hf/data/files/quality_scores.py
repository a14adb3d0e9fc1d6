"""BLEU of systems from the command line or from files: one grammar for reports, leaderboards and
their Spaces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from cc_hf.errors import FileError, InputError, shown
from cc_hf.files import is_file
from cc_hf.reading import finite_number
from cc_hf.records import read_json
from cc_hf.tables.rows import read_cells

__all__ = ["QualityScores", "from_points", "read_quality_scores"]

_KEYS = ("system", "bleu", "dataset", "tgt_lang")
#: What `cc-hf score` also writes of a system.
_FACTS = (
    "signature",
    "chrf",
    "chrf_signature",
    "bleu_p_value",
    "chrf_p_value",
    "paired_test",
    "n",
    "n_blank",
)
_SUFFIXES = (".json", ".tsv")
#: A place, for messages, and the row.
_Row: TypeAlias = tuple[object, Mapping[str, Any]]


@dataclass(frozen=True)
class QualityScores:
    """BLEU of systems, in [0, 1], by system, dataset and target language; "" stands for any."""

    bleu: Mapping[tuple[str, str, str], float] = field(default_factory=dict)

    @property
    def systems(self) -> list[str]:
        """The systems whose BLEU is known, each once."""
        return list(dict.fromkeys(system for system, _, _ in self.bleu))

    def to_json(self) -> str:
        """Return the scores as JSON that `read_quality_scores` reads, in points.

        Examples:
            >>> QualityScores({("aws", "winomt", ""): 0.312}).to_json()
            '[{"system": "aws", "bleu": 31.2, "dataset": "winomt", "tgt_lang": ""}]\\n'
        """
        rows = [
            dict(zip(_KEYS, (system, round(100 * bleu, 10), dataset, tgt_lang), strict=True))
            for (system, dataset, tgt_lang), bleu in self.bleu.items()
        ]
        return json.dumps(rows, ensure_ascii=False) + "\n"

    def of(self, system: str, dataset: str, tgt_lang: str) -> float | None:
        """Return the most specific BLEU of a system, in [0, 1], or None if there is none.

        A figure for this dataset and language comes first, then one for the dataset, then one for
        the language, then one for the system alone.

        Examples:
            >>> scores = QualityScores({("aws", "", ""): 0.3, ("aws", "winomt", ""): 0.4})
            >>> scores.of("aws", "winomt", "de"), scores.of("aws", "mucow", "de")
            (0.4, 0.3)
        """
        keys = [
            (system, dataset, tgt_lang),
            (system, dataset, ""),
            (system, "", tgt_lang),
            (system, "", ""),
        ]
        return next((self.bleu[key] for key in keys if key in self.bleu), None)


def read_quality_scores(values: str | Path | Sequence[str | Path] | None) -> QualityScores:
    """Read BLEU of systems, given in points from 0 to 100.

    Args:
        values: texts NAME=POINTS, or files; one of these or several, None for no BLEU. The name of
            a file that is given as a string must end in .tsv or .json. A .tsv table has a header
            with the columns `system` and `bleu`, and optionally `dataset` and `tgt_lang` for
            figures that hold for these only; without a header it has two columns, system and BLEU.
            A .json file is an object, system -> BLEU, or a list of objects with these keys, such as
            `cc-hf score` writes it.

    Raises:
        InputError: for a text that is neither, a file that does not exist or is not as described, a
            system that occurs twice for the same data, or a BLEU that is neither 0 nor from 1 to
            100.

    Examples:
        >>> read_quality_scores(["aws=42.5"]).of("aws", "winomt", "de")
        0.425
    """
    bleu: dict[tuple[str, str, str], float] = {}
    for text in [values] if isinstance(values, (str, Path)) else values or ():
        for where, row in _rows(text):
            if unknown := [key for key in row if key not in (*_KEYS, *_FACTS)]:
                raise InputError(f"{where}: expected {', '.join(_KEYS)}, got {unknown[0]!r}")
            key = (
                _text(where, row, "system"),
                _text(where, row, "dataset"),
                _text(where, row, "tgt_lang"),
            )
            if not key[0]:
                raise InputError(f"{where}: expected a system, got none")
            if key in bleu:
                raise InputError(
                    f"{where}: {' '.join(filter(None, key))} occurs twice; expected one BLEU each"
                )
            # A figure of sacreBLEU is in points, however low it is.
            lowest = 0.0 if "signature" in row else 1.0
            bleu[key] = from_points(f"{where}: BLEU of {key[0]!r}", row.get("bleu"), lowest=lowest)
    return QualityScores(bleu)


def from_points(where: str, value: Any, *, lowest: float = 1.0) -> float:
    """Return BLEU in [0, 1] from a figure in points, 0 or from 1 to 100.

    Examples:
        >>> from_points("bleu", "42.5")
        0.425
    """
    number = finite_number(value)
    # A value between 0 and 1 has probably been divided by 100 already.
    if number is None or not (number == 0 or lowest <= number <= 100):
        raise InputError(f"{where}: expected points, 1 to 100, such as 42.5, got {shown(value)}")
    return number / 100


def _rows(text: str | Path) -> list[_Row]:
    name, equals, value = str(text).rpartition("=")
    if equals and name and not isinstance(text, Path) and not is_file(text):
        return [("bleu", {"system": name, "bleu": value})]
    path = Path(text)
    if path.suffix.lower() not in _SUFFIXES and not isinstance(text, Path):
        raise InputError(
            f"bleu: expected NAME=POINTS, or a file that ends in {' or '.join(_SUFFIXES)}, got"
            f" {str(text)!r}"
        )
    rows = list(_json_rows(path) if path.suffix.lower() == ".json" else _table_rows(path))
    if not rows:
        raise FileError(path, "expected at least one system and its BLEU, got none")
    return rows


def _table_rows(path: Path) -> Iterator[_Row]:
    names: list[str] = []
    for where, cells in read_cells(path):
        if not names:
            names = [name.lower() for name in cells]
            if {"system", "bleu"} <= set(names):
                continue
            if len(cells) != 2 or names[1] == "bleu":
                raise FileError(
                    where,
                    "expected a header with 'system' and 'bleu', or two columns, system and BLEU,"
                    f" separated by tabs, got {cells}",
                )
            names = ["system", "bleu"]
        yield where, dict(zip(names, cells, strict=True))


def _json_rows(path: Path) -> Iterator[_Row]:
    what = f'JSON, such as {{"aws": 42.5}}, or a list of objects with {", ".join(_KEYS)}'
    parsed = read_json(path, what)
    if isinstance(parsed, dict):
        parsed = [{"system": system, "bleu": bleu} for system, bleu in parsed.items()]
    if not isinstance(parsed, list) or not all(isinstance(row, dict) for row in parsed):
        raise FileError(path, f"expected {what}, got {shown(parsed)}")
    yield from ((f"{path}: entry {number}", row) for number, row in enumerate(parsed, 1))


def _text(where: object, row: Mapping[str, Any], key: str) -> str:
    value = row.get(key) or ""
    if not isinstance(value, str):
        raise InputError(f"{where}: {key}: expected a text, got {shown(value)}")
    return value.strip()
